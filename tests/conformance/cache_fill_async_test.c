/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_fill_async_test.c - hf_cache_get_or_fill_start(): fills that end after
 * their callback has returned, and calls that end before their fill.
 */
#include <pthread.h>

#include "holdfast/cache.h"
#include "support/cache_filler.h"
#include "support/slowness.h"
#include "support/told.h"

FIXTURE_TESTS();

/* What is not woken polls then. */
#define POLL_MS 5000
#define SOON_MS 10000

/* A started call, whose fill is kept. */
typedef struct begun {
    hf_client *client;
    hf_cache_fill *fill; /* NULL: not called */
    hf_call *call;
    told said;
    hf_cache_info info;
    hf_buffer got;
} begun;

/* Perhaps by a close, on another thread: no assertions. */
static void keep(void *user, hf_cache_fill *fill)
{
    begun *self = user;

    if (self->fill != NULL)
        abort();
    self->fill = fill;
}

static void start(begun *self, hf_client *client, hf_bytes key,
                  const hf_cache_options *opts)
{
    hf_cache_options usual = lasting(60000);
    hf_async async = tell(&self->said);

    *self = (begun){.client = client, .info = HF_CACHE_INFO_INIT};
    async.call = &self->call;
    expect_status(HF_OK,
                  hf_cache_get_or_fill_start(
                      client, key, keep, self, opts != NULL ? opts : &usual,
                      &self->got, &self->info, &async, ERR));
}

static bool dispatched(hf_client *client, bool done)
{
    dispatch(client);
    return done;
}

static void await_fill(begun *self)
{
    expect_soon(dispatched(self->client, self->fill != NULL), SOON_MS);
}

static void end_fill(const begun *self, const char *value)
{
    expect_status(HF_OK,
                  hf_cache_fill_done(self->fill, HF_OK, hf_str(value), ERR));
}

static void expect_answer(begun *self, const char *value,
                          hf_cache_source source)
{
    await_told(self->client, &self->said, 1);
    expect_status(HF_OK, self->said.status);
    assert_buffer(&self->got, hf_str(value));
    assert_int_equal(self->info.source, source);
}

static size_t still_running(hf_client *client)
{
    size_t running = 99;

    expect_status(HF_OK, hf_client_dispatch(client, &running, ERR));
    return running;
}

static hf_client *own_client(const fixture *f)
{
    hf_client *client = NULL;

    expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
    return client;
}

/* ------------------------------------------------------------------- fills */

static void *end_elsewhere(void *user)
{
    const begun *self = user;
    hf_status status = hf_cache_fill_renew(self->fill, NULL);

    if (status == HF_OK)
        status = hf_cache_fill_done(self->fill, HF_OK, bytes("filled"), NULL);
    return status == HF_OK ? user : NULL;
}

TEST(cache_started_fill_ends_on_any_thread)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun first, second;
    pthread_t thread;
    void *result;

    start(&first, f->client, key, NULL);
    await_fill(&first);
    assert_bytes(key, hf_cache_fill_key(first.fill));
    dispatch(f->client);
    assert_int_equal(first.said.count, 0);
    assert_int_equal(pthread_create(&thread, NULL, end_elsewhere, &first), 0);
    assert_int_equal(pthread_join(thread, &result), 0);
    assert_ptr_equal(result, &first);
    expect_answer(&first, "filled", HF_CACHE_FILLED);
    assert_int_equal(still_running(f->client), 0);
    expect_cached(f, key, "filled");
    start(&second, f->client, key, NULL);
    expect_answer(&second, "filled", HF_CACHE_HIT);
    assert_null(second.fill);
}

TEST(cache_started_fill_longer_than_its_lease_is_stored)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    begun self;
    int64_t began_ms;

    options.lease_ms = slowed_ms(400);
    start(&self, f->client, key, &options);
    await_fill(&self);
    began_ms = test_now_ms();
    while (test_now_ms() < began_ms + 2 * options.lease_ms)
        test_rest();
    end_fill(&self, "slow");
    expect_answer(&self, "slow", HF_CACHE_FILLED);
    expect_cached(f, key, "slow");
}

#define CALLS 6

/* All calls but the first, those of the other client too, wait. */
static void start_some(begun all[CALLS], fixture *f, hf_bytes key,
                       const hf_cache_options *opts)
{
    start(&all[0], f->client, key, opts);
    await_fill(&all[0]);
    for (size_t i = 1; i < CALLS; i++)
        start(&all[i], i % 2 == 0 ? f->client : f->other, key, opts);
    expect_soon(own_key_exists(f, WAIT, key), SOON_MS);
}

TEST(cache_started_calls_wait_for_the_fill)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun all[CALLS];
    int64_t began_ms;

    start_some(all, f, key, NULL);
    began_ms = test_now_ms();
    end_fill(&all[0], "filled");
    expect_answer(&all[0], "filled", HF_CACHE_FILLED);
    for (size_t i = 1; i < CALLS; i++) {
        expect_answer(&all[i], "filled", HF_CACHE_HIT);
        assert_null(all[i].fill);
    }
    assert_woken(test_now_ms() - began_ms, POLL_MS);
}

