/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_string_test.c - strings that are written in parts: compared with
 * bytes in memory around the bounds of chunks, by every command that reads or
 * replaces them.
 */
#include "embedded_store.h"

#include <stdarg.h>

#include "engine/files/header.h"
#include "engine/keys/keyspace.h"
#include "engine/keys/tx_life.h"
#include "engine/keys/type_string.h"
#include "engine/run/write.h"
#include "holdfast/store.h"
#include "open_env.h"

#define MAX_SIZE (64u << 20) /* of the store */
#define SIZE_MAX_MODEL 400000u
#define CHUNK HF__STRING_CHUNK
#define WHOLE HF__STRING_WHOLE_MAX

static place at;

static struct {
    unsigned char bytes[SIZE_MAX_MODEL];
    size_t size;
} model;

static uint32_t seed;

static int set_up(void **state)
{
    (void)state;
    model.size = 0;
    make_place(&at, "volatile", "?max_size=64M");
    at.store = must_open(at.url, NULL);
    return 0;
}

/* What each test has left is intact. */
static int tear_down(void **state)
{
    (void)state;
    expect_no_faults(&at);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static size_t below(size_t bound)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % bound;
}

static void ask(const char *want, const char *form, ...)
    __attribute__((format(printf, 2, 3)));
static void ask(const char *want, const char *form, ...)
{
    char line[TEXT_SIZE];
    va_list args;

    va_start(args, form);
    (void)vsnprintf(line, sizeof(line), form, args);
    va_end(args);
    expect(at.store, line, want);
}

/* --------------------------------------------------------- large requests */

static hf_status perform_request(const hf_bytes *words, size_t count,
                                 hf__request *to)
{
    hf__request_init(to);
    to->words = words;
    to->word_count = count;
    to->deadline_ms = hf__clock_boot_ms() + 60000 * (SLOWER > 1 ? 4 : 1);
    hf__embedded_store_ops.perform(at.store, to);
    return to->status;
}

static void perform_words(const hf_bytes *words, size_t count, hf__request *to)
{
    if (perform_request(words, count, to) != HF_OK)
        fail_msg("%s", to->error.message);
}

static void expect_reply(const hf_bytes *words, size_t count,
                         const unsigned char *want, size_t size)
{
    hf__request request;

    perform_words(words, count, &request);
    assert_int_equal(request.reply.kind, HF_REPLY_STRING);
    assert_int_equal(request.reply.bytes.size, size);
    if (size > 0)
        assert_memory_equal(request.reply.bytes.data, want, size);
    hf__request_done(&request);
}

static void expect_model(const char *key)
{
    const hf_bytes words[] = {hf_str("get"), hf_str(key)};

    expect_reply(words, 2, model.bytes, model.size);
}

/* ------------------------------------------------------------------ writes */

static void set_model(size_t size)
{
    hf_bytes words[] = {hf_str("set"), hf_str("s"), hf_view(model.bytes, size)};
    hf__request request;

    for (size_t i = 0; i < size; i++)
        model.bytes[i] = (unsigned char)(i * 7 + i / 251);
    model.size = size;
    perform_words(words, 3, &request);
    hf__request_done(&request);
}

/* As the model has been changed there. */
static void write_range(size_t offset, size_t size)
{
    char text[32];
    hf_bytes words[] = {hf_str("setrange"), hf_str("s"), hf_view(text, 0),
                        hf_view(model.bytes + offset, size)};
    hf__request request;

    words[2].size = (size_t)snprintf(text, sizeof(text), "%zu", offset);
    perform_words(words, 4, &request);
    assert_int_equal(request.reply.integer, model.size);
    hf__request_done(&request);
}

static void set_range(size_t offset, size_t size, unsigned char byte)
{
    if (offset > model.size)
        memset(model.bytes + model.size, 0, offset - model.size);
    memset(model.bytes + offset, byte, size);
    if (offset + size > model.size)
        model.size = offset + size;
    write_range(offset, size);
}

