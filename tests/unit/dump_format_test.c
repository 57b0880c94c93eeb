/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_format_test.c - the bytes of a dump: what is written is read back, and
 * anything else is refused.
 */
#include <stdlib.h>
#include <string.h>

#include <errno.h>

#include "support/test.h"
#include "transfer/dump_reader.h"
#include "transfer/dump_writer.h"
#include "util/crc32c.h"
#include "util/mem.h"

/* Mutated dumps of one test. */
#define MUTATION_COUNT 20000

typedef struct stream {
    unsigned char *data;
    size_t size;
    size_t room;
    size_t at;    /* of the reader */
    size_t slice; /* most bytes of one read */
} stream;

/* What was read: the keys and a sum over all events. */
typedef struct taken {
    uint64_t keys;
    uint64_t drops;
    uint64_t pieces;
    uint64_t content;
    uint32_t sum;
    uint64_t left_out;
} taken;

static int put(void *user, const void *data, size_t size)
{
    stream *to = user;

    assert_true(size > 0);
    if (to->size + size > to->room) {
        to->room = 2 * (to->size + size);
        to->data = realloc(to->data, to->room);
        assert_non_null(to->data);
    }
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
}

static int get(void *user, void *data, size_t size, size_t *got)
{
    stream *from = user;

    *got = from->size - from->at;
    if (*got > size)
        *got = size;
    if (*got > from->slice)
        *got = from->slice;
    memcpy(data, from->data + from->at, *got);
    from->at += *got;
    return 0;
}

static void sum_up(taken *to, const hf__dump_reader *reader,
                   hf__dump_event event)
{
    switch (event) {
    case HF__DUMP_AT_KEY:
        assert_in_range(reader->key.size, 0, HF__KEY_SIZE_MAX);
        to->sum = hf__crc32c(to->sum, reader->key.data, reader->key.size);
        to->sum += (uint32_t)reader->type + (uint32_t)reader->expires_unix_ms;
        break;
    case HF__DUMP_AT_PIECE:
        assert_true(reader->total <= HF_VALUE_MAX);
        assert_true(reader->offset + reader->piece.size <= reader->total);
        to->sum = hf__crc32c(to->sum, reader->piece.data, reader->piece.size);
        to->content += reader->piece.size;
        to->pieces++;
        break;
    case HF__DUMP_AT_KEY_END:
        to->keys++;
        break;
    case HF__DUMP_AT_DROP:
        to->drops++;
        break;
    case HF__DUMP_AT_END:
        to->left_out = reader->left_out;
        break;
    }
}

static hf_status take(stream *from, taken *to, hf_error *err)
{
    hf__dump_reader reader = {.read = get, .user = from};
    hf__dump_event event = HF__DUMP_AT_KEY;
    hf_status status;

    memset(to, 0, sizeof(*to));
    from->at = 0;
    status = hf__dump_reader_begin(&reader, err);
    while (status == HF_OK && event != HF__DUMP_AT_END) {
        status = hf__dump_reader_next(&reader, &event, err);
        if (status == HF_OK)
            sum_up(to, &reader, event);
    }
    hf__dump_reader_done(&reader);
    return status;
}

static void put_key(hf__dump_writer *writer, hf__dump_type type,
                    const char *name, int64_t expires,
                    const char *const *elements)
{
    assert_int_equal(
        hf__dump_writer_key(writer, type, expires, hf_str(name), NULL), HF_OK);
    for (; *elements != NULL; elements++)
        assert_int_equal(
            hf__dump_writer_element(writer, hf_str(*elements), NULL), HF_OK);
}

#define LIST(...)                                                              \
    (const char *const[])                                                      \
    {                                                                          \
        __VA_ARGS__, NULL                                                      \
    }

