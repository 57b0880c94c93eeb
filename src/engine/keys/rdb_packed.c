/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rdb_packed.c - reading listpacks, ziplists, intsets and LZF. The bytes may be
 * anything: no read goes outside of them.
 */
#include "engine/keys/rdb.h"

#include <string.h>

#include "engine/keys/number_text.h"

int64_t hf__rdb_integer(const unsigned char *at, unsigned width)
{
    uint64_t value = 0;
    unsigned shift = 64 - 8 * width;

    for (unsigned i = 0; i < width; i++)
        value |= (uint64_t)at[i] << 8 * i;
    return (int64_t)(value << shift) >> shift;
}

bool hf__rdb_number(hf__tx *tx, int64_t number, hf_bytes *text)
{
    char digits[HF__NUMBER_TEXT_SIZE];
    size_t size = hf__number_put_integer(digits, number);
    char *copy = hf__tx_alloc(tx, size);

    if (copy == NULL)
        return false;
    memcpy(copy, digits, size);
    *text = hf_view(copy, size);
    return true;
}

static bool put_number(hf__rdb_packed *packed, int64_t number, hf_bytes *text)
{
    char digits[HF__NUMBER_TEXT_SIZE];

    if (packed->digits == NULL)
        return hf__rdb_number(packed->tx, number, text);
    *text = hf_view(packed->digits, hf__number_put_integer(digits, number));
    memcpy(packed->digits, digits, text->size);
    packed->digits += text->size;
    return true;
}

/* Move over `size` bytes. false: there are not so many. */
static bool skip_bytes(hf__rdb_packed *packed, size_t size)
{
    if (size > packed->left) {
        packed->bad = true;
        return false;
    }
    packed->at += size;
    packed->left -= size;
    return true;
}

static bool take_text(hf__rdb_packed *packed, size_t head, size_t size,
                      hf_bytes *text)
{
    if (!skip_bytes(packed, head))
        return false;
    *text = hf_view(packed->at, size);
    return skip_bytes(packed, size);
}

static bool take_number(hf__rdb_packed *packed, size_t head, unsigned width,
                        hf_bytes *text)
{
    const unsigned char *at = packed->at + head;

    return skip_bytes(packed, head + width) &&
           put_number(packed, hf__rdb_integer(at, width), text);
}

static size_t big_endian(const unsigned char *at, unsigned width)
{
    size_t value = 0;

    for (unsigned i = 0; i < width; i++)
        value = value << 8 | at[i];
    return value;
}

static bool fail_packed(hf__rdb_packed *packed)
{
    packed->bad = true;
    return false;
}

/* ---------------------------------------------------------------- listpack */

/* Size 4, count 2; the entries; 0xff. */
#define LISTPACK_HEAD 6u

/* Bytes in which the size of an entry is repeated behind it. */
static size_t back_size(size_t size)
{
    if (size < 128)
        return 1;
    if (size < 16383)
        return 2;
    if (size < 2097151)
        return 3;
    return size < 268435455 ? 4 : 5;
}

static bool listpack_entry(hf__rdb_packed *packed, hf_bytes *text)
{
    unsigned first = packed->at[0];
    unsigned next = packed->left > 1 ? packed->at[1] : 0;

    if (first < 0x80) /* 7 bits */
        return skip_bytes(packed, 1) && put_number(packed, first, text);
    if (first < 0xc0)
        return take_text(packed, 1, first & 0x3f, text);
    if (first < 0xe0) { /* 13 bits, signed */
        int64_t value = (int64_t)((first & 0x1f) << 8 | next);

        return skip_bytes(packed, 2) &&
               put_number(packed, value < 4096 ? value : value - 8192, text);
    }
    if (first < 0xf0)
        return take_text(packed, 2, (first & 0x0f) << 8 | next, text);
    if (first == 0xf0 && packed->left >= 5)
        return take_text(packed, 5,
                         (uint32_t)hf__rdb_integer(packed->at + 1, 4), text);
    if (first >= 0xf1 && first <= 0xf3)
        return take_number(packed, 1, first - 0xf1 + 2, text);
    return first == 0xf4 ? take_number(packed, 1, 8, text)
                         : fail_packed(packed);
}

static bool listpack_next(hf__rdb_packed *packed, hf_bytes *text)
{
    size_t before = packed->left;

    return packed->left > 0 && listpack_entry(packed, text) &&
           skip_bytes(packed, back_size(before - packed->left));
}

