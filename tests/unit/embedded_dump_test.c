/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_dump_test.c - DUMP and RESTORE: every form that a Redis writes, and
 * bytes that none writes.
 */
#include "embedded_store.h"

#include "store/embedded/keys/rdb.h"
#include "util/crc64.h"
#include "util/mem.h"

#define VALUE_MAX 512

/* A value as DUMP returns it, without its tail; what reads it, and the reply.
 * Recorded from redis-server 7.0.15, or accepted by it; the last two are of
 * newer servers. */
/* clang-format off */
static const struct {
    const char *hex;
    const char *read;
    const char *want;
} rows[] = {
    {"00c007", "get k",
     "s:7"},
    {"00c1d4fe", "get k",
     "s:-300"},
    {"00c270110100", "get k",
     "s:70000"},
    {"000a39393939393939393939", "get k",
     "s:9999999999"},
    {"00c3091e017878e01100017878", "get k",
     "s:xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"},
    {"00146162636162616263616261626361626162636162", "get k",
     "s:abcababcababcababcab"},
    {"120102c32d406d196d0000000700816102dffb02cbb802f2a0860104f435"
     "1cdcdf0220180809f2ffff7f04e0467ae03c000148ff", "lrange k 0 -1",
     "[s:a, s:-5, s:3000, s:100000, s:12345678901, s:8388607, s:zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz]"},
    {"0b0e0200000003000000fdff01000200", "smembers k",
     "[s:-3, s:1, s:2]"},
    {"0b180400000004000000fdffffff010000000200000070110100", "smembers k",
     "[s:-3, s:1, s:2, s:70000]"},
    {"0202c00a0161", "smembers k",
     "[s:10, s:a]"},
    {"10121200000004008166028176028167020c01ff", "hgetall k",
     "[s:f, s:v, s:g, s:12]"},
    {"04010166c3094041017676e03400017676", "hgetall k",
     "[s:f, s:vvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvvv]"},
    {"111d1d0000000600816202842d312e3505816102010181630283696e6604"
     "ff", "zrange k 0 -1 withscores",
     "[s:b, s:-1.5, s:a, s:1, s:c, s:inf]"},
    {"0502c3094041016161e03400016161000000000000f03f01620000000000"
     "00f8bf", "zrange k 0 -1 withscores",
     "[s:b, s:-1.5, s:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa, s:1]"},
    {"0a32320000002b000000080000016103f302fefb03c0d4fe04f070110105"
     "d080e2d3fb06e0351cdcdf020000000a400378797aff", "lrange k 0 -1",
     "[s:a, s:2, s:-5, s:-300, s:70000, s:-70000000, s:12345678901, s:xyz]"},
    {"0e0210100000000d000000020000016103f3ff12120000000d0000000200"
     "00fefb03c0d4feff", "lrange k 0 -1",
     "[s:a, s:2, s:-5, s:-300]"},
    {"0c181800000012000000040000016103f20201620303312e35ff", "zrange k 0 -1 withscores",
     "[s:a, s:1, s:b, s:1.5]"},
    {"0d181800000012000000040000016103f20201620303312e35ff", "hgetall k",
     "[s:a, s:1, s:b, s:1.5]"},
    {"12010103626967", "lrange k 0 -1",
     "[s:big]"},
    {"010201610162", "lrange k 0 -1",
     "[s:a, s:b]"},
    {"140c0c00000002008161020701ff", "smembers k",
     "[s:a, s:7]"},
    {"1800204aa9d10100000201016601760001670177", "hpexpiretime k fields 2 f g",
     "[i:2000000000000, i:-1]"},
};
/* clang-format on */
#define ROW_COUNT (sizeof(rows) / sizeof(rows[0]))

static size_t from_hex(const char *hex, unsigned char *bytes)
{
    size_t size = 0;
    unsigned byte;

    for (; sscanf(hex + 2 * size, "%2x", &byte) == 1; size++)
        bytes[size] = (unsigned char)byte;
    return size;
}

static size_t put_tail(unsigned char *bytes, size_t size, unsigned version)
{
    uint64_t sum;

    bytes[size++] = (unsigned char)version;
    bytes[size++] = 0;
    sum = hf__crc64(0, bytes, size);
    for (unsigned i = 0; i < 8; i++)
        bytes[size++] = (unsigned char)(sum >> 8 * i);
    return size;
}

static hf_status restore(hf__store *store, const void *bytes, size_t size,
                         char text[TEXT_SIZE])
{
    hf_bytes words[] = {hf_str("restore"), hf_str("k"), hf_str("0"),
                        hf_view(bytes, size), hf_str("replace")};

    return perform(store, NULL, words, 5, 0, text);
}

