/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_test.c - cache entries: what is read, filled and refused. What happens
 * during a fill is done within it, by the other client.
 */
#include "holdfast/cache.h"
#include "holdfast/key.h"
#include "support/cache_filler.h"
#include "support/slowness.h"
#include "support/told.h"

FIXTURE_TESTS();

/* ------------------------------------------------------------ get and put */

static void tell_and_expect(hf_status want, fixture *f, hf_bytes key,
                            hf_buffer *got)
{
    expect_told(want, f->client,
                hf_cache_get_start(f->client, key, NULL, got, &async, ERR));
}

TEST(cache_put_get_delete)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);

    expect_missing(f->client, key);
    put(f, key, "one", &options);
    expect_cached(f, key, "one");
    put(f, key, "", &options);
    expect_cached(f, key, "");
    assert_value(f->other, key, bytes(""));
    assert_ttl(f->other, key, 60000);
    expect_status(HF_OK, hf_cache_delete(f->other, key, ERR));
    expect_missing(f->client, key);
    expect_status(HF_NOT_FOUND, hf_cache_delete(f->client, key, ERR));
    assert_no_key(f->client, key);
}

TEST(cache_put_leaves_nothing_behind)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);

    options.stale_ms = 60000;
    put(f, key, "one", &options);
    assert_true(own_key_exists(f, META, key));
    assert_ttl(f->client, key, 120000);
    options.stale_ms = 0;
    put(f, key, "two", &options);
    assert_false(own_key_exists(f, META, key));
    expect_cached(f, key, "two");
    options.error_ms = 1;
    put(f, key, "three", &options);
    expect_status(HF_OK, hf_cache_delete(f->client, key, ERR));
    assert_false(own_key_exists(f, META, key));
}

/* Its tag and its age take more than one request. */
TEST(cache_get_started_takes_all_steps)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{g}k"), none = fixture_key(f, "none");
    hf_bytes tag = fixture_key(f, "{g}t");
    hf_cache_options options = lasting(60000);
    hf_buffer got = HF_BUFFER_INIT;

    options.tags = &tag;
    options.tag_count = 1;
    options.stale_ms = 1;
    put(f, key, "one", &options);
    for (int i = 0; i < 2; i++) {
        tell_and_expect(HF_OK, f, key, &got);
        assert_buffer(&got, bytes("one"));
    }
    expect_status(HF_OK, hf_cache_invalidate(f->other, tag, ERR));
    tell_and_expect(HF_NOT_FOUND, f, key, &got);
    tell_and_expect(HF_NOT_FOUND, f, none, &got);
    put_hash(f->client, none, words("a", "1"), 0);
    tell_and_expect(HF_WRONG_TYPE, f, none, &got);
    assert_null(got.data);
}

TEST(cache_values_of_others_are_fresh)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    filler self = {.f = f, .key = key, .value = "filled"};

    put_value(f->client, key, bytes("theirs"), 0);
    expect_cached(f, key, "theirs");
    expect_got(&self, f->client, "theirs", HF_CACHE_HIT);
    options.flags = HF_CACHE_ABSENT;
    put(f, key, "", &options);
    expect_missing(f->client, key);
    put_value(f->client, key, bytes("theirs again"), 0);
    expect_cached(f, key, "theirs again");
    assert_int_equal(self.runs, 0);
}

TEST(cache_remembers_that_there_is_no_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    filler self = {.f = f, .key = key, .status = HF_NOT_FOUND};

    options.absent_ms = 60000;
    self.opts = &options;
    expect_status(HF_NOT_FOUND, get_or_fill(f->client, &self));
    expect_status(HF_NOT_FOUND, get_or_fill(f->other, &self));
    assert_int_equal(self.runs, 1);
    expect_missing(f->client, key);
    assert_no_key(f->client, key);
    expect_status(HF_OK, hf_cache_delete(f->client, key, ERR));

    options.absent_ms = -1;
    expect_status(HF_NOT_FOUND, get_or_fill(f->client, &self));
    expect_status(HF_NOT_FOUND, get_or_fill(f->other, &self));
    assert_int_equal(self.runs, 3);
    assert_false(own_key_exists(f, META, key));
    assert_false(own_key_exists(f, FILL, key));
}

