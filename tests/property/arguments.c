/* SPDX-License-Identifier: Apache-2.0 */
/*
 * arguments.c - what the numbers of a step stand for. The letters of a row:
 *
 *     k  key               v  value                e  expected value, or none
 *     f  field             t  time to live         x  new expiry
 *     s  flags of a set    p  flags of a put
 */
#include <string.h>

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

static void show_argument(const step *s, char letter, size_t i, text *out)
{
    switch (letter) {
    case 'k':
        text_add(out, " ");
        text_bytes(out, keys[key_at(s, i)]);
        return;
    case 'v':
        text_add(out, " ");
        text_bytes(out, value_at(s, i));
        return;
    case 'f':
        text_add(out, " field ");
        text_bytes(out, fields[field_at(s, i)]);
        return;
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
    default:
        text_add(out, " %u", s->n[i]);
    }
}

void step_show(const step *s, text *out)
{
    const call *row = call_at(s->call);

    text_add(out, "%s%s", row->name, s->starts ? " (started)" : "");
    for (size_t i = 0; row->arguments[i] != '\0'; i++)
        show_argument(s, row->arguments[i], i, out);
}

bool step_has(const step *s, char letter, size_t *i)
{
    const char *arguments = call_at(s->call)->arguments;
    const char *found = strchr(arguments, letter);

    if (found == NULL)
        return false;
    *i = (size_t)(found - arguments);
    return true;
}
