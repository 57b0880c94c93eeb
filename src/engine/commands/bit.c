/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bit.c - commands on single bits of strings. Bit 0 is the highest bit of the
 * first byte; beyond the end of a string all bits are 0.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/keys/type_string.h"
#include "store/limits.h"

static bool read_offset(hf__tx *tx, hf_bytes arg, int64_t *offset)
{
    if (hf__number_integer(arg, offset) && hf__is_bit(*offset))
        return true;
    return hf__reply_error(tx,
                           "ERR bit offset is not an integer or out of range");
}

static unsigned bit_of(const unsigned char *data, uint64_t at)
{
    return (unsigned)data[at / 8] >> (7 - at % 8) & 1u;
}

static void run_getbit(hf__tx *tx, const hf_bytes *args, size_t count)
{
    unsigned char byte = 0;
    hf__record *record;
    int64_t offset;

    (void)count;
    if (read_offset(tx, args[2], &offset) &&
        hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record) &&
        (record == NULL ||
         hf__string_read(tx, record, (size_t)offset / 8, &byte, 1)))
        hf__reply_integer(tx, bit_of(&byte, (uint64_t)offset % 8));
}

/* Set the bit and return what it was; -1: fatal. */
static int set_bit(hf__tx *tx, hf__record *record, uint64_t at, bool bit)
{
    unsigned mask = 1u << (7 - at % 8);
    unsigned char was, byte;

    if (!hf__string_read(tx, record, (size_t)at / 8, &was, 1))
        return -1;
    byte = (unsigned char)(bit ? was | mask : was & ~mask);
    if (!hf__string_write(tx, record, (size_t)at / 8, hf_view(&byte, 1)))
        return -1;
    return (was & mask) != 0;
}

static void run_setbit(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t offset, bit;
    int was;

    (void)count;
    if (!read_offset(tx, args[2], &offset))
        return;
    if (!hf__number_integer(args[3], &bit) || bit < 0 || bit > 1) {
        hf__reply_error(tx, "ERR bit is not an integer or out of range");
        return;
    }
    if (!hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL)
        record = hf__key_make(tx, args[1], HF__TYPE_STRING);
    if (record == NULL)
        return;
    was = set_bit(tx, record, (uint64_t)offset, bit != 0);
    if (was < 0)
        return;
    hf__key_event(tx, HF__EVENT_STRING, "setbit", args[1]);
    hf__reply_integer(tx, was);
}

/* -------------------------------------------------------------- BITCOUNT */

/* Bits that are read at once. */
#define WORD 64

/* Bits from `first` to `last`; empty if they are in the wrong order. */
typedef struct bits {
    int64_t first;
    int64_t last;
} bits;

static bool read_unit(hf__tx *tx, hf_bytes arg, bool *by_bit)
{
    *by_bit = hf__arg_is(arg, "bit");
    if (*by_bit || hf__arg_is(arg, "byte"))
        return true;
    return hf__reply_error(tx, HF__ERROR_SYNTAX);
}

/* Positions may count from the end, in bits or bytes. */
static bits place_bits(int64_t size, int64_t start, int64_t end, bool by_bit)
{
    int64_t total = by_bit ? size * 8 : size;

    if (start < 0)
        start = start + total < 0 ? 0 : start + total;
    if (end < 0)
        end = end + total < 0 ? 0 : end + total;
    if (end >= total)
        end = total - 1;
    if (start > end)
        return (bits){1, 0};
    if (by_bit)
        return (bits){start, end};
    return (bits){start * 8, end * 8 + 7};
}

/* A piece of the string, and account for reading it. NULL: fatal. */
static hf_bytes next_bytes(hf__tx *tx, hf__record *record, size_t at)
{
    hf_bytes piece = hf__string_piece(tx, record, at);

    if (piece.size > HF__TX_PIECE)
        piece.size = HF__TX_PIECE;
    if (piece.data != NULL && !hf__tx_spend(tx, piece.size))
        piece.data = NULL;
    return piece;
}

/* So many bits from the beginning of a byte on, in any order. */
static uint64_t word_at(const unsigned char *data, int64_t at)
{
    uint64_t word;

    memcpy(&word, data + at / 8, sizeof(word));
    return word;
}

/* The piece of the string that begins with the byte of this bit, and the bits
 * of the range in it, from its beginning. */