TEST(cache_get_many_reads_each_kind)
{
    fixture *f = *state;
    hf_bytes keys[] = {fixture_key(f, "plain"), fixture_key(f, "none"),
                       fixture_key(f, "{t}tagged"), fixture_key(f, "stale"),
                       hf_str("")};
    hf_bytes tag = fixture_key(f, "{t}tag");
    hf_buffer values[5] = {HF_BUFFER_INIT};
    hf_status statuses[5];
    hf_cache_put_item item = {keys[0], bytes("1")};
    hf_cache_options options = lasting(60000);

    expect_status(
        HF_OK, hf_cache_put_many(f->client, &item, 1, &options, statuses, ERR));
    options.tags = &tag;
    options.tag_count = 1;
    put(f, keys[2], "2", &options);
    options = lasting(1);
    options.stale_ms = 60000;
    put(f, keys[3], "3", &options);
    test_rest();
    options = (hf_cache_options)HF_CACHE_OPTIONS_INIT;
    options.flags = HF_CACHE_STALE;
    expect_status(HF_INVALID, hf_cache_get_many(f->client, keys, 5, &options,
                                                values, statuses, ERR));
    assert_int_equal(statuses[1], HF_NOT_FOUND);
    assert_int_equal(statuses[4], HF_INVALID);
    assert_buffer(&values[0], bytes("1"));
    assert_buffer(&values[2], bytes("2"));
    assert_buffer(&values[3], bytes("3"));
    expect_status(HF_OK,
                  hf_cache_delete_many(f->client, keys, 3, statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_NOT_FOUND);
}

/* -------------------------------------------------------------------- fill */

TEST(cache_fill_runs_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    filler self = {.f = f, .key = key, .value = "filled"};

    expect_got(&self, f->client, "filled", HF_CACHE_FILLED);
    expect_got(&self, f->client, "filled", HF_CACHE_HIT);
    expect_got(&self, f->other, "filled", HF_CACHE_HIT);
    assert_int_equal(self.runs, 1);
    assert_value(f->client, key, bytes("filled"));
    assert_ttl(f->client, key, 60000);
    assert_false(own_key_exists(f, FILL, key));
    assert_false(own_key_exists(f, WAIT, key));
}

TEST(cache_fill_that_fails_stores_nothing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    filler self = {.f = f, .key = key, .status = HF_UNAVAILABLE};

    expect_status(HF_UNAVAILABLE, get_or_fill(f->client, &self));
    assert_false(own_key_exists(f, FILL, key));
    self.value = "filled";
    expect_got(&self, f->other, "filled", HF_CACHE_FILLED);
    assert_int_equal(self.runs, 2);
}

static void fill_nothing(void *user, hf_cache_fill *fill)
{
    (void)fill;
    ++*(int *)user;
}

static void fill_twice(void *user, hf_cache_fill *fill)
{
    (void)user;
    expect_status(HF_OK, hf_cache_fill_done(fill, HF_OK, bytes("one"), ERR));
    expect_status(HF_INVALID,
                  hf_cache_fill_done(fill, HF_OK, bytes("two"), ERR));
}

TEST(cache_fill_must_end_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(60000);
    hf_buffer got = HF_BUFFER_INIT;
    int runs = 0;

    expect_status(HF_INVALID,
                  hf_cache_get_or_fill(f->client, key, fill_nothing, &runs,
                                       &options, &got, NULL, ERR));
    assert_int_equal(runs, 1);
    expect_status(HF_OK, hf_cache_get_or_fill(f->client, key, fill_twice, NULL,
                                              &options, &got, NULL, ERR));
    assert_buffer(&got, bytes("one"));
    expect_status(HF_INVALID, hf_cache_fill_done(NULL, HF_OK, bytes(""), ERR));
}

/* ------------------------------------------------------------------- stale */

static void expect_old_elsewhere(filler *self)
{
    filler other = {.f = self->f, .key = self->key, .value = "unused"};

    expect_got(&other, self->f->other, "old", HF_CACHE_OLD);
    assert_int_equal(other.runs, 0);
}

TEST(cache_stale_value_is_returned_during_a_fill)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(1);
    filler self = {
        .f = f, .key = key, .value = "new", .during = expect_old_elsewhere};
    hf_buffer got = HF_BUFFER_INIT;

    options.stale_ms = 60000;
    put(f, key, "old", &options);
    test_rest();
    expect_missing(f->client, key);
    options = (hf_cache_options)HF_CACHE_OPTIONS_INIT;
    options.flags = HF_CACHE_STALE;
    expect_status(HF_OK, hf_cache_get(f->other, key, &options, &got, ERR));
    assert_buffer(&got, bytes("old"));
    expect_got(&self, f->client, "new", HF_CACHE_FILLED);
    expect_cached(f, key, "new");
}

TEST(cache_stale_value_is_returned_after_an_error)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(1);
    filler self = {.f = f, .key = key, .status = HF_UNAVAILABLE};

    fixture_not_records(f);
    options.error_ms = 60000;
    put(f, key, "old", &options);
    test_rest();
    expect_got(&self, f->client, "old", HF_CACHE_OLD_ERROR);
    assert_int_equal(self.info.fill_status, HF_UNAVAILABLE);
    expect_got(&self, f->other, "old", HF_CACHE_OLD_ERROR);
    assert_true(self.runs == 1 || slowed_ms(1) > 1);
    expect_soon(!own_key_exists(f, FILL, key), 3000);
    self.value = "new";
    expect_got(&self, f->other, "new", HF_CACHE_FILLED);
}

