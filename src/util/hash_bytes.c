/* SPDX-License-Identifier: Apache-2.0 */
/* hash_bytes.c - see hash_bytes.h. */
#include "util/hash_bytes.h"

#include <string.h>

/* Odd, half its bits set: 2^64 over the golden ratio. */
#define FACTOR UINT64_C(0x9e3779b97f4a7c15)

static uint64_t mix_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * FACTOR;
    return sum ^ sum >> 29;
}

/* The first byte is the highest. */
static uint64_t half_at(const unsigned char *at)
{
    uint32_t half;

    memcpy(&half, at, sizeof(half));
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    half = __builtin_bswap32(half);
#endif
    return half;
}

/* Fewer than eight bytes; of four and more the two halves overlap. */
static uint64_t short_word_at(const unsigned char *at, size_t size)
{
    uint64_t word = 0;

    if (size >= 4)
        return half_at(at) << 8 * (size - 4) | half_at(at + size - 4);
    for (size_t i = 0; i < size; i++)
        word = word << 8 | at[i];
    return word;
}

uint64_t hf__hash(hf_bytes bytes, uint64_t seed)
{
    const unsigned char *at = bytes.data;
    uint64_t sum = seed ^ (bytes.size * FACTOR);
    uint64_t word = 0;
    size_t left = bytes.size;

    for (; left >= sizeof(word); at += sizeof(word), left -= sizeof(word)) {
        memcpy(&word, at, sizeof(word));
        sum = mix_word(sum, word);
    }
    if (left > 0)
        sum = mix_word(sum, short_word_at(at, left));
    return sum ^ sum >> 32;
}
