/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - generating words. Fixed ones are in tables, where a forgotten case
 * is one line.
 */
#include "words.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "op.h"
#include "words_keys.h"

/* clang-format off */
#define TEXT(literal) { literal, sizeof(literal) - 1 }
/* clang-format on */
#define COUNT(table) (sizeof(table) / sizeof((table)[0]))

/* Names around the longest that LMDB takes unchanged, and pairs that differ
 * only after it. */
typedef struct long_name {
    size_t size;
    char last;
} long_name;

static const long_name long_names[] = {
    {480, 'a'}, {500, 'a'}, {501, 'a'}, {509, 'a'}, {510, 'a'}, {511, 'a'},
    {511, 'b'}, {512, 'a'}, {513, 'a'}, {600, 'a'}, {600, 'b'}, {2000, 'a'},
};

static const hf_bytes short_keys[] = {
    TEXT("k0"),       TEXT("k1"),          TEXT("k2"), TEXT("k3"),
    TEXT("k4"),       TEXT("k5"),          TEXT("k"),  TEXT("k1\0"),
    TEXT(""),         TEXT("\0"),          TEXT("k "), TEXT("{k}1"),
    TEXT("\r\n$3\r"), TEXT("\xff\xfe\0x"), TEXT("m"),  TEXT("h"),
};

static const hf_bytes fields[] = {
    TEXT("f0"),  TEXT("f1"),       TEXT("f2"), TEXT("f3"), TEXT("f4"),
    TEXT("f5"),  TEXT("a"),        TEXT("b"),  TEXT("1"),  TEXT("2"),
    TEXT("10"),  TEXT("-1"),       TEXT(""),   TEXT("\0"), TEXT("f1\0"),
    TEXT("f 1"), TEXT("\xff\xfe"), TEXT("nx"), TEXT("ch"),
};

static const hf_bytes integers[] = {
    TEXT("0"),
    TEXT("1"),
    TEXT("-1"),
    TEXT("2147483648"),
    TEXT("4294967296"),
    TEXT("9007199254740993"),
    TEXT("9223372036854775807"),
    TEXT("-9223372036854775808"),
    TEXT("9223372036854775806"),
};

static const hf_bytes no_integers[] = {
    TEXT("9223372036854775808"),
    TEXT("-9223372036854775809"),
    TEXT("18446744073709551615"),
    TEXT("18446744073709551616"),
    TEXT("99999999999999999999999"),
    TEXT("abc"),
    TEXT("1.5"),
    TEXT("1.0"),
    TEXT(" 1"),
    TEXT("1 "),
    TEXT("+1"),
    TEXT("01"),
    TEXT("-0"),
    TEXT("-01"),
    TEXT("-"),
    TEXT("1e3"),
    TEXT("0x10"),
    TEXT("1\0"),
    TEXT(""),
};

static const hf_bytes scores[] = {
    TEXT("0"),
    TEXT("1"),
    TEXT("2"),
    TEXT("3"),
    TEXT("-1"),
    TEXT("1.5"),
    TEXT("0.1"),
    TEXT("0.30000000000000004"),
    TEXT("-2.75"),
    TEXT("1e3"),
    TEXT("-0"),
    TEXT("-0.0"),
    TEXT("inf"),
    TEXT("-inf"),
    TEXT("+inf"),
    TEXT("+1"),
    TEXT("1e300"),
    TEXT("-1e300"),
    TEXT("1e-300"),
    TEXT("5e-324"),
    TEXT("1.7976931348623157e308"),
    TEXT("9007199254740993"),
    TEXT("9223372036854775807"),
    TEXT("123456789012345678"),
    TEXT("1e16"),
    TEXT("1e17"),
    TEXT("1e21"),
    TEXT("1700000000000"),
};

static const hf_bytes odd_scores[] = {
    TEXT("nan"),    TEXT("NaN"),    TEXT("-nan"),    TEXT("Infinity"),
    TEXT("INF"),    TEXT("0x10"),   TEXT("0x1p3"),   TEXT("1e400"),
    TEXT("-1e400"), TEXT("1e-400"), TEXT("abc"),     TEXT(""),
    TEXT(" 1"),     TEXT("1 "),     TEXT("1\0"),     TEXT("1.5.5"),
    TEXT("."),      TEXT("1."),     TEXT(".5"),      TEXT("(1"),
    TEXT("1,5"),    TEXT("e5"),     TEXT("0000001"),
};

