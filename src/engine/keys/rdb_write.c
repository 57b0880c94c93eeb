/* SPDX-License-Identifier: Apache-2.0 */
/* rdb_write.c - see rdb_write.h. */
#include "engine/keys/rdb_write.h"

#include "engine/keys/rdb.h"
#include "util/crc64.h"

void hf__rdb_put_bytes(hf__rdb_out *to, const void *data, size_t size)
{
    unsigned char *room = hf__tx_scratch(to->tx, to->size + size);

    if (room != NULL && size > 0)
        (void)hf__tx_copy(to->tx, room + to->size, data, size);
    to->size += size;
}

void hf__rdb_put_integer(hf__rdb_out *to, uint64_t value, unsigned width)
{
    unsigned char bytes[8];

    for (unsigned i = 0; i < width; i++)
        bytes[i] = (unsigned char)(value >> 8 * i);
    hf__rdb_put_bytes(to, bytes, width);
}

void hf__rdb_put_length(hf__rdb_out *to, uint64_t length)
{
    unsigned char bytes[9];
    unsigned width = length < 64 ? 0 : length < 16384 ? 1 : 8;

    bytes[0] = (unsigned char)(width < 8 ? length >> 8 * width : 0);
    for (unsigned i = 1; i <= width; i++)
        bytes[i] = (unsigned char)(length >> 8 * (width - i));
    if (width > 0)
        bytes[0] |= width == 1 ? HF__RDB_14_BITS : HF__RDB_64_BITS;
    hf__rdb_put_bytes(to, bytes, width + 1);
}

void hf__rdb_put_part(hf__rdb_out *to, hf_bytes part)
{
    for (size_t at = 0; at < part.size && to->tx->fatal == HF_OK;) {
        size_t left = part.size - at;
        size_t size = left < HF__RDB_PIECE ? left : HF__RDB_PIECE;

        hf__rdb_put_bytes(to, (const char *)part.data + at, size);
        hf__rdb_flush(to);
        at += size;
    }
}

void hf__rdb_put_string(hf__rdb_out *to, hf_bytes text)
{
    hf__rdb_put_length(to, text.size);
    hf__rdb_put_part(to, text);
}

void hf__rdb_put_type(hf__rdb_out *to, unsigned type)
{
    hf__rdb_put_integer(to, type, 1);
    if (to->key.data != NULL)
        hf__rdb_put_string(to, to->key);
}

/* --------------------------------------------------------------- listpacks */

/* The size of an element is repeated behind it, 7 bits in each byte. */
static void put_back_size(hf__rdb_out *to, size_t size)
{
    unsigned width = size < 128         ? 1
                     : size < 16383     ? 2
                     : size < 2097151   ? 3
                     : size < 268435455 ? 4
                                        : 5;

    for (unsigned i = width; i-- > 0;)
        hf__rdb_put_integer(
            to, (size >> 7 * i & 0x7f) | (i + 1 < width ? 0x80 : 0), 1);
}

void hf__rdb_put_tail(hf__rdb_out *to, uint64_t version)
{
    hf__rdb_put_integer(to, version, 2);
    if (to->tx->fatal == HF_OK)
        hf__rdb_put_integer(to, hf__crc64(0, to->tx->scratch, to->size), 8);
}

/* The length of the string, as one of 32 bits, and the head are written by
 * hf__rdb_listpack_end(). */
void hf__rdb_listpack_begin(hf__rdb_listpack_out *pack, hf__rdb_out *to)
{
    *pack = (hf__rdb_listpack_out){to, to->size, 0};
    hf__rdb_put_bytes(to, "\0\0\0\0\0\0\0\0\0\0", 11);
}

void hf__rdb_listpack_number(hf__rdb_listpack_out *pack, int64_t value)
{
    size_t begins = pack->to->size;

    if (value >= 0 && value < 128) {
        hf__rdb_put_integer(pack->to, (uint64_t)value, 1);
    } else if (value >= INT32_MIN && value <= INT32_MAX) {
        hf__rdb_put_integer(pack->to, 0xf3, 1);
        hf__rdb_put_integer(pack->to, (uint64_t)value, 4);
    } else {
        hf__rdb_put_integer(pack->to, 0xf4, 1);
        hf__rdb_put_integer(pack->to, (uint64_t)value, 8);
    }
    put_back_size(pack->to, pack->to->size - begins);
    pack->count++;
}

void hf__rdb_listpack_text(hf__rdb_listpack_out *pack, hf_bytes text)
{
    size_t begins = pack->to->size;

    if (text.size < 64) {
        hf__rdb_put_integer(pack->to, 0x80 | text.size, 1);
    } else if (text.size < 4096) {
        hf__rdb_put_integer(pack->to, 0xe0 | text.size >> 8, 1);
        hf__rdb_put_integer(pack->to, text.size, 1);
    } else {
        hf__rdb_put_integer(pack->to, 0xf0, 1);
        hf__rdb_put_integer(pack->to, text.size, 4);
    }
    hf__rdb_put_bytes(pack->to, text.data, text.size);
    put_back_size(pack->to, pack->to->size - begins);
    pack->count++;
}

void hf__rdb_listpack_end(hf__rdb_listpack_out *pack)
{
    hf__rdb_out *to = pack->to;
    uint32_t size, count = pack->count < 65535 ? pack->count : 65535;
    unsigned char *at;

    hf__rdb_put_integer(to, 0xff, 1);
    if (to->tx->fatal != HF_OK)
        return;
    at = to->tx->scratch + pack->begins;
    size = (uint32_t)(to->size - pack->begins - 5);
    at[0] = HF__RDB_32_BITS;
    for (unsigned i = 0; i < 4; i++) {
        at[1 + i] = (unsigned char)(size >> (24 - 8 * i));
        at[5 + i] = (unsigned char)(size >> 8 * i);
    }
    at[9] = (unsigned char)count;
    at[10] = (unsigned char)(count >> 8);
}
