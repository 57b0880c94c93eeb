/* SPDX-License-Identifier: Apache-2.0 */
/*
 * worker_pool.c - eight threads share one client; at most three of them, in all
 * processes together, use a resource at a time. SIGTERM and SIGINT end the
 * program in order: waits are interrupted, permits released.
 *
 *     ./worker_pool [STORE]       until a signal
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "example.h"

#define THREADS 8
#define PERMITS 3

static hf_client *client;
static atomic_bool stopping;
static atomic_int using_it;
static atomic_int most;
static atomic_int turns;

static void use_resource(void)
{
    const struct timespec pause = {0, 2 * 1000000};
    int now = atomic_fetch_add(&using_it, 1) + 1;
    int seen = atomic_load(&most);

    while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now))
        continue;
    nanosleep(&pause, NULL);
    atomic_fetch_sub(&using_it, 1);
    atomic_fetch_add(&turns, 1);
}

static void *run(void *unused)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock *permit = NULL;
    hf_status status;

    (void)unused;
    need(hf_semaphore_new(client, hf_str("resource"), PERMITS, NULL, &permit,
                          &err),
         &err);
    while (!atomic_load(&stopping)) {
        status = hf_lock_acquire(permit, HF_FOREVER, &err);
        if (status == HF_CANCELLED) /* by the signal */
            break;
        need(status, &err);
        if (hf_lock_is_held(permit))
            use_resource();
        need(hf_lock_release(permit, &err), &err);
    }
    hf_lock_free(permit);
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    hf_error err = HF_ERROR_INIT;
    sigset_t signals;
    int number;

    /* Before any thread is started: all of them inherit the mask, so only
     * sigwait() below sees the signals. */
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    pthread_sigmask(SIG_BLOCK, &signals, NULL);

    client = open_store(argc, argv);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, run, NULL);
    sigwait(&signals, &number);

    /* First the flag, then the interruption: no thread begins to wait again. */
    atomic_store(&stopping, true);
    need(hf_client_interrupt(client, &err), &err);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    printf("%s turns, at most %d at a time\n",
           atomic_load(&turns) > THREADS ? "many" : "few", atomic_load(&most));
    hf_client_close(client);
}
