/* SPDX-License-Identifier: Apache-2.0 */
/*
 * payload.c - payloads for RESTORE: every form that a Redis writes, changed at
 * random; and collections of any size whose numbers are at their bounds.
 */
#include <string.h>

#include "engine/keys/rdb.h"
#include "entering.h"
#include "support/rdb_forms.h"

/* Elements that make a collection large: it then has records of its own. */
#define MANY 120

typedef struct writer {
    prng *random;
    unsigned char *at;
    size_t size;
} writer;

/* As bytes: bounds of deadlines (46 bits), of whole numbers in a double (53),
 * of 64 bits; NaN, infinities, minus zero, the least double. */
static const uint64_t bounds[] = {
    0,
    1,
    2,
    UINT64_C(0x7fffffff),
    UINT64_C(0xffffffff),
    (UINT64_C(1) << 46) - 1,
    UINT64_C(1) << 46,
    (UINT64_C(1) << 53) - 1,
    UINT64_C(1) << 53,
    INT64_MAX - 1,
    INT64_MAX,
    UINT64_C(1) << 63,
    UINT64_MAX,
    UINT64_C(2000000000000),
    UINT64_C(0x3ff8000000000000),
    UINT64_C(0x7ff8000000000000),
    UINT64_C(0x7ff0000000000000),
    UINT64_C(0xfff0000000000000),
    UINT64_C(0x7ff0000000000001),
    UINT64_C(0x7fefffffffffffff),
};

static uint64_t any_bound(prng *random)
{
    return bounds[prng_below(random, sizeof(bounds) / sizeof(bounds[0]))];
}

static void put(writer *to, const void *data, size_t size)
{
    memcpy(to->at + to->size, data, size);
    to->size += size;
}

static void put_byte(writer *to, unsigned value)
{
    to->at[to->size++] = (unsigned char)value;
}

static void put_number(writer *to, uint64_t value)
{
    for (unsigned i = 0; i < 8; i++)
        put_byte(to, value >> 8 * i & 0xff);
}

/* Lengths are big-endian. */
static void put_length(writer *to, uint64_t length)
{
    if (length < 64) {
        put_byte(to, (unsigned)length);
        return;
    }
    put_byte(to, HF__RDB_64_BITS);
    for (unsigned i = 0; i < 8; i++)
        put_byte(to, length >> (56 - 8 * i) & 0xff);
}

static void put_text(writer *to, size_t number)
{
    char text[64];
    size_t size = (size_t)snprintf(text, sizeof(text), "m%zu", number);

    switch (prng_below(to->random, 12)) {
    case 0: /* empty, which only one member can be */
        put_length(to, 0);
        return;
    case 1: { /* longer than a name in LMDB */
        size_t more = prng_below(to->random, 1200);

        put_length(to, size + more);
        put(to, text, size);
        memset(to->at + to->size, 'x', more);
        to->size += more;
        return;
    }
    case 2: /* a number of two bytes */
        put_byte(to, HF__RDB_SPECIAL | 1);
        put_byte(to, number & 0xff);
        put_byte(to, number >> 8 & 0xff);
        return;
    default:
        put_length(to, size);
        put(to, text, size);
    }
}

/* Mostly one that is allowed, so that the others are met in good company. */
static uint64_t any_score(prng *random)
{
    double score = (double)(int64_t)prng_below(random, 1000) / 8 - 50;
    uint64_t bits;

    memcpy(&bits, &score, sizeof(bits));
    return prng_chance(random, 8) ? any_bound(random) : bits;
}

static uint64_t any_after(prng *random)
{
    if (prng_chance(random, 30))
        return 0;
    return prng_chance(random, 5) ? any_bound(random)
                                  : 1 + prng_below(random, 100000);
}

static unsigned make_collection(writer *to)
{
    static const unsigned types[] = {
        HF__RDB_LIST,           HF__RDB_SET,
        HF__RDB_HASH,           HF__RDB_ZSET,
        HF__RDB_HASH_DEADLINES, HF__RDB_HASH_DEADLINES};
    unsigned type = types[prng_below(to->random, 6)];
    size_t count = prng_chance(to->random, 30) ? MANY : 4;

    count = 1 + prng_below(to->random, count);
    put_byte(to, type);
    if (type == HF__RDB_HASH_DEADLINES)
        put_number(to, prng_chance(to->random, 50) ? UINT64_C(2000000000000)
                                                   : any_bound(to->random));
    put_length(to, prng_chance(to->random, 3) ? any_bound(to->random) : count);
    for (size_t i = 0; i < count; i++) {
        if (type == HF__RDB_HASH_DEADLINES)
            put_length(to, any_after(to->random));
        put_text(to, i);
        if (type == HF__RDB_HASH || type == HF__RDB_HASH_DEADLINES)
            put_text(to, i);
        if (type == HF__RDB_ZSET)
            put_number(to, any_score(to->random));
    }
    return type;
}

static void change(writer *what)
{
    size_t at = prng_below(what->random, what->size);
    uint64_t number = any_bound(what->random);

    switch (prng_below(what->random, 4)) {
    case 0:
        what->at[at] ^= (unsigned char)(1u << prng_below(what->random, 8));
        break;
    case 1:
        what->at[at] = (unsigned char)prng_next(what->random);
        break;
    case 2:
        if (at + sizeof(number) <= what->size)
            memcpy(what->at + at, &number, sizeof(number));
        break;
    default: /* one byte less */
        memmove(what->at + at, what->at + at + 1, what->size - at - 1);
        what->size--;
    }
}

size_t make_payload(prng *random, unsigned char bytes[PAYLOAD_SIZE],
                    unsigned *type)
{
    writer to = {random, bytes, 0};
    size_t changes = prng_chance(random, 60) ? 0 : 1 + prng_below(random, 4);

    if (prng_chance(random, 60)) {
        (void)make_collection(&to);
    } else {
        size_t form = prng_below(random, RDB_FORM_COUNT);

        to.size = rdb_from_hex(rdb_forms[form].hex, bytes);
        changes += prng_below(random, 2);
    }
    for (; changes > 0 && to.size > 1; changes--)
        change(&to);
    *type = bytes[0];
    return rdb_put_tail(bytes, to.size,
                        prng_chance(random, 50) ? HF__RDB_VERSION
                                                : HF__RDB_VERSION_DEADLINES);
}