/* As bounds, which are parsed by another function than scores. */
static const hf_bytes odd_bounds[] = {
    TEXT("("),     TEXT("(("),    TEXT("[1"),   TEXT("(nan"), TEXT("-"),
    TEXT("+"),     TEXT("( 1"),   TEXT("(abc"), TEXT("nan"),  TEXT("(1x"),
    TEXT("1e400"), TEXT("(-inf"), TEXT("(inf"), TEXT(""),     TEXT("(+inf"),
};

static const hf_bytes texts[] = {
    TEXT("hello"),
    TEXT("Hello, World"),
    TEXT("\0\xff\r\n"),
    TEXT("10"),
    TEXT("-5"),
    TEXT("3.25"),
    TEXT("{\"a\":[1,2,{\"b\":null}]}"),
    TEXT("x"),
    TEXT("caf\xc3\xa9"),
    TEXT("a b c"),
    TEXT("%s%d%n"),
};

/* Of a HyperLogLog: its encoding, its estimate and runs. */
static const hf_bytes hll_bytes[] = {
    TEXT("HYLL\0"), TEXT("\0"),       TEXT("\1"),       TEXT("\2"),
    TEXT("\x80"),   TEXT("\x83"),     TEXT("\xff"),     TEXT("\x7f\xff"),
    TEXT("\x40"),   TEXT("\x40\x05"), TEXT("\x3f\x3f"), TEXT("\x84\x84\x85"),
};

static const hf_bytes by_patterns[] = {
    TEXT("nosort"), TEXT("nosort"), TEXT("nosort"),
    TEXT("x"),      TEXT(""),       TEXT("NOSORT"),
};

static const hf_bytes star_patterns[] = {
    TEXT("k*"),  TEXT("*"),     TEXT("k*->f1"), TEXT("*->f0"),
    TEXT("k*1"), TEXT("none*"), TEXT("k*->"),   TEXT("h*->f2->f1"),
};

static const hf_bytes get_patterns[] = {
    TEXT("#"), TEXT("k*"), TEXT("*"),    TEXT("nothing"), TEXT("k*->f1"),
    TEXT(""),  TEXT("##"), TEXT("k*->"), TEXT("*->f0"),
};

static const hf_bytes channels[] = {
    TEXT("news"),
    TEXT(""),
    TEXT("hf:inbox:"),
    TEXT("hf:inbox:0123456789abcdef"),
    TEXT("hf:inbox:unused"),
    TEXT("\0\xff"),
};

static const hf_bytes digests[] = {
    TEXT("ffffffffffffffffffffffffffffffffffffffff"),
    TEXT("e0e1f9fabfc9d4800c877a703b823ac0578ff8db"), /* "return 1" */
    TEXT("E0E1F9FABFC9D4800C877A703B823AC0578FF8DB"),
    TEXT("short"),
    TEXT(""),
};

static const hf_bytes scripts[] = {
    TEXT("return {KEYS, ARGV}"),
    TEXT("return redis.call('set', KEYS[1], 'x')"),
    TEXT("return redis.pcall('get', KEYS[1])"),
    TEXT("redis.call('incr', 'k1') error('after a write')"),
    TEXT("return redis.pcall('publish', 'c', 'x')"),
    TEXT("#!lua\nreturn redis.call('get', KEYS[1])"),
    TEXT("#!lua flags=no-writes\nreturn redis.call('get', KEYS[1])"),
    TEXT("#!lua flags=no-writes\nreturn redis.pcall('set', 'k', 'x')"),
    TEXT("#!lua flags=allow-oom,no-writes\nreturn redis.call('del', 'k')"),
    TEXT("#!lua flags=allow-stale,no-cluster\nerror('line 2')"),
    TEXT("#!lua flags=allow-cross-slot-keys flags=\nreturn 1"),
    TEXT("#!lua 'flags=no-writes'\nreturn #ARGV"),
    TEXT("#!lua flags=no-writes,\nreturn 1"),
    TEXT("#!lua flags=nothing\nreturn 1"),
    TEXT("#!lua name=x\nreturn 1"),
    TEXT("#!lua 'flags\nreturn 1"),
    TEXT("#!perl\nreturn 1"),
    TEXT("#!lua"),
    TEXT("#!\n"),
    TEXT("#!lua\r\nreturn (1"),
    TEXT("return 1"),
    TEXT("return"),
    TEXT(""),
    TEXT("return (1"),
    TEXT("x = = 1"),
    TEXT("return 'a"),
    TEXT("for"),
    TEXT("\n\nreturn }"),
};

