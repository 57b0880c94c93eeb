/* SPDX-License-Identifier: Apache-2.0 */
/* words_keys.c - bounds of members, patterns, names of types. */
#include "words_keys.h"

#include <string.h>

#include "op.h"

/* clang-format off */
#define TEXT(literal) { literal, sizeof(literal) - 1 }
/* clang-format on */
#define PICK(make, table)                                                      \
    ((table)[prng_below(&(make)->random, sizeof(table) / sizeof((table)[0]))])

static const hf_bytes odd_bounds[] = {
    TEXT("a"),    TEXT(""),     TEXT("["),     TEXT("("),
    TEXT("--"),   TEXT("++"),   TEXT("+a"),    TEXT("-a"),
    TEXT("+\0a"), TEXT("-\0a"), TEXT("[["),    TEXT("-inf"),
    TEXT("\0"),   TEXT("[-"),   TEXT("(\xff"), TEXT("]a"),
};

hf_bytes word_member_bound(maker *make)
{
    hf_bytes member;
    char *text;

    if (prng_chance(&make->random, 30))
        return prng_chance(&make->random, 50) ? hf_str("-") : hf_str("+");
    if (prng_chance(&make->random, 12))
        return PICK(make, odd_bounds);
    member = word_make(make, 'F');
    text = op_alloc(make->arena, member.size + 2);
    text[0] = prng_chance(&make->random, 50) ? '[' : '(';
    if (member.size > 0)
        memcpy(text + 1, member.data, member.size);
    text[member.size + 1] = '\0';
    return hf_view(text, member.size + 1);
}

static const hf_bytes globs[] = {
    TEXT("*"),         TEXT("**"),           TEXT("k*"),
    TEXT("*1"),        TEXT("f?"),           TEXT("k?"),
    TEXT("?"),         TEXT("[fk][0-2]"),    TEXT("[^k]*"),
    TEXT("[^f]?"),     TEXT("k[5-0]"),       TEXT("*[0-9]*"),
    TEXT("*A*Z*"),     TEXT("ABC*a"),        TEXT("*b"),
    TEXT("\\k*"),      TEXT("k\\1"),         TEXT("*\\"),
    TEXT("[k"),        TEXT("[^"),           TEXT("["),
    TEXT("[]"),        TEXT("[]*"),          TEXT("[a-]*"),
    TEXT("[\\f\\k]*"), TEXT("[\x80-\x7f]*"), TEXT("[a-\xff]*"),
    TEXT("\xff*"),     TEXT("*\0"),          TEXT("*\0*"),
    TEXT(""),          TEXT("nothing"),      TEXT("*?*?*"),
    TEXT("k1"),        TEXT("f1"),           TEXT("{k}*"),
    TEXT("[k-"),       TEXT("[k-]"),         TEXT("[\\"),
    TEXT("k[^\\1]"),
};

hf_bytes word_glob(maker *make)
{
    char *text;
    size_t size;

    if (prng_chance(&make->random, 70))
        return PICK(make, globs);
    /* Anything: mostly what matches nothing, for the other branches. */
    size = 1 + prng_below(&make->random, 8);
    text = op_alloc(make->arena, size + 1);
    for (size_t i = 0; i < size; i++)
        text[i] = "**??[]^-\\kf0123"[prng_below(&make->random, 15)];
    text[size] = '\0';
    return hf_view(text, size);
}

/* Not "none": Redis reports expired keys with it. */
static const hf_bytes types[] = {
    TEXT("string"), TEXT("hash"), TEXT("zset"), TEXT("list"), TEXT("stream"),
    TEXT("set"),    TEXT("ZSet"), TEXT("nope"), TEXT(""),
};

hf_bytes word_type(maker *make)
{
    return PICK(make, types);
}
