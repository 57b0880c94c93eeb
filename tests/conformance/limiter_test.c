/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limiter_test.c - hf_limiter_take(). Rates are so slow that no test gains a
 * unit by being late, except where waiting is tested.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/limiter.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define DAY_MS INT64_C(86400000)

#define OPTIONS(...)                                                           \
    (&(hf_limiter_options){.struct_size = sizeof(hf_limiter_options),          \
                           __VA_ARGS__})

#define refused(status, text, call)                                            \
    do {                                                                       \
        expect_status((status), (call));                                       \
        if (strstr(expect_message(), (text)) == NULL)                          \
            fail_msg("\"%s\" without \"%s\"", expect_message(), (text));       \
    } while (0)

static hf_status take(hf_client *client, hf_bytes name, int64_t cost,
                      const hf_limiter_options *options,
                      hf_limiter_state *state)
{
    return hf_limiter_take(client, name, cost, options, state, ERR);
}

TEST(take_counts_down_exactly)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *seven = OPTIONS(.count = 7, .period_ms = DAY_MS);
    hf_limiter_state got;

    for (int64_t left = 6; left >= 0; left--) {
        expect_status(HF_OK, take(f->client, name, 1, seven, &got));
        assert_int_equal(got.remaining, left);
        assert_int_equal(got.retry_ms, 0);
        expect_status(HF_OK,
                      hf_limiter_inspect(f->other, name, seven, &got, ERR));
        assert_int_equal(got.remaining, left);
    }
    expect_status(HF_TIMEOUT, take(f->other, name, 1, seven, &got));
    assert_int_equal(got.remaining, 0);
    assert_true(got.retry_ms <= DAY_MS / 7 + 1 && got.retry_ms > DAY_MS / 8);
    assert_true(got.full_ms <= DAY_MS && got.full_ms > DAY_MS / 8 * 7);
}

TEST(take_that_is_refused_takes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *ten = OPTIONS(.count = 10, .period_ms = DAY_MS);
    hf_limiter_state got;

    expect_status(HF_OK, take(f->client, name, 6, ten, &got));
    expect_status(HF_TIMEOUT, take(f->client, name, 5, ten, &got));
    assert_int_equal(got.remaining, 4);
    assert_true(got.retry_ms <= DAY_MS / 10 + 1);
    expect_status(HF_OK, take(f->client, name, 4, ten, &got));
    assert_int_equal(got.remaining, 0);
}

/* Of a greater burst more was taken than there is of this one. */
TEST(inspect_takes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_limiter_state got;

    expect_status(HF_OK, take(f->client, name, 8,
                              OPTIONS(.count = 10, .period_ms = DAY_MS), &got));
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK,
                      hf_limiter_inspect(
                          f->client, name,
                          OPTIONS(.count = 10, .period_ms = DAY_MS, .burst = 3),
                          &got, ERR));
        assert_int_equal(got.remaining, 0);
        assert_int_equal(got.retry_ms, 0);
    }
    refused(
        HF_INVALID, "state",
        hf_limiter_inspect(f->client, name, OPTIONS(.count = 10), NULL, ERR));
}

TEST(idle_limiter_leaves_no_key)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *ten = OPTIONS(.count = 10, .period_ms = 10000);
    const hf_limiter_options *fast = OPTIONS(.count = 1000000);
    hf_limiter_state got;
    int64_t ttl_ms = -1;

    expect_status(HF_OK, hf_limiter_inspect(f->client, name, ten, &got, ERR));
    assert_int_equal(got.remaining, 10);
    expect_status(HF_NOT_FOUND, hf_key_ttl(f->client, name, &ttl_ms, ERR));
    expect_status(HF_OK, take(f->client, name, 3, ten, NULL));
    expect_status(HF_OK, hf_key_ttl(f->client, name, &ttl_ms, ERR));
    assert_true(ttl_ms <= 3001);
    expect_status(HF_OK, take(f->client, fixture_key(f, "m"), 1, fast, NULL));
    expect_soon(hf_key_ttl(f->client, fixture_key(f, "m"), &ttl_ms, ERR) ==
                    HF_NOT_FOUND,
                5000);
}

/* What two clients take together within some time is at most the burst and
 * what was gained in it, however they are scheduled. */
typedef struct taker {
    hf_client *client;
    hf_bytes name;
    const hf_limiter_options *options;
    int64_t cost;
    int64_t taken;
    bool failed;
} taker;

#define RACE_MS 150

static void *take_for_a_while(void *user)
{
    taker *self = user;
    int64_t until_ms = test_now_ms() + RACE_MS;

    /* A busy machine may leave it no time. */
    for (int64_t tried = 0;
         test_now_ms() < until_ms || tried < self->options->burst;
         tried += self->cost) {
        hf_status status = hf_limiter_take(self->client, self->name, self->cost,
                                           self->options, NULL, NULL);

        self->taken += status == HF_OK ? self->cost : 0;
        self->failed |= status != HF_OK && status != HF_TIMEOUT;
    }
    return NULL;
}

