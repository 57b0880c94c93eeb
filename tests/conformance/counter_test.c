/* SPDX-License-Identifier: Apache-2.0 */
/*
 * counter_test.c - hf_value_add() and hf_hash_add(): exact in 64 bits, within
 * bounds. Each test runs for both.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A counter: a value, or a field of a hash that has another one. */
typedef struct counter {
    fixture *f;
    hf_bytes key;
    bool is_field;
} counter;

static const char *const kinds[] = {"value", "field"};

static counter counter_of(fixture *f, size_t kind)
{
    return (counter){f, fixture_key(f, kinds[kind]), kind == 1};
}

static void put(const counter *c, const char *text, int64_t ttl_ms)
{
    if (c->is_field)
        put_hash(c->f->client, c->key, words("n", text, "other", "x"), ttl_ms);
    else
        put_value(c->f->client, c->key, hf_str(text), ttl_ms);
}

static hf_status add_by(const counter *c, int64_t delta,
                        const hf_add_options *opts, int64_t *value)
{
    return c->is_field
               ? hf_hash_add(c->f->client, c->key, bytes("n"), delta, opts,
                             value, ERR)
               : hf_value_add(c->f->client, c->key, delta, opts, value, ERR);
}

static void check(const counter *c, const char *text)
{
    if (c->is_field)
        assert_field(c->f->other, c->key, bytes("n"), hf_str(text));
    else
        assert_value(c->f->other, c->key, hf_str(text));
}

static void check_number(const counter *c, int64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", (long long)number);
    check(c, text);
}

TEST(add_counts_from_0_and_returns_the_result)
{
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);
        int64_t value = -1;

        expect_status(HF_OK, add_by(&c, 5, NULL, &value));
        assert_int_equal(value, 5);
        expect_status(HF_OK, add_by(&c, -7, NULL, &value));
        assert_int_equal(value, -2);
        expect_status(HF_OK, add_by(&c, 0, NULL, NULL));
        check(&c, "-2");
        assert_no_ttl(c.f->client, c.key);
    }
}

/* Doubles skip numbers beyond 2^53. */
TEST(add_is_exact_in_64_bits)
{
    static const struct {
        const char *from;
        int64_t delta;
        int64_t to;
    } sums[] = {
        {"9007199254740991", 1, INT64_C(9007199254740992)},
        {"9007199254740992", 1, INT64_C(9007199254740993)},
        {"9007199254740993", 1, INT64_C(9007199254740994)},
        {"-9007199254740992", -1, INT64_C(-9007199254740993)},
        {"9223372036854775806", 1, INT64_MAX},
        {"-9223372036854775807", -1, INT64_MIN},
        {"9223372036854775807", INT64_MIN, -1},
        {"-9223372036854775808", INT64_MAX, -1},
        {"0", INT64_MIN, INT64_MIN},
        {"0", INT64_MAX, INT64_MAX},
        {"-1", INT64_MIN + 1, INT64_MIN},
    };

    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);

        for (size_t i = 0; i < COUNT(sums); i++) {
            int64_t value = 0;

            put(&c, sums[i].from, 0);
            expect_status(HF_OK, add_by(&c, sums[i].delta, NULL, &value));
            assert_true(value == sums[i].to);
            check_number(&c, sums[i].to);
        }
    }
}

/* Without bounds: past the ends of 64 bits. */
TEST(add_that_overflows_changes_nothing)
{
    static const struct {
        int64_t from;
        int64_t delta;
    } sums[] = {
        {INT64_MAX, 1},         {INT64_MAX - 1, 2},     {1, INT64_MAX},
        {INT64_MAX, INT64_MAX}, {INT64_MIN, -1},        {-1, INT64_MIN},
        {INT64_MIN + 1, -2},    {INT64_MIN, INT64_MIN},
    };

    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);

        for (size_t i = 0; i < COUNT(sums); i++) {
            int64_t value = 0;
            char text[32];

            snprintf(text, sizeof(text), "%lld", (long long)sums[i].from);
            put(&c, text, 60000);
            expect_status(HF_CONFLICT, add_by(&c, sums[i].delta, NULL, &value));
            assert_true(value == sums[i].from);
            check(&c, text);
            assert_ttl(c.f->client, c.key, 60000);
        }
    }
}

/* Every sum of numbers at the ends of the range and around the bounds; a long
 * double holds each exactly. */
static const int64_t numbers[] = {INT64_MIN, -11, -10, -1, 0, 1, 10, INT64_MAX};
static const struct {
    uint32_t flags;
    int64_t min;
    int64_t max;
} bounds[] = {
    {HF_ADD_MIN | HF_ADD_MAX, -10, 10},
    {HF_ADD_MIN, 0, 0},
    {HF_ADD_MAX, 0, 0},
    {HF_ADD_MIN, INT64_MAX, 0},
    {HF_ADD_MAX, 0, INT64_MIN},
};

static bool is_in(size_t at, int64_t from, int64_t delta)
{
    long double sum = (long double)from + (long double)delta;
    bool above = (bounds[at].flags & HF_ADD_MIN) != 0;
    bool below = (bounds[at].flags & HF_ADD_MAX) != 0;

    return sum >= (long double)(above ? bounds[at].min : INT64_MIN) &&
           sum <= (long double)(below ? bounds[at].max : INT64_MAX);
}

