/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fleet_holdfast.c - our member of the mixed fleet (fleet.py): hold the lock
 * for 10 ms at a time and count in an unprotected counter.
 *
 * usage: fleet_holdfast PORT LOCK COUNTER MILLISECONDS ALONE_MILLISECONDS
 *
 * Prints how often it held the lock in the first time and, unless it is 0, in
 * the second.
 */
#include <holdfast.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define HOLD_NS 10000000
#define WAIT_MS 1000

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void check(hf_status status, const hf_error *err)
{
    if (status == HF_OK)
        return;
    fprintf(stderr, "fleet_holdfast: %s\n", err->message);
    exit(1);
}

/* Read, pause, write: two at once lose an update. */
static void count(hf_client *client, hf_bytes counter)
{
    struct timespec hold = {0, HOLD_NS};
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    char text[24];
    int size;

    check(hf_value_get(client, counter, &value, &err), &err);
    size =
        snprintf(text, sizeof(text), "%lld", strtoll(value.data, NULL, 10) + 1);
    hf_buffer_free(&value);
    nanosleep(&hold, NULL);
    check(hf_value_set(client, counter, hf_view(text, (size_t)size), NULL, NULL,
                       &err),
          &err);
}

/* How often it was held. */
static long hold_for(hf_client *client, hf_lock *lock, hf_bytes counter,
                     int64_t for_ms)
{
    int64_t end_ms = now_ms() + for_ms;
    hf_error err = HF_ERROR_INIT;
    long held = 0;

    while (now_ms() < end_ms) {
        hf_status status = hf_lock_acquire(lock, WAIT_MS, &err);

        if (status == HF_TIMEOUT)
            continue;
        check(status, &err);
        count(client, counter);
        check(hf_lock_release(lock, &err), &err);
        held++;
    }
    return held;
}

int main(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_lock *lock;
    char url[64];

    if (argc != 6)
        return 2;
    snprintf(url, sizeof(url), "redis://127.0.0.1:%s/0", argv[1]);
    check(hf_client_open(url, NULL, &client, &err), &err);
    check(hf_lock_new(client, hf_str(argv[2]), NULL, &lock, &err), &err);
    puts("ready");
    fflush(stdout);
    (void)getchar();
    for (int i = 4; i < argc; i++) {
        printf("%ld\n", hold_for(client, lock, hf_str(argv[3]),
                                 strtoll(argv[i], NULL, 10)));
        fflush(stdout);
    }
    hf_lock_free(lock);
    hf_client_close(client);
    return 0;
}