static void expect_within(fixture *f, const hf_limiter_options *options,
                          int64_t cost)
{
    taker takers[2] = {{.client = f->client}, {.client = f->other}};
    int64_t began_ms = test_now_ms(), gained;
    pthread_t threads[2];

    for (int i = 0; i < 2; i++) {
        takers[i].name = fixture_key(f, "l");
        takers[i].options = options;
        takers[i].cost = cost;
        assert_int_equal(
            pthread_create(&threads[i], NULL, take_for_a_while, &takers[i]), 0);
    }
    for (int i = 0; i < 2; i++)
        (void)pthread_join(threads[i], NULL);
    gained = (test_now_ms() - began_ms + 1) * options->count / 1000;
    assert_false(takers[0].failed || takers[1].failed);
    assert_true(takers[0].taken + takers[1].taken >= options->burst);
    assert_true(takers[0].taken + takers[1].taken <=
                options->burst + gained + 1);
}

TEST(clients_together_stay_within_the_rate)
{
    expect_within(*state, OPTIONS(.count = 200, .burst = 20), 1);
}

/* The key must not expire before the bucket is full, by no part of a ms. */
TEST(bucket_of_a_millisecond_stays_within_the_rate)
{
    expect_within(*state, OPTIONS(.count = 1000000, .burst = 1000), 500);
}

TEST(take_waits_for_its_turn)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *options =
        OPTIONS(.count = 1, .period_ms = 100, .wait_ms = 60000);
    int64_t began_ms = test_now_ms();
    hf_limiter_state got;

    for (int i = 0; i < 3; i++)
        expect_status(HF_OK, take(f->client, name, 1, options, &got));
    assert_true(test_now_ms() - began_ms >= 199);
    expect_told(
        HF_OK, f->client,
        hf_limiter_take_start(f->client, name, 1, options, &got, &async, ERR));
    assert_true(test_now_ms() - began_ms >= 299);
    assert_int_equal(got.remaining, 0);
}

TEST(take_does_not_wait_in_vain)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *options =
        OPTIONS(.count = 1, .period_ms = DAY_MS, .wait_ms = DAY_MS / 2);
    hf_limiter_state got;

    expect_status(HF_OK, take(f->client, name, 1, options, NULL));
    expect_status(HF_TIMEOUT, take(f->client, name, 1, options, &got));
    assert_true(got.retry_ms > DAY_MS / 2);
    expect_told(
        HF_TIMEOUT, f->client,
        hf_limiter_take_start(f->client, name, 1, options, &got, &async, ERR));
}

typedef struct interrupter {
    hf_client *client;
    atomic_bool stop;
} interrupter;

static void *interrupt_often(void *user)
{
    interrupter *self = user;

    while (!atomic_load(&self->stop)) {
        test_rest();
        (void)!hf_client_interrupt(self->client, NULL);
    }
    return NULL;
}

TEST(wait_for_units_can_be_ended)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *options =
        OPTIONS(.count = 2, .period_ms = DAY_MS, .wait_ms = 2 * DAY_MS);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call;
    interrupter often = {.client = f->client};
    pthread_t thread;
    hf_limiter_state got;

    expect_status(HF_OK, take(f->client, name, 2, options, NULL));
    async.call = &call;
    expect_status(HF_OK, hf_limiter_take_start(f->client, name, 1, options,
                                               NULL, &async, ERR));
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    expect_status(HF_CANCELLED, said.status);
    assert_int_equal(pthread_create(&thread, NULL, interrupt_often, &often), 0);
    expect_status(HF_CANCELLED, take(f->client, name, 1, options, NULL));
    atomic_store(&often.stop, true);
    (void)pthread_join(thread, NULL);
    expect_status(HF_TIMEOUT,
                  take(f->other, name, 1,
                       OPTIONS(.count = 2, .period_ms = DAY_MS), &got));
    assert_true(got.retry_ms > DAY_MS); /* what was cancelled stays taken */
}

TEST(close_ends_a_started_wait)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *options =
        OPTIONS(.count = 1, .period_ms = DAY_MS, .wait_ms = DAY_MS);
    hf_client *client = fixture_client(f, NULL);
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, take(client, name, 1, options, NULL));
    expect_status(HF_OK, hf_limiter_take_start(client, name, 1, options, NULL,
                                               &async, ERR));
    fixture_close_client(f, client);
    assert_int_equal(said.count, 1);
    assert_true(said.status == HF_INDETERMINATE ||
                said.status == HF_UNAVAILABLE); /* it was not sent yet */
}