/* Near a bound of chunks, within the first few. */
static size_t some_offset(void)
{
    return (1 + below(20)) * CHUNK - 3 + below(6);
}

/* ------------------------------------------------------------------- forms */

static void in_transaction(void (*what)(hf__tx *tx))
{
    int64_t now_ms = hf__clock_boot_ms();
    hf__env *env = open_env(at.url);
    hf__tx *tx;

    assert_int_equal(hf__env_lock(env, now_ms + 1000 * SLOWER, NULL), HF_OK);
    if (env->write_tx == NULL)
        env->write_tx = hf__tx_new(env, true);
    tx = env->write_tx;
    assert_int_equal(hf__env_begin_write(env, now_ms, &tx->txn, NULL), HF_OK);
    hf__tx_start(tx, now_ms);
    what(tx);
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    hf__write_end(env);
    hf__env_unref(env);
}

static void expect_form(hf__tx *tx, uint8_t form)
{
    hf__record *record = hf__key_find(tx, hf_view("s", 1));

    assert_non_null(record);
    assert_int_equal(record->form, form);
}

static void expect_whole(hf__tx *tx)
{
    expect_form(tx, HF__FORM_INLINE);
}

static void expect_chunks(hf__tx *tx)
{
    expect_form(tx, HF__FORM_ELEMENTS);
}

TEST(a_string_is_in_chunks_from_a_partial_write_of_a_large_one)
{
    set_model(200000);
    in_transaction(expect_whole);
    expect_format(at.url, HF__FORMAT_FIRST);
    set_range(100000, 1, 'x');
    in_transaction(expect_chunks);
    expect_format(at.url, HF__FORMAT_CHUNKS);
    expect_model("s");
    set_model(200000);
    in_transaction(expect_whole);
    set_model(WHOLE - 1);
    set_range(WHOLE - 1, 1, 'x');
    in_transaction(expect_whole);
    set_range(WHOLE, 1, 'x');
    in_transaction(expect_chunks);
    expect_model("s");
}

TEST(parts_are_written_and_read_at_the_bounds_of_chunks)
{
    char line[64];

    set_model(3 * CHUNK);
    for (int i = 0; i < 400; i++) {
        size_t offset = some_offset();
        size_t size = below(3) == 0 ? CHUNK - 2 + below(5) : 1 + below(6);
        hf_bytes words[] = {hf_str("getrange"), hf_str("s"), hf_view("", 0),
                            hf_str("-1")};

        set_range(offset, size, (unsigned char)i);
        (void)snprintf(line, sizeof(line), "%zu", offset - 1);
        words[2] = hf_str(line);
        expect_reply(words, 4, model.bytes + offset - 1,
                     model.size - offset + 1);
    }
    in_transaction(expect_chunks);
    expect_model("s");
    ask("s:raw", "object encoding s");
}

TEST(what_is_never_written_is_zeros_and_takes_no_space)
{
    ask("i:0", "setbit s 2400000007 1");
    ask("i:300000001", "strlen s");
    ask("i:1", "bitcount s");
    ask("i:2400000007", "bitpos s 1");
    ask("i:0", "bitpos s 0");
    ask("i:0", "getbit s 1200000000");
    ask("[i:0, i:1]", "bitfield s get u8 1000000 get u8 2400000000");
    ask("s:\\x00\\x00\\x01", "getrange s 299999998 300000005");
}

TEST(a_string_in_chunks_is_copied_renamed_and_replaced)
{
    set_model(150000);
    set_range(140000, 5, 'x');
    ask("i:1", "copy s copy");
    ask("+:OK", "rename copy other");
    set_range(3, 9, 'y');
    for (size_t i = 3; i < 12; i++)
        model.bytes[i] = (unsigned char)(i * 7 + i / 251);
    expect_model("other");
    ask("i:1", "move other 3");
    ask("+:OK", "swapdb 0 3");
    expect_model("other");
    ask("+:OK", "swapdb 0 3");
    ask("+:OK", "set s short");
    ask("i:6", "append s r");
    ask("s:shortr", "getdel s");
    ask("nil", "get s");
}

