/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.c - folding long names, and comparing names. SHA-1 collisions can be
 * made on purpose, so the reader of a folded record compares the whole name
 * stored in it.
 */
#include "engine/files/name.h"

#include <assert.h>
#include <string.h>

#include "engine/files/format.h"
#include "util/sha1.h"

#define DIGITS HF__NAME_DIGITS
#define WORD sizeof(uint64_t)

size_t hf__name_fold(unsigned char *to, size_t room, hf_bytes name)
{
    char text[HF__SHA1_HEX_SIZE];

    assert(room > DIGITS);
    if (name.size < room) {
        if (name.size > 0)
            memcpy(to, name.data, name.size);
        return name.size;
    }
    hf__sha1_hex(name.data, name.size, text);
    memcpy(to, name.data, room - DIGITS);
    memcpy(to + room - DIGITS, text, DIGITS);
    return room;
}

static bool is_same_word(const unsigned char *a, const unsigned char *b)
{
    uint64_t one, other;

    memcpy(&one, a, WORD);
    memcpy(&other, b, WORD);
    return one == other;
}

/* Of words that differ. */
static int word_order(const unsigned char *a, const unsigned char *b)
{
    return hf__get_be64(a) < hf__get_be64(b) ? -1 : 1;
}

static int size_order(const MDB_val *one, const MDB_val *other)
{
    return (one->mv_size > other->mv_size) - (one->mv_size < other->mv_size);
}

/* No call, for which the comparison would have to save registers. */
static int short_order(const unsigned char *a, const unsigned char *b,
                       size_t size)
{
    for (size_t i = 0; i < size; i++) {
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    }
    return 0;
}

int hf__name_compare(const MDB_val *one, const MDB_val *other)
{
    const unsigned char *a = one->mv_data, *b = other->mv_data;
    size_t size = one->mv_size < other->mv_size ? one->mv_size : other->mv_size;

    if (size < WORD) {
        int order = short_order(a, b, size);

        return order != 0 ? order : size_order(one, other);
    }
    for (size_t at = 0; at + WORD < size; at += WORD) {
        if (!is_same_word(a + at, b + at))
            return word_order(a + at, b + at);
    }
    /* The last word overlaps the one before, which is equal. */
    a += size - WORD;
    b += size - WORD;
    return is_same_word(a, b) ? size_order(one, other) : word_order(a, b);
}

int hf__name_open(MDB_txn *txn, MDB_dbi *dbi)
{
    int rc = mdb_dbi_open(txn, NULL, 0, dbi);

    return rc == MDB_SUCCESS ? mdb_set_compare(txn, *dbi, hf__name_compare)
                             : rc;
}