static hf_bytes next_piece(hf__tx *tx, hf__record *record, bits range,
                           bits *within)
{
    int64_t base = range.first / 8;
    hf_bytes piece = next_bytes(tx, record, (size_t)base);
    int64_t last = range.last - 8 * base;

    *within = (bits){range.first % 8, last};
    if (last >= 8 * (int64_t)piece.size)
        within->last = 8 * (int64_t)piece.size - 1;
    return piece;
}

static int64_t count_piece(const unsigned char *data, bits range)
{
    int64_t count = 0;
    int64_t at = range.first;

    while (at <= range.last && at % 8 != 0)
        count += bit_of(data, (uint64_t)at++);
    for (; at + WORD - 1 <= range.last; at += WORD)
        count += __builtin_popcountll(word_at(data, at));
    while (at <= range.last)
        count += bit_of(data, (uint64_t)at++);
    return count;
}

static int64_t count_bits(hf__tx *tx, hf__record *record, bits range)
{
    int64_t count = 0;
    hf_bytes piece;
    bits within;

    while (range.first <= range.last) {
        piece = next_piece(tx, record, range, &within);
        if (piece.data == NULL)
            return 0;
        count += count_piece(piece.data, within);
        range.first += within.last - within.first + 1;
    }
    return count;
}

static void run_bitcount(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record;
    int64_t start = 0;
    int64_t end = -1;
    bool by_bit = false;

    if (!hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (count == 3 || count > 5) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if (count >= 4 && (!hf__arg_integer(tx, args[2], &start) ||
                       !hf__arg_integer(tx, args[3], &end)))
        return;
    /* Before the unit is read, as in Redis. */
    if (start < 0 && end < 0 && start > end) {
        hf__reply_integer(tx, 0);
        return;
    }
    if (count == 5 && !read_unit(tx, args[4], &by_bit))
        return;
    hf__reply_integer(tx,
                      count_bits(tx, record,
                                 place_bits((int64_t)hf__string_size(record),
                                            start, end, by_bit)));
}

/* ---------------------------------------------------------------- BITPOS */

static int64_t find_in_piece(const unsigned char *data, bits range,
                             unsigned wanted)
{
    const uint64_t none = wanted ? 0 : UINT64_MAX;
    int64_t at = range.first;

    while (at <= range.last) {
        if (at % 8 == 0 && at + WORD - 1 <= range.last &&
            word_at(data, at) == none)
            at += WORD;
        else if (bit_of(data, (uint64_t)at) == wanted)
            return at;
        else
            at++;
    }
    return -1;
}

static int64_t find_bit(hf__tx *tx, hf__record *record, bits range,
                        unsigned wanted)
{
    int64_t found = -1;
    hf_bytes piece;
    bits within;

    while (found < 0 && range.first <= range.last) {
        piece = next_piece(tx, record, range, &within);
        if (piece.data == NULL)
            return -1;
        found = find_in_piece(piece.data, within, wanted);
        if (found >= 0)
            found += range.first - within.first;
        range.first += within.last - within.first + 1;
    }
    return found;
}

typedef struct bit_search {
    int64_t bit;
    int64_t start, end;
    bool by_bit;
    bool bounded; /* an end was given */
} bit_search;

static bool read_search(hf__tx *tx, const hf_bytes *args, size_t count,
                        bit_search *what)
{
    if (count > 6)
        return hf__reply_error(tx, HF__ERROR_SYNTAX);
    what->end = -1;
    what->bounded = count >= 5;
    return (count < 4 || hf__arg_integer(tx, args[3], &what->start)) &&
           (count < 6 || read_unit(tx, args[5], &what->by_bit)) &&
           (count < 5 || hf__arg_integer(tx, args[4], &what->end));
}

static void reply_position(hf__tx *tx, hf__record *record,
                           const bit_search *what)
{
    int64_t size = (int64_t)hf__string_size(record);
    bits range = place_bits(size, what->start, what->end, what->by_bit);
    int64_t found = find_bit(tx, record, range, what->bit != 0);

    /* The zeros beyond the string count unless an end was given. */
    if (found < 0 && what->bit == 0 && !what->bounded &&
        range.first <= range.last)
        found = size * 8;
    hf__reply_integer(tx, found);
}

static void run_bitpos(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bit_search what = {0};
    hf__record *record;

    if (!hf__arg_integer(tx, args[2], &what.bit))
        return;
    if (what.bit != 0 && what.bit != 1) {
        hf__reply_error(tx, "ERR The bit argument must be 1 or 0.");
        return;
    }
    if (!hf__key_of_type(tx, args[1], HF__TYPE_STRING, &record))
        return;
    if (record == NULL)
        hf__reply_integer(tx, what.bit != 0 ? -1 : 0);
    else if (read_search(tx, args, count, &what))
        reply_position(tx, record, &what);
}

/* ----------------------------------------------------------------- BITOP */

typedef enum bit_operation { AND, OR, XOR, NOT, NONE } bit_operation;

static bit_operation read_operation(hf_bytes arg)
{
    static const char *const names[] = {"and", "or", "xor", "not"};
    int at = AND;

    while (at < NONE && !hf__arg_is(arg, names[at]))
        at++;
    return (bit_operation)at;
}

/* The longest source's size. false: one is not a string, replied, or fatal. */
static bool measure_longest(hf__tx *tx, const hf_bytes *keys, size_t count,
                            size_t *longest)
{
    hf__record *record;

    *longest = 0;
    for (size_t i = 0; i < count; i++) {
        hf__tx_trim(tx);
        if (!hf__key_of_type(tx, keys[i], HF__TYPE_STRING, &record))
            return false;
        if (record != NULL && hf__string_size(record) > *longest)
            *longest = hf__string_size(record);
    }
    return true;
}

/* Combine bytes, padded with zeros, into `sum`. */
static void combine_bytes(bit_operation what, unsigned char *sum, size_t size,
                          hf_bytes piece)
{
    const unsigned char *from = piece.data;

    for (size_t i = 0; i < size; i++) {
        unsigned char byte = i < piece.size ? from[i] : 0;

        if (what == AND)
            sum[i] &= byte;
        else if (what == OR)
            sum[i] |= byte;
        else if (what == XOR)
            sum[i] ^= byte;
        else
            sum[i] = (unsigned char)~byte;
    }
}

/* The same with a string, NULL: none, which is not longer than `sum`. */
static void combine_source(hf__tx *tx, bit_operation what, unsigned char *sum,
                           size_t size, hf__record *record)
{
    size_t whole = record != NULL ? hf__string_size(record) : 0;
    size_t taken;

    for (size_t at = 0; at < size && tx->fatal == HF_OK; at += taken) {
        hf_bytes piece = {NULL, 0};

        taken = size - at < HF__TX_PIECE ? size - at : HF__TX_PIECE;
        if (at < whole) {
            piece = next_bytes(tx, record, at);
            taken = piece.size;
        }
        if (piece.data == NULL && (at < whole || !hf__tx_spend(tx, taken)))
            return;
        combine_bytes(what, sum + at, taken, piece);
    }
}

/* The result in tx->scratch, `size` bytes. NULL: fatal. */
static unsigned char *combine_sources(hf__tx *tx, bit_operation what,
                                      const hf_bytes *keys, size_t count,
                                      size_t size)
{
    unsigned char *sum = hf__tx_scratch(tx, size);

    if (sum == NULL)
        return NULL;
    memset(sum, what == AND ? 0xff : 0, size);
    for (size_t i = 0; i < count && tx->fatal == HF_OK; i++) {
        hf__record *record;

        hf__tx_trim(tx);
        record = hf__key_find(tx, keys[i]);
        combine_source(tx, what, sum, size, record);
    }
    return tx->fatal == HF_OK ? sum : NULL;
}

static void run_bitop(hf__tx *tx, const hf_bytes *args, size_t count)
{
    bit_operation what = read_operation(args[1]);
    unsigned char *sum;
    hf__record *record;
    size_t size;

    if (what == NONE) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    if (what == NOT && count != 4) {
        hf__reply_error(tx, "ERR BITOP NOT must be called with a single source "
                            "key.");
        return;
    }
    if (!measure_longest(tx, args + 3, count - 3, &size))
        return;
    if (size == 0) {
        record = hf__key_find(tx, args[2]);
        if (record != NULL)
            hf__key_delete(tx, record);
    } else {
        sum = combine_sources(tx, what, args + 3, count - 3, size);
        record =
            sum == NULL ? NULL : hf__key_make(tx, args[2], HF__TYPE_STRING);
        if (record == NULL || !hf__content_set(tx, record, sum, size))
            return;
        hf__key_event(tx, HF__EVENT_STRING, "set", args[2]);
    }
    hf__reply_integer(tx, (int64_t)size);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_bit[] = {
    {"getbit", 0, run_getbit},     {"setbit", GROWS, run_setbit},
    {"bitcount", 0, run_bitcount}, {"bitpos", 0, run_bitpos},
    {"bitop", GROWS, run_bitop},   {NULL, 0, NULL}};