/* ------------------------------------------------------------------ pieces */

static hf_bytes pick(maker *make, const hf_bytes *table, size_t count)
{
    return table[prng_below(&make->random, count)];
}

#define PICK(make, table) pick(make, table, COUNT(table))

static hf_bytes number(maker *make, int64_t value)
{
    char text[24];
    int size = snprintf(text, sizeof(text), "%" PRId64, value);

    return op_copy(make->arena, text, (size_t)size);
}

static int64_t between(maker *make, int64_t low, int64_t high)
{
    return low + (int64_t)prng_below(&make->random, (size_t)(high - low + 1));
}

/* `size` bytes that look like a word, from `first` to `last`. */
static hf_bytes long_word(hf__arena *arena, size_t size, char first, char last)
{
    char *text = op_alloc(arena, size + 1);

    for (size_t i = 0; i < size; i++)
        text[i] = (char)('A' + i % 26);
    text[0] = first;
    text[size - 1] = last;
    text[size] = '\0';
    return hf_view(text, size);
}

static hf_bytes make_long_name(hf__arena *arena, size_t index)
{
    return long_word(arena, long_names[index].size, 'A',
                     long_names[index].last);
}

/* Contents around the size from which they get their own records, and ones of
 * several pages. */
static hf_bytes long_value(maker *make)
{
    static const size_t sizes[] = {90,   200,  480,  520,  960,   990,  999,
                                   1000, 1001, 1010, 1500, 4050,  4096, 5000,
                                   9000, 100,  300,  700,  20000, 70000};
    size_t index = prng_below(&make->random, COUNT(sizes));

    return long_word(make->arena, sizes[index], 'A', 'z');
}

/* ------------------------------------------------------------------- kinds */

size_t word_key_count(void)
{
    return COUNT(short_keys) + COUNT(long_names);
}

hf_bytes word_key(hf__arena *arena, size_t index)
{
    if (index < COUNT(short_keys))
        return short_keys[index];
    return make_long_name(arena, index - COUNT(short_keys));
}

static hf_bytes make_field(maker *make)
{
    if (prng_chance(&make->random, 8)) {
        return make_long_name(make->arena,
                              prng_below(&make->random, COUNT(long_names)));
    }
    if (prng_chance(&make->random, 60))
        return fields[prng_below(&make->random, 8)];
    return PICK(make, fields);
}

static hf_bytes make_integer(maker *make)
{
    if (prng_chance(&make->random, 65))
        return number(make, between(make, -10, 10));
    return prng_chance(&make->random, 60) ? PICK(make, integers)
                                          : PICK(make, no_integers);
}

static hf_bytes make_score(maker *make)
{
    if (prng_chance(&make->random, 45))
        return number(make, between(make, -3, 6));
    return prng_chance(&make->random, 80) ? PICK(make, scores)
                                          : PICK(make, odd_scores);
}

static hf_bytes make_bound(maker *make)
{
    hf_bytes score;
    char *text;

    if (prng_chance(&make->random, 25))
        return prng_chance(&make->random, 50) ? hf_str("-inf") : hf_str("+inf");
    if (prng_chance(&make->random, 10))
        return PICK(make, odd_bounds);
    score = make_score(make);
    if (prng_chance(&make->random, 60))
        return score;
    text = op_alloc(make->arena, score.size + 2);
    text[0] = '(';
    memcpy(text + 1, score.data, score.size);
    text[score.size + 1] = '\0';
    return hf_view(text, score.size + 1);
}

static hf_bytes make_count(maker *make)
{
    if (prng_chance(&make->random, 90))
        return number(make, between(make, -1, 5));
    return make_integer(make);
}

