/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c - what the numbers of a step stand for. The letters of a row:
 *
 *     k  key               v  value                e  expected value, or none
 *     f  field             t  time to live         x  new expiry
 *     s  flags of a set    p  flags of a put       d  what to add
 *     b  bounds            i  item                 l  its time to live
 *     m  its time          a  attributes           n  a number
 */
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))
#define BYTES(literal)                                                         \
    {                                                                          \
        literal, sizeof(literal) - 1                                           \
    }

/* In one slot. */
static const hf_bytes keys[KEYS] = {BYTES("{p}a"), BYTES("{p}b"),
                                    BYTES("{p}\xff\n")};
static const hf_bytes fields[FIELDS] = {BYTES("f"), BYTES("g"), BYTES("\0\xff"),
                                        BYTES("{f}")};
static const hf_bytes values[] = {
    BYTES("a"),
    BYTES("b"),
    BYTES("1"),
    BYTES("-7"),
    BYTES(""),
    BYTES("01"),
    BYTES("\0\xff\r\n"),
    BYTES("9223372036854775806"),
    BYTES("1.5"),
    BYTES("a long one: 0123456789012345678901234567890123456789012345678901234"
          "567890123456789012345678901234567890123456789"),
};
/* Numbers below this mean one of the first three values, so that values are
 * often equal. */
#define USUAL 160
static const int ttls[] = {TTL_NONE, TTL_NONE, 1, 2, 3, TTL_NONE, 1, TTL_BRIEF};

size_t key_at(const step *s, size_t i)
{
    return s->n[i] % KEYS;
}

hf_bytes key_name(size_t key)
{
    return keys[key];
}

size_t field_at(const step *s, size_t i)
{
    return s->n[i] % FIELDS;
}

hf_bytes field_name(size_t field)
{
    return fields[field];
}

hf_bytes value_at(const step *s, size_t i)
{
    return values[s->n[i] < USUAL ? s->n[i] % 3 : s->n[i] % COUNT(values)];
}

const hf_bytes *expected_at(const step *s, size_t i)
{
    size_t n = s->n[i] < USUAL ? s->n[i] % 4 : s->n[i] % COUNT(values);

    return n == 3 ? NULL : &values[n];
}

int ttl_at(const step *s, size_t i)
{
    return ttls[s->n[i] % COUNT(ttls)];
}

int64_t ttl_ms(int ttl)
{
    return ttl == TTL_BRIEF ? 1 : ttl * TTL_UNIT_MS;
}

uint32_t set_flags_at(const step *s, size_t i)
{
    static const uint32_t flags[] = {
        0,
        HF_SET_GET,
        HF_SET_NX,
        HF_SET_XX,
        HF_SET_KEEPTTL,
        HF_SET_NX | HF_SET_GET,
        HF_SET_XX | HF_SET_GET,
        HF_SET_XX | HF_SET_KEEPTTL,
    };

    return flags[s->n[i] % COUNT(flags)];
}

uint32_t put_flags_at(const step *s, size_t i)
{
    static const uint32_t flags[] = {
        0,
        HF_HASH_NX,
        HF_HASH_XX,
        HF_HASH_REPLACE,
        HF_HASH_PERSIST,
        HF_HASH_REPLACE | HF_HASH_XX,
        HF_HASH_REPLACE | HF_HASH_PERSIST,
    };

    return flags[s->n[i] % COUNT(flags)];
}

int64_t delta_at(const step *s, size_t i)
{
    static const int64_t deltas[] = {
        1, -1, 3, 0, -7, INT64_MAX, INT64_MIN, INT64_C(9007199254740993),
    };

    return deltas[s->n[i] % COUNT(deltas)];
}

hf_add_options bounds_at(const step *s, size_t i)
{
    static const struct {
        uint32_t flags;
        int64_t min, max;
    } bounds[] = {
        {0, 0, 0},          {HF_ADD_MIN, 0, 0},
        {HF_ADD_MAX, 0, 5}, {HF_ADD_MIN | HF_ADD_MAX, -2, 2},
        {0, 0, 0},          {HF_ADD_MIN, INT64_MAX - 1, 0},
    };
    hf_add_options opts = HF_ADD_OPTIONS_INIT;
    size_t n = s->n[i] % COUNT(bounds);

    opts.flags = bounds[n].flags;
    opts.min = bounds[n].min;
    opts.max = bounds[n].max;
    return opts;
}

/* ----------------------------------------------------------------- timeline */

hf_bytes timeline_name(void)
{
    return hf_str("timeline");
}

size_t item_at(const step *s, size_t i)
{
    return s->n[i] % ITEMS;
}

/* In the order of their bytes. */
hf_bytes item_id(size_t item)
{
    static const hf_bytes ids[ITEMS] = {BYTES("\0\0x"), BYTES("1"), BYTES("10"),
                                        BYTES("\xff")};

    return ids[item];
}

int64_t at_ms_at(const step *s, size_t i)
{
    static const int64_t times[] = {
        1000, 1000, 1001, 1000, INT64_C(1540458292000), HF_TIMELINE_AT_MAX_MS};

    return times[s->n[i] % COUNT(times)];
}

