/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - see thread.h. */
#include "util/thread.h"

#include <signal.h>

int hf__thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                     void *(*run)(void *user), void *user)
{
    sigset_t all, before;
    int rc;

    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(thread, attributes, run, user);
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
