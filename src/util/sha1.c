/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1.c - SHA-1 as RFC 3174 describes it (section 6.1), for whole messages.
 */
#include "util/sha1.h"

#include <stdint.h>
#include <string.h>

#define BLOCK_SIZE 64
#define WORD_COUNT 5

static uint32_t rotate(uint32_t word, unsigned bits)
{
    return word << bits | word >> (32 - bits);
}

/* The 80 words of the message schedule. */
static void expand(const unsigned char block[BLOCK_SIZE], uint32_t words[80])
{
    for (size_t i = 0; i < 16; i++) {
        const unsigned char *at = block + 4 * i;

        words[i] = (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 |
                   (uint32_t)at[2] << 8 | at[3];
    }
    for (size_t i = 16; i < 80; i++)
        words[i] = rotate(
            words[i - 3] ^ words[i - 8] ^ words[i - 14] ^ words[i - 16], 1);
}

static uint32_t mix(size_t round, uint32_t b, uint32_t c, uint32_t d)
{
    if (round < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (round < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (round < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void add_block(uint32_t state[WORD_COUNT],
                      const unsigned char block[BLOCK_SIZE])
{
    uint32_t words[80];
    uint32_t a = state[0], b = state[1], c = state[2], d = state[3];
    uint32_t e = state[4];

    expand(block, words);
    for (size_t i = 0; i < 80; i++) {
        uint32_t next = rotate(a, 5) + mix(i, b, c, d) + e + words[i];

        e = d;
        d = c;
        c = rotate(b, 30);
        b = a;
        a = next;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

/* The rest of the message, a 1 bit, zeros, and the message's size in bits. */
static void add_tail(uint32_t state[WORD_COUNT], const unsigned char *rest,
                     size_t rest_size, uint64_t total_size)
{
    unsigned char block[2 * BLOCK_SIZE] = {0};
    size_t size = rest_size < BLOCK_SIZE - 8 ? BLOCK_SIZE : 2 * BLOCK_SIZE;

    if (rest_size > 0)
        memcpy(block, rest, rest_size);
    block[rest_size] = 0x80;
    for (size_t i = 0; i < 8; i++)
        block[size - 1 - i] = (unsigned char)(total_size * 8 >> (8 * i));
    for (size_t at = 0; at < size; at += BLOCK_SIZE)
        add_block(state, block + at);
}

void hf__sha1_hex(const void *data, size_t size, char text[HF__SHA1_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";
    uint32_t state[WORD_COUNT] = {0x67452301, 0xefcdab89, 0x98badcfe,
                                  0x10325476, 0xc3d2e1f0};
    const unsigned char *rest = data;
    size_t left = size;

    while (left >= BLOCK_SIZE) {
        add_block(state, rest);
        rest += BLOCK_SIZE;
        left -= BLOCK_SIZE;
    }
    add_tail(state, rest, left, size);
    for (size_t i = 0; i < 40; i++)
        text[i] = digits[state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    text[40] = '\0';
}