bool hf__rdb_listpack(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data)
{
    const unsigned char *at = data.data;

    if (data.size < LISTPACK_HEAD + 1 || at[data.size - 1] != 0xff ||
        (uint32_t)hf__rdb_integer(at, 4) != data.size)
        return false;
    *packed = (hf__rdb_packed){.tx = tx,
                               .next = listpack_next,
                               .at = at + LISTPACK_HEAD,
                               .left = data.size - LISTPACK_HEAD - 1};
    return true;
}

/* ----------------------------------------------------------------- ziplist */

/* Size 4, position of the last entry 4, count 2; the entries; 0xff. */
#define ZIPLIST_HEAD 10u

static bool ziplist_entry(hf__rdb_packed *packed, hf_bytes *text)
{
    unsigned first = packed->at[0];

    if (first < 0x40)
        return take_text(packed, 1, first, text);
    if (first < 0x80 && packed->left >= 2)
        return take_text(packed, 2, big_endian(packed->at, 2) & 0x3fff, text);
    if (first == 0x80 && packed->left >= 5)
        return take_text(packed, 5, big_endian(packed->at + 1, 4), text);
    switch (first) {
    case 0xc0:
        return take_number(packed, 1, 2, text);
    case 0xd0:
        return take_number(packed, 1, 4, text);
    case 0xe0:
        return take_number(packed, 1, 8, text);
    case 0xf0:
        return take_number(packed, 1, 3, text);
    case 0xfe:
        return take_number(packed, 1, 1, text);
    default: /* 0 to 12 */
        return first > 0xf0 && first < 0xfe
                   ? skip_bytes(packed, 1) &&
                         put_number(packed, first - 0xf1, text)
                   : fail_packed(packed);
    }
}

/* An entry begins with the size of the one before it. */
static bool ziplist_next(hf__rdb_packed *packed, hf_bytes *text)
{
    if (packed->left == 0)
        return false;
    if (!skip_bytes(packed, packed->at[0] == 0xfe ? 5 : 1))
        return false;
    return packed->left > 0 ? ziplist_entry(packed, text) : fail_packed(packed);
}

bool hf__rdb_ziplist(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data)
{
    const unsigned char *at = data.data;

    if (data.size < ZIPLIST_HEAD + 1 || at[data.size - 1] != 0xff ||
        (uint32_t)hf__rdb_integer(at, 4) != data.size)
        return false;
    *packed = (hf__rdb_packed){.tx = tx,
                               .next = ziplist_next,
                               .at = at + ZIPLIST_HEAD,
                               .left = data.size - ZIPLIST_HEAD - 1};
    return true;
}

/* ------------------------------------------------------------------ intset */

/* Width of a number 4, count 4; the numbers. */
#define INTSET_HEAD 8u

static bool intset_next(hf__rdb_packed *packed, hf_bytes *text)
{
    return packed->left > 0 && take_number(packed, 0, packed->width, text);
}

bool hf__rdb_intset(hf__rdb_packed *packed, hf__tx *tx, hf_bytes data)
{
    const unsigned char *at = data.data;
    uint32_t width, count;

    if (data.size < INTSET_HEAD)
        return false;
    width = (uint32_t)hf__rdb_integer(at, 4);
    count = (uint32_t)hf__rdb_integer(at + 4, 4);
    if ((width != 2 && width != 4 && width != 8) ||
        data.size - INTSET_HEAD != (uint64_t)width * count)
        return false;
    *packed = (hf__rdb_packed){.tx = tx,
                               .next = intset_next,
                               .at = at + INTSET_HEAD,
                               .left = data.size - INTSET_HEAD,
                               .width = width};
    return true;
}

/* --------------------------------------------------------------------- LZF */

/* Copy from what was written already, which may overlap. */
static bool repeat_bytes(unsigned char *to, size_t *made, size_t size,
                         size_t back, size_t count)
{
    if (back > *made || count > size - *made)
        return false;
    for (; count > 0; count--, (*made)++)
        to[*made] = to[*made - back];
    return true;
}

bool hf__rdb_decompress(hf_bytes from, unsigned char *to, size_t size)
{
    const unsigned char *at = from.data;
    const unsigned char *end = at + from.size;
    size_t made = 0;

    while (at < end) {
        size_t count = *at >> 5;
        size_t back = (size_t)(*at & 0x1f) << 8;

        if (count == 0) { /* as they are */
            count = (size_t)*at++ + 1;
            if (count > (size_t)(end - at) || count > size - made)
                return false;
            memcpy(to + made, at, count);
            at += count;
            made += count;
            continue;
        }
        at++;
        if (count == 7 && at < end)
            count += *at++;
        if (at == end ||
            !repeat_bytes(to, &made, size, back + *at + 1, count + 2))
            return false;
        at++;
    }
    return made == size;
}
