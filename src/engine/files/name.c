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

int hf__name_compare(const MDB_val *one, const MDB_val *other)
{
    const unsigned char *a = one->mv_data, *b = other->mv_data;
    size_t size = one->mv_size < other->mv_size ? one->mv_size : other->mv_size;
    int longer =
        (one->mv_size > other->mv_size) - (one->mv_size < other->mv_size);
    uint64_t left, right;

    if (size < WORD) {
        int order = memcmp(a, b, size);

        return order != 0 ? order : longer;
    }
    for (size_t at = 0; at + WORD < size; at += WORD) {
        left = hf__get_be64(a + at);
        right = hf__get_be64(b + at);
        if (left != right)
            return left < right ? -1 : 1;
    }
    /* The last word overlaps the one before, which is equal. */
    left = hf__get_be64(a + size - WORD);
    right = hf__get_be64(b + size - WORD);
    if (left != right)
        return left < right ? -1 : 1;
    return longer;
}