static begun *next_filler(begun all[CALLS])
{
    for (size_t i = 1; i < CALLS; i++) {
        dispatch(all[i].client);
        if (all[i].fill != NULL)
            return &all[i];
    }
    return NULL;
}

TEST(cache_failure_is_shared_with_those_that_wait)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun first, second, third;

    start(&first, f->client, key, NULL);
    await_fill(&first);
    start(&second, f->other, key, NULL);
    expect_soon(own_key_exists(f, WAIT, key), SOON_MS);
    expect_status(HF_OK,
                  hf_cache_fill_done(first.fill, HF_SYSTEM, hf_str(NULL), ERR));
    await_told(f->client, &first.said, 1);
    expect_status(HF_SYSTEM, first.said.status);
    await_told(f->other, &second.said, 1);
    expect_status(HF_SYSTEM, second.said.status);
    assert_null(second.fill);
    /* One that comes later tries. */
    start(&third, f->other, key, NULL);
    await_fill(&third);
    end_fill(&third, "third");
    expect_answer(&third, "third", HF_CACHE_FILLED);
    expect_cached(f, key, "third");
}

TEST(cache_fill_given_up_is_not_shared)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun first, second;

    start(&first, f->client, key, NULL);
    await_fill(&first);
    start(&second, f->other, key, NULL);
    expect_soon(own_key_exists(f, WAIT, key), SOON_MS);
    expect_status(
        HF_OK, hf_cache_fill_done(first.fill, HF_CANCELLED, hf_str(NULL), ERR));
    await_fill(&second);
    end_fill(&second, "second");
    expect_answer(&second, "second", HF_CACHE_FILLED);
    await_told(f->client, &first.said, 1);
}

TEST(cache_started_calls_fill_after_one_that_failed)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    begun all[CALLS], *next = NULL;
    int64_t began_ms;

    options.flags = HF_CACHE_RETRY;
    start_some(all, f, key, &options);
    began_ms = test_now_ms();
    expect_status(
        HF_OK, hf_cache_fill_done(all[0].fill, HF_SYSTEM, hf_str(NULL), ERR));
    await_told(f->client, &all[0].said, 1);
    expect_status(HF_SYSTEM, all[0].said.status);
    expect_soon((next = next_filler(all)) != NULL, SOON_MS);
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    end_fill(next, "later");
    for (size_t i = 1; i < CALLS; i++)
        expect_answer(&all[i], "later",
                      &all[i] == next ? HF_CACHE_FILLED : HF_CACHE_HIT);
}

TEST(cache_started_call_waits_no_longer_than_it_wants)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    begun first, second;

    start(&first, f->client, key, NULL);
    await_fill(&first);
    options.wait_ms = 30;
    start(&second, f->other, key, &options);
    await_told(f->other, &second.said, 1);
    expect_status(HF_TIMEOUT, second.said.status);
    options.flags = HF_CACHE_NO_WAIT;
    start(&second, f->other, key, &options);
    await_told(f->other, &second.said, 1);
    expect_status(HF_TIMEOUT, second.said.status);
    end_fill(&first, "filled");
    expect_answer(&first, "filled", HF_CACHE_FILLED);
}

/* --------------------------------------------------------- without the call */

static bool is_stale(hf_client *client, hf_bytes key)
{
    hf_buffer got = HF_BUFFER_INIT;
    hf_status status = hf_cache_get(client, key, NULL, &got, NULL);

    hf_buffer_free(&got);
    return status == HF_NOT_FOUND;
}

TEST(cache_started_call_returns_stale_value_at_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(1);
    begun first;

    options.stale_ms = 60000;
    put(f, key, "old", &options);
    expect_soon(is_stale(f->client, key), SOON_MS);
    options.ttl_ms = 60000;
    start(&first, f->client, key, &options);
    expect_answer(&first, "old", HF_CACHE_OLD);
    await_fill(&first);
    assert_int_equal(still_running(f->client), 1);
    end_fill(&first, "new");
    expect_soon(still_running(f->client) == 0, SOON_MS);
    assert_int_equal(first.said.count, 1);
    expect_cached(f, key, "new");
}

TEST(cache_started_fill_outlives_its_call)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun first;

    start(&first, f->client, key, NULL);
    await_fill(&first);
    hf_call_cancel(first.call);
    await_told(f->client, &first.said, 1);
    expect_status(HF_CANCELLED, first.said.status);
    assert_null(first.got.data);
    assert_int_equal(still_running(f->client), 1);
    end_fill(&first, "filled");
    expect_soon(still_running(f->client) == 0, SOON_MS);
    expect_cached(f, key, "filled");
}