static void crc64_is_that_of_redis(void **state)
{
    (void)state;
    assert_true(hf__crc64(0, "123456789", 9) == UINT64_C(0xe9c6d914c4b8d9ca));
    assert_true(hf__crc64(hf__crc64(0, "1234", 4), "56789", 5) ==
                UINT64_C(0xe9c6d914c4b8d9ca));
}

static void restore_reads_every_form(void **state)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t size = from_hex(rows[i].hex, bytes);

        size = put_tail(bytes, size, HF__RDB_VERSION);
        assert_int_equal(restore(at->store, bytes, size, text), HF_OK);
        expect(at->store, rows[i].read, rows[i].want);
    }
}

/* What DUMP returns is restored to the same. */
static void dump_is_restored(void **state)
{
    static const char source[] =
        "redis.call('restore', 'k', 0, redis.call('dump', 'k'), 'replace')";
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t size = from_hex(rows[i].hex, bytes);

        size = put_tail(bytes, size, HF__RDB_VERSION);
        assert_int_equal(restore(at->store, bytes, size, text), HF_OK);
        assert_int_equal(evaluate(at->store, source, 0, "", text), HF_OK);
        expect(at->store, rows[i].read, rows[i].want);
    }
}

/* Large collections have other forms in the store. */
static void dump_of_a_large_value_is_restored(void **state)
{
    static const char source[] =
        "for i = 1, 3000 do redis.call('rpush', 'l', i) "
        "redis.call('sadd', 's', 'm' .. i) redis.call('hset', 'h', i, -i) "
        "redis.call('zadd', 'z', i, i) end "
        "redis.call('hpexpireat', 'h', 2000000000000, 'fields', 1, '7') "
        "for _, k in ipairs{'l', 's', 'h', 'z'} do "
        "redis.call('restore', k, 100000, redis.call('dump', k), 'replace') "
        "end return {redis.call('lindex', 'l', 2999), "
        "redis.call('scard', 's'), redis.call('sismember', 's', 'm17'), "
        "redis.call('hget', 'h', '17'), redis.call('hlen', 'h'), "
        "redis.call('hpexpiretime', 'h', 'fields', 2, '7', '8'), "
        "redis.call('zcard', 'z'), redis.call('zscore', 'z', '17'), "
        "redis.call('ttl', 'z')}";
    place *at = *state;
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at->store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "[s:3000, i:3000, i:1, s:-17, i:3000, "
                              "[i:2000000000000, i:-1], i:3000, s:17, i:100]");
}

static void strings_of_every_length_are_restored(void **state)
{
    static const char source[] =
        "for _, n in ipairs{0, 63, 64, 16383, 16384, 65535, 70000} do "
        "local x = string.rep('x', n) redis.call('set', 'k', x) "
        "redis.call('restore', 'k', 0, redis.call('dump', 'k'), 'replace') "
        "if redis.call('get', 'k') ~= x then return n end end return 'ok'";
    place *at = *state;
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at->store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "s:ok");
}

static void expect_restore(hf__store *store, const char *hex, unsigned version,
                           const char *want)
{
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];
    size_t size = put_tail(bytes, from_hex(hex, bytes), version);

    (void)restore(store, bytes, size, text);
    assert_string_equal(text, want);
}

static void restore_refuses_what_it_cannot_read(void **state)
{
    static const char bad[] = "Bad data format";
    place *at = *state;

    expect(at->store, "set k old", "+:OK");
    expect(at->store, "restore k 0 x",
           "BUSYKEY Target key name already exists.");
    expect(at->store, "restore k 0 x replace",
           "DUMP payload version or checksum are wrong");
    expect_restore(at->store, "000161", 13,
                   "DUMP payload version or checksum are wrong");
    expect_restore(at->store, "", 10, bad);
    expect_restore(at->store, "0f00", 10, bad);     /* a stream */
    expect_restore(at->store, "0100", 10, bad);     /* empty */
    expect_restore(at->store, "00016161", 10, bad); /* too long */
    expect_restore(at->store, "0181ffffffffffffffff", 10, bad);
    expect_restore(at->store, "0401016181ffffffffffffffff", 10, bad);
    expect_restore(at->store, "00c30181ffffffffffffff0000", 10, bad);
    expect_restore(at->store, "00c304051f00610004", 10, bad); /* back too far */
    expect_restore(at->store, "05010161000000000000f87f", 10, bad); /* NaN */
    expect(at->store, "get k", "s:old");
}

