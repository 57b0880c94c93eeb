/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bitfield.c - BITFIELD: numbers of 1 to 64 bits anywhere in a string, the
 * highest bit first.
 *
 * All arguments are read first, so that a wrong one leaves the string
 * unchanged; a string to be written is first extended.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/keys/number_text.h"
#include "engine/keys/type_string.h"
#include "store/limits.h"

#define ERROR_OFFSET "ERR bit offset is not an integer or out of range"

/* Large enough for the sum of any field and increment. */
__extension__ typedef __int128 wide_sum;

typedef enum overflow { WRAP, SAT, FAIL } overflow;

typedef struct field_step {
    enum { GET, SET, INCRBY } what;
    overflow how;
    bool is_signed;
    unsigned width; /* bits */
    uint64_t at;    /* of its first bit */
    int64_t value;
} field_step;

typedef struct steps {
    field_step *list; /* in the arena */
    size_t count;
    bool writes;
    uint64_t last; /* bit written */
} steps;

/* ----------------------------------------------------------------- reading */

static bool read_type(hf__tx *tx, hf_bytes arg, field_step *into)
{
    const char *text = arg.data;
    int64_t width;

    if (arg.size > 1 && (text[0] == 'i' || text[0] == 'u') &&
        hf__number_integer(hf_view(text + 1, arg.size - 1), &width) &&
        width >= 1 && width <= (text[0] == 'i' ? 64 : 63)) {
        into->is_signed = text[0] == 'i';
        into->width = (unsigned)width;
        return true;
    }
    return hf__reply_error(
        tx, "ERR Invalid bitfield type. Use something like i16 u8. "
            "Note that u64 is not supported but i64 is.");
}

/* In bits, or with '#' in fields of this width. */
static bool read_offset(hf__tx *tx, hf_bytes arg, field_step *into)
{
    const char *text = arg.data;
    bool by_field = arg.size > 0 && text[0] == '#';
    int64_t offset;

    if (by_field)
        arg = hf_view(text + 1, arg.size - 1);
    if (hf__number_integer(arg, &offset) && offset >= 0 &&
        (!by_field ||
         !__builtin_mul_overflow(offset, (int64_t)into->width, &offset)) &&
        hf__is_bit(offset)) {
        into->at = (uint64_t)offset;
        return true;
    }
    return hf__reply_error(tx, ERROR_OFFSET);
}

static bool read_overflow(hf__tx *tx, hf_bytes arg, overflow *how)
{
    if (hf__arg_is(arg, "wrap"))
        *how = WRAP;
    else if (hf__arg_is(arg, "sat"))
        *how = SAT;
    else if (hf__arg_is(arg, "fail"))
        *how = FAIL;
    else
        hf__reply_error(tx, "ERR Invalid OVERFLOW type specified");
    return !tx->out->failed;
}

/* The number of a step's arguments with its name. 0: unknown name, or too
 * few. */
static size_t step_size(hf_bytes name, size_t left, field_step *into)
{
    if (hf__arg_is(name, "get") && left >= 3) {
        into->what = GET;
        return 3;
    }
    if (left < 4)
        return 0;
    into->what = hf__arg_is(name, "set") ? SET : INCRBY;
    return into->what == SET || hf__arg_is(name, "incrby") ? 4 : 0;
}

/* Returns the number of arguments read; 0: replied with an error. */
static size_t read_step(hf__tx *tx, const hf_bytes *args, size_t left,
                        field_step *into)
{
    size_t size = step_size(args[0], left, into);

    if (size == 0)
        hf__reply_error(tx, HF__ERROR_SYNTAX);
    if (size == 0 || !read_type(tx, args[1], into) ||
        !read_offset(tx, args[2], into))
        return 0;
    if (size == 4 && !hf__arg_integer(tx, args[3], &into->value))
        return 0;
    return size;
}

/* What is to be written has to exist afterwards. */
static bool check_reach(hf__tx *tx, const field_step *at, steps *all)
{
    uint64_t last = at->at + at->width - 1;

    if (at->what == GET)
        return true;
    if (!hf__is_bit((int64_t)last))
        return hf__reply_error(tx, ERROR_OFFSET);
    all->writes = true;
    if (last > all->last)
        all->last = last;
    return true;
}

static bool read_steps(hf__tx *tx, const hf_bytes *args, size_t count,
                       steps *all)
{
    overflow how = WRAP;
    size_t size;

    memset(all, 0, sizeof(*all));
    all->list = hf__tx_alloc(tx, (count / 3 + 1) * sizeof(field_step));
    if (all->list == NULL)
        return false;
    for (size_t i = 2; i < count; i += size) {
        field_step *next = &all->list[all->count];

        if (hf__arg_is(args[i], "overflow") && count - i >= 2) {
            size = 2;
            if (!read_overflow(tx, args[i + 1], &how))
                return false;
            continue;
        }
        size = read_step(tx, args + i, count - i, next);
        if (size == 0 || !check_reach(tx, next, all))
            return false;
        next->how = how;
        all->count++;
    }
    return true;
}

/* ------------------------------------------------------------------ fields */

/* Bytes that a field may have a part in. */
#define FIELD_BYTES 9u

static size_t first_byte(const field_step *field)
{
    return (size_t)(field->at / 8);
}

static size_t byte_count(const field_step *field)
{
    return (size_t)((field->at % 8 + field->width + 7) / 8);
}

