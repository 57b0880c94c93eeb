/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rank_test.c - ranks: adding, incrementing, ranking, reading and removing
 * members, and their times to live; what has expired; bad input.
 */
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/key.h"
#include "holdfast/rank.h"
#include "holdfast/script.h"
#include "holdfast/txn.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define MINUTE_MS 60000

static hf_status add_as(fixture *f, hf_bytes key, const char *name,
                        double score, int64_t ttl_ms, uint32_t flags)
{
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    opts.flags = flags;
    return hf_rank_add(f->client, key, hf_str(name), score, &opts, NULL, ERR);
}

static void add(fixture *f, hf_bytes key, const char *name, double score,
                int64_t ttl_ms)
{
    expect_status(HF_OK, add_as(f, key, name, score, ttl_ms, 0));
}

static bool same(double a, double b)
{
    return a <= b && a >= b;
}

/* Also of what is expected: the others are as good as unknown. */
static void assert_place(fixture *f, hf_bytes key, const char *name,
                         double score, size_t rank, size_t count)
{
    hf_rank_place place = {0, 0, 0};

    expect_status(HF_OK,
                  hf_rank_get(f->other, key, hf_str(name), &place, NULL, ERR));
    assert_true(same(place.score, score));
    assert_int_equal(place.rank, rank);
    assert_int_equal(place.count, count);
}

static void assert_count(fixture *f, hf_bytes key, const double *min,
                         const double *max, size_t want)
{
    size_t count = 12345;

    expect_status(HF_OK, hf_rank_count(f->other, key, min, max, &count, ERR));
    assert_int_equal(count, want);
}

/* -2: it is not there. */
static int64_t ttl_of(fixture *f, hf_bytes key, const char *name)
{
    int64_t ttl_ms = 12345;
    hf_status status =
        hf_rank_get(f->other, key, hf_str(name), NULL, &ttl_ms, ERR);

    if (status == HF_NOT_FOUND)
        return -2;
    expect_status(HF_OK, status);
    return ttl_ms;
}

static bool has_expired(fixture *f, hf_bytes key, const char *name)
{
    return ttl_of(f, key, name) == -2;
}

/* The members of a page, separated by blanks, behind the rank of the first. */
static void show_page(const hf_rank_members *page, char text[512])
{
    text[0] = '\0';
    for (size_t i = 0; i < page->count; i++) {
        const hf_rank_member *item = &page->items[i];
        size_t size = strlen(text);

        assert_int_equal(item->rank, page->items[0].rank + i);
        if (i == 0)
            size += (size_t)snprintf(text, 512, "%zu:", item->rank);
        snprintf(text + size, 512 - size, " %.*s", (int)item->member.size,
                 (const char *)item->member.data);
    }
}

static void assert_page(fixture *f, hf_bytes key, size_t offset, size_t limit,
                        uint32_t flags, const char *want)
{
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    char text[512];

    expect_status(
        HF_OK, hf_rank_page(f->other, key, offset, limit, flags, &page, ERR));
    show_page(&page, text);
    assert_string_equal(text, want);
    hf_rank_members_free(&page);
}

static void assert_around(fixture *f, hf_bytes key, const char *name,
                          size_t each, uint32_t flags, const char *want)
{
    hf_rank_members page = HF_RANK_MEMBERS_INIT;
    char text[512];

    expect_status(HF_OK, hf_rank_around(f->other, key, hf_str(name), each,
                                        flags, &page, ERR));
    show_page(&page, text);
    assert_string_equal(text, want);
    hf_rank_members_free(&page);
}