TEST(bits_are_counted_over_chunks_and_holes)
{
    ask("i:0", "setbit s 800000 1");
    for (int i = 0; i < 100; i++)
        ask("i:0", "setbit s %d 1", i * 32639);
    ask("i:101", "bitcount s");
    ask("i:100", "bitcount s 1 -1");
    ask("i:2", "bitcount s 0 4080");
    ask("i:32639", "bitpos s 1 1");
}

/* One that opened the store with the version before chunks would read the
 * content of the record. */
static void let_earlier_version_in(hf__tx *tx)
{
    tx->env->sidecar.map->version = 5;
}

static void keep_earlier_version_out(hf__tx *tx)
{
    tx->env->sidecar.map->version = HF__SIDECAR_VERSION;
}

TEST(no_chunks_while_an_earlier_version_may_have_the_store_open)
{
    in_transaction(let_earlier_version_in);
    set_model(200000);
    set_range(100000, 1, 'x');
    in_transaction(expect_whole);
    expect_format(at.url, HF__FORMAT_FIRST);
    in_transaction(keep_earlier_version_out);
    set_range(100001, 1, 'x');
    in_transaction(expect_chunks);
    expect_model("s");
}

#define TOO_LARGE 100000000u

TEST(a_full_store_keeps_the_string_as_it_was)
{
    unsigned char *large = calloc(1, TOO_LARGE);
    hf_bytes words[] = {hf_str("setrange"), hf_str("s"), hf_str("100000"),
                        hf_view(large, TOO_LARGE)};
    hf__request request;

    assert_non_null(large);
    set_model(200000);
    set_range(100000, 1, 'x');
    assert_int_equal(perform_request(words, 4, &request), HF_FULL);
    hf__request_done(&request);
    free(large);
    expect_model("s");
    set_range(100001, 1, 'y');
    expect_model("s");
}

TEST(a_large_string_that_begins_like_a_hyperloglog_is_none)
{
    ask("i:5", "setrange s 0 %s", "HYLL\001");
    ask("i:0", "setbit s 800000 0");
    in_transaction(expect_chunks);
    ask("INVALIDOBJ Corrupted HLL object detected", "pfadd s a");
    ask("INVALIDOBJ Corrupted HLL object detected", "pfcount s");
}

static void make_with_few_ids_left(hf__tx *tx)
{
    hf__record *record = hf__key_make(tx, hf_view("s", 1), HF__TYPE_STRING);

    tx->keyid_next = 1u << (HF__KEYID_BITS - 1);
    assert_non_null(record);
    assert_true(hf__string_write(tx, record, 100000, hf_view("x", 1)));
    assert_int_equal(record->form, HF__FORM_INLINE);
    tx->keyid_next--;
    assert_true(hf__string_write(tx, record, 100001, hf_view("x", 1)));
    assert_int_equal(record->form, HF__FORM_ELEMENTS);
}

TEST(strings_leave_key_ids_to_other_types)
{
    in_transaction(make_with_few_ids_left);
    ask("i:100002", "strlen s");
}

/* More large streams than a transaction has key ids. */
TEST(a_transaction_without_key_ids_does_not_make_the_store_grow)
{
    hf__env *env = open_env(at.url);
    const hf_bytes words[] = {
        hf_str("eval"),
        hf_str("for i = 1, 66000 do redis.call('xadd', 'q', '1-1', 'a', '') "
               "redis.call('del', 'q') end"),
        hf_str("0")};
    hf__request request;

    assert_int_equal(perform_request(words, 3, &request), HF_FULL);
    assert_non_null(strstr(request.error.message, "transaction too large"));
    hf__request_done(&request);
    /* It grows for what is deleted lazily, but not to its limit. */
    assert_true(env->sidecar.map->allocated_size < MAX_SIZE / 2);
    hf__env_unref(env);
}

