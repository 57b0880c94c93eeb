/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pressure_test.c - a program that starts more than its server can handle:
 * memory is bounded, nothing is lost, and leases get through. Runs on the
 * server stores.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"
#include "support/told.h"

/* The default limit of calls under way (holdfast.h), and how many are tried. */
#define CALLS_DEFAULT 65536
#define STARTS 100000

/* Slow machines, sanitizers. */
#define PATIENCE_MS 90000

/* Of a call, its value and what the store keeps of it. */
#define BYTES_EACH (4096 * SLOWER)

static long resident_bytes(void)
{
    FILE *file = fopen("/proc/self/statm", "r");
    long pages = 0;

    assert_non_null(file);
    assert_int_equal(fscanf(file, "%*d %ld", &pages), 1);
    (void)fclose(file);
    return pages * 4096;
}

static int resume_and_close(void **state)
{
    fixture *f = *state;

    redis_server_resume(f->server);
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, resume_and_close);
ALL_TESTS_WITH(fixture_start, fixture_stop);

typedef struct counts {
    unsigned told;
    unsigned done;
    unsigned unclear;
} counts;

static void count(void *user, hf_status status, const hf_error *err)
{
    counts *self = user;

    (void)err;
    self->told++;
    self->done += status == HF_OK;
    self->unclear += status != HF_OK && status != HF_UNAVAILABLE &&
                     status != HF_INDETERMINATE;
}

static void await_counts(hf_client *client, const counts *self, unsigned wanted)
{
    int64_t until_ms = test_now_ms() + PATIENCE_MS;
    struct pollfd pfd = {.events = POLLIN};

    expect_status(HF_OK, hf_client_fd(client, &pfd.fd, ERR));
    while (self->told < wanted && test_now_ms() < until_ms) {
        if (poll(&pfd, 1, 100) > 0)
            dispatch(client);
    }
    assert_int_equal(self->told, wanted);
}

/* Start increments until one is refused, or STARTS; returns how many were
 * started. */
static unsigned start_increments(fixture *f, hf_client *client, hf_bytes key,
                                 counts *all, hf_reply **replies)
{
    hf_script *script =
        fixture_script(f, f->other, "return redis.call('incr', KEYS[1])");
    hf_async async = HF_ASYNC_INIT;
    unsigned started = 0;

    fixture_free_script(f, script);
    script = fixture_script(f, client, "return redis.call('incr', KEYS[1])");
    redis_server_pause(f->server);
    async.done = count;
    async.user = all;
    for (unsigned i = 0; i < STARTS; i++) {
        hf_status status = hf_script_run_start(script, &key, 1, NULL, 0,
                                               &replies[started], &async, NULL);

        if (status == HF_OK)
            started++;
        else
            assert_int_equal(status, HF_UNAVAILABLE);
    }
    return started;
}

TEST(starts_against_a_hanging_server_are_bounded)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    hf_reply **replies = calloc(STARTS, sizeof(hf_reply *));
    long before_bytes = resident_bytes();
    static counts all;
    hf_client *client;
    unsigned started;
    char text[16];

    all = (counts){0};
    assert_non_null(replies);
    options.request_ms = PATIENCE_MS;
    client = fixture_client(f, &options);
    started = start_increments(f, client, key, &all, replies);
    assert_int_equal(started, CALLS_DEFAULT);
    assert_int_equal(all.told, 0);
    assert_true(resident_bytes() - before_bytes <
                (long)CALLS_DEFAULT * BYTES_EACH);
    redis_server_resume(f->server);
    await_counts(client, &all, started);
    assert_int_equal(all.done, started);
    (void)snprintf(text, sizeof(text), "%u", started);
    assert_value(f->other, key, hf_str(text));
    for (unsigned i = 0; i < started; i++)
        hf_reply_free(replies[i]);
    free(replies);
}

/* ... and, when their time is up, each completes with that status. */
TEST(starts_against_a_hanging_server_end_in_time)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "k");
    hf_reply **replies = calloc(STARTS, sizeof(hf_reply *));
    static counts all;
    hf_client *client;
    unsigned started;

    all = (counts){0};
    assert_non_null(replies);
    options.request_ms = 1000;
    options.max_calls = 10000;
    client = fixture_client(f, &options);
    started = start_increments(f, client, key, &all, replies);
    assert_int_equal(started, 10000);
    await_counts(client, &all, started);
    assert_int_equal(all.done, 0);
    assert_int_equal(all.unclear, 0);
    /* The client works again once the server does. */
    redis_server_resume(f->server);
    expect_soon(hf_value_set(client, key, bytes("0"), NULL, NULL, NULL) ==
                    HF_OK,
                PATIENCE_MS);
    for (unsigned i = 0; i < started; i++)
        hf_reply_free(replies[i]);
    free(replies);
}

/* ------------------------------------------------------------------ leases */

/* More than sockets can buffer, some 40 MB where the system lets them. */
#define PUTS 4000
#define PUT_SIZE 25000

typedef struct race {
    unsigned puts;
    unsigned failures;
    unsigned before; /* puts completed before the lease's call */
    bool told;
} race;

static void note_put(void *user, hf_status status, const hf_error *err)
{
    race *self = user;

    (void)err;
    self->puts++;
    self->failures += status != HF_OK;
}

static void note_lease(void *user, hf_status status, const hf_error *err)
{
    race *self = user;

    (void)err;
    self->before = self->puts;
    self->failures += status != HF_OK;
    self->told = true;
}

/* Fill the queue of a server that hangs, start a call on a lock, and see in
 * which order they complete. What is in the socket buffers goes first. */
static void expect_overtaking(fixture *f, hf_client *client, hf_lock *lock,
                              hf_status (*start)(hf_lock *lock,
                                                 const hf_async *async,
                                                 hf_error *err))
{
    static char value[PUT_SIZE];
    hf_bytes key = fixture_key(f, "k");
    int64_t until_ms = test_now_ms() + PATIENCE_MS;
    hf_async async = HF_ASYNC_INIT;
    static race self;

    self = (race){0};
    redis_server_pause(f->server);
    async.user = &self;
    async.done = note_put;
    for (unsigned i = 0; i < PUTS; i++)
        expect_status(HF_OK, hf_value_set_start(client, key,
                                                hf_view(value, sizeof(value)),
                                                NULL, NULL, &async, ERR));
    async.done = note_lease;
    expect_status(HF_OK, start(lock, &async, ERR));
    redis_server_resume(f->server);
    while ((!self.told || self.puts < PUTS) && test_now_ms() < until_ms)
        dispatch(client);
    assert_true(self.told);
    assert_int_equal(self.puts, PUTS);
    assert_int_equal(self.failures, 0);
    assert_in_range(self.before, 0, PUTS / 2 - 1);
}

TEST(renewal_and_release_overtake_a_full_queue)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options kept = HF_LOCK_OPTIONS_INIT;
    hf_client *client;
    hf_lock *lock;

    options.request_ms = PATIENCE_MS;
    options.max_call_bytes = INT64_C(2) * PUTS * PUT_SIZE;
    kept.ttl_ms = 2 * PATIENCE_MS;
    kept.flags = HF_LOCK_NO_RENEW;
    client = fixture_client(f, &options);
    lock = fixture_lock(f, client, fixture_key(f, "l"), &kept);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_overtaking(f, client, lock, hf_lock_renew_start);
    assert_true(hf_lock_is_held(lock));
    expect_overtaking(f, client, lock, hf_lock_release_start);
}