TEST(members_are_ranked_by_score_then_by_bytes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");

    add(f, key, "low", -1.5, 0);
    add(f, key, "b", 7, MINUTE_MS);
    add(f, key, "top", 1e300, 0);
    add(f, key, "a", 7, 0);
    assert_page(f, key, 0, 0, 0, "0: top b a low");
    assert_page(f, key, 0, 2, 0, "0: top b");
    assert_page(f, key, 1, 2, 0, "1: b a");
    assert_page(f, key, 3, 9, 0, "3: low");
    assert_page(f, key, 4, 9, 0, "");
    assert_page(f, key, 0, 2, HF_RANK_ASCENDING, "0: low a");
    assert_page(f, key, 2, 9, HF_RANK_ASCENDING, "2: b top");
    assert_place(f, key, "top", 1e300, 0, 4);
    assert_place(f, key, "b", 7, 1, 4);
    assert_place(f, key, "low", -1.5, 3, 4);
    assert_around(f, key, "b", 1, 0, "0: top b a");
    assert_around(f, key, "top", 1, 0, "0: top b");
    assert_around(f, key, "low", 2, 0, "1: b a low");
    assert_around(f, key, "a", 0, 0, "2: a");
    assert_around(f, key, "a", 1, HF_RANK_ASCENDING, "0: low a b");
    assert_around(f, key, "a", 1000, 0, "0: top b a low");
    assert_count(f, key, NULL, NULL, 4);
}

TEST(count_is_of_a_range_of_scores)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    const double one = 1, two = 2, half = 1.5, high = 1e18;

    assert_count(f, key, NULL, NULL, 0);
    add(f, key, "a", 1, 0);
    add(f, key, "b", 2, 0);
    add(f, key, "c", 3, MINUTE_MS);
    assert_count(f, key, &one, &two, 2);
    assert_count(f, key, &half, NULL, 2);
    assert_count(f, key, NULL, &half, 1);
    assert_count(f, key, &two, &one, 0);
    assert_count(f, key, &high, NULL, 0);
}

TEST(increment_says_the_new_score_and_rank)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;
    hf_rank_place place;

    add(f, key, "a", 10, 0);
    opts.ttl_ms = MINUTE_MS;
    expect_status(HF_OK, hf_rank_increment(f->client, key, bytes("b"), 4.25,
                                           &opts, &place, ERR));
    assert_true(same(place.score, 4.25));
    assert_int_equal(place.rank, 1);
    assert_int_equal(place.count, 2);
    expect_status(HF_OK, hf_rank_increment(f->client, key, bytes("b"), 6, NULL,
                                           &place, ERR));
    assert_true(same(place.score, 10.25));
    assert_int_equal(place.rank, 0);
    assert_in_range(ttl_of(f, key, "b"), 1, MINUTE_MS);
    expect_status(HF_OK, hf_rank_increment(f->client, key, bytes("b"), -1e3,
                                           NULL, NULL, ERR));
    assert_place(f, key, "b", -989.75, 1, 2);
    opts.flags = HF_RANK_GT;
    expect_status(HF_CONFLICT, hf_rank_increment(f->client, key, bytes("b"), -1,
                                                 &opts, NULL, ERR));
    assert_place(f, key, "b", -989.75, 1, 2);
}

TEST(scores_are_read_back_exactly_in_any_locale)
{
    static const double scores[] = {
        0,       0.1,    -0.1, 1.0 / 3,     DBL_MAX,   -DBL_MAX,
        DBL_MIN, 5e-324, 2e53, 123456789.5, 1e17 + 16, 9007199254740991};
    static const char *const locales[] = {"C", "de_DE.UTF-8", "de_DE", "C"};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");

    for (size_t l = 0; l < 4; l++) {
        if (setlocale(LC_NUMERIC, locales[l]) == NULL)
            continue;
        for (size_t i = 0; i < sizeof(scores) / sizeof(scores[0]); i++) {
            add(f, key, "a", scores[i], 0);
            assert_place(f, key, "a", scores[i], 0, 1);
        }
    }
}

