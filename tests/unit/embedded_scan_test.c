/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_scan_test.c - SCAN and its kin while keys come and go, and what is
 * chosen at random.
 */
#include "embedded_store.h"

EACH_TEST_WITH(open_volatile_place, remove_state_place);

#define KEYS 300

/* What a scan has given of the numbered names, and its cursor. */
typedef struct scan {
    const char *words; /* before the cursor */
    const char *options;
    char cursor[24];
    bool over;
    unsigned char seen[KEYS];
} scan;

/* One call; false: it was the last. */
static bool scan_on(hf__store *store, scan *at)
{
    char line[128];
    static char text[TEXT_SIZE];
    const char *name = text;
    size_t size;

    (void)snprintf(line, sizeof(line), "%s %s %s", at->words, at->cursor,
                   at->options);
    (void)command(store, line, text);
    assert_memory_equal(text, "[s:", 3);
    size = strcspn(text + 3, ",");
    assert_in_range(size, 1, 14); /* Lua keeps so many digits */
    memcpy(at->cursor, text + 3, size);
    at->cursor[size] = '\0';
    while ((name = strstr(name, "s:name-")) != NULL) {
        long number = strtol(name + 7, NULL, 10);

        assert_in_range(number, 0, KEYS - 1);
        at->seen[number]++;
        name += 7;
    }
    at->over = strcmp(at->cursor, "0") == 0;
    return !at->over;
}

static scan begin_scan(const char *words, const char *options)
{
    scan begun;

    memset(&begun, 0, sizeof(begun));
    begun.words = words;
    begun.options = options;
    begun.cursor[0] = '0';
    return begun;
}

static void each_key(hf__store *store, const char *format, const char *want)
{
    char line[64];

    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(line, sizeof(line), format, i);
        expect(store, line, want);
    }
}

TEST(scan_gives_each_key_once)
{
    place *at = *state;
    scan one = begin_scan("scan", "count 7");
    int calls = 0;

    each_key(at->store, "set name-%d x", "+:OK");
    while (scan_on(at->store, &one))
        calls++;
    assert_int_equal(calls, (KEYS - 1) / 7);
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(one.seen[i], 1);
}

/* Keys come and go between the calls, even the one to continue at. */
TEST(scan_gives_every_key_that_stays)
{
    place *at = *state;
    scan one = begin_scan("scan", "");
    char line[64], text[TEXT_SIZE];
    int calls = 0;

    each_key(at->store, "set name-%d x", "+:OK");
    while (scan_on(at->store, &one)) {
        for (int i = 0; i < KEYS; i++) {
            if (i % 3 != 0)
                continue;
            (void)snprintf(line, sizeof(line), "%s name-%d %s",
                           (i + calls) % 2 ? "del" : "set", i,
                           (i + calls) % 2 ? "" : "y");
            (void)command(at->store, line, text);
        }
        (void)snprintf(line, sizeof(line), "set new-%d x", calls++);
        expect(at->store, line, "+:OK");
        assert_true(calls < 10 * KEYS);
    }
    for (int i = 0; i < KEYS; i++)
        assert_true(i % 3 == 0 || one.seen[i] > 0);
}

/* More scans than stored positions: the others search for theirs. */
TEST(many_scans_run_at_once)
{
    static scan scans[100];
    place *at = *state;
    bool more = true;

    each_key(at->store, "set name-%d x", "+:OK");
    each_key(at->store, "hset h name-%d x", "i:1");
    for (size_t i = 0; i < 100; i++)
        scans[i] = begin_scan(i % 2 == 0 ? "scan" : "hscan h",
                              "count 40 match name-*");
    for (int calls = 0; more; calls++) {
        assert_true(calls < KEYS);
        more = false;
        for (size_t i = 0; i < 100; i++)
            if (!scans[i].over)
                more |= scan_on(at->store, &scans[i]);
    }
    for (size_t i = 0; i < 100; i++) {
        for (int k = 0; k < KEYS; k++)
            assert_int_equal(scans[i].seen[k], 1);
    }
}

