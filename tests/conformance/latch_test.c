/* SPDX-License-Identifier: Apache-2.0 */
/* latch_test.c - a latch is set once, counts each arrival once, and wakes. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/latch.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* What is not woken polls then. */
#define POLL_MS 5000
#define LONG_MS 60000

static hf_bytes set_latch(fixture *f, int64_t count)
{
    hf_bytes name = fixture_key(f, "latch");

    expect_status(HF_OK,
                  hf_latch_set(f->client, name, count, LONG_MS, NULL, ERR));
    return name;
}

static int64_t arrive(hf_client *client, hf_bytes name, const char *id,
                      int64_t count)
{
    int64_t left = -9;

    expect_status(HF_OK,
                  hf_latch_arrive(client, name, hf_str(id), count, &left, ERR));
    return left;
}

TEST(latch_is_set_once)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 3);
    int64_t left = -1;

    assert_ttl(f->client, name, LONG_MS);
    expect_status(HF_CONFLICT,
                  hf_latch_set(f->other, name, 5, LONG_MS, &left, ERR));
    assert_int_equal(left, 3);
    assert_int_equal(arrive(f->client, name, "", 3), 0);
    expect_status(HF_CONFLICT,
                  hf_latch_set(f->client, name, 5, LONG_MS, &left, ERR));
    assert_int_equal(left, 0);
    expect_status(HF_OK, hf_latch_delete(f->client, name, ERR));
    expect_status(HF_OK, hf_latch_set(f->client, name, 5, LONG_MS, &left, ERR));
    expect_status(HF_OK, hf_latch_inspect(f->other, name, &left, ERR));
    assert_int_equal(left, 5);
}

TEST(arrival_with_an_id_counts_once)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 5);

    assert_int_equal(arrive(f->client, name, "a", 1), 4);
    assert_int_equal(arrive(f->client, name, "a", 1), 4);
    assert_int_equal(arrive(f->other, name, "a", 3), 4);
    assert_int_equal(arrive(f->other, name, "b", 2), 2);
    assert_int_equal(arrive(f->client, name, "", 1), 1);
    assert_int_equal(arrive(f->client, name, "left", 1), 0);
    assert_int_equal(arrive(f->client, name, "c", 1), 0);
}

TEST(count_stops_at_0)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 5);

    assert_int_equal(arrive(f->client, name, "", 7), 0);
    assert_int_equal(arrive(f->client, name, "", 7), 0);
    expect_status(HF_OK, hf_latch_await(f->client, name, 0, ERR));
}

/* ------------------------------------------------------------------ waiting */

typedef struct waiter {
    hf_client *client;
    hf_bytes name;
    pthread_t thread;
    hf_status status;
    atomic_bool done;
} waiter;

static void *await_elsewhere(void *user)
{
    waiter *self = user;

    self->status = hf_latch_await(self->client, self->name, LONG_MS, NULL);
    atomic_store(&self->done, true);
    return NULL;
}

static void start_waiters(waiter waiters[4], fixture *f, hf_bytes name)
{
    for (int i = 0; i < 4; i++) {
        waiters[i] =
            (waiter){.client = i % 2 == 0 ? f->client : f->other, .name = name};
        assert_int_equal(pthread_create(&waiters[i].thread, NULL,
                                        await_elsewhere, &waiters[i]),
                         0);
    }
    /* Some are queued by now, perhaps all. */
    test_rest();
}

static void expect_waiters(waiter waiters[4], hf_status status)
{
    int64_t began_ms = test_now_ms();

    for (int i = 0; i < 4; i++) {
        (void)pthread_join(waiters[i].thread, NULL);
        expect_status(status, waiters[i].status);
    }
    assert_woken(test_now_ms() - began_ms, POLL_MS);
}

TEST(waiters_are_woken_when_it_opens)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 2);
    waiter waiters[4];

    start_waiters(waiters, f, name);
    assert_int_equal(arrive(f->client, name, "a", 1), 1);
    expect_throughout(!atomic_load(&waiters[0].done), 50);
    assert_int_equal(arrive(f->client, name, "b", 1), 0);
    expect_waiters(waiters, HF_OK);
}

TEST(waiters_are_woken_when_it_is_deleted)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 2);
    waiter waiters[4];

    start_waiters(waiters, f, name);
    expect_throughout(!atomic_load(&waiters[0].done), 50);
    expect_status(HF_OK, hf_latch_delete(f->client, name, ERR));
    expect_waiters(waiters, HF_NOT_FOUND);
    expect_status(HF_NOT_FOUND, hf_latch_delete(f->client, name, ERR));
}