/* A few keys of each type, one of them begun twice. */
static void write_keys(hf__dump_writer *writer)
{
    put_key(writer, HF__DUMP_STRING, "s", 0, LIST("value"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_STRING, "", 5, LIST(""));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_HASH, "h", 1234567890123, LIST("a", "1", "b", ""));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_LIST, "l", 0, LIST("x", "y"));
    assert_int_equal(hf__dump_writer_drop(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_LIST, "l", 0, LIST("x", "y", "z"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_SET, "set", 0, LIST("m", "n"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_ZSET, "z", 9, LIST("m", "-inf", "n", "1.5"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_TIMED_HASH, "t", 0,
            LIST("a", "1", "70368744177663", "b", "", "0"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
    put_key(writer, HF__DUMP_STREAM, "x", 0, LIST("as DUMP returns it"));
    assert_int_equal(hf__dump_writer_key_end(writer, NULL), HF_OK);
}

static void write_small(stream *to)
{
    hf__dump_writer writer = {.write = put, .user = to};

    memset(to, 0, sizeof(*to));
    to->slice = SIZE_MAX;
    assert_int_equal(hf__dump_writer_begin(&writer, 77, NULL), HF_OK);
    write_keys(&writer);
    writer.left_out = 3;
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    assert_int_equal(writer.bytes, to->size);
    hf__dump_writer_done(&writer);
}

/* ------------------------------------------------------------------- whole */

TEST(crc32c_has_the_value_of_the_standard)
{
    unsigned char zeros[32] = {0};

    assert_int_equal(hf__crc32c(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(hf__crc32c(0, zeros, 32), 0x8a9136aau);
    assert_int_equal(hf__crc32c(hf__crc32c(0, "1234", 4), "56789", 5),
                     0xe3069283u);
}

TEST(dump_that_was_written_is_read)
{
    stream dump;
    taken all, bytewise;

    write_small(&dump);
    assert_int_equal(take(&dump, &all, NULL), HF_OK);
    assert_int_equal(all.keys, 8);
    assert_int_equal(all.drops, 1);
    assert_int_equal(all.pieces, 24);
    assert_int_equal(all.left_out, 3);
    dump.slice = 1;
    assert_int_equal(take(&dump, &bytewise, NULL), HF_OK);
    assert_memory_equal(&all, &bytewise, sizeof(all));
    free(dump.data);
}

/* Sizes around those at which a record is full. */
TEST(elements_of_any_size_cross_records)
{
    static const size_t sizes[] = {0,
                                   1,
                                   HF__DUMP_PIECE - 30,
                                   HF__DUMP_PIECE - 5,
                                   HF__DUMP_PIECE - 4,
                                   HF__DUMP_PIECE - 1,
                                   HF__DUMP_PIECE,
                                   HF__DUMP_PIECE + 1,
                                   5 * HF__DUMP_PIECE + 3};
    hf__dump_writer writer = {.write = put};
    char *data = calloc(1, 6 * HF__DUMP_PIECE);
    stream dump = {.slice = 4097};
    uint64_t content = 0;
    taken all;

    assert_non_null(data);
    writer.user = &dump;
    memset(data, 'x', 6 * HF__DUMP_PIECE);
    assert_int_equal(hf__dump_writer_begin(&writer, 0, NULL), HF_OK);
    for (size_t key = 0; key < 40; key++) {
        assert_int_equal(
            hf__dump_writer_key(&writer, HF__DUMP_LIST, 0,
                                hf_view(data, key % 2 ? HF__KEY_SIZE_MAX : key),
                                NULL),
            HF_OK);
        for (size_t i = 0; i < 9; i++) {
            size_t size =
                sizes[(i + key) % 9] - (sizes[(i + key) % 9] > 50 ? key : 0);

            content += size;
            assert_int_equal(
                hf__dump_writer_element(&writer, hf_view(data, size), NULL),
                HF_OK);
        }
        assert_int_equal(hf__dump_writer_key_end(&writer, NULL), HF_OK);
    }
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    hf__dump_writer_done(&writer);
    assert_int_equal(take(&dump, &all, NULL), HF_OK);
    assert_int_equal(all.keys, 40);
    assert_int_equal(all.content, content);
    free(dump.data);
    free(data);
}

static int fail_to_put(void *user, const void *data, size_t size)
{
    (void)user;
    (void)data;
    (void)size;
    return ENOSPC;
}

static int fail_to_get(void *user, void *data, size_t size, size_t *got)
{
    (void)user;
    (void)data;
    (void)size;
    (void)got;
    return EIO;
}

TEST(errors_of_the_callers_functions_are_passed_on)
{
    hf__dump_writer writer = {.write = fail_to_put};
    hf__dump_reader reader = {.read = fail_to_get};
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(hf__dump_writer_begin(&writer, 0, &err), HF_OK);
    assert_int_equal(hf__dump_writer_end(&writer, &err), HF_SYSTEM);
    assert_int_equal(err.sys_errno, ENOSPC);
    hf__dump_writer_done(&writer);
    assert_int_equal(hf__dump_reader_begin(&reader, &err), HF_SYSTEM);
    assert_int_equal(err.sys_errno, EIO);
    hf__dump_reader_done(&reader);
}

TEST(reader_and_writer_survive_without_memory)
{
    for (long after = 0; after < 2; after++) {
        hf__dump_writer writer = {.write = put};
        hf__dump_reader reader = {.read = fail_to_get};

        hf__alloc_fail_after(0);
        assert_int_equal(hf__dump_writer_begin(&writer, 0, NULL), HF_NO_MEMORY);
        hf__dump_writer_done(&writer);
        hf__alloc_fail_after(after);
        assert_int_equal(hf__dump_reader_begin(&reader, NULL), HF_NO_MEMORY);
        hf__dump_reader_done(&reader);
        hf__alloc_fail_after(-1);
    }
}

/* ----------------------------------------------------------------- damaged */

TEST(dump_cut_anywhere_is_refused)
{
    hf_error err = HF_ERROR_INIT;
    stream dump;
    size_t whole;
    taken all;

    write_small(&dump);
    whole = dump.size;
    for (dump.size = 0; dump.size < whole; dump.size++) {
        assert_int_equal(take(&dump, &all, &err),
                         dump.size < HF__DUMP_MAGIC_SIZE ? HF_INVALID
                                                         : HF_CORRUPT);
        if (dump.size >= HF__DUMP_MAGIC_SIZE)
            assert_non_null(strstr(err.message, "at byte"));
    }
    free(dump.data);
}

TEST(dump_with_any_bit_flipped_is_refused)
{
    stream dump;
    taken all;

    write_small(&dump);
    for (size_t bit = 0; bit < dump.size * 8; bit++) {
        dump.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_int_equal(take(&dump, &all, NULL), bit / 8 < HF__DUMP_MAGIC_SIZE
                                                      ? HF_INVALID
                                                      : HF_CORRUPT);
        dump.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
    }
    assert_int_equal(take(&dump, &all, NULL), HF_OK);
    free(dump.data);
}

TEST(dump_with_something_behind_it_is_refused)
{
    hf_error err = HF_ERROR_INIT;
    stream dump;
    taken all;

    write_small(&dump);
    (void)put(&dump, "x", 1);
    assert_int_equal(take(&dump, &all, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "behind the end"));
    free(dump.data);
}

TEST(damage_is_reported_with_its_key)
{
    hf__dump_writer writer = {.write = put};
    stream dump = {.slice = SIZE_MAX};
    hf_error err = HF_ERROR_INIT;
    char *big = calloc(1, 4 * HF__DUMP_PIECE);
    taken all;

    assert_non_null(big);
    writer.user = &dump;
    assert_int_equal(hf__dump_writer_begin(&writer, 0, NULL), HF_OK);
    assert_int_equal(hf__dump_writer_key(&writer, HF__DUMP_STRING, 0,
                                         hf_str("the-key"), NULL),
                     HF_OK);
    assert_int_equal(hf__dump_writer_element(
                         &writer, hf_view(big, 4 * HF__DUMP_PIECE), NULL),
                     HF_OK);
    assert_int_equal(hf__dump_writer_key_end(&writer, NULL), HF_OK);
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    hf__dump_writer_done(&writer);
    dump.data[3 * HF__DUMP_PIECE] ^= 1;
    assert_int_equal(take(&dump, &all, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "\"the-key\""));
    free(dump.data);
    free(big);
}

/* ----------------------------------------------------------------- hostile */

static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Correct the checksum of every record, as far as records can be found. */
static void mend(stream *dump)
{
    size_t at = HF__DUMP_HEAD_SIZE;
    uint32_t crc;

    if (dump->size < at)
        return;
    crc = hf__crc32c(0, dump->data, at - 4);
    hf__dump_put(dump->data + at - 4, crc, 4);
    while (dump->size - at >= HF__DUMP_RECORD_EXTRA) {
        size_t size = hf__dump_get(dump->data + at, 4);

        if (size > dump->size - at - HF__DUMP_RECORD_EXTRA)
            return;
        crc = hf__crc32c(crc, dump->data + at, HF__DUMP_RECORD_HEAD + size);
        hf__dump_put(dump->data + at + HF__DUMP_RECORD_HEAD + size, crc, 4);
        at += HF__DUMP_RECORD_EXTRA + size;
    }
}

static void mutate(stream *dump, uint64_t *seed)
{
    size_t at = next_random(seed) % dump->size;
    size_t to = next_random(seed) % dump->size;
    size_t size = next_random(seed) % 40;

    if (size > dump->size - at)
        size = dump->size - at;
    switch (next_random(seed) % 5) {
    case 0:
        dump->data[at] = (unsigned char)next_random(seed);
        break;
    case 1: /* cut out */
        memmove(dump->data + at, dump->data + at + size,
                dump->size - at - size);
        dump->size -= size;
        break;
    case 2: /* duplicate */
        if (size > dump->size - to)
            size = dump->size - to;
        memmove(dump->data + to, dump->data + at, size);
        break;
    case 3: /* an extreme number */
        hf__dump_put(dump->data + at, next_random(seed) % 2 ? 0 : UINT64_MAX,
                     size > 8   ? 8
                     : size > 4 ? 4
                                : (int)size);
        break;
    default: /* a small number */
        dump->data[at] = (unsigned char)(next_random(seed) % 8);
        break;
    }
}

/* `mended`: with matching checksums, as an attacker would make it. */
static size_t try_mutations(bool mended)
{
    uint64_t seed = 88172645463325252u;
    size_t accepted = 0;
    stream whole, dump = {.slice = SIZE_MAX};
    taken all, same;

    write_small(&whole);
    assert_int_equal(take(&whole, &same, NULL), HF_OK);
    for (int i = 0; i < MUTATION_COUNT; i++) {
        hf_status status;

        dump.size = 0;
        (void)put(&dump, whole.data, whole.size);
        for (uint64_t n = next_random(&seed) % 4 + 1; n > 0; n--)
            mutate(&dump, &seed);
        if (mended)
            mend(&dump);
        status = take(&dump, &all, NULL);
        if (status == HF_OK && (dump.size != whole.size ||
                                memcmp(dump.data, whole.data, whole.size) != 0))
            accepted++;
        else if (status != HF_OK)
            assert_true(status == HF_CORRUPT || status == HF_INVALID ||
                        status == HF_UNSUPPORTED);
    }
    free(dump.data);
    free(whole.data);
    return accepted;
}

TEST(mutated_dumps_are_refused)
{
    assert_int_equal(try_mutations(false), 0);
}

/* Another value or name is another valid dump; what matters is that nothing is
 * read out of bounds, and that some are refused by more than the checksum. */
TEST(mutated_dumps_with_fitting_checksums_do_no_harm)
{
    size_t accepted;

    accepted = try_mutations(true);
    assert_in_range(accepted, 1, MUTATION_COUNT / 2);
}

/* Offsets in the head and in the first record of write_small(). */
#define FIRST (HF__DUMP_HEAD_SIZE + HF__DUMP_RECORD_HEAD)

typedef struct edit {
    size_t at;
    int size;
    uint64_t value;
    hf_status status;
} edit;

TEST(rules_of_the_format_hold_with_fitting_checksums)
{
    static const edit edits[] = {
        {8, 2, 2, HF_UNSUPPORTED},  /* a newer version */
        {10, 2, 1, HF_OK},          /* it may have functions */
        {10, 2, 2, HF_UNSUPPORTED}, /* an unknown flag */
        {12, 4, 1, HF_UNSUPPORTED},
        {16, 8, 1, HF_OK},             /* another clock is fine */
        {FIRST, 1, 0, HF_CORRUPT},     /* type */
        {FIRST, 1, 8, HF_CORRUPT},     /* functions with a name */
        {FIRST, 1, 9, HF_CORRUPT},     /* type */
        {FIRST, 1, 6, HF_CORRUPT},     /* a timed hash of one element */
        {FIRST, 1, 2, HF_CORRUPT},     /* a hash of one element */
        {FIRST + 1, 1, 2, HF_CORRUPT}, /* an unknown flag */
        {FIRST + 1, 1, 0, HF_CORRUPT}, /* continues, but does not */
        {FIRST + 2, 8, 7, HF_OK},      /* another expiry is fine */
        {FIRST + 2, 8, UINT64_MAX, HF_CORRUPT},
        {FIRST + 10, 4, 0xffffffff, HF_CORRUPT}, /* size of the key */
        {FIRST + 15, 4, 6, HF_CORRUPT},          /* size of the value */
        {FIRST + 15, 4, 4, HF_CORRUPT},
        {FIRST + 15, 4, 0xffffffff, HF_CORRUPT},
        {FIRST - 1, 1, 2, HF_CORRUPT}, /* a record that continues nothing */
        {FIRST - 1, 1, 3, HF_CORRUPT},
        {FIRST - 1, 1, 5, HF_CORRUPT},
    };

    for (size_t i = 0; i < sizeof(edits) / sizeof(edits[0]); i++) {
        stream dump;
        taken all;

        write_small(&dump);
        hf__dump_put(dump.data + edits[i].at, edits[i].value, edits[i].size);
        mend(&dump);
        if (take(&dump, &all, NULL) != edits[i].status)
            fail_msg("edit %zu: not %s", i, hf_status_name(edits[i].status));
        free(dump.data);
    }
}

/* A dump with `flags`, and a key of each type of `types`. */
static hf_status take_types(unsigned flags, const char *types, int64_t expires)
{
    hf__dump_writer writer = {.write = put, .flags = flags};
    stream dump = {.slice = 1000};
    hf_status status;
    taken all;

    writer.user = &dump;
    assert_int_equal(hf__dump_writer_begin(&writer, 0, NULL), HF_OK);
    for (; *types != '\0'; types++) {
        hf__dump_type type = (hf__dump_type)(*types - '0');

        put_key(&writer, type, type == HF__DUMP_FUNCTIONS ? "" : "key", expires,
                LIST("v"));
        assert_int_equal(hf__dump_writer_key_end(&writer, NULL), HF_OK);
    }
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    hf__dump_writer_done(&writer);
    status = take(&dump, &all, NULL);
    free(dump.data);
    return status;
}

TEST(functions_come_first_and_once_if_the_head_says_so)
{
    assert_int_equal(take_types(1, "81", 0), HF_OK);
    assert_int_equal(take_types(1, "1", 0), HF_OK);
    assert_int_equal(take_types(0, "81", 0), HF_CORRUPT);
    assert_int_equal(take_types(1, "18", 0), HF_CORRUPT);
    assert_int_equal(take_types(1, "88", 0), HF_CORRUPT);
    assert_int_equal(take_types(1, "8", 4000000000000), HF_CORRUPT);
}

static hf_status take_timed(const char *const *elements)
{
    hf__dump_writer writer = {.write = put};
    stream dump = {.slice = 1};
    hf_status status;
    taken all;

    writer.user = &dump;
    assert_int_equal(hf__dump_writer_begin(&writer, 0, NULL), HF_OK);
    put_key(&writer, HF__DUMP_TIMED_HASH, "t", 0, elements);
    assert_int_equal(hf__dump_writer_key_end(&writer, NULL), HF_OK);
    assert_int_equal(hf__dump_writer_end(&writer, NULL), HF_OK);
    hf__dump_writer_done(&writer);
    status = take(&dump, &all, NULL);
    free(dump.data);
    return status;
}

TEST(deadline_of_a_field_is_an_instant_that_stores_accept)
{
    static const char *const bad[] = {
        "", "-1", "x", "1.5", "12 ", "70368744177664", "000000000000001"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        assert_int_equal(take_timed(LIST("f", "v", "0", "g", "v", bad[i])),
                         HF_CORRUPT);
    assert_int_equal(take_timed(LIST("f", "v", "70368744177663")), HF_OK);
    assert_int_equal(take_timed(LIST("f", "v", "0", "g", "v")), HF_CORRUPT);
}

/* A size without its bytes costs no memory. */
TEST(claimed_sizes_reserve_nothing)
{
    stream dump;
    taken all;

    write_small(&dump);
    hf__dump_put(dump.data + FIRST + 15, HF_VALUE_MAX, 4);
    dump.data[FIRST + 1] = 0;
    mend(&dump);
    hf__alloc_fail_after(2); /* the reader's own two */
    assert_int_equal(take(&dump, &all, NULL), HF_CORRUPT);
    hf__alloc_fail_after(-1);
    free(dump.data);
}