TEST(cache_stale_value_ends)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(1);

    options.stale_ms = options.error_ms = 20;
    put(f, key, "old", &options);
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_soon(!own_key_exists(f, META, key), 1000);
}

/* -------------------------------------------------------------------- tags */

TEST(cache_tag_invalidates_its_entries_at_once)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{g}a"), b = fixture_key(f, "{g}b");
    hf_bytes c = fixture_key(f, "{g}c");
    hf_bytes tags[] = {fixture_key(f, "{g}1"), fixture_key(f, "{g}2")};
    hf_cache_options options = lasting(60000);
    hf_buffer got = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, hf_cache_invalidate(f->client, tags[0], ERR));
    options.tags = tags;
    options.tag_count = 1;
    put(f, a, "a", &options);
    options.tag_count = 2;
    put(f, b, "b", &options);
    options.tags = tags + 1;
    options.tag_count = 1;
    options.stale_ms = 60000;
    put(f, c, "c", &options);
    expect_cached(f, a, "a");
    expect_cached(f, b, "b");
    options.tags = tags;
    options.tag_count = 2;
    options.ttl_ms = 0;
    expect_status(HF_OK, hf_cache_get(f->client, b, &options, &got, ERR));
    assert_buffer(&got, bytes("b"));

    expect_status(HF_OK, hf_cache_invalidate(f->client, tags[0], ERR));
    expect_missing(f->other, a);
    expect_missing(f->other, b);
    expect_cached(f, c, "c");
    expect_status(HF_OK, hf_cache_invalidate(f->client, tags[1], ERR));
    options.flags = HF_CACHE_STALE;
    expect_status(HF_NOT_FOUND,
                  hf_cache_get(f->client, c, &options, &got, ERR));
    assert_null(got.data);
}

TEST(cache_tag_lives_as_long_as_its_entries)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{g}a"), b = fixture_key(f, "{g}b");
    hf_bytes tag = fixture_key(f, "{g}t");
    hf_cache_options options = lasting(30);
    char name[256];

    options.tags = &tag;
    options.tag_count = 1;
    put(f, a, "a", &options);
    options.ttl_ms = 60000;
    put(f, b, "b", &options);
    options.ttl_ms = 20;
    put(f, a, "a", &options);
    name_own_key(name, TAG, tag);
    assert_ttl(f->client, hf_str(name), 60000);
    expect_soon(key_is_gone(f->client, a), 1000);
    expect_cached(f, b, "b");
}

TEST(cache_tag_is_in_the_slot_of_its_entry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "{a}k"), tag = fixture_key(f, "{b}t");
    hf_cache_options options = lasting(60000);
    hf_status want = f->cluster != NULL ? HF_INVALID : HF_OK;

    options.tags = &tag;
    options.tag_count = 1;
    expect_status(want,
                  hf_cache_put(f->client, key, bytes("v"), &options, ERR));
}

/* ----------------------------------------------------- early refresh, jitter
 */

static void be_slow(filler *self)
{
    (void)self;
    test_rest();
    test_rest();
}

/* Its fill took 2 ms or more and beta is 100: at half of 1 s before the end,
 * one read in 12 fills at least. */
TEST(cache_refreshes_early)
{
    fixture *f = *state;
    hf_cache_options options = lasting(1000);
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "v",
                   .opts = &options,
                   .during = be_slow};
    int64_t until_ms;

    options.early_percent = 10000;
    expect_got(&self, f->client, "v", HF_CACHE_FILLED);
    until_ms = test_now_ms() + 990;
    while (self.runs == 1 && test_now_ms() < until_ms) {
        expect_status(HF_OK, get_or_fill(f->other, &self));
        hf_buffer_free(&self.got);
    }
    assert_int_equal(self.runs, 2);
}

TEST(cache_refreshes_early_only_if_wanted)
{
    fixture *f = *state;
    hf_cache_options options = lasting(60000);
    filler self = {.f = f,
                   .key = fixture_key(f, "k"),
                   .value = "v",
                   .opts = &options,
                   .during = be_slow};

    options.early_percent = -1;
    expect_got(&self, f->client, "v", HF_CACHE_FILLED);
    for (int i = 0; i < 50; i++)
        expect_got(&self, f->client, "v", HF_CACHE_HIT);
}

TEST(cache_jitter_shortens_the_time_to_live)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_cache_options options = lasting(100000);
    int64_t least = INT64_MAX, most = 0, ttl_ms = 0;

    options.jitter_percent = 50;
    for (int i = 0; i < 20; i++) {
        put(f, key, "v", &options);
        expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
        least = ttl_ms < least ? ttl_ms : least;
        most = ttl_ms > most ? ttl_ms : most;
    }
    assert_true(most - least > 5000);
    assert_in_range(least, 40000, 100000);
    assert_in_range(most, 50000, 100000);
}

