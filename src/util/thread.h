/* SPDX-License-Identifier: Apache-2.0 */
/* thread.h - starting a thread of the library's own, in which all signals are
 * blocked: they are for the program's own threads. */
#ifndef HF__UTIL_THREAD_H
#define HF__UTIL_THREAD_H

#include <pthread.h>
#include <stdbool.h>

/* As pthread_create(). */
int hf__thread_start(pthread_t *thread, void *(*run)(void *user), void *user);
/* One that no one joins. false: it was not started. */
bool hf__thread_detach(void *(*run)(void *user), void *user);

#endif