TEST(latch_that_expires_ends_waits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");
    int64_t began_ms = test_now_ms();

    expect_status(HF_OK, hf_latch_set(f->client, name, 1, 150, NULL, ERR));
    expect_status(HF_NOT_FOUND, hf_latch_await(f->client, name, LONG_MS, ERR));
    assert_woken(test_now_ms() - began_ms, POLL_MS);
}

TEST(await_has_a_limit)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);
    int64_t began_ms = test_now_ms();

    expect_status(HF_TIMEOUT, hf_latch_await(f->client, name, 0, ERR));
    expect_status(HF_TIMEOUT, hf_latch_await(f->client, name, 60, ERR));
    assert_non_null(strstr(expect_message(), "timed out after 60 ms"));
    assert_true(test_now_ms() - began_ms >= 60);
    expect_told(HF_TIMEOUT, f->client,
                hf_latch_await_start(f->client, name, 30, &async, ERR));
}

TEST(started_awaits_end_when_it_opens)
{
    enum { STARTED = 50 };
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);
    told said = {0};
    hf_async async = tell(&said);

    for (int i = 0; i < STARTED; i++)
        expect_status(
            HF_OK, hf_latch_await_start(f->client, name, LONG_MS, &async, ERR));
    dispatch(f->client);
    assert_int_equal(said.count, 0);
    assert_int_equal(arrive(f->other, name, "", 1), 0);
    await_told(f->client, &said, STARTED);
    expect_status(HF_OK, said.status);
}

TEST(early_await_waits_for_a_latch_that_is_not_set)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");

    expect_status(HF_TIMEOUT, hf_latch_await_early(f->client, name, 0, ERR));
    expect_status(HF_TIMEOUT, hf_latch_await_early(f->client, name, 60, ERR));
    assert_non_null(strstr(expect_message(), "timed out after 60 ms"));
    expect_status(HF_NOT_FOUND, hf_latch_await(f->client, name, 60, ERR));
    expect_status(HF_OK, hf_latch_set(f->client, name, 1, LONG_MS, NULL, ERR));
    assert_int_equal(arrive(f->client, name, "", 1), 0);
    expect_status(HF_OK, hf_latch_await_early(f->client, name, 0, ERR));
}

/* Whether it opens at once or later, and no one polls. */
TEST(early_awaits_are_woken_by_the_set)
{
    enum { STARTED = 8 };
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");

    for (int later = 0; later < 2; later++) {
        told said = {0};
        hf_async async = tell(&said);
        int64_t opened_ms;

        for (int i = 0; i < STARTED; i++)
            expect_status(HF_OK, hf_latch_await_early_start(
                                     f->client, name, LONG_MS, &async, ERR));
        expect_throughout((dispatch(f->client), said.count == 0), 200);
        expect_status(HF_OK,
                      hf_latch_set(f->other, name, 1, LONG_MS, NULL, ERR));
        if (later)
            expect_throughout((dispatch(f->client), said.count == 0), 200);
        opened_ms = test_now_ms();
        assert_int_equal(arrive(f->other, name, "", 1), 0);
        await_told(f->client, &said, STARTED);
        expect_status(HF_OK, said.status);
        assert_woken(test_now_ms() - opened_ms, POLL_MS);
        expect_status(HF_OK, hf_latch_delete(f->other, name, ERR));
    }
}

TEST(early_await_outlasts_a_latch_that_is_deleted)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_latch_await_early_start(f->client, name, LONG_MS,
                                                    &async, ERR));
    expect_throughout((dispatch(f->client), said.count == 0), 100);
    expect_status(HF_OK, hf_latch_delete(f->other, name, ERR));
    expect_throughout((dispatch(f->client), said.count == 0), 100);
    expect_status(HF_OK, hf_latch_set(f->other, name, 1, LONG_MS, NULL, ERR));
    assert_int_equal(arrive(f->other, name, "", 1), 0);
    await_ok(f->client, &said);
}

TEST(started_await_can_be_cancelled)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);

    for (int rests = 0; rests < 10; rests++) {
        told said = {0};
        hf_async async = tell(&said);
        hf_call *call;

        async.call = &call;
        expect_status(
            HF_OK, hf_latch_await_start(f->client, name, LONG_MS, &async, ERR));
        for (int i = 0; i < rests; i++)
            test_rest();
        hf_call_cancel(call);
        await_told(f->client, &said, 1);
        expect_status(HF_CANCELLED, said.status);
    }
}

TEST(close_ends_started_awaits)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);

    for (int rests = 0; rests < 5; rests++) {
        hf_client *client = fixture_client(f, NULL);
        told said = {0};
        hf_async async = tell(&said);

        expect_status(HF_OK,
                      hf_latch_await_start(client, name, LONG_MS, &async, ERR));
        for (int i = 0; i < 3 * rests; i++)
            test_rest();
        fixture_close_client(f, client);
        assert_int_equal(said.count, 1);
        assert_true(said.status == HF_UNAVAILABLE ||
                    said.status == HF_INDETERMINATE);
    }
}

