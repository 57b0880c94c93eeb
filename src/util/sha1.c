/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sha1.c - SHA-1, with the instructions of x86 for it where the processor has
 * them.
 *
 * Our own, as libcrypto takes longer to load than many a program runs
 * (docs/adr/0099). It allocates nothing, takes no lock and cannot fail.
 */
#include "util/sha1.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#ifdef __x86_64__
#include <cpuid.h>
#include <immintrin.h>
#endif

#define BLOCK_SIZE 64
#define LENGTH_SIZE 8 /* at the end of the last block: the size in bits */
#define WORDS 5

/* Add `count` blocks to the state. */
typedef void (*add_blocks_fn)(uint32_t state[WORDS], const unsigned char *data,
                              size_t count);

/* ----------------------------------------------------------------- any CPU */

static uint32_t rotate_left(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t read_word(const unsigned char *from)
{
    return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 |
           (uint32_t)from[2] << 8 | from[3];
}

/* Word `at` of the 80 of a block, of which the last 16 are kept. */
static uint32_t next_word(uint32_t kept[16], int at)
{
    if (at >= 16)
        kept[at & 15] = rotate_left(kept[(at + 13) & 15] ^ kept[(at + 8) & 15] ^
                                        kept[(at + 2) & 15] ^ kept[at & 15],
                                    1);
    return kept[at & 15];
}

/* The function and the constant of step `at`. */
static uint32_t mix_words(int at, uint32_t b, uint32_t c, uint32_t d)
{
    if (at < 20)
        return ((b & c) | (~b & d)) + 0x5a827999;
    if (at < 40)
        return (b ^ c ^ d) + 0x6ed9eba1;
    if (at < 60)
        return ((b & c) | (b & d) | (c & d)) + 0x8f1bbcdc;
    return (b ^ c ^ d) + 0xca62c1d6;
}

static void add_block(uint32_t state[WORDS], const unsigned char *data)
{
    uint32_t a = state[0], b = state[1], c = state[2];
    uint32_t d = state[3], e = state[4];
    uint32_t kept[16];

    for (int i = 0; i < 16; i++)
        kept[i] = read_word(data + 4 * i);
    for (int at = 0; at < 80; at++) {
        uint32_t sum = rotate_left(a, 5) + mix_words(at, b, c, d) + e +
                       next_word(kept, at);

        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = sum;
    }
    state[0] += a;
    state[1] += b;
    state[2] += c;
    state[3] += d;
    state[4] += e;
}

static void add_blocks(uint32_t state[WORDS], const unsigned char *data,
                       size_t count)
{
    for (; count > 0; count--, data += BLOCK_SIZE)
        add_block(state, data);
}

/* --------------------------------------------------------------------- x86 */

#ifdef __x86_64__

/* Four of the 80 steps: number `four`, whose function is `which`. The constants
 * are known to the instruction. */
#define ADD_FOUR(four, which)                                                  \
    do {                                                                       \
        if ((four) >= 4)                                                       \
            words[(four)&3] = _mm_sha1msg2_epu32(                              \
                _mm_xor_si128(_mm_sha1msg1_epu32(words[(four)&3],              \
                                                 words[((four) + 1) & 3]),     \
                              words[((four) + 2) & 3]),                        \
                words[((four) + 3) & 3]);                                      \
        sum = (four) == 0 ? _mm_add_epi32(e, words[0])                         \
                          : _mm_sha1nexte_epu32(last, words[(four)&3]);        \
        last = abcd;                                                           \
        abcd = _mm_sha1rnds4_epu32(abcd, sum, which);                          \
    } while (0)

#define ADD_TWENTY(which)                                                      \
    do {                                                                       \
        ADD_FOUR(5 * (which), which);                                          \
        ADD_FOUR(5 * (which) + 1, which);                                      \
        ADD_FOUR(5 * (which) + 2, which);                                      \
        ADD_FOUR(5 * (which) + 3, which);                                      \
        ADD_FOUR(5 * (which) + 4, which);                                      \
    } while (0)

__attribute__((target("sha,sse4.1"))) static void
add_blocks_x86(uint32_t state[WORDS], const unsigned char *data, size_t count)
{
    const __m128i reversed =
        _mm_set_epi64x(0x0001020304050607, 0x08090a0b0c0d0e0f);
    __m128i abcd = _mm_shuffle_epi32(
        _mm_loadu_si128((const __m128i *)(const void *)state), 0x1b);
    __m128i e = _mm_set_epi32((int)state[4], 0, 0, 0);

    for (; count > 0; count--, data += BLOCK_SIZE) {
        const __m128i abcd_before = abcd, e_before = e;
        __m128i words[4], sum, last = abcd;

        for (int i = 0; i < 4; i++)
            words[i] = _mm_shuffle_epi8(
                _mm_loadu_si128((const __m128i *)(const void *)(data + 16 * i)),
                reversed);
        ADD_TWENTY(0);
        ADD_TWENTY(1);
        ADD_TWENTY(2);
        ADD_TWENTY(3);
        e = _mm_sha1nexte_epu32(last, e_before);
        abcd = _mm_add_epi32(abcd, abcd_before);
    }
    _mm_storeu_si128((__m128i *)(void *)state, _mm_shuffle_epi32(abcd, 0x1b));
    state[4] = (uint32_t)_mm_extract_epi32(e, 3);
}

/* Bits of CPUID. */
#define SSSE3_AND_SSE4_1 (1U << 9 | 1U << 19) /* leaf 1, ecx */
#define SHA (1U << 29)                        /* leaf 7, ebx */

static bool has_instructions(void)
{
    unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;

    return __get_cpuid(1, &eax, &ebx, &ecx, &edx) != 0 &&
           (ecx & SSSE3_AND_SSE4_1) == SSSE3_AND_SSE4_1 &&
           __get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx) != 0 &&
           (ebx & SHA) != 0;
}
#endif