static hf_bytes make_value(maker *make)
{
    if (prng_chance(&make->random, 35))
        return PICK(make, texts);
    if (prng_chance(&make->random, 50))
        return make_integer(make);
    if (prng_chance(&make->random, 30))
        return long_value(make);
    return prng_chance(&make->random, 50) ? make_field(make) : make_score(make);
}

/* Times that are over at once or refused. No time to live may be short, or used
 * twice: two stores do not read the clock at the same instant. */
static const hf_bytes odd_times[] = {
    TEXT("0"),
    TEXT("-1"),
    TEXT("-1000"),
    TEXT("-9223372036854775808"),
    TEXT("-9223372036854775"),
    TEXT("-9223372036854776"),
    TEXT("-9223372036854775000"),
};
static const hf_bytes odd_seconds[] = {
    TEXT("9223372036854775807"),
    TEXT("9223372036854775"),
    TEXT("9223372036854776"),
};
static const hf_bytes odd_milliseconds[] = {
    TEXT("9223372036854775807"),
    TEXT("9223372036854775000"),
};

static hf_bytes odd_time(maker *make, int64_t unit, bool huge)
{
    if (prng_chance(&make->random, 40))
        return PICK(make, no_integers);
    if (!huge || prng_chance(&make->random, 60))
        return PICK(make, odd_times);
    return unit == 1 ? PICK(make, odd_seconds) : PICK(make, odd_milliseconds);
}

static hf_bytes make_time(maker *make, int64_t unit)
{
    if (prng_chance(&make->random, 15))
        return odd_time(make, unit, true);
    return number(make, between(make, 1000 * unit, 1000000 * unit));
}

static hf_bytes make_instant(maker *make, int64_t unit)
{
    const int64_t year_2100 = INT64_C(4102444800);

    if (prng_chance(&make->random, 12))
        return odd_time(make, unit, !make->distinct_instants);
    if (prng_chance(&make->random, 12))
        return number(make, between(make, 1, 1000000000) * unit);
    if (make->distinct_instants)
        return number(make, (year_2100 + between(make, 0, 1000000000)) * unit);
    return number(make, (year_2100 + between(make, 0, 5) * 500) * unit);
}

/* A longitude or a latitude; mostly valid as both, near to others, and no two
 * the same. */
static hf_bytes make_degrees(maker *make)
{
    static const int64_t bases[] = {0,   0,   12,  45,   45,  84,
                                    -66, -67, -85, -180, 179, 80};
    int64_t base = bases[prng_below(&make->random, COUNT(bases))];
    char text[32];
    int size;

    if (prng_chance(&make->random, 2))
        return make_score(make);
    size = snprintf(
        text, sizeof(text), "%" PRId64 ".%06" PRId64, base,
        between(make, 0, prng_chance(&make->random, 30) ? 999 : 999999));
    return op_copy(make->arena, text, (size_t)size);
}

hf_bytes word_make(maker *make, char kind)
{
    switch (kind) {
    case 'K':
        if (make->favourite < make->key_count && prng_chance(&make->random, 65))
            return make->keys[make->favourite];
        return pick(make, make->keys, make->key_count);
    case 'F':
        return make_field(make);
    case 'V':
        return make_value(make);
    case 'I':
        return make_integer(make);
    case 'D':
        return make_score(make);
    case 'B':
        return make_bound(make);
    case 'R':
        return prng_chance(&make->random, 90)
                   ? number(make, between(make, -6, 6))
                   : make_integer(make);
    case 'E':
        return number(make, between(make, 0, 20000));
    case 'H':
        return PICK(make, hll_bytes);
    case 'Z':
        return make_degrees(make);
    case 'N':
        return make_count(make);
    case 'C':
        return PICK(make, channels);
    case 'T':
        return make_time(make, 1);
    case 'P':
        return make_time(make, 1000);
    case 'S':
        return make_instant(make, 1);
    case 'M':
        return make_instant(make, 1000);
    case 'W':
        return PICK(make, by_patterns);
    case 'Q':
        return PICK(make, star_patterns);
    case 'O':
        return star_patterns[0];
    case 'U':
        return star_patterns[2];
    case 'G':
        return PICK(make, get_patterns);
    case 'A':
        return PICK(make, digests);
    case 'X':
        return word_member_bound(make);
    case 'J':
        return word_glob(make);
    case 'Y':
        return word_type(make);
    default:
        return PICK(make, scripts);
    }
}
