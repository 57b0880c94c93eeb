/* SPDX-License-Identifier: Apache-2.0 */
/*
 * crc64.c - CRC-64 (Jones) eight bytes at a time, by tables as in crc32c.c.
 */
#include "util/crc64.h"

#include <pthread.h>

/* The polynomial, its bits reversed. */
#define POLYNOMIAL UINT64_C(0x95ac9329ac4bc9b5)

static uint64_t table[8][256];
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

static void make_table(void)
{
    for (uint64_t byte = 0; byte < 256; byte++) {
        uint64_t crc = byte;

        for (int bit = 0; bit < 8; bit++)
            crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
        table[0][byte] = crc;
    }
    for (int zeros = 1; zeros < 8; zeros++) {
        for (uint64_t byte = 0; byte < 256; byte++) {
            uint64_t crc = table[zeros - 1][byte];

            table[zeros][byte] = crc >> 8 ^ table[0][crc & 0xff];
        }
    }
}

uint64_t hf__crc64(uint64_t crc, const void *data, size_t size)
{
    const unsigned char *at = data;

    pthread_once(&table_once, make_table);
    for (; size >= 8; size -= 8, at += 8) {
        uint64_t next = 0;

        for (unsigned i = 0; i < 8; i++)
            next ^= table[7 - i][(crc >> 8 * i ^ at[i]) & 0xff];
        crc = next;
    }
    for (; size > 0; size--, at++)
        crc = crc >> 8 ^ table[0][(crc ^ *at) & 0xff];
    return crc;
}
