/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.c - folding long names. SHA-1 collisions can be made on purpose, so the
 * reader of a folded record compares the whole name stored in it.
 */
#include "store/embedded/files/name.h"

#include <assert.h>
#include <string.h>

#include "util/sha1.h"

#define DIGITS HF__NAME_DIGITS

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

/* Odd, half its bits set: 2^64 over the golden ratio. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * FACTOR;
    return sum ^ sum >> 29;
}

uint64_t hf__name_hash(hf_bytes name, uint64_t seed)
{
    const unsigned char *at = name.data;
    uint64_t sum = seed ^ (name.size * FACTOR);
    uint64_t word = 0;
    size_t left = name.size;

    for (; left >= sizeof(word); at += sizeof(word), left -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum = mix(sum, word);
    }
    if (left > 0) {
        word = 0;
        for (size_t i = 0; i < left; i++)
            word = word << 8 | at[i];
        sum = mix(sum, word);
    }
    return sum ^ sum >> 32;
}