/* Asked once, as CPUID is slow in a virtual machine. */
static add_blocks_fn choose_way(void)
{
#ifdef __x86_64__
    static add_blocks_fn chosen; /* any writer has the same */
    add_blocks_fn way = __atomic_load_n(&chosen, __ATOMIC_RELAXED);

    if (way == NULL) {
        way = has_instructions() ? add_blocks_x86 : add_blocks;
        __atomic_store_n(&chosen, way, __ATOMIC_RELAXED);
    }
    return way;
#else
    return add_blocks;
#endif
}

/* -------------------------------------------------------------------- both */

/* What follows the last whole block, a bit that is set, and the size. */
static void add_last(add_blocks_fn way, uint32_t state[WORDS],
                     const unsigned char *rest, size_t size)
{
    unsigned char last[2 * BLOCK_SIZE] = {0};
    size_t left = size % BLOCK_SIZE;
    size_t count = left + 1 + LENGTH_SIZE > BLOCK_SIZE ? 2 : 1;
    uint64_t bits = (uint64_t)size * 8;

    if (left > 0)
        memcpy(last, rest, left);
    last[left] = 0x80;
    for (size_t i = 0; i < LENGTH_SIZE; i++)
        last[count * BLOCK_SIZE - 1 - i] = (unsigned char)(bits >> 8 * i);
    way(state, last, count);
}

static void write_hex(const uint32_t state[WORDS], char text[HF__SHA1_HEX_SIZE])
{
    static const char digits[] = "0123456789abcdef";

    for (size_t i = 0; i < HF__SHA1_HEX_SIZE - 1; i++)
        text[i] = digits[state[i / 8] >> (28 - i % 8 * 4) & 15];
    text[HF__SHA1_HEX_SIZE - 1] = '\0';
}

void hf__sha1_by(bool plainly, const void *data, size_t size,
                 char text[HF__SHA1_HEX_SIZE])
{
    uint32_t state[WORDS] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476,
                             0xc3d2e1f0};
    add_blocks_fn way = plainly ? add_blocks : choose_way();
    const unsigned char *bytes = data;
    size_t whole = size / BLOCK_SIZE;

    if (whole > 0)
        way(state, bytes, whole);
    add_last(way, state, size > 0 ? bytes + whole * BLOCK_SIZE : NULL, size);
    write_hex(state, text);
}

void hf__sha1_hex(const void *data, size_t size, char text[HF__SHA1_HEX_SIZE])
{
    hf__sha1_by(false, data, size, text);
}
