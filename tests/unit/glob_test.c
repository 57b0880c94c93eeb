/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob_test.c - patterns: what fits, compared with a simple matcher, and what
 * the most expensive ones cost.
 */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "support/prng.h"
#include "support/simple_glob.h"
#include "support/slowness.h"
#include "support/test.h"
#include "util/glob.h"

#define TEXT_MAX SIMPLE_TEXT_MAX

static bool fits(const char *pattern, const char *text)
{
    return hf__glob_fits(hf_str(pattern), hf_str(text));
}

static void compare(hf_bytes pattern, hf_bytes text)
{
    bool expected = simple_fits(pattern, text);

    if (hf__glob_fits(pattern, text) == expected)
        return;
    fprintf(stderr, "pattern \"%.*s\", text \"%.*s\": not %d\n",
            (int)pattern.size, (const char *)pattern.data, (int)text.size,
            (const char *)text.data, expected);
    fail();
}

static size_t fill(prng *random, const char *letters, size_t count, char *at,
                   size_t size)
{
    for (size_t i = 0; i < size; i++)
        at[i] = letters[prng_below(random, count)];
    return size;
}

/* -------------------------------------------------------------------- tests */

TEST(glob_fits_what_redis_fits)
{
    assert_true(fits("user:*", "user:1"));
    assert_true(fits("*", "a"));
    assert_false(fits("*", "")); /* as in Redis */
    assert_true(fits("", ""));
    assert_false(fits("", "a"));
    assert_true(fits("h[^e]llo", "hallo"));
    assert_false(fits("h[^e]llo", "hello"));
    assert_true(fits("[z-a]", "m"));
    assert_true(fits("[\\]]", "]"));
    assert_true(fits("[abc", "b"));
    assert_true(fits("a\\", "a\\"));
    assert_true(fits("a\\*", "a*"));
    assert_false(fits("a\\*", "ab"));
    assert_true(fits("a*b*", "axxb"));
    assert_false(fits("a*b", "axxbx"));
}

TEST(glob_fits_what_a_simple_matcher_fits)
{
    static const char letters[] = "aab*?[]^-\\\x80\xff\0c";
    prng random = prng_of(1, 2, 3);
    char pattern[16], text[12];

    for (int i = 0; i < 30000; i++) {
        size_t size = fill(&random, letters, sizeof(letters) - 1, pattern,
                           prng_below(&random, sizeof(pattern)));
        size_t length = fill(&random, i % 2 ? letters : "ab",
                             i % 2 ? sizeof(letters) - 1 : 2, text,
                             prng_below(&random, sizeof(text)));

        compare(hf_view(pattern, size), hf_view(text, length));
    }
}

/* Returns where the text ends. */
static char *put(char *at, const char *text)
{
    size_t size = strlen(text);

    memcpy(at, text, size);
    return at + size;
}

/* Runs that nearly fit everywhere, some of them for more than a block. */
static size_t near_pattern(prng *random, char *at)
{
    static const char *const parts[] = {"a",   "?", "[a-c]", "[^b]",
                                        "\\a", "*", "b"};
    size_t count = 1 + prng_below(random, 250);
    size_t rare = prng_below(random, 40);
    char *const from = at;

    *at++ = '*';
    for (size_t i = 0; i < count; i++) {
        bool any = rare > 0 && prng_below(random, 20 * rare) == 0;
        const char *part = parts[prng_below(random, any ? 7 : 5)];

        at = put(at, part);
    }
    return (size_t)(at - from);
}

TEST(glob_long_runs_fit_what_a_simple_matcher_fits)
{
    prng random = prng_of(4, 5, 6);
    char pattern[2000], text[TEXT_MAX];

    for (int i = 0; i < 400; i++) {
        size_t size = near_pattern(&random, pattern);
        size_t length = 300 + prng_below(&random, TEXT_MAX - 300);

        memset(text, 'a', length);
        for (size_t j = prng_below(&random, 8); j > 0; j--)
            text[prng_below(&random, length)] = 'b';
        compare(hf_view(pattern, size), hf_view(text, length));
    }
}

TEST(glob_longer_than_the_limit_fits_nothing)
{
    static char pattern[HF__GLOB_MAX + 1];

    memset(pattern, '*', sizeof(pattern));
    assert_true(hf__glob_fits(hf_view(pattern, HF__GLOB_MAX), hf_str("a")));
    assert_false(hf__glob_fits(hf_view(pattern, sizeof(pattern)), hf_str("a")));
}

/* `unit` again and again between two others. */
static hf_bytes repeat(const char *first, const char *unit, size_t count,
                       const char *last)
{
    static char pattern[HF__GLOB_MAX + 100];
    char *at = put(pattern, first);

    for (size_t i = 0; i < count; i++)
        at = put(at, unit);
    at = put(at, last);
    return hf_view(pattern, (size_t)(at - pattern));
}

static int64_t cpu_us(void)
{
    struct timespec now;

    assert_int_equal(clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now), 0);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

TEST(glob_hostile_patterns_cost_little)
{
    static char text[4096];
    const struct {
        const char *first, *unit, *last;
        size_t count;
    } hostile[] = {{"*[", "b", "]", 8180},     {"*", "a?", "b*", 1000},
                   {"*", "a*", "b", 4000},     {"*", "[a-a]", "b*", 1600},
                   {"*", "a", "b*a", 64},      {"*", "?a", "*b", 30},
                   {"", "*aaaaaaa", "b*", 500}};
    int64_t start_us = cpu_us();

    memset(text, 'a', sizeof(text));
    for (size_t i = 0; i < sizeof(hostile) / sizeof(*hostile); i++) {
        hf_bytes pattern = repeat(hostile[i].first, hostile[i].unit,
                                  hostile[i].count, hostile[i].last);

        assert_true(pattern.size <= HF__GLOB_MAX);
        for (int j = 0; j < 5; j++)
            assert_false(hf__glob_fits(pattern, hf_view(text, sizeof(text))));
    }
    /* 12; 1000 if each byte is compared with each part. */
    assert_in_time((cpu_us() - start_us) / 1000, 200);
}
