/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc32c.c - CRC-32C eight bytes at a time, by tables that the first caller
 * makes: table[n][b] is the effect of byte b with n zero bytes behind it.
 */
#include "util/crc32c.h"

#include <pthread.h>

/* The polynomial, its bits reversed. */
#define POLYNOMIAL UINT32_C(0x82f63b78)

static uint32_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int zeros = 1; zeros < 8; zeros++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = table[zeros - 1][byte];

            table[zeros][byte] = crc >> 8 ^ table[0][crc & 0xff];
        }
    }
}

static uint32_t load_32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 |
           (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

uint32_t hf__crc32c(uint32_t crc, const void *data, size_t size)
{
    const unsigned char *at = data;
    uint32_t low, high;

    pthread_once(&table_once, make_table);
    crc = ~crc;
    for (; size >= 8; size -= 8, at += 8) {
        low = load_32(at) ^ crc;
        high = load_32(at + 4);
        crc = table[7][low & 0xff] ^ table[6][low >> 8 & 0xff] ^
              table[5][low >> 16 & 0xff] ^ table[4][low >> 24] ^
              table[3][high & 0xff] ^ table[2][high >> 8 & 0xff] ^
              table[1][high >> 16 & 0xff] ^ table[0][high >> 24];
    }
    for (; size > 0; size--, at++)
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    return ~crc;
}