/* Of 200 MB that its weights have together, a script may not use 64 at once. */
TEST(sort_puts_one_string_together_at_a_time)
{
    static const char source[] =
        "for i = 1, 100 do redis.call('rpush', 'l', '1') end "
        "return redis.call('sort', 'l', 'by', 'w*', 'limit', 0, 1)";
    char text[TEXT_SIZE];

    ask("i:0", "setbit w1 16000000 1");
    assert_int_equal(evaluate(at.store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "[s:1]");
}

/* ------------------------------------------------------------------- check */

/* Chunk `number` is `size` zeros; size 0: it is removed. */
static void spoil_chunk(hf__tx *tx, unsigned char number, size_t size)
{
    static unsigned char bytes[HF__CHUNK_SUM + CHUNK + 1];
    uint32_t sum = hf__sum_chunk(number, bytes + HF__CHUNK_SUM, size);
    unsigned char name[17] = {HF__RECORD_LIST};
    MDB_val key = {sizeof(name), name};
    MDB_val value = {HF__CHUNK_SUM + size, bytes};

    memcpy(bytes, &sum, HF__CHUNK_SUM);
    hf__put_be64(name + 1, hf__key_find(tx, hf_view("s", 1))->keyid);
    name[16] = number;
    if (size == 0)
        hf__tx_delete(tx, &key);
    else
        (void)hf__tx_put(tx, &key, &value);
}

static void lose_chunk(hf__tx *tx)
{
    spoil_chunk(tx, 5, 0);
}

static void shift_chunk(hf__tx *tx)
{
    spoil_chunk(tx, 5, 0);
    spoil_chunk(tx, 25, 10);
}

static void lengthen_chunk(hf__tx *tx)
{
    spoil_chunk(tx, 5, CHUNK + 1);
}

/* The last, number 19, has 80001 - 19 * CHUNK bytes. */
static void lengthen_last_chunk(hf__tx *tx)
{
    spoil_chunk(tx, 19, 80001 - 19 * CHUNK + 1);
}

static void change_bit(hf__tx *tx)
{
    unsigned char name[17] = {HF__RECORD_LIST};
    unsigned char bytes[HF__CHUNK_SUM + CHUNK];
    MDB_val key = {sizeof(name), name};
    MDB_val value;

    hf__put_be64(name + 1, hf__key_find(tx, hf_view("s", 1))->keyid);
    name[16] = 5;
    assert_int_equal(mdb_get(tx->txn, tx->env->dbi, &key, &value), 0);
    assert_int_equal(value.mv_size, sizeof(bytes));
    memcpy(bytes, value.mv_data, sizeof(bytes));
    bytes[2000] ^= 4;
    value.mv_data = bytes;
    assert_true(hf__tx_put(tx, &key, &value));
}

static void expect_fault(void (*how)(hf__tx *tx), const char *want)
{
    char fault[TEXT_SIZE] = "";
    hf_error err = HF_ERROR_INIT;

    set_model(WHOLE);
    model.size = WHOLE;
    set_range(80000, 1, 'x');
    in_transaction(how);
    assert_int_equal(hf_store_check(at.url, NULL, keep_fault, fault, &err),
                     HF_CORRUPT);
    if (strstr(fault, want) == NULL)
        fail_msg("%s", fault);
    ask("i:1", "del s");
}

TEST(check_finds_chunks_that_are_not_of_the_string)
{
    expect_fault(lose_chunk, "key \"s\": 17 elements, not 18");
    expect_fault(shift_chunk, "key \"s\": a chunk of the string");
    expect_fault(lengthen_chunk, "key \"s\": a chunk of the string");
    expect_fault(lengthen_last_chunk, "key \"s\": a chunk of the string");
    expect_fault(change_bit, "key \"s\": a chunk of the string");
}
