/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_fill_test.c - fills of cache entries: who waits for one, who takes
 * over, and what one that was overtaken must not store.
 */
#include <pthread.h>

#include "holdfast/cache.h"
#include "support/cache_filler.h"
#include "support/slowness.h"

FIXTURE_TESTS();

/* What is not woken polls then. */
#define POLL_MS 5000

/* ------------------------------------------------------------------ waiting */

typedef struct reader {
    filler self;
    hf_client *client;
    pthread_t thread;
    hf_status status;
    int64_t took_ms;
} reader;

/* Not on the test's thread: no assertions. */
static void fill_quietly(void *user, hf_cache_fill *fill)
{
    filler *self = user;

    atomic_fetch_add(&self->runs, 1);
    if (hf_cache_fill_done(fill, self->value != NULL ? HF_OK : self->status,
                           hf_str(self->value), NULL) != HF_OK)
        abort();
}

static void *read_elsewhere(void *user)
{
    reader *self = user;
    hf_cache_options usual = lasting(60000);
    int64_t began_ms = test_now_ms();

    self->self.info = (hf_cache_info)HF_CACHE_INFO_INIT;
    self->status = hf_cache_get_or_fill(
        self->client, self->self.key, fill_quietly, &self->self,
        self->self.opts != NULL ? self->self.opts : &usual, &self->self.got,
        &self->self.info, NULL);
    self->took_ms = test_now_ms() - began_ms;
    return NULL;
}

static void start_reader(reader *self, hf_client *client, filler *of)
{
    *self = (reader){.self = {.f = of->f, .key = of->key, .value = "reader's"},
                     .client = client};
    self->self.opts = of->opts;
    assert_int_equal(pthread_create(&self->thread, NULL, read_elsewhere, self),
                     0);
}

#define READERS 4
static reader readers[READERS];

/* Two of each client, which have joined the waiters before this returns. */
static void start_readers(filler *self)
{
    for (size_t i = 0; i < READERS; i++)
        start_reader(&readers[i], i % 2 == 0 ? self->f->client : self->f->other,
                     self);
    expect_soon(own_key_exists(self->f, WAIT, self->key), 3000);
}

TEST(cache_readers_wait_for_the_fill)
{
    fixture *f = *state;
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "filled",
                   .during = start_readers};

    expect_got(&self, f->client, "filled", HF_CACHE_FILLED);
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        expect_status(HF_OK, readers[i].status);
        assert_buffer(&readers[i].self.got, bytes("filled"));
        assert_int_equal(readers[i].self.info.source, HF_CACHE_HIT);
        assert_woken(readers[i].took_ms, POLL_MS);
    }
    assert_false(own_key_exists(f, WAIT, self.key));
}

TEST(cache_readers_fill_after_one_that_failed)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    filler self = {.f = f,
                   .opts = &options,
                   .key = fixture_key(f, "k"),
                   .status = HF_UNAVAILABLE,
                   .during = start_readers};
    int fills = 0;

    options.flags = HF_CACHE_RETRY;
    expect_status(HF_UNAVAILABLE, get_or_fill(f->client, &self));
    for (size_t i = 0; i < READERS; i++) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        expect_status(HF_OK, readers[i].status);
        assert_buffer(&readers[i].self.got, bytes("reader's"));
        assert_woken(readers[i].took_ms, POLL_MS);
        fills += readers[i].self.runs;
    }
    assert_int_equal(fills, 1);
}

static hf_client *third;

/* The first to wait has timed out when the second begins. */
static void time_out_then_wait(filler *self)
{
    hf_cache_options options = lasting(60000);
    filler other = {.f = self->f, .key = self->key, .opts = &options};
    int64_t until_ms;

    options.wait_ms = 30;
    expect_status(HF_TIMEOUT, get_or_fill(self->f->other, &other));
    start_reader(&readers[0], third, self);
    until_ms = test_now_ms() + 200;
    while (test_now_ms() < until_ms)
        test_rest();
}

static void wait_then_delete(filler *self)
{
    time_out_then_wait(self);
    expect_status(HF_NOT_FOUND,
                  hf_cache_delete(self->f->client, self->key, ERR));
}