/* ------------------------------------------------------------------ hostile */

TEST(cache_refuses_bad_options)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes tags[HF_CACHE_TAGS_MAX + 1] = {hf_str("")};
    const hf_cache_options good = lasting(60000);
    hf_cache_options bad[14];

    for (size_t i = 0; i < 14; i++)
        bad[i] = good;
    bad[0].ttl_ms = 0;
    bad[1].ttl_ms = -1;
    bad[2].ttl_ms = HF_TTL_MAX_MS + 1;
    bad[3].stale_ms = -1;
    bad[4].error_ms = HF_TTL_MAX_MS + 1;
    bad[5].absent_ms = -2;
    bad[6].lease_ms = -1;
    bad[7].wait_ms = -1;
    bad[8].jitter_percent = -1;
    bad[9].jitter_percent = 101;
    bad[10].early_percent = -2;
    bad[11].tags = tags;
    bad[11].tag_count = HF_CACHE_TAGS_MAX + 1;
    bad[12].tag_count = 1;
    bad[13].tags = tags;
    bad[13].tag_count = 1;
    for (size_t i = 0; i < 14; i++)
        expect_status(HF_INVALID,
                      hf_cache_put(f->client, key, bytes("v"), &bad[i], ERR));
    bad[0] = good;
    bad[0].flags = 1u << 31;
    expect_status(HF_UNSUPPORTED,
                  hf_cache_put(f->client, key, bytes("v"), &bad[0], ERR));
    expect_status(HF_INVALID,
                  hf_cache_put(f->client, hf_str(""), bytes("v"), &good, ERR));
    expect_status(HF_INVALID, hf_cache_put(f->client, bytes("a}b"), bytes("v"),
                                           &good, ERR));
    expect_status(HF_INVALID, hf_cache_get(f->client, key, NULL, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(cache_leaves_other_types_alone)
{
    fixture *f = *state;
    filler self = {.f = f, .key = fixture_key(f, "k"), .value = "v"};
    hf_cache_options options = lasting(60000);
    hf_buffer got = HF_BUFFER_INIT;

    put_hash(f->client, self.key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE,
                  hf_cache_get(f->client, self.key, NULL, &got, ERR));
    expect_status(HF_WRONG_TYPE, get_or_fill(f->client, &self));
    expect_status(HF_WRONG_TYPE,
                  hf_cache_put(f->client, self.key, bytes("v"), &options, ERR));
    expect_status(HF_WRONG_TYPE, hf_cache_delete(f->client, self.key, ERR));
    assert_int_equal(self.runs, 0);
    assert_field(f->client, self.key, bytes("a"), bytes("1"));
}

/* What another program wrote where we keep what we know. */
TEST(cache_survives_foreign_bytes)
{
    static const char *const metas[] = {
        "",
        "1",
        "1 ",
        "2 x value 1 1 1 0\n",
        "\n",
        "1 t value",
        "1 t value 1 1 1 -5\n",
        "1 t value 9 9 9 0 v\n9:x",
        "1 t value 99999999999999999999 1 1 0\n",
        "1 t absent 1 1 1 0 a b c d e f g h i j k l m n o p q r\n"};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    char name[256];

    name_own_key(name, META, key);
    for (size_t i = 0; i < sizeof(metas) / sizeof(metas[0]); i++) {
        filler self = {.f = f, .key = key, .value = "filled"};

        put_value(f->client, hf_str(name), hf_str(metas[i]), 60000);
        expect_missing(f->client, key);
        put_value(f->client, key, bytes("theirs"), 60000);
        expect_cached(f, key, "theirs");
        expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
        expect_got(&self, f->client, "filled", HF_CACHE_FILLED);
        expect_cached(f, key, "filled");
        expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    }
}

static void fill_big(void *user, hf_cache_fill *fill)
{
    expect_status(HF_OK,
                  hf_cache_fill_done(fill, HF_OK, *(hf_bytes *)user, ERR));
}

TEST(cache_holds_any_bytes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k\n\xff");
    hf_cache_options options = lasting(60000);
    size_t size = 1 << 20;
    char *data = malloc(size);
    hf_bytes value = {data, size};
    hf_bytes tag = fixture_key(f, "k\n\xff");
    hf_buffer got = HF_BUFFER_INIT;

    assert_non_null(data);
    for (size_t i = 0; i < size; i++)
        data[i] = (char)(i * 7);
    options.tags = &tag;
    options.tag_count = 1;
    for (int i = 0; i < 2; i++) {
        expect_status(HF_OK,
                      hf_cache_get_or_fill(f->client, key, fill_big, &value,
                                           &options, &got, NULL, ERR));
        assert_buffer(&got, value);
    }
    free(data);
}
