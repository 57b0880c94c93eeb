/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - starting a thread of the library's own. */
#ifndef HF__UTIL_THREAD_H
#define HF__UTIL_THREAD_H

#include <pthread.h>

/* As pthread_create(), with all signals blocked in the thread: they are for the
 * program's own. */
int hf__thread_start(pthread_t *thread, const pthread_attr_t *attributes,
                     void *(*run)(void *user), void *user);

#endif
