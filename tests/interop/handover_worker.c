/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover_worker.c - a holder for handover.py.
 *
 * usage: handover_worker URL NAME COUNT HOLD_US
 *
 * Prints "ready", waits for a line, then holds the lock COUNT times; after each
 * it prints when it acquired the lock and when it began to release it, ns of
 * CLOCK_MONOTONIC.
 */
#include <holdfast.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define WAIT_MS 20000

static void check(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static int64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void hold(hf_lock *lock, long hold_us)
{
    struct timespec pause = {hold_us / 1000000, hold_us % 1000000 * 1000};
    hf_error err = HF_ERROR_INIT;
    int64_t acquired_ns, released_ns;

    check(hf_lock_acquire(lock, WAIT_MS, &err), &err);
    acquired_ns = now_ns();
    nanosleep(&pause, NULL);
    released_ns = now_ns();
    check(hf_lock_release(lock, &err), &err);
    printf("%" PRId64 " %" PRId64 "\n", acquired_ns, released_ns);
}

int main(int count, char **words)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_lock *lock;

    if (count != 5)
        return 64;
    check(hf_client_open(words[1], NULL, &client, &err), &err);
    check(hf_lock_new(client, hf_str(words[2]), NULL, &lock, &err), &err);
    puts("ready");
    fflush(stdout);
    (void)getchar();
    for (long i = strtol(words[3], NULL, 10); i > 0; i--)
        hold(lock, strtol(words[4], NULL, 10));
    hf_lock_free(lock);
    hf_client_close(client);
    return 0;
}