/* Its place is neither remembered nor there: everything comes again. */
TEST(scan_with_a_lost_position_starts_again)
{
    place *at = *state;
    scan one = begin_scan("scan", "count 1000");

    each_key(at->store, "set name-%d x", "+:OK");
    (void)snprintf(one.cursor, sizeof(one.cursor), "12345");
    assert_false(scan_on(at->store, &one));
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(one.seen[i], 1);
}

TEST(scans_of_elements_give_each_once)
{
    place *at = *state;
    scan hash = begin_scan("hscan h", "count 7");
    scan sorted = begin_scan("zscan z", "count 11");
    int calls = 0;

    each_key(at->store, "hset h name-%d x", "i:1");
    each_key(at->store, "zadd z 1.5 name-%d", "i:1");
    while (scan_on(at->store, &hash))
        calls++;
    assert_int_equal(calls, (KEYS - 1) / 7);
    while (scan_on(at->store, &sorted))
        continue;
    for (int i = 0; i < KEYS; i++) {
        assert_int_equal(hash.seen[i], 1);
        assert_int_equal(sorted.seen[i], 1);
    }
    /* The cursor of one hash is none of another's. */
    hash = begin_scan("hscan h", "count 7");
    assert_true(scan_on(at->store, &hash));
    each_key(at->store, "hset g name-%d x", "i:1");
    hash.words = "hscan g";
    memset(hash.seen, 0, sizeof(hash.seen));
    while (scan_on(at->store, &hash))
        continue;
    for (int i = 0; i < KEYS; i++)
        assert_int_equal(hash.seen[i], 1);
}

TEST(expired_keys_are_not_listed)
{
    place *at = *state;

    expect(at->store, "set a x", "+:OK");
    expect(at->store, "set b x px 20", "+:OK");
    hf__clock_sleep_until(hf__clock_boot_ms() + 30);
    expect(at->store, "scan 0", "[s:0, [s:a]]");
    expect(at->store, "keys *", "[s:a]");
    for (int i = 0; i < 20; i++)
        expect(at->store, "randomkey", "s:a");
    expect(at->store, "rename b c", "no such key");
    expect(at->store, "copy b c", "i:0");
}

/* ------------------------------------------------------------------ chance */

/* 300 draws of 4: each comes, but for one chance in 10^36. */
TEST(every_choice_comes)
{
    static const char *const lines[] = {"hrandfield h", "zrandmember z",
                                        "randomkey"};
    place *at = *state;
    char text[TEXT_SIZE];

    for (size_t i = 0; i < 3; i++) {
        unsigned seen = 0;

        expect(at->store, "flushall", "+:OK");
        if (i == 0)
            expect(at->store, "hset h a 1 b 2 c 3 d 4", "i:4");
        else if (i == 1)
            expect(at->store, "zadd z 1 a 2 b 3 c 4 d", "i:4");
        else
            expect(at->store, "mset a 1 b 2 c 3 d 4", "+:OK");
        for (int draw = 0; draw < 300; draw++) {
            (void)command(at->store, lines[i], text);
            assert_in_range(text[2], 'a', 'd');
            assert_int_equal(text[3], 0);
            seen |= 1u << (text[2] - 'a');
        }
        assert_int_equal(seen, 15);
    }
}

TEST(counted_choices_are_distinct)
{
    place *at = *state;
    char text[TEXT_SIZE];
    hf_bytes words[WORD_MAX];
    unsigned ever = 0;
    size_t count;

    expect(at->store, "hset h a 1 b 2 c 3 d 4", "i:4");
    for (int draw = 0; draw < 100; draw++) {
        unsigned seen = 0;

        (void)command(at->store, "hrandfield h 3 withvalues", text);
        count = split(text, words);
        assert_int_equal(count, 6);
        for (size_t i = 0; i < 6; i += 2) {
            const char *field = strchr(words[i].data, ':') + 1;
            const char *value = strchr(words[i + 1].data, ':') + 1;

            assert_int_equal(*field - 'a', *value - '1');
            assert_int_equal(seen & 1u << (*field - 'a'), 0);
            seen |= 1u << (*field - 'a');
        }
        ever |= seen;
    }
    assert_int_equal(ever, 15);
}