static void wait_then_invalidate(filler *self)
{
    time_out_then_wait(self);
    expect_status(
        HF_OK, hf_cache_invalidate(self->f->client, self->opts->tags[0], ERR));
}

#define TAGGED_WAIT "hf:wait::%s%.*s"

static void expect_woken(reader *self)
{
    assert_false(own_key_exists(self->self.f, TAGGED_WAIT, self->self.key));
    assert_int_equal(pthread_join(self->thread, NULL), 0);
    expect_status(HF_OK, self->status);
    assert_buffer(&self->self.got, bytes("reader's"));
}

TEST(cache_readers_are_woken_behind_one_that_timed_out)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    hf_bytes tag = fixture_key(f, "{k}tag");
    filler self = {.f = f,
                   .key = fixture_key(f, "{k}"),
                   .status = HF_UNAVAILABLE,
                   .opts = &options,
                   .during = time_out_then_wait};

    third = fixture_client(f, NULL);
    options.tags = &tag;
    options.tag_count = 1;
    options.flags = HF_CACHE_RETRY;
    expect_status(HF_UNAVAILABLE, get_or_fill(f->client, &self));
    expect_woken(&readers[0]);
    expect_status(HF_OK, hf_cache_delete(f->client, self.key, ERR));
    self.value = "overtaken";
    self.during = wait_then_delete;
    expect_got(&self, f->client, "overtaken", HF_CACHE_FILLED_ALONE);
    expect_woken(&readers[0]);
    expect_status(HF_OK, hf_cache_delete(f->client, self.key, ERR));
    self.during = wait_then_invalidate;
    expect_got(&self, f->client, "overtaken", HF_CACHE_FILLED_ALONE);
    expect_woken(&readers[0]);
}

/* One that has not begun yet is not interrupted: until it has. */
static void interrupt_reader(reader *self)
{
    while (pthread_tryjoin_np(self->thread, NULL) != 0) {
        expect_status(HF_OK, hf_client_interrupt(self->client, ERR));
        test_rest();
    }
    expect_status(HF_CANCELLED, self->status);
}

static void interrupt_readers(filler *self)
{
    start_readers(self);
    interrupt_reader(&readers[1]);
    interrupt_reader(&readers[3]);
}

TEST(cache_readers_are_interrupted)
{
    fixture *f = *state;
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "filled",
                   .during = interrupt_readers};

    expect_got(&self, f->client, "filled", HF_CACHE_FILLED);
    for (size_t i = 0; i < READERS; i += 2) {
        assert_int_equal(pthread_join(readers[i].thread, NULL), 0);
        expect_status(HF_OK, readers[i].status);
        hf_buffer_free(&readers[i].self.got);
    }
}

static void time_out_elsewhere(filler *self)
{
    hf_cache_options options = lasting(60000);
    filler other = {.f = self->f, .key = self->key, .opts = &options};

    options.wait_ms = 30;
    expect_status(HF_TIMEOUT, get_or_fill(self->f->other, &other));
    options.flags = HF_CACHE_NO_WAIT;
    expect_status(HF_TIMEOUT, get_or_fill(self->f->other, &other));
    assert_int_equal(other.runs, 0);
}

TEST(cache_readers_wait_no_longer_than_they_want)
{
    fixture *f = *state;
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "filled",
                   .during = time_out_elsewhere};

    expect_got(&self, f->client, "filled", HF_CACHE_FILLED);
}

/* --------------------------------------------------------------- stale puts */

static void fill_elsewhere(filler *self)
{
    filler other = {.f = self->f, .key = self->key, .value = "later"};

    expect_got(&other, self->f->other, "later", HF_CACHE_FILLED);
}

TEST(cache_fill_without_its_lease_stores_nothing)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "late",
                   .opts = &options,
                   .during = fill_elsewhere};

    options.lease_ms = 50;
    options.flags = HF_CACHE_NO_RENEW;
    expect_got(&self, f->client, "late", HF_CACHE_FILLED_ALONE);
    expect_cached(f, self.key, "later");
}

static void delete_elsewhere(filler *self)
{
    expect_status(HF_NOT_FOUND,
                  hf_cache_delete(self->f->other, self->key, ERR));
}

static void put_elsewhere(filler *self)
{
    hf_cache_options options = lasting(60000);

    put(self->f, self->key, "put", &options);
}

