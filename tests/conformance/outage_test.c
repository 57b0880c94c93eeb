/* SPDX-License-Identifier: Apache-2.0 */
/*
 * outage_test.c - a server that hangs, dies and comes back. Runs on the server
 * stores; an embedded store cannot become unreachable.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/together.h"
#include "holdfast/value.h"
#include "support/every_call.h"
#include "support/redisson_peer.h"
#include "support/slowness.h"
#include "support/told.h"

#define REQUEST_MS 150

/* One prepared call on a client of its own, so that no call depends on what an
 * earlier one did to the connection. */
typedef struct lonely_call {
    const every_call *call;
    every_place place;
    pthread_t thread;
    hf_status status;
    hf_error err;
    int64_t took_ms;
} lonely_call;

#define CALLS_MAX 200

static lonely_call calls[CALLS_MAX];

static void prepare(fixture *f, size_t at, const every_call *call,
                    hf_client *client)
{
    lonely_call *lonely = &calls[at];

    lonely->call = call;
    lonely->place =
        (every_place){.client = client, .key = fixture_key(f, call->name)};
    if (call->is_redisson)
        expect_status(HF_OK, every_call_fill(&lonely->place, call, ERR));
    expect_status(HF_OK, every_call_prepare(&lonely->place, call, ERR));
}

static size_t prepare_all(fixture *f, int64_t request_ms)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    size_t count = 0;

    opts.request_ms = request_ms;
    opts.connect_ms = 5000;
    assert_true(every_call_count + every_redisson_count <= CALLS_MAX);
    for (size_t i = 0; i < every_call_count; i++) {
        /* A batch uses the shared connection, which may not be made yet. */
        if (every_calls[i].transfers || every_calls[i].is_batch)
            continue;
        prepare(f, count++, &every_calls[i], fixture_client(f, &opts));
    }
    for (size_t i = 0; i < every_redisson_count; i++)
        prepare(f, count++, &every_redisson_calls[i],
                redisson_client(f, &opts));
    return count;
}

static void finish_all(size_t count)
{
    for (size_t i = 0; i < count; i++) {
        every_call_done(&calls[i].place);
    }
}

static void *make_one(void *argument)
{
    lonely_call *lonely = argument;
    int64_t began_ms = test_now_ms();

    lonely->err = (hf_error)HF_ERROR_INIT;
    lonely->status =
        every_call_make(&lonely->place, lonely->call, false, &lonely->err);
    lonely->took_ms = test_now_ms() - began_ms;
    return NULL;
}

/* All at once: each of them waits. */
static void make_all(size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(
            pthread_create(&calls[i].thread, NULL, make_one, &calls[i]), 0);
    for (size_t i = 0; i < count; i++)
        pthread_join(calls[i].thread, NULL);
}

static void expect_all(hf_status want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (calls[i].status != want)
            fail_msg("%s gave HF_%s: %s", calls[i].call->name,
                     hf_status_name(calls[i].status), calls[i].err.message);
    }
}

TEST(every_call_to_a_hanging_server_is_indeterminate)
{
    fixture *f = *state;
    int64_t request_ms = slowed_ms(REQUEST_MS);
    size_t count = prepare_all(f, request_ms);

    redis_server_pause(f->server);
    make_all(count);
    expect_all(HF_INDETERMINATE, count);
    /* hf_lock_acquire() in the table waits 50 ms. */
    for (size_t i = 0; i < count; i++)
        assert_in_time(calls[i].took_ms, request_ms + 50 + 300);
    redis_server_resume(f->server);
    finish_all(count);
}

TEST(every_call_to_a_dead_server_is_unavailable)
{
    fixture *f = *state;
    size_t count = prepare_all(f, slowed_ms(REQUEST_MS));

    redis_server_kill(f->server);
    for (size_t i = 0; i < count; i++) {
        int64_t ttl_ms;

        /* The first call may still use the dying connection. */
        expect_soon(hf_key_ttl(calls[i].place.client, bytes("k"), &ttl_ms,
                               NULL) == HF_UNAVAILABLE,
                    2000);
        expect_status_at(
            HF_UNAVAILABLE,
            every_call_make(&calls[i].place, calls[i].call, false, ERR),
            calls[i].call->name, __FILE__, __LINE__);
    }
    finish_all(count);
}

TEST(client_works_again_after_a_restart)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('get', KEYS[1])");
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    hf_reply *reply = NULL;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_true(redis_server_restart(f->server));
    expect_soon(hf_value_set(f->client, key, bytes("2"), NULL, NULL, NULL) ==
                    HF_OK,
                3000);
    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    assert_bytes(bytes("2"), hf_reply_bytes(reply));
    hf_reply_free(reply);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

/* A server that lost its scripts (a failover, SCRIPT FLUSH) gets them again.
 * That must not be taken for a repeated request, for which "not held" would
 * mean "released". */