TEST(flags_refuse)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");

    expect_status(HF_NOT_FOUND, add_as(f, key, "a", 5, 0, HF_RANK_XX));
    assert_no_key(f->client, key);
    expect_status(HF_OK, add_as(f, key, "a", 5, MINUTE_MS, HF_RANK_NX));
    expect_status(HF_CONFLICT, add_as(f, key, "a", 6, 0, HF_RANK_NX));
    expect_status(HF_CONFLICT,
                  add_as(f, key, "a", 5, 60 * MINUTE_MS, HF_RANK_GT));
    expect_status(HF_CONFLICT, add_as(f, key, "a", 6, 0, HF_RANK_LT));
    assert_place(f, key, "a", 5, 0, 1);
    assert_in_range(ttl_of(f, key, "a"), 1, MINUTE_MS);
    expect_status(HF_OK, add_as(f, key, "a", 6, 0, HF_RANK_GT));
    expect_status(HF_OK, add_as(f, key, "a", 4, 0, HF_RANK_LT | HF_RANK_XX));
    assert_place(f, key, "a", 4, 0, 1);
    expect_status(HF_OK, add_as(f, key, "b", 1, 0, HF_RANK_GT));
    assert_place(f, key, "b", 1, 1, 2);
}

TEST(adding_again_renews_or_keeps)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");

    add(f, key, "a", 1, MINUTE_MS);
    add(f, key, "a", 2, 60 * MINUTE_MS);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
    expect_status(HF_OK, add_as(f, key, "a", 3, MINUTE_MS, HF_RANK_KEEPTTL));
    add(f, key, "a", 4, 0);
    assert_in_range(ttl_of(f, key, "a"), MINUTE_MS + 1, 60 * MINUTE_MS);
    expect_status(HF_OK, add_as(f, key, "b", 3, MINUTE_MS, HF_RANK_KEEPTTL));
    assert_in_range(ttl_of(f, key, "b"), 1, MINUTE_MS);
}

TEST(ttl_of_a_member_is_set_and_removed)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    int64_t ttl_ms = 0;

    add(f, key, "a", 1, 0);
    assert_int_equal(ttl_of(f, key, "a"), -1);
    expect_status(HF_OK,
                  hf_rank_expire(f->client, key, bytes("a"), MINUTE_MS, ERR));
    assert_in_range(ttl_of(f, key, "a"), 1, MINUTE_MS);
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_in_range(ttl_ms, 1, MINUTE_MS);
    expect_status(HF_OK, hf_rank_expire(f->client, key, bytes("a"), -1, ERR));
    expect_status(HF_OK, hf_key_ttl(f->client, key, &ttl_ms, ERR));
    assert_int_equal(ttl_ms, -1);
    expect_status(HF_NOT_FOUND,
                  hf_rank_expire(f->client, key, bytes("b"), MINUTE_MS, ERR));
}

TEST(removed_members_are_gone)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_bytes members[] = {bytes("a"), bytes("none"), bytes("c"), bytes("a")};
    size_t removed = 0;

    add(f, key, "a", 1, MINUTE_MS);
    add(f, key, "b", 2, MINUTE_MS);
    add(f, key, "c", 3, 0);
    expect_status(HF_OK,
                  hf_rank_remove(f->client, key, members, 4, &removed, ERR));
    assert_int_equal(removed, 2);
    assert_page(f, key, 0, 0, 0, "0: b");
    members[0] = bytes("b");
    expect_status(HF_OK,
                  hf_rank_remove(f->client, key, members, 1, &removed, ERR));
    assert_int_equal(removed, 1);
    assert_no_key(f->client, key);
}

TEST(trim_keeps_the_top)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_rank_trimmed trimmed = {12345, true};

    for (int i = 0; i < 30; i++) {
        char name[16];

        snprintf(name, sizeof(name), "m%02d", i);
        add(f, key, name, i, i % 2 == 0 ? MINUTE_MS : 0);
    }
    expect_status(HF_OK, hf_rank_trim(f->client, key, -1, &trimmed, ERR));
    assert_int_equal(trimmed.removed, 0);
    expect_status(HF_OK, hf_rank_trim(f->client, key, 2, &trimmed, ERR));
    assert_int_equal(trimmed.removed, 28);
    assert_false(trimmed.more);
    assert_page(f, key, 0, 0, 0, "0: m29 m28");
    expect_status(HF_OK, hf_rank_trim(f->client, key, 5, &trimmed, ERR));
    assert_int_equal(trimmed.removed, 0);
    expect_status(HF_OK, hf_rank_trim(f->client, key, 0, &trimmed, ERR));
    assert_no_key(f->client, key);
}