static void restore_with_a_passed_instant_deletes(void **state)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    size_t size = put_tail(bytes, from_hex("000161", bytes), 10);
    hf_bytes words[] = {hf_str("restore"), hf_str("k"),
                        hf_str("1"),       hf_view(bytes, size),
                        hf_str("absttl"),  hf_str("replace")};
    char text[TEXT_SIZE];

    expect(at->store, "set k old", "+:OK");
    assert_int_equal(perform(at->store, NULL, words, 6, 0, text), HF_OK);
    expect(at->store, "exists k", "i:0");
}

/* Each byte is replaced by others: the value is restored or refused. */
static void restore_survives_damage(void **state)
{
    static const unsigned char other[] = {0x00, 0x01, 0x7f, 0x80,
                                          0xc3, 0xfe, 0xff};
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];
    size_t restored = 0;

    for (size_t i = 0; i < ROW_COUNT; i++) {
        size_t size = from_hex(rows[i].hex, bytes);

        for (size_t b = 0; b < size * sizeof(other); b++) {
            unsigned char kept = bytes[b / sizeof(other)];

            bytes[b / sizeof(other)] = other[b % sizeof(other)];
            (void)restore(at->store, bytes,
                          put_tail(bytes, size, HF__RDB_VERSION), text);
            if (strcmp(text, "+:OK") == 0)
                restored++;
            else if (strcmp(text, "Bad data format") != 0)
                fail_msg("row %zu, byte %zu: %s", i, b / sizeof(other), text);
            bytes[b / sizeof(other)] = kept;
        }
    }
    assert_true(restored > 100);
    expect(at->store, "ping", "+:PONG");
}

/* The n-th allocation fails, for every n: restored, or the old value is left.
 */
static void memory_may_end_anywhere(void **state)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    hf_status status = HF_NO_MEMORY;
    char text[TEXT_SIZE];
    size_t size = put_tail(bytes, from_hex(rows[6].hex, bytes), 10);
    long n;

    for (n = 0; status != HF_OK && n < 1000; n++) {
        close_store(at->store);
        at->store = must_open(at->url, NULL);
        expect(at->store, "set k old", "+:OK");
        hf__alloc_fail_after(n);
        status = restore(at->store, bytes, size, text);
        hf__alloc_fail_after(-1);
        if (status == HF_OK)
            expect(at->store, rows[6].read, rows[6].want);
        else
            expect(at->store, "get k", "s:old");
    }
    assert_int_equal(status, HF_OK);
    assert_true(n > 1);
}

/* 20 MiB in 240 KiB, for a store of 16. */
static void restore_reads_no_more_than_the_store_holds(void **state)
{
    static const unsigned char head[] = {0x00, 0xc3, 0x80, 0, 0, 0, 0,
                                         0x80, 0,    0,    0, 0, 0, 'a'};
    const uint32_t runs = 80000;
    const uint32_t sizes[] = {2 + 3 * runs, 1 + 264 * runs};
    unsigned char *bytes = malloc(sizeof(head) + 3 * runs + HF__RDB_TAIL);
    char text[TEXT_SIZE];
    place at;

    assert_non_null(bytes);
    memcpy(bytes, head, sizeof(head));
    for (unsigned i = 0; i < 8; i++)
        bytes[(i < 4 ? 3 : 4) + i] =
            (unsigned char)(sizes[i / 4] >> (24 - 8 * (i % 4)));
    for (uint32_t i = 0; i < runs; i++)
        memcpy(bytes + sizeof(head) + 3 * i, "\xe0\xff\0", 3);
    (void)put_tail(bytes, sizeof(head) + 3 * runs, HF__RDB_VERSION);
    for (int large = 0; large < 2; large++) {
        make_place(&at, "volatile", large ? "?max_size=64M" : "?max_size=16M");
        at.store = must_open(at.url, NULL);
        (void)restore(at.store, bytes, sizeof(head) + 3 * runs + HF__RDB_TAIL,
                      text);
        assert_string_equal(text, large ? "+:OK" : "Bad data format");
        remove_place(&at);
    }
    free(bytes);
    (void)state;
}

static int set_up(void **state)
{
    static place at;

    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    *state = &at;
    return 0;
}

static int tear_down(void **state)
{
    remove_place(*state);
    return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc64_is_that_of_redis),
        TEST(restore_reads_every_form),
        TEST(dump_is_restored),
        TEST(dump_of_a_large_value_is_restored),
        TEST(strings_of_every_length_are_restored),
        TEST(restore_refuses_what_it_cannot_read),
        TEST(restore_with_a_passed_instant_deletes),
        TEST(restore_survives_damage),
        TEST(memory_may_end_anywhere),
        cmocka_unit_test(restore_reads_no_more_than_the_store_holds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