TEST(interrupt_ends_awaits)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, 1);
    waiter self = {.client = f->client, .name = name};

    assert_int_equal(pthread_create(&self.thread, NULL, await_elsewhere, &self),
                     0);
    while (!atomic_load(&self.done)) {
        test_rest();
        expect_status(HF_OK, hf_client_interrupt(f->client, ERR));
    }
    (void)pthread_join(self.thread, NULL);
    expect_status(HF_CANCELLED, self.status);
}

/* -------------------------------------------------------------------- races */

#define ARRIVALS 60

typedef struct arriver {
    hf_client *client;
    hf_bytes name;
    int64_t left[ARRIVALS];
    hf_status status;
} arriver;

/* All arrive by the same ids, in different orders. */
static void *arrive_elsewhere(void *user)
{
    arriver *self = user;
    char id[16];

    for (int i = 0; i < ARRIVALS && self->status == HF_OK; i++) {
        snprintf(id, sizeof(id), "%d", i * 7 % ARRIVALS);
        self->status = hf_latch_arrive(self->client, self->name, hf_str(id), 1,
                                       &self->left[i], NULL);
    }
    return NULL;
}

TEST(arrivals_at_once_count_exactly)
{
    fixture *f = *state;
    hf_bytes name = set_latch(f, ARRIVALS + 1);
    arriver arrivers[4] = {{.client = f->client},
                           {.client = f->other},
                           {.client = f->client},
                           {.client = f->other}};
    pthread_t threads[4];
    int64_t left;

    for (int i = 0; i < 4; i++) {
        arrivers[i].name = name;
        assert_int_equal(
            pthread_create(&threads[i], NULL, arrive_elsewhere, &arrivers[i]),
            0);
    }
    for (int i = 0; i < 4; i++) {
        (void)pthread_join(threads[i], NULL);
        expect_status(HF_OK, arrivers[i].status);
        for (int j = 1; j < ARRIVALS; j++)
            assert_true(arrivers[i].left[j] <= arrivers[i].left[j - 1]);
    }
    expect_status(HF_OK, hf_latch_inspect(f->client, name, &left, ERR));
    assert_int_equal(left, 1);
}

/* ------------------------------------------------------------------- errors */

TEST(absent_latch_is_not_found)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "none");
    int64_t left = -9;

    expect_status(HF_NOT_FOUND, hf_latch_await(f->client, name, LONG_MS, ERR));
    expect_status(HF_NOT_FOUND, hf_latch_inspect(f->client, name, &left, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_latch_arrive(f->client, name, bytes("a"), 1, &left, ERR));
    assert_int_equal(left, -9);
    assert_no_key(f->client, name);
}

TEST(other_hash_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "h");
    const char *const *hashes[] = {words("a", "b"), words("left", "x"),
                                   words("left", "-1"), words("left", "")};
    int64_t left;

    for (int i = 0; i < 4; i++) {
        (void)!hf_hash_delete(f->client, name, NULL);
        put_hash(f->client, name, hashes[i], 0);
        expect_status(HF_WRONG_TYPE,
                      hf_latch_set(f->client, name, 1, 1000, NULL, ERR));
        expect_status(HF_WRONG_TYPE, hf_latch_arrive(f->client, name,
                                                     bytes("a"), 1, NULL, ERR));
        expect_status(HF_WRONG_TYPE, hf_latch_await(f->client, name, 0, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_latch_inspect(f->client, name, &left, ERR));
        expect_status(HF_WRONG_TYPE, hf_latch_delete(f->client, name, ERR));
        assert_no_ttl(f->client, name);
    }
}

TEST(bad_latches_are_named)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "latch");

    expect_status(HF_INVALID, hf_latch_set(f->client, name, 0, 1, NULL, ERR));
    assert_non_null(strstr(expect_message(), "count is 0"));
    expect_status(
        HF_INVALID,
        hf_latch_set(f->client, name, HF_LATCH_COUNT_MAX + 1, 1, NULL, ERR));
    expect_status(HF_INVALID, hf_latch_set(f->client, name, 1, 0, NULL, ERR));
    assert_non_null(strstr(expect_message(), "ttl_ms"));
    expect_status(HF_INVALID,
                  hf_latch_set(f->client, bytes("a}b"), 1, 1, NULL, ERR));
    expect_status(HF_INVALID, hf_latch_await(f->client, name, -1, ERR));
    expect_status(HF_INVALID, hf_latch_inspect(f->client, name, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_latch_arrive(f->client, name, bytes("a"), 0, NULL, ERR));
    assert_no_key(f->client, name);
}