/* ----------------------------------------------------------------- a model */

#define MODEL 90

typedef struct model {
    char names[MODEL][8];
    double scores[MODEL];
    bool lives[MODEL];
} model;

/* Does `a` come before `b`, from the top? */
static bool is_above(const model *self, int a, int b)
{
    if (!same(self->scores[a], self->scores[b]))
        return self->scores[a] > self->scores[b];
    return strcmp(self->names[a], self->names[b]) > 0;
}

/* The rank of one that lives. */
static size_t rank_in(const model *self, int which)
{
    size_t rank = 0;

    for (int i = 0; i < MODEL; i++)
        rank += self->lives[i] && is_above(self, i, which);
    return rank;
}

/* Those from rank `first` to `last` as show_page() shows them. */
static void show_model(const model *self, size_t first, size_t last,
                       bool ascending, size_t count, char text[512])
{
    text[0] = '\0';
    for (size_t rank = first; rank < last && rank < count; rank++) {
        size_t size = strlen(text);

        if (rank == first)
            size += (size_t)snprintf(text, 512, "%zu:", rank);
        for (int i = 0; i < MODEL; i++) {
            if (self->lives[i] &&
                rank_in(self, i) == (ascending ? count - 1 - rank : rank))
                snprintf(text + size, 512 - size, " %s", self->names[i]);
        }
    }
}

/* Every third member expires, and no write removes it. */
static size_t make_model(fixture *f, hf_bytes key, model *self)
{
    unsigned random = 12345;
    size_t count = 0;

    for (int i = 0; i < MODEL; i++) {
        random = random * 1103515245u + 12345u;
        snprintf(self->names[i], 8, "m%u", (unsigned)(i * 7 % MODEL));
        self->scores[i] = (double)(random / 65536 % 12) / 2;
        self->lives[i] = random / 16777216 % 3 != 0;
        count += self->lives[i];
        add(f, key, self->names[i], self->scores[i],
            i % 2 == 0 ? MINUTE_MS : 0);
    }
    for (int i = 0; i < MODEL; i++) {
        if (!self->lives[i])
            expect_status(HF_OK,
                          hf_rank_expire(f->client, key, hf_str(self->names[i]),
                                         300, ERR));
    }
    for (int i = 0; i < MODEL; i++) {
        if (!self->lives[i])
            expect_soon(has_expired(f, key, self->names[i]), 2700);
    }
    return count;
}

static void compare_ranges(fixture *f, hf_bytes key, const model *self)
{
    for (double low = -0.5; low < 7; low += 0.5) {
        for (double high = low; high < 7; high += 1) {
            size_t want = 0;

            for (int i = 0; i < MODEL; i++)
                want += self->lives[i] && self->scores[i] >= low &&
                        self->scores[i] <= high;
            assert_count(f, key, &low, &high, want);
        }
    }
}

static void compare_pages(fixture *f, hf_bytes key, const model *self,
                          size_t count)
{
    char want[512];

    for (size_t at = 0; at <= count + 1; at++) {
        for (uint32_t up = 0; up < 2; up++) {
            show_model(self, at, at + 5, up, count, want);
            assert_page(f, key, at, 5, up ? HF_RANK_ASCENDING : 0, want);
        }
    }
}

TEST(expired_members_are_never_seen)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    model self;
    size_t count = make_model(f, key, &self);
    char want[512];

    assert_count(f, key, NULL, NULL, count);
    for (int i = 0; i < MODEL; i++) {
        hf_rank_members page = HF_RANK_MEMBERS_INIT;
        size_t rank = rank_in(&self, i), up = count - 1 - rank;

        if (!self.lives[i]) {
            expect_status(HF_NOT_FOUND,
                          hf_rank_around(f->other, key, hf_str(self.names[i]),
                                         2, 0, &page, ERR));
            continue;
        }
        assert_place(f, key, self.names[i], self.scores[i], rank, count);
        show_model(&self, rank < 3 ? 0 : rank - 3, rank + 4, false, count,
                   want);
        assert_around(f, key, self.names[i], 3, 0, want);
        show_model(&self, up < 3 ? 0 : up - 3, up + 4, true, count, want);
        assert_around(f, key, self.names[i], 3, HF_RANK_ASCENDING, want);
    }
    compare_ranges(f, key, &self);
    compare_pages(f, key, &self, count);
}

