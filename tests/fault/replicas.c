/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.c - waiting for replicas, with replicas that hang and masters that
 * die.
 *
 *     replicas [--case lag|sentinel|cluster]
 *
 *  lag       a master and two replicas, of which one is stopped: calls that
 * need both fail in time, locks are given back, nothing else is slower, and
 * renewals lose no lock sentinel  the master is killed right after an acquire
 * that all replicas have acknowledged: the next master has every lock and every
 * value cluster   the same with a replica for each of three masters, and a slot
 * that moves
 */
#include "replicas.h"

#include <stdarg.h>
#include <stdlib.h>
#include <time.h>

#include "holdfast/value.h"
#include "support/redis_cluster.h"

static int faults;

int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

void pause_ms(int64_t ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000L};

    nanosleep(&span, NULL);
}

void check(bool holds, const char *format, ...)
{
    va_list args;

    if (holds)
        return;
    faults++;
    va_start(args, format);
    printf("violation: ");
    vprintf(format, args);
    printf("\n");
    va_end(args);
}

void check_status(hf_status status, hf_status expected, const char *what,
                  const hf_error *err)
{
    check(status == expected, "%s: %s instead of %s: %s", what,
          hf_status_name(status), hf_status_name(expected),
          status == HF_OK ? "" : err->message);
}

hf_client *open_client(const char *url, int32_t replicas, int64_t within_ms)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    options.replicas = replicas;
    options.replicas_ms = within_ms;
    options.request_ms = 15000;
    if (hf_client_open(url, &options, &client, &err) != HF_OK) {
        fprintf(stderr, "%s: %s\n", url, err.message);
        exit(2);
    }
    return client;
}

hf_lock *new_lock(hf_client *client, const char *name, int32_t replicas,
                  int64_t within_ms)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.replicas = replicas;
    options.replicas_ms = within_ms;
    check_status(hf_lock_new(client, hf_str(name), &options, &lock, NULL),
                 HF_OK, name, &(hf_error)HF_ERROR_INIT);
    return lock;
}

/* ---------------------------------------------------------------- failover */

typedef struct holdings {
    hf_client *client;
    hf_lock *locks[COUNT];
} holdings;

static void name_of(int number, const char *kind, char name[32])
{
    snprintf(name, 32, "%s-%d", kind, number);
}

/* Everything here was acknowledged by all replicas when this returns. */
static void take_all(holdings *self, hf_client *client, int32_t replicas)
{
    hf_status statuses[COUNT];
    hf_error err = HF_ERROR_INIT;
    char name[32];

    self->client = client;
    for (int i = 0; i < COUNT; i++) {
        name_of(i, "value", name);
        check_status(hf_value_set(client, hf_str(name), hf_str("kept"), NULL,
                                  NULL, &err),
                     HF_OK, name, &err);
        name_of(i, "lock", name);
        self->locks[i] = new_lock(client, name, 0, 0);
    }
    check_status(hf_lock_acquire_many(self->locks, COUNT, 0, statuses, &err),
                 HF_OK, "locks", &err);
    for (int i = 0; i < COUNT; i++)
        check(statuses[i] == HF_OK &&
                  hf_lock_replicas(self->locks[i]) >= replicas,
              "lock %d: %s, %d replicas", i, hf_status_name(statuses[i]),
              hf_lock_replicas(self->locks[i]));
}

/* After the failover, seen by another client. */
static void check_all(holdings *self, hf_client *other)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;
    char name[32];

    for (int i = 0; i < COUNT; i++) {
        hf_lock *lock;

        name_of(i, "value", name);
        check_status(hf_value_get(other, hf_str(name), &value, &err), HF_OK,
                     name, &err);
        hf_buffer_free(&value);
        name_of(i, "lock", name);
        lock = new_lock(other, name, HF_REPLICAS_NONE, 0);
        check_status(hf_lock_try(lock, &err), HF_HELD, name, &err);
        hf_lock_free(lock);
        check(hf_lock_is_held(self->locks[i]), "%s was lost", name);
        check_status(hf_lock_release(self->locks[i], &err), HF_OK, name, &err);
        hf_lock_free(self->locks[i]);
    }
}

static void run_sentinel(void)
{
    redis_sentinel *all = redis_sentinel_start(NULL);
    hf_error err = HF_ERROR_INIT;
    hf_client *client, *other;
    holdings taken;
    hf_lock *lock;
    int64_t killed_ms;

    if (all == NULL)
        exit(2);
    client = open_client(redis_sentinel_url(all), 2, PATIENT_MS);
    take_all(&taken, client, 2);
    redis_server_kill(redis_sentinel_server(all, 0));
    killed_ms = now_ms();
    /* Of one replica, as the other is the master. */
    lock = new_lock(client, "next", 1, WITHIN_MS);
    check_status(hf_lock_acquire(lock, LIMIT_MS, &err), HF_OK, "next", &err);
    printf("sentinel: a lock that one replica has, %lld ms after the kill\n",
           (long long)(now_ms() - killed_ms));
    check(redis_sentinel_await(all, 0, 1, LIMIT_MS) > 0, "no new master");
    other = open_client(redis_sentinel_url(all), 0, 0);
    check_all(&taken, other);
    hf_lock_free(lock);
    hf_client_close(other);
    hf_client_close(client);
    redis_sentinel_stop(all);
}

/* "foo" is in slot 12182, of the last of three masters. */
static void write_while_a_slot_moves(hf_client *client, redis_cluster *cluster)
{
    hf_error err = HF_ERROR_INIT;

    check_status(
        hf_value_set(client, hf_str("foo"), hf_str("1"), NULL, NULL, &err),
        HF_OK, "set", &err);
    check(redis_cluster_open_slot(cluster, 12182, 2, 0), "open slot");
    check_status(
        hf_value_set(client, hf_str("x{foo}"), hf_str("1"), NULL, NULL, &err),
        HF_OK, "set with ASK", &err);
    check(redis_cluster_move_keys(cluster, 12182, 2, 0, 100) >= 0, "move");
    check(redis_cluster_close_slot(cluster, 12182, 0), "close slot");
    check_status(
        hf_value_set(client, hf_str("foo"), hf_str("2"), NULL, NULL, &err),
        HF_OK, "set with MOVED", &err);
}

static void run_cluster(void)
{
    redis_cluster *cluster = redis_cluster_start(3, 1, 1500);
    hf_client *client, *other;
    holdings taken;

    if (cluster == NULL || !redis_cluster_await_whole(cluster))
        exit(2);
    client = open_client(redis_cluster_url(cluster), 1, PATIENT_MS);
    other = open_client(redis_cluster_url(cluster), 0, 0);
    write_while_a_slot_moves(client, cluster);
    take_all(&taken, client, 1);
    redis_server_kill(redis_cluster_server(cluster, 0));
    check_all(&taken, other);
    hf_client_close(other);
    hf_client_close(client);
    redis_cluster_stop(cluster);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } cases[] = {
        {"lag", run_lag}, {"sentinel", run_sentinel}, {"cluster", run_cluster}};
    const char *wanted = NULL;

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (argc == 3 && strcmp(argv[1], "--case") == 0)
        wanted = argv[2];
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (wanted == NULL || strcmp(wanted, cases[i].name) == 0)
            cases[i].run();
    }
    printf("%d violations\n", faults);
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