int item_ttl_at(const step *s, size_t i)
{
    static const int ends[] = {1, 2, 3, 1, 2, 3, TTL_BRIEF};

    return ends[s->n[i] % COUNT(ends)];
}

#define A                                                                      \
    {                                                                          \
        "a", 1                                                                 \
    }
#define B                                                                      \
    {                                                                          \
        "b", 1                                                                 \
    }
#define NUMBER(name, number)                                                   \
    {                                                                          \
        name, HF_ATTRIBUTE_NUMBER, number,                                     \
        {                                                                      \
            NULL, 0                                                            \
        }                                                                      \
    }
#define TEXT(name, literal)                                                    \
    {                                                                          \
        name, HF_ATTRIBUTE_TEXT, 0, BYTES(literal)                             \
    }

/* Those of one set are neighbours. */
static const struct {
    hf_attribute pair[2];
    size_t count;
} sets[] = {
    {{NUMBER(A, 0)}, 0},
    {{NUMBER(A, 0)}, 1},
    {{NUMBER(A, 1)}, 1},
    {{TEXT(A, "x")}, 1},
    {{NUMBER(A, -1), TEXT(B, "\xff")}, 2},
    {{TEXT(A, "x"), NUMBER(B, 2.5)}, 2},
    {{TEXT(A, "x\0\0y")}, 1},
    {{TEXT(A, "")}, 1},
    {{NUMBER(A, -1e300)}, 1},
    {{NUMBER(A, 1e-300), NUMBER(B, -0.5)}, 2},
    {{TEXT(A, "x\0")}, 1},
};

size_t attributes_at(const step *s, size_t i)
{
    return s->n[i] % COUNT(sets);
}

const hf_attribute *attributes_of(size_t set, size_t *count)
{
    *count = sets[set].count;
    return sets[set].pair;
}

/* ------------------------------------------------------------------ showing */

static void show_bounds(hf_add_options bounds, text *out)
{
    if ((bounds.flags & HF_ADD_MIN) != 0)
        text_add(out, " min=%lld", (long long)bounds.min);
    if ((bounds.flags & HF_ADD_MAX) != 0)
        text_add(out, " max=%lld", (long long)bounds.max);
}

static void show_attributes(size_t set, text *out)
{
    for (size_t i = 0; i < sets[set].count; i++) {
        const hf_attribute *at = &sets[set].pair[i];

        text_add(out, " %.1s=", (const char *)at->name.data);
        if (at->kind == HF_ATTRIBUTE_NUMBER)
            text_add(out, "%g", at->number);
        else
            text_bytes(out, at->text);
    }
}

static void show_ttl(int ttl, text *out)
{
    if (ttl == TTL_BRIEF)
        text_add(out, " ttl=brief");
    else if (ttl != TTL_NONE)
        text_add(out, " ttl=%d", ttl);
}

static void show_expected(const hf_bytes *expected, text *out)
{
    text_add(out, " if ");
    if (expected == NULL)
        text_add(out, "absent");
    else
        text_bytes(out, *expected);
}

static void show_of_timeline(const step *s, char letter, size_t i, text *out)
{
    switch (letter) {
    case 'i':
        text_add(out, " ");
        text_bytes(out, item_id(item_at(s, i)));
        return;
    case 'l':
        show_ttl(item_ttl_at(s, i), out);
        return;
    case 'm':
        text_add(out, " at=%lld", (long long)at_ms_at(s, i));
        return;
    case 'a':
        show_attributes(attributes_at(s, i), out);
        return;
    default:
        text_add(out, " %u", s->n[i]);
    }
}

static void show_of_key(const step *s, char letter, size_t i, text *out)
{
    switch (letter) {
    case 'e':
        show_expected(expected_at(s, i), out);
        return;
    case 't':
    case 'x':
        show_ttl(ttl_at(s, i), out);
        return;
    case 's':
        text_add(out, " flags=%u", set_flags_at(s, i));
        return;
    case 'p':
        text_add(out, " flags=%u", put_flags_at(s, i));
        return;
    case 'd':
        text_add(out, " %lld", (long long)delta_at(s, i));
        return;
    case 'b':
        show_bounds(bounds_at(s, i), out);
        return;
    default:
        show_of_timeline(s, letter, i, out);
    }
}

static void show_argument(const step *s, char letter, size_t i, text *out)
{
    if (letter == 'k' || letter == 'v' || letter == 'f') {
        text_add(out, letter == 'f' ? " field " : " ");
        text_bytes(out, letter == 'k'   ? keys[key_at(s, i)]
                        : letter == 'f' ? fields[field_at(s, i)]
                                        : value_at(s, i));
        return;
    }
    show_of_key(s, letter, i, out);
}

void step_show(const step *s, text *out)
{
    const call *row = call_at(s->call);

    text_add(out, "%s%s", row->name, s->starts ? " (started)" : "");
    for (size_t i = 0; row->arguments[i] != '\0'; i++)
        show_argument(s, row->arguments[i], i, out);
}