static int64_t store_us(hf_client *client)
{
    hf_bytes words[] = {hf_str("TIME")};
    hf_reply *reply = NULL;
    int64_t us;

    expect_status(HF_OK, hf_command(client, 1, words, &reply, ERR));
    us = strtoll(hf_reply_bytes(hf_reply_at(reply, 0)).data, NULL, 10) *
             1000000 +
         strtoll(hf_reply_bytes(hf_reply_at(reply, 1)).data, NULL, 10);
    hf_reply_free(reply);
    return us;
}

/* As if it was written an hour from now, when 200 s were left. */
TEST(clock_that_was_set_back_changes_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    const hf_limiter_options *options =
        OPTIONS(.count = 1, .period_ms = 200000);
    int64_t written_us = store_us(f->client) + 3600000000;
    hf_limiter_state got;
    char text[80];

    snprintf(text, sizeof(text), "%lld 0 %lld",
             (long long)written_us + 200000000, (long long)written_us);
    put_value(f->client, name, hf_str(text), 0);
    expect_status(HF_TIMEOUT, take(f->client, name, 1, options, &got));
    assert_int_equal(got.full_ms, 200000);
    test_rest();
    expect_status(HF_TIMEOUT, take(f->client, name, 1, options, &got));
    assert_true(got.full_ms < 200000);
}

TEST(other_rate_is_compared_with_what_was_taken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_limiter_state got;

    expect_status(HF_OK,
                  take(f->client, name, 50,
                       OPTIONS(.count = 100, .period_ms = DAY_MS), NULL));
    expect_status(HF_TIMEOUT,
                  take(f->client, name, 3,
                       OPTIONS(.count = 4, .period_ms = DAY_MS), &got));
    assert_int_equal(got.remaining, 2);
}

TEST(what_is_no_limiter_is_wrong_type)
{
    static const char *const wrong[] = {"",
                                        "x",
                                        "1 2",
                                        "1 2 3 4",
                                        "-1 0 0",
                                        "5 0 6",
                                        "99999999999999999 0 0",
                                        "1e3 0 0"};
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        put_value(f->client, name, hf_str(wrong[i]), 0);
        expect_status(HF_WRONG_TYPE,
                      take(f->client, name, 1, OPTIONS(.count = 1), NULL));
        assert_value(f->client, name, hf_str(wrong[i]));
    }
    put_hash(f->client, fixture_key(f, "h"), words("a", "b"), 0);
    refused(HF_WRONG_TYPE, ":h\"",
            take(f->client, fixture_key(f, "h"), 1, OPTIONS(.count = 1), NULL));
}

TEST(take_many_answers_each)
{
    fixture *f = *state;
    hf_limiter_state got[3];
    hf_limiter_item items[] = {{fixture_key(f, "a"), 2, &got[0]},
                               {fixture_key(f, "b"), 9, &got[1]},
                               {fixture_key(f, "a"), 2, &got[2]}};
    hf_status statuses[3];

    expect_status(HF_INVALID,
                  hf_limiter_take_many(f->client, items, 3,
                                       OPTIONS(.count = 3, .period_ms = DAY_MS),
                                       statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_INVALID);
    assert_int_equal(statuses[2], HF_TIMEOUT);
    assert_int_equal(got[2].remaining, 1);
    expect_status(HF_INVALID,
                  hf_limiter_take_many(f->client, items, 1,
                                       OPTIONS(.count = 3, .wait_ms = 1),
                                       statuses, ERR));
}

TEST(bad_rates_are_named)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");

#define BAD(text, cost, ...)                                                   \
    refused(HF_INVALID, text,                                                  \
            take(f->client, name, cost, OPTIONS(__VA_ARGS__), NULL))
    BAD("count", 1, .count = 0);
    BAD("count", 1, .count = 1000000001);
    BAD("period_ms", 1, .count = 1, .period_ms = -1);
    BAD("period_ms", 1, .count = 1, .period_ms = HF_LIMITER_PERIOD_MAX_MS + 1);
    BAD("burst", 1, .count = 1, .burst = -1);
    BAD("year", 1, .count = 1, .period_ms = DAY_MS, .burst = 1000);
    BAD("microsecond", 1, .count = 1001, .period_ms = 1);
    BAD("cost", 2, .count = 1);
    BAD("cost", -1, .count = 1);
    BAD("cost", 0, .count = 1);
    BAD("wait_ms", 1, .count = 1, .wait_ms = -1);
#undef BAD
    refused(HF_INVALID, "opts", take(f->client, name, 1, NULL, NULL));
    expect_status(HF_UNSUPPORTED, take(f->client, name, 1,
                                       OPTIONS(.count = 1, .flags = 1), NULL));
}