TEST(add_keeps_the_result_in_bounds)
{
    const counter pair[] = {counter_of(*state, 0), counter_of(*state, 1)};
    hf_add_options opts = HF_ADD_OPTIONS_INIT;

    for (size_t i = 0; i < COUNT(numbers) * COUNT(numbers) * COUNT(bounds);
         i++) {
        size_t at = i % COUNT(bounds);
        int64_t from = numbers[i / COUNT(bounds) % COUNT(numbers)];
        int64_t delta = numbers[i / COUNT(bounds) / COUNT(numbers)];
        const counter *c = &pair[(i / COUNT(bounds)) % 2];
        bool fits = is_in(at, from, delta);
        int64_t value = 0;
        char text[32];

        opts.flags = bounds[at].flags;
        opts.min = bounds[at].min;
        opts.max = bounds[at].max;
        snprintf(text, sizeof(text), "%lld", (long long)from);
        put(c, text, 0);
        expect_status(fits ? HF_OK : HF_CONFLICT,
                      add_by(c, delta, &opts, &value));
        assert_true(value == (fits ? from + delta : from));
        check_number(c, value);
    }
}

TEST(add_that_is_refused_creates_nothing)
{
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);
        hf_add_options opts = HF_ADD_OPTIONS_INIT;
        int64_t value = -1;

        opts.flags = HF_ADD_MIN;
        opts.min = 2;
        opts.ttl_ms = 1000;
        expect_status(HF_CONFLICT, add_by(&c, 1, &opts, &value));
        assert_int_equal(value, 0);
        assert_no_key(c.f->client, c.key);
    }
}

TEST(add_sets_the_ttl_of_what_it_creates)
{
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);
        hf_add_options opts = HF_ADD_OPTIONS_INIT;

        opts.ttl_ms = 60000;
        expect_status(HF_OK, add_by(&c, 1, &opts, NULL));
        assert_ttl(c.f->client, c.key, 60000);
        opts.ttl_ms = 30000;
        expect_status(HF_OK, add_by(&c, 1, &opts, NULL));
        assert_ttl(c.f->client, c.key, 60000);
        expect_status(HF_OK, hf_key_expire(c.f->client, c.key, -1, ERR));
        expect_status(HF_OK, add_by(&c, 1, &opts, NULL));
        assert_no_ttl(c.f->client, c.key);
        check(&c, "3");
    }
}

/* Forms that INCRBY refuses, and one that is too long for any number. */
TEST(add_to_what_is_no_integer_is_wrong_type)
{
    static const char *const texts[] = {
        "",
        "a",
        "1.5",
        "+1",
        " 1",
        "1 ",
        "01",
        "-0",
        "-",
        "0x1",
        "1e3",
        "9223372036854775808",
        "-9223372036854775809",
        "99999999999999999999",
        "999999999999999999999999999999999999999999"};

    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);
        int64_t value = -7;

        for (size_t i = 0; i < COUNT(texts); i++) {
            put(&c, texts[i], 60000);
            expect_status(HF_WRONG_TYPE, add_by(&c, 1, NULL, &value));
            assert_non_null(
                strstr(expect_message(), "is not a 64-bit integer"));
            assert_int_equal(value, -7);
            check(&c, texts[i]);
            assert_ttl(c.f->client, c.key, 60000);
        }
    }
}

TEST(add_to_another_type_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes text = fixture_key(f, "text");
    hf_bytes hash = fixture_key(f, "hash");

    put_value(f->client, text, bytes("1"), 0);
    put_hash(f->client, hash, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE,
                  hf_value_add(f->client, hash, 1, NULL, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_hash_add(f->client, text, bytes("a"), 1, NULL, NULL, ERR));
    assert_value(f->client, text, bytes("1"));
    assert_field(f->client, hash, bytes("a"), bytes("1"));
}

TEST(add_refuses_bad_options)
{
    for (size_t kind = 0; kind < COUNT(kinds); kind++) {
        counter c = counter_of(*state, kind);
        hf_add_options opts = HF_ADD_OPTIONS_INIT;

        opts.flags = HF_ADD_MIN | HF_ADD_MAX;
        opts.min = 2;
        opts.max = 1;
        expect_status(HF_INVALID, add_by(&c, 1, &opts, NULL));
        opts.flags = 4;
        expect_status(HF_UNSUPPORTED, add_by(&c, 1, &opts, NULL));
        opts.flags = 0;
        opts.ttl_ms = -1;
        expect_status(HF_INVALID, add_by(&c, 1, &opts, NULL));
        assert_no_key(c.f->client, c.key);
        c.key = bytes("");
        expect_status(HF_INVALID, add_by(&c, 1, NULL, NULL));
    }
}

TEST(add_many_answers_each)
{
    fixture *f = *state;
    hf_bytes count = fixture_key(f, "count");
    hf_bytes text = fixture_key(f, "text");
    int64_t values[3] = {-1, -1, -1};
    hf_value_add_item items[] = {
        {count, 2, &values[0]}, {text, 1, &values[1]}, {count, 9, &values[2]}};
    hf_add_options opts = HF_ADD_OPTIONS_INIT;
    hf_status statuses[3];

    put_value(f->client, count, bytes("1"), 0);
    put_value(f->client, text, bytes("t"), 0);
    opts.flags = HF_ADD_MAX;
    opts.max = 3;
    expect_status(HF_WRONG_TYPE,
                  hf_value_add_many(f->client, items, 3, &opts, statuses, ERR));
    assert_int_equal(statuses[0], HF_OK);
    assert_int_equal(statuses[1], HF_WRONG_TYPE);
    assert_int_equal(statuses[2], HF_CONFLICT);
    assert_int_equal(values[0], 3);
    assert_int_equal(values[1], -1);
    assert_int_equal(values[2], 3);
}