static uint64_t get_bits(const unsigned char *data, uint64_t at, unsigned width)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < width; i++, at++)
        bits = bits << 1 | ((unsigned)data[at / 8] >> (7 - at % 8) & 1u);
    return bits;
}

static void put_bits(unsigned char *data, uint64_t at, unsigned width,
                     uint64_t bits)
{
    for (unsigned i = 0; i < width; i++, at++) {
        unsigned mask = 1u << (7 - at % 8);
        bool set = bits >> (width - 1 - i) & 1u;

        data[at / 8] =
            (unsigned char)(set ? data[at / 8] | mask : data[at / 8] & ~mask);
    }
}

/* The lowest bits as a number. */
static int64_t to_number(const field_step *field, uint64_t bits)
{
    unsigned rest = 64 - field->width;

    if (!field->is_signed)
        return (int64_t)(bits << rest >> rest);
    return (int64_t)(bits << rest) >> rest;
}

/* SET's value may be so far below the maximum that the difference wraps in
 * Redis, which then takes it for an overflow. */
static bool is_far(const field_step *field, wide_sum below)
{
    return field->what == SET && field->width < 64 && below > INT64_MAX;
}

/* The sum as it fits the field. false: overflow with FAIL. */
static bool fit_field(const field_step *field, wide_sum sum, int64_t *number)
{
    wide_sum max =
        ((wide_sum)1 << (field->width - (field->is_signed ? 1 : 0))) - 1;
    wide_sum min = field->is_signed ? -max - 1 : 0;

    if (sum >= min && sum <= max)
        *number = (int64_t)sum;
    else if (field->how == WRAP)
        *number = to_number(field, (uint64_t)sum);
    else if (field->how == SAT)
        *number = (int64_t)(sum > max || is_far(field, max - sum) ? max : min);
    else
        return false;
    return true;
}

/* Its bytes and its value. Beyond the end of the string, and without one, all
 * bits are 0. false: fatal. */
static bool read_field(hf__tx *tx, hf__record *record, const field_step *field,
                       unsigned char data[FIELD_BYTES], int64_t *number)
{
    memset(data, 0, FIELD_BYTES);
    if (record != NULL && !hf__string_read(tx, record, first_byte(field), data,
                                           byte_count(field)))
        return false;
    *number = to_number(field, get_bits(data, field->at % 8, field->width));
    return true;
}

static void reply_field(hf__tx *tx, hf__record *record, const field_step *field)
{
    unsigned char data[FIELD_BYTES];
    int64_t number;

    if (read_field(tx, record, field, data, &number))
        hf__reply_integer(tx, number);
}

/* As in Redis, values set in an unsigned field are unsigned: a negative one is
 * too large. */
static wide_sum as_given(const field_step *field)
{
    return field->is_signed ? (wide_sum)field->value
                            : (wide_sum)(uint64_t)field->value;
}

static void change_field(hf__tx *tx, hf__record *record,
                         const field_step *field)
{
    unsigned char data[FIELD_BYTES];
    int64_t old, number;

    if (!read_field(tx, record, field, data, &old))
        return;
    if (!fit_field(field,
                   field->what == SET ? as_given(field)
                                      : (wide_sum)old + field->value,
                   &number)) {
        hf__reply_nil(tx);
        return;
    }
    put_bits(data, field->at % 8, field->width, (uint64_t)number);
    if (hf__string_write(tx, record, first_byte(field),
                         hf_view(data, byte_count(field))))
        hf__reply_integer(tx, field->what == SET ? old : number);
}

/* ---------------------------------------------------------------- commands */

static void run_get(hf__tx *tx, hf_bytes key, const steps *all)
{
    hf__record *record;

    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, &record))
        return;
    hf__reply_array(tx, all->count);
    for (size_t i = 0; i < all->count; i++)
        reply_field(tx, record, &all->list[i]);
}

static void run_change(hf__tx *tx, hf_bytes key, const steps *all)
{
    size_t last = (size_t)(all->last / 8);
    hf__record *record;

    if (!hf__key_of_type(tx, key, HF__TYPE_STRING, &record))
        return;
    if (record == NULL)
        record = hf__key_make(tx, key, HF__TYPE_STRING);
    if (record == NULL)
        return;
    if (last >= hf__string_size(record) &&
        !hf__string_write(tx, record, last, hf_view("", 1)))
        return;
    hf__key_event(tx, HF__EVENT_STRING, "setbit", key);
    hf__reply_array(tx, all->count);
    for (size_t i = 0; i < all->count; i++) {
        if (all->list[i].what == GET)
            reply_field(tx, record, &all->list[i]);
        else
            change_field(tx, record, &all->list[i]);
    }
}

static void run_bitfield(hf__tx *tx, const hf_bytes *args, size_t count)
{
    steps all;

    if (!read_steps(tx, args, count, &all))
        return;
    if (all.writes)
        run_change(tx, args[1], &all);
    else
        run_get(tx, args[1], &all);
}

static void run_bitfield_ro(hf__tx *tx, const hf_bytes *args, size_t count)
{
    steps all;

    if (!read_steps(tx, args, count, &all))
        return;
    if (all.writes)
        hf__reply_error(tx, "ERR BITFIELD_RO only supports the GET subcommand");
    else
        run_get(tx, args[1], &all);
}

#define GROWS (HF__COMMAND_WRITES | HF__COMMAND_GROWS)

const hf__command_entry hf__commands_bitfield[] = {
    {"bitfield", GROWS, run_bitfield},
    {"bitfield_ro", 0, run_bitfield_ro},
    {NULL, 0, NULL}};