TEST(expired_member_is_new_again)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_bytes member = bytes("a");
    hf_rank_place place;
    size_t removed = 12345;

    add(f, key, "stays", 1, 0);
    add(f, key, "a", 100, 100);
    add(f, key, "b", 100, 100);
    expect_soon(has_expired(f, key, "b"), 2500);
    expect_status(HF_NOT_FOUND, add_as(f, key, "a", 5, 0, HF_RANK_XX));
    expect_status(HF_NOT_FOUND,
                  hf_rank_expire(f->client, key, bytes("b"), 1000, ERR));
    expect_status(HF_OK, hf_rank_increment(f->client, key, bytes("a"), 3, NULL,
                                           &place, ERR));
    assert_true(same(place.score, 3));
    assert_int_equal(place.rank, 0);
    assert_int_equal(place.count, 2);
    assert_int_equal(ttl_of(f, key, "a"), -1);
    member = bytes("b");
    expect_status(HF_OK,
                  hf_rank_remove(f->client, key, &member, 1, &removed, ERR));
    assert_int_equal(removed, 0);
}

static int64_t stored(fixture *f, hf_bytes key)
{
    hf_script *script =
        fixture_script(f, f->client, "return redis.call('zcard', KEYS[1])");
    hf_reply *reply = NULL;
    int64_t count;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    count = hf_reply_integer(reply);
    hf_reply_free(reply);
    return count;
}

/* More than a blocking call passes over, and than one request removes. */
#define BURST 2500

static void add_burst(fixture *f, hf_bytes key, int64_t ttl_ms)
{
    static char names[BURST][8];
    static hf_rank_add_item items[BURST];
    static hf_status statuses[BURST];
    hf_rank_add_options opts = HF_RANK_ADD_OPTIONS_INIT;

    for (size_t i = 0; i < BURST; i++) {
        snprintf(names[i], 8, "x%zu", i);
        items[i] = (hf_rank_add_item){hf_str(names[i]), (double)i};
    }
    opts.ttl_ms = ttl_ms;
    expect_status(HF_OK, hf_rank_add_many(f->client, key, items, BURST, &opts,
                                          statuses, ERR));
    for (size_t i = 0; i < BURST; i++)
        expect_status(HF_OK, statuses[i]);
}

