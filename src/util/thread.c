/* SPDX-License-Identifier: Apache-2.0 */
/* thread.c - see thread.h. */
#include "util/thread.h"

#include <signal.h>

static int start_thread(pthread_t *thread, const pthread_attr_t *attributes,
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

int hf__thread_start(pthread_t *thread, void *(*run)(void *user), void *user)
{
    return start_thread(thread, NULL, run, user);
}

bool hf__thread_detach(void *(*run)(void *user), void *user)
{
    pthread_attr_t attributes;
    pthread_t thread;
    bool started;

    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    started = start_thread(&thread, &attributes, run, user) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}