static void renew_after_invalidation(void *user, hf_cache_fill *fill)
{
    filler *self = user;

    expect_status(
        HF_OK, hf_cache_invalidate(self->f->other, self->opts->tags[0], ERR));
    expect_status(HF_OK, hf_cache_fill_renew(fill, ERR));
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("late"), ERR));
}

static void invalidate_elsewhere(filler *self)
{
    expect_status(
        HF_OK, hf_cache_invalidate(self->f->other, self->opts->tags[0], ERR));
}

TEST(cache_fill_overtaken_stores_nothing)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    hf_bytes tag = fixture_key(f, "{k}tag");
    filler self = {.f = f,
                   .key = fixture_key(f, "{k}"),
                   .value = "late",
                   .opts = &options,
                   .during = delete_elsewhere};

    expect_got(&self, f->client, "late", HF_CACHE_FILLED_ALONE);
    expect_missing(f->client, self.key);
    self.during = put_elsewhere;
    expect_got(&self, f->client, "late", HF_CACHE_FILLED_ALONE);
    expect_cached(f, self.key, "put");
    expect_status(HF_OK, hf_cache_delete(f->client, self.key, ERR));
    options.tags = &tag;
    options.tag_count = 1;
    self.during = invalidate_elsewhere;
    expect_got(&self, f->client, "late", HF_CACHE_FILLED_ALONE);
    expect_missing(f->client, self.key);
    expect_status(HF_OK, hf_cache_get_or_fill(f->client, self.key,
                                              renew_after_invalidation, &self,
                                              &options, &self.got, NULL, ERR));
    assert_buffer(&self.got, bytes("late"));
    expect_missing(f->client, self.key);
    self.during = NULL;
    expect_got(&self, f->client, "late", HF_CACHE_FILLED);
    expect_got(&self, f->client, "late", HF_CACHE_HIT);
}

/* Longer than the lease; with HF_CACHE_NO_RENEW the fill has to renew it. */
typedef struct slow_fill {
    int64_t lease_ms;
    bool renews;
} slow_fill;

static void fill_slowly(void *user, hf_cache_fill *fill)
{
    const slow_fill *self = user;
    int64_t until_ms = test_now_ms() + 2 * self->lease_ms;

    while (test_now_ms() < until_ms) {
        if (self->renews)
            expect_status(HF_OK, hf_cache_fill_renew(fill, ERR));
        test_rest();
    }
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("slow"), ERR));
}

static void lose_lease(void *user, hf_cache_fill *fill)
{
    fixture *f = user;

    expect_status(HF_NOT_FOUND,
                  hf_cache_delete(f->other, hf_cache_fill_key(fill), ERR));
    put_value(f->other, hf_cache_fill_key(fill), bytes("theirs"), 0);
    expect_status(HF_LOST, hf_cache_fill_renew(fill, ERR));
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("mine"), ERR));
}

TEST(cache_fill_longer_than_its_lease_is_stored)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    hf_cache_info info = HF_CACHE_INFO_INIT;
    hf_buffer got = HF_BUFFER_INIT;
    slow_fill slow = {.lease_ms = slowed_ms(400)};

    options.lease_ms = slow.lease_ms;
    for (int i = 0; i < 2; i++) {
        slow.renews = i == 1;
        options.flags = slow.renews ? HF_CACHE_NO_RENEW : 0;
        expect_status(HF_OK,
                      hf_cache_get_or_fill(f->client, key, fill_slowly, &slow,
                                           &options, &got, &info, ERR));
        assert_buffer(&got, bytes("slow"));
        assert_int_equal(info.source, HF_CACHE_FILLED);
        expect_status(HF_OK, hf_cache_delete(f->client, key, ERR));
    }
}

TEST(cache_fill_learns_that_it_lost_its_lease)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    hf_cache_info info = HF_CACHE_INFO_INIT;
    hf_buffer got = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_cache_get_or_fill(f->client, key, lose_lease, f,
                                              &options, &got, &info, ERR));
    assert_buffer(&got, bytes("mine"));
    assert_int_equal(info.source, HF_CACHE_FILLED_ALONE);
    expect_cached(f, key, "theirs");
}