/* So that all expire at one instant, whatever the adding takes. */
static void expire_burst(fixture *f, hf_bytes key)
{
    hf_script *script = fixture_script(
        f, f->client,
        "for _, m in ipairs(redis.call('zrange', KEYS[1], 0, -1)) do "
        "if m ~= 'stays' then redis.call('zadd', KEYS[2], 1000, m) end end");
    char due[256];
    hf_bytes keys[2] = {key, {due, 0}};
    hf_reply *reply = NULL;

    keys[1].size = (size_t)snprintf(due, sizeof(due), "hf:due:{%.*s}",
                                    (int)key.size, (const char *)key.data);
    expect_status(HF_OK, hf_script_run(script, keys, 2, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
}

TEST(many_that_have_expired_at_once_are_removed_first)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_rank_place place;

    add(f, key, "stays", 1, 0);
    add_burst(f, key, 60 * MINUTE_MS);
    assert_int_equal(stored(f, key), BURST + 1);
    expire_burst(f, key);
    assert_count(f, key, NULL, NULL, 1);
    assert_int_equal(stored(f, key), 1);
    add_burst(f, key, 60 * MINUTE_MS);
    expire_burst(f, key);
    expect_status(HF_OK, hf_rank_increment(f->client, key, bytes("stays"), 1,
                                           NULL, &place, ERR));
    assert_true(same(place.score, 2)); /* once */
    assert_int_equal(place.rank, 0);
    assert_int_equal(stored(f, key), 1);
    add_burst(f, key, 60 * MINUTE_MS);
    expire_burst(f, key);
    assert_page(f, key, 0, 0, 0, "0: stays");
    assert_int_equal(stored(f, key), 1);
    add_burst(f, key, 60 * MINUTE_MS);
    expire_burst(f, key);
    assert_place(f, key, "stays", 2, 0, 1);
    assert_int_equal(stored(f, key), 1);
}

TEST(started_call_passes_over_those_that_have_expired)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_rank_trimmed trimmed;
    hf_rank_place place = {0, 0, 0};

    add(f, key, "stays", 1, 0);
    add_burst(f, key, 60 * MINUTE_MS);
    expire_burst(f, key);
    expect_told(HF_UNAVAILABLE, f->client,
                hf_rank_get_start(f->client, key, bytes("stays"), &place, NULL,
                                  &async, ERR));
    expect_status(HF_OK, hf_rank_trim(f->client, key, -1, &trimmed, ERR));
    expect_status(HF_OK, hf_rank_trim(f->client, key, -1, &trimmed, ERR));
    assert_true(trimmed.more);
    expect_told(HF_OK, f->client,
                hf_rank_get_start(f->client, key, bytes("stays"), &place, NULL,
                                  &async, ERR));
    assert_int_equal(place.rank, 0);
    assert_int_equal(place.count, 1);
    assert_int_equal(stored(f, key), BURST - 2000 + 1);
}

/* A transaction that adds a member and then asks for the rank of another. */
static hf_status add_and_rank(fixture *f, hf_bytes key, hf_rank_place *place)
{
    hf_async queue = HF_ASYNC_INIT;
    hf_status status;

    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK, hf_rank_add_start(f->client, key, bytes("new"), 0,
                                           NULL, NULL, &queue, ERR));
    expect_status(HF_OK, hf_rank_increment_start(f->client, key, bytes("stays"),
                                                 1, NULL, place, &queue, ERR));
    status = hf_txn_exec(queue.txn, ERR);
    hf_txn_free(queue.txn);
    return status;
}

TEST(transaction_is_undone_where_too_many_have_expired)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_rank_trimmed trimmed = {0, true};
    hf_rank_place place = {0, 0, 0};

    add(f, key, "stays", 1, 0);
    add_burst(f, key, 60 * MINUTE_MS);
    expire_burst(f, key);
    expect_status(HF_UNAVAILABLE, add_and_rank(f, key, &place));
    if (strstr(expect_message(), "hf_rank_trim()") == NULL)
        fail_msg("%s", expect_message());
    assert_int_equal(stored(f, key), BURST + 1);
    assert_int_equal(ttl_of(f, key, "new"), -2);
    while (trimmed.more)
        expect_status(HF_OK, hf_rank_trim(f->client, key, -1, &trimmed, ERR));
    expect_status(HF_OK, add_and_rank(f, key, &place));
    assert_true(same(place.score, 2)); /* once */
    assert_int_equal(place.rank, 0);
    assert_int_equal(place.count, 2);
}

TEST(rank_is_gone_with_its_last_member)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");

    add(f, key, "a", 1, 150);
    add(f, key, "b", 2, 200);
    expect_soon(key_is_gone(f->client, key), 2600);
    assert_count(f, key, NULL, NULL, 0);
    assert_page(f, key, 0, 0, 0, "");
}

TEST(transaction_increments_and_ranks)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    hf_async queue = HF_ASYNC_INIT;
    hf_rank_place place = {0, 0, 0}, other = {0, 0, 0};
    int64_t ttl_ms = 0;
    size_t count = 0;

    add(f, key, "a", 3, MINUTE_MS);
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &queue.txn, ERR));
    expect_status(HF_OK,
                  hf_rank_increment_start(f->client, key, bytes("b"), 4.5, NULL,
                                          &place, &queue, ERR));
    expect_status(HF_OK, hf_rank_get_start(f->client, key, bytes("a"), &other,
                                           &ttl_ms, &queue, ERR));
    expect_status(HF_OK, hf_rank_count_start(f->client, key, NULL, NULL, &count,
                                             &queue, ERR));
    expect_status(HF_OK, hf_txn_exec(queue.txn, ERR));
    hf_txn_free(queue.txn);
    assert_true(same(place.score, 4.5));
    assert_int_equal(place.rank, 0);
    assert_int_equal(other.rank, 1);
    assert_in_range(ttl_ms, 1, MINUTE_MS);
    assert_int_equal(count, 2);
}