TEST(lost_lock_is_reported_by_a_server_without_scripts)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    char answer[64];

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    cut_lease(f->other, name, 0);
    assert_true(redis_server_command(f->server, "SCRIPT FLUSH", answer,
                                     sizeof(answer)));
    expect_status(HF_EXPIRED, hf_lock_release(lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    put_value(f->other, name, bytes("another"), 60000);
    assert_true(redis_server_command(f->server, "SCRIPT FLUSH", answer,
                                     sizeof(answer)));
    expect_status(HF_LOST, hf_lock_release(lock, ERR));
}

typedef struct slow_call {
    fixture *f;
    hf_bytes key;
    hf_status status;
} slow_call;

static void *set_slowly(void *user)
{
    slow_call *slow = user;

    slow->status =
        hf_value_set(slow->f->client, slow->key, bytes("v"), NULL, NULL, NULL);
    return NULL;
}

TEST(call_rides_out_a_short_pause)
{
    fixture *f = *state;
    slow_call slow = {f, fixture_key(f, "k"), HF_OK};
    pthread_t thread;
    int64_t until_ms;

    redis_server_pause(f->server);
    assert_int_equal(pthread_create(&thread, NULL, set_slowly, &slow), 0);
    until_ms = test_now_ms() + 200;
    expect_soon(test_now_ms() > until_ms, 1000);
    redis_server_resume(f->server);
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_status(HF_OK, slow.status);
    assert_value(f->other, slow.key, bytes("v"));
}

static atomic_int losses;
static atomic_int loss_reason;
static atomic_llong loss_ms;

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    (void)user;
    atomic_store(&loss_reason, (int)reason);
    atomic_store(&loss_ms, test_now_ms());
    atomic_fetch_add(&losses, 1);
}

/* To believe in a lock that may have passed to another is the worst error: the
 * holder learns of the loss when its lease is over, whether the server answers
 * or not. */
TEST(holder_cut_off_learns_of_it_in_time)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;
    int64_t paused_ms;

    atomic_store(&losses, 0);
    opts.ttl_ms = slowed_ms(400);
    opts.on_lost = on_lost;
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    expect_throughout(hf_lock_is_held(lock), opts.ttl_ms * 5 / 4);
    redis_server_pause(f->server);
    paused_ms = test_now_ms();
    expect_soon(!hf_lock_is_held(lock), 2 * opts.ttl_ms);
    assert_in_time(test_now_ms() - paused_ms, opts.ttl_ms + 50);
    expect_soon(atomic_load(&losses) == 1, 100);
    assert_int_equal(atomic_load(&loss_reason), HF_INDETERMINATE);
    assert_in_time(atomic_load(&loss_ms) - paused_ms, opts.ttl_ms + 50);
    redis_server_resume(f->server);
    expect_throughout(atomic_load(&losses) == 1, 300);
    expect_status(HF_LOST, hf_lock_try(lock, ERR));
}

TEST(holder_survives_an_outage_shorter_than_its_lease)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;
    int64_t until_ms;

    atomic_store(&losses, 0);
    opts.ttl_ms = slowed_ms(2000);
    opts.on_lost = on_lost;
    lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    redis_server_pause(f->server);
    until_ms = test_now_ms() + 1000;
    expect_soon(test_now_ms() > until_ms, 2000);
    redis_server_resume(f->server);
    expect_throughout(hf_lock_is_held(lock), 1500);
    assert_int_equal(atomic_load(&losses), 0);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

/* Whether the server has taken them is unknown when the call is cancelled; they
 * are released, long before their leases would end. */
TEST(cancelled_acquire_of_several_is_indeterminate)
{
    fixture *f = *state;
    hf_lock *ours[2], *theirs[2];
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;
    int64_t resumed_ms;

    for (int i = 0; i < 2; i++) {
        hf_bytes name = fixture_key(f, i == 0 ? "a" : "b");

        ours[i] = fixture_lock(f, f->client, name, NULL);
        theirs[i] = fixture_lock(f, f->other, name, NULL);
    }
    /* Makes the connection. */
    expect_status(HF_OK, hf_lock_acquire_start(ours[0], 0, &async, ERR));
    await_ok(f->client, &said);
    expect_status(HF_OK, hf_lock_release(ours[0], ERR));
    redis_server_pause(f->server);
    async.call = &call;
    expect_status(HF_OK,
                  hf_lock_acquire_all_start(ours, 2, HF_FOREVER, &async, ERR));
    hf_call_cancel(call);
    await_told(f->client, &said, 2);
    expect_status(HF_INDETERMINATE, said.status);
    redis_server_resume(f->server);
    resumed_ms = test_now_ms();
    for (int i = 0; i < 2; i++)
        expect_status(HF_OK, hf_lock_acquire(theirs[i], 20000, ERR));
    assert_in_time(test_now_ms() - resumed_ms, 1000);
}

/* Whatever a test did to the server, the next one finds it running. */
static int repair_and_close(void **state)
{
    fixture *f = *state;

    return redis_server_restart(f->server) ? fixture_close(state) : -1;
}

EACH_TEST_WITH(fixture_open, repair_and_close);
ALL_TESTS_WITH(fixture_start, fixture_stop);
