/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sum.c - multiply and fold, eight bytes at a time, in four lanes that a
 * processor runs side by side.
 *
 * Each step is invertible, so two texts that differ only within one word of
 * eight bytes always differ in the 64 bits; the 16 stored bits agree for one in
 * 65536.
 */
#include "engine/files/sum.h"

#include <string.h>

/* Odd, half of the bits set. */
#define FACTOR UINT64_C(0x9fb21c651e98df25)
#define BLOCK 32u /* of four lanes */

static uint64_t mix_word(uint64_t sum, uint64_t word)
{
    sum = (sum ^ word) * FACTOR;
    return sum ^ sum >> 32;
}

static uint64_t word_at(const unsigned char *at)
{
    uint64_t word;

    memcpy(&word, at, sizeof(word));
    return word;
}

static uint64_t half_at(const unsigned char *at)
{
    uint32_t half;

    memcpy(&half, at, sizeof(half));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    half = __builtin_bswap32(half);
#endif
    return half;
}

/* Fewer than eight bytes. Of four and more the two halves overlap; fewer are
 * taken one by one: memcpy() into a word stalls store forwarding. */
static uint64_t short_word_at(const unsigned char *at, size_t size)
{
    uint64_t word = 0;

    if (size >= 4)
        return half_at(at) | half_at(at + size - 4) << 8 * (size - 4);
    while (size > 0)
        word = word << 8 | at[--size];
    return word;
}

/* Whole blocks of all lanes, which are variables, not an array: they stay in
 * registers. */
static uint64_t sum_blocks(uint64_t seed, const unsigned char **at,
                           size_t *size)
{
    uint64_t first = seed, second = ~seed;
    uint64_t third = seed + FACTOR, fourth = seed ^ FACTOR;

    for (; *size >= BLOCK; *at += BLOCK, *size -= BLOCK) {
        first = mix_word(first, word_at(*at));
        second = mix_word(second, word_at(*at + 8));
        third = mix_word(third, word_at(*at + 16));
        fourth = mix_word(fourth, word_at(*at + 24));
    }
    return mix_word(mix_word(mix_word(first, second), third), fourth);
}

static uint64_t sum_part(uint64_t seed, const unsigned char *at, size_t size)
{
    uint64_t sum = mix_word(seed, size);

    if (size >= BLOCK)
        sum = sum_blocks(sum, &at, &size);
    for (; size >= 8; at += 8, size -= 8)
        sum = mix_word(sum, word_at(at));
    return size > 0 ? mix_word(sum, short_word_at(at, size)) : sum;
}

uint64_t hf__sum(uint64_t seed, const void *data, size_t size)
{
    const unsigned char *at = data;

    for (; size > HF__SUM_PART; at += HF__SUM_PART, size -= HF__SUM_PART)
        seed = sum_part(seed, at, HF__SUM_PART);
    return sum_part(seed, at, size);
}

uint16_t hf__sum_fold(uint64_t sum)
{
    sum ^= sum >> 32;
    return (uint16_t)(sum ^ sum >> 16);
}