/* A refused call changes nothing and names what is wrong. */
static void refuse(hf_status status, const char *culprit)
{
    expect_status(HF_INVALID, status);
    if (strstr(expect_message(), culprit) == NULL)
        fail_msg("'%s' does not name '%s'", expect_message(), culprit);
}

TEST(bad_scores_and_flags_are_refused_by_name)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    const double nan = NAN;

    refuse(add_as(f, key, "a", NAN, 0, 0), "score is not a number");
    refuse(add_as(f, key, "a", -INFINITY, 0, 0), "score is infinite");
    refuse(hf_rank_increment(f->client, key, bytes("a"), NAN, NULL, NULL, ERR),
           "delta is not a number");
    refuse(hf_rank_count(f->client, key, &nan, NULL, NULL, ERR), "count is");
    refuse(add_as(f, key, "a", 1, -1, 0), "ttl_ms is -1");
    refuse(add_as(f, key, "a", 1, 0, HF_RANK_NX | HF_RANK_XX), "NX");
    refuse(add_as(f, key, "a", 1, 0, HF_RANK_NX | HF_RANK_GT), "GT");
    refuse(add_as(f, key, "a", 1, 0, HF_RANK_LT | HF_RANK_GT), "GT");
    expect_status(HF_UNSUPPORTED, add_as(f, key, "a", 1, 0, 64));
    assert_no_key(f->client, key);
    add(f, key, "a", DBL_MAX, 0);
    refuse(
        hf_rank_increment(f->client, key, bytes("a"), DBL_MAX, NULL, NULL, ERR),
        "infinite");
    assert_place(f, key, "a", DBL_MAX, 0, 1);
}

TEST(bad_words_are_refused_by_name)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "r");
    static char long_name[HF_MEMBER_MAX + 1];
    hf_bytes member = bytes("a");
    hf_rank_trimmed trimmed;
    hf_rank_members page;
    const double nan = NAN;
    size_t count;

    memset(long_name, 'x', sizeof(long_name));
    refuse(add_as(f, key, "", 1, 0, 0), "member 0 has 0 bytes");
    refuse(hf_rank_add(f->client, key, hf_view(long_name, sizeof(long_name)), 1,
                       NULL, NULL, ERR),
           "4097 bytes");
    refuse(hf_rank_count(f->client, key, &nan, NULL, &count, ERR), "min is");
    refuse(hf_rank_count(f->client, key, NULL, &nan, &count, ERR), "max is");
    refuse(hf_rank_page(f->client, key, 0, 1001, 0, &page, ERR),
           "limit is 1001");
    refuse(
        hf_rank_page(f->client, key, HF_RANK_OFFSET_MAX + 1, 1, 0, &page, ERR),
        "offset is");
    refuse(hf_rank_page(f->client, key, 0, 1, 0, NULL, ERR), "page is NULL");
    refuse(hf_rank_around(f->client, key, bytes(""), 1, 0, &page, ERR),
           "member 0");
    expect_status(HF_UNSUPPORTED,
                  hf_rank_page(f->client, key, 0, 1, 2, &page, ERR));
    refuse(hf_rank_remove(f->client, key, &member, 0, NULL, ERR), "count is 0");
    refuse(hf_rank_trim(f->client, key, -2, &trimmed, ERR), "keep is -2");
    refuse(hf_rank_trim(f->client, key, 1, NULL, ERR), "trimmed is NULL");
    refuse(hf_rank_expire(f->client, key, member, 0, ERR), "ttl_ms is 0");
    hf_rank_members_free(NULL);
}