/* Its lease ends as well. */
TEST(cache_started_call_is_cancelled_before_its_fill)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    begun first;

    start(&first, f->client, key, NULL);
    expect_soon(own_key_exists(f, FILL, key), SOON_MS);
    hf_call_cancel(first.call);
    await_told(f->client, &first.said, 1);
    expect_status(HF_CANCELLED, first.said.status);
    expect_soon(dispatched(f->client, !own_key_exists(f, FILL, key)), SOON_MS);
    expect_soon(still_running(f->client) == 0, SOON_MS);
    assert_null(first.fill);
}

TEST(cache_started_calls_are_cancelled_while_they_wait)
{
    fixture *f = *state;
    begun all[CALLS];

    start_some(all, f, fixture_key(f, "k"), NULL);
    for (size_t i = 1; i < CALLS; i++) {
        hf_call_cancel(all[i].call);
        await_told(all[i].client, &all[i].said, 1);
        expect_status(HF_CANCELLED, all[i].said.status);
    }
    end_fill(&all[0], "filled");
    expect_answer(&all[0], "filled", HF_CACHE_FILLED);
}

/* ------------------------------------------------------------------- close */

TEST(cache_close_ends_a_call_with_its_fill_under_way)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_client *client = own_client(f);
    begun first, waiting;

    start(&first, client, key, NULL);
    await_fill(&first);
    start(&waiting, client, key, NULL);
    expect_soon(own_key_exists(f, WAIT, key), SOON_MS);
    hf_client_close(client);
    assert_int_equal(first.said.count, 1);
    assert_int_equal(waiting.said.count, 1);
    expect_status(HF_UNAVAILABLE, first.said.status);
    assert_true(waiting.said.status == HF_UNAVAILABLE ||
                waiting.said.status == HF_INDETERMINATE);
    assert_null(waiting.fill);
    assert_bytes(key, hf_cache_fill_key(first.fill));
    expect_status(HF_INVALID, hf_cache_fill_renew(first.fill, ERR));
    expect_status(HF_INVALID,
                  hf_cache_fill_done(first.fill, HF_OK, bytes("late"), ERR));
    expect_missing(f->client, key);
}

TEST(cache_close_leaves_out_a_fill_that_waits)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_client *client = own_client(f);
    begun first;

    start(&first, client, key, NULL);
    expect_soon(own_key_exists(f, FILL, key), SOON_MS);
    hf_client_close(client);
    assert_int_equal(first.said.count, 1);
    assert_true(first.said.status == HF_UNAVAILABLE ||
                first.said.status == HF_INDETERMINATE);
    assert_null(first.fill);
}

static void close_and_end(void *user, hf_cache_fill *fill)
{
    begun *self = user;

    hf_client_close(self->client);
    self->fill = fill;
    expect_status(HF_INVALID,
                  hf_cache_fill_done(fill, HF_OK, bytes("late"), ERR));
}

TEST(cache_fill_may_close_the_client)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    begun self = {.client = own_client(f)};
    hf_async async = tell(&self.said);

    expect_status(HF_OK, hf_cache_get_or_fill_start(
                             self.client, fixture_key(f, "k"), close_and_end,
                             &self, &options, &self.got, NULL, &async, ERR));
    while (self.fill == NULL) {
        dispatch(self.client);
        test_rest();
    }
    assert_int_equal(self.said.count, 1);
    expect_status(HF_UNAVAILABLE, self.said.status);
}

/* --------------------------------------------------------------- the rest */

static void fill_now(void *user, hf_cache_fill *fill)
{
    (void)user;
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("now"), ERR));
}

TEST(cache_started_fill_may_end_in_its_callback)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    hf_buffer got = HF_BUFFER_INIT;

    expect_told(HF_OK, f->client,
                hf_cache_get_or_fill_start(f->client, fixture_key(f, "k"),
                                           fill_now, NULL, &options, &got, NULL,
                                           &async, ERR));
    assert_buffer(&got, bytes("now"));
    assert_int_equal(still_running(f->client), 0);
}

TEST(cache_started_call_refuses_bad_arguments)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(0);
    hf_cache_info info = {0};
    hf_buffer got = HF_BUFFER_INIT;
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_INVALID, hf_cache_get_or_fill_start(
                                  f->client, key, fill_now, NULL, &options,
                                  &got, NULL, &async, ERR));
    options.ttl_ms = 1;
    expect_status(HF_INVALID, hf_cache_get_or_fill_start(f->client, key, NULL,
                                                         NULL, &options, &got,
                                                         NULL, &async, ERR));
    expect_status(HF_INVALID, hf_cache_get_or_fill_start(
                                  f->client, key, fill_now, NULL, &options,
                                  NULL, NULL, &async, ERR));
    expect_status(HF_INVALID, hf_cache_get_or_fill_start(
                                  f->client, key, fill_now, NULL, &options,
                                  &got, &info, &async, ERR));
    assert_int_equal(still_running(f->client), 0);
    assert_int_equal(said.count, 0);
}
