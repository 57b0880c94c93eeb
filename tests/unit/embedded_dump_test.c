/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_dump_test.c - DUMP and RESTORE: every form that a Redis writes, and
 * bytes that none writes.
 */
#include "embedded_store.h"

#include "engine/keys/rdb.h"
#include "support/rdb_forms.h"
#include "util/crc64.h"
#include "util/mem.h"

#define VALUE_MAX 512

static hf_status restore(hf__store *store, const void *bytes, size_t size,
                         char text[TEXT_SIZE])
{
    hf_bytes words[] = {hf_str("restore"), hf_str("k"), hf_str("0"),
                        hf_view(bytes, size), hf_str("replace")};

    return perform(store, NULL, words, 5, 0, text);
}

TEST_WITH(crc64_is_that_of_redis, NULL, NULL)
{
    assert_true(hf__crc64(0, "123456789", 9) == UINT64_C(0xe9c6d914c4b8d9ca));
    assert_true(hf__crc64(hf__crc64(0, "1234", 4), "56789", 5) ==
                UINT64_C(0xe9c6d914c4b8d9ca));
}

TEST(restore_reads_every_form)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < RDB_FORM_COUNT; i++) {
        size_t size = rdb_from_hex(rdb_forms[i].hex, bytes);

        size = rdb_put_tail(bytes, size, HF__RDB_VERSION);
        assert_int_equal(restore(at->store, bytes, size, text), HF_OK);
        expect(at->store, rdb_forms[i].read, rdb_forms[i].want);
    }
}

/* What DUMP returns is restored to the same. */
TEST(dump_is_restored)
{
    static const char source[] =
        "redis.call('restore', 'k', 0, redis.call('dump', 'k'), 'replace')";
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];

    for (size_t i = 0; i < RDB_FORM_COUNT; i++) {
        size_t size = rdb_from_hex(rdb_forms[i].hex, bytes);

        size = rdb_put_tail(bytes, size, HF__RDB_VERSION);
        assert_int_equal(restore(at->store, bytes, size, text), HF_OK);
        assert_int_equal(evaluate(at->store, source, 0, "", text), HF_OK);
        expect(at->store, rdb_forms[i].read, rdb_forms[i].want);
    }
}

/* Large collections have other forms in the store. */
TEST(dump_of_a_large_value_is_restored)
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

TEST(strings_of_every_length_are_restored)
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
    size_t size = rdb_put_tail(bytes, rdb_from_hex(hex, bytes), version);

    (void)restore(store, bytes, size, text);
    assert_string_equal(text, want);
}

TEST(restore_refuses_what_it_cannot_read)
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
    expect_restore(
        at->store, "05010161000000000000f87f", 10,
        "Bad data format: the score of member \"a\" is not a number");
    expect_restore(
        at->store, "03010161fd", 10,
        "Bad data format: the score of member \"a\" is not a number");
    expect_restore(at->store, "0301016100", 10, bad);     /* no score */
    expect_restore(at->store, "030101610178", 10, bad);   /* no number */
    expect_restore(at->store, "03010161053132", 10, bad); /* too short */
    expect(at->store, "get k", "s:old");
}

/* One entry, 1-1, but for what a line says. */
static const struct {
    const char *hex, *want;
} streams[] = {
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101010000000000000001000000000000000105000000"
     "00000000010101630500000000000000010000000000000001000000"
     "0000000001",
     "+:OK"},
    /* how many were read is unknown */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010181ffffffffffffffff0000",
     "+:OK"},
    /* one is deleted */
    {"1301100000000000000001000000000000000128280000000f000101"
     "01010101816602000103010001000181750204010201000100018176"
     "020401ff010101010100000100",
     "+:OK"},
    /* one more than it says is deleted */
    {"1301100000000000000001000000000000000128280000000f000101"
     "00010101816602000103010001000181750204010201000100018176"
     "020401ff010101010100000100",
     "Bad data format"},
    /* two groups of a name */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01020167010101000001670101010000",
     "Bad data format"},
    /* two consumers of a name */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101000201630500000000000000000163050000000000"
     "000000",
     "Bad data format"},
    /* no one has it */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101010000000000000001000000000000000105000000"
     "000000000100",
     "Bad data format"},
    /* two have it */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101010000000000000001000000000000000105000000"
     "00000000010201630500000000000000010000000000000001000000"
     "00000000010164050000000000000001000000000000000100000000"
     "00000001",
     "Bad data format"},
    /* delivered before 1970 */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "010101670101010100000000000000010000000000000001ffffffff"
     "ffffffff010101630500000000000000010000000000000001000000"
     "0000000001",
     "Bad data format"},
    /* seen before 1970 */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101010000000000000001000000000000000105000000"
     "0000000001010163ffffffffffffffff010000000000000001000000"
     "0000000001",
     "Bad data format"},
    /* 2^63 were read */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "0101016701018180000000000000000000",
     "Bad data format"},
    /* delivered 2^63 times */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "01010167010101010000000000000001000000000000000105000000"
     "00000000818000000000000000010163050000000000000001000000"
     "00000000010000000000000001",
     "Bad data format"},
    /* 2^63 were added */
    {"130110000000000000000100000000000000011d1d0000000a000101"
     "0001010181660200010201000100018176020401ff01010101010000"
     "81800000000000000000",
     "Bad data format"},
};

TEST(restore_refuses_streams_that_contradict_themselves)
{
    place *at = *state;

    for (size_t i = 0; i < sizeof(streams) / sizeof(streams[0]); i++)
        expect_restore(at->store, streams[i].hex, 10, streams[i].want);
    expect(at->store, "xrange k - +", "[[s:1-1, [s:f, s:v]]]");
}

/* The deadline of the field f: 46 bits, as for HPEXPIREAT. */
TEST(restore_bounds_the_deadlines_of_fields)
{
    place *at = *state;

    expect_restore(at->store, "18ffffffffff3f0000010101660176", 12, "+:OK");
    expect(at->store, "hpexpiretime k fields 1 f", "[i:70368744177663]");
    expect_restore(at->store, "18ffffffffff3f0000010201660176", 12,
                   "Bad data format: the deadline of field \"f\" is "
                   "70368744177663 + 1 ms; at most 70368744177663 are allowed");
    expect_restore(at->store, "180000000000002000010101660176", 12,
                   "Bad data format: the deadline of field \"f\" is "
                   "9007199254740992 + 0 ms; at most 70368744177663 are "
                   "allowed");
    expect_restore(at->store, "180000000000000080010101660176", 12,
                   "Bad data format: the deadline of field \"f\" is "
                   "-9223372036854775808 + 0 ms; at most 70368744177663 are "
                   "allowed");
    expect_restore(at->store, "18ffffffffffffff7f010201660176", 12,
                   "Bad data format: the deadline of field \"f\" is "
                   "9223372036854775807 + 1 ms; at most 70368744177663 are "
                   "allowed");
    expect(at->store, "hlen k", "i:1");
}

/* Longer ones would be left out of a dump. */
TEST(names_of_keys_have_a_limit)
{
    static const char source[] =
        "local long = string.rep('n', 512 * 1024) "
        "redis.call('set', long, 1) redis.call('rename', long, 'k') "
        "long = long .. 'n' "
        "local words = {{'set', long, 1}, {'rename', 'k', long}, "
        "{'copy', 'k', long}, {'mset', 'a', 1, long, 1}, "
        "{'sunionstore', long, 's'}, "
        "{'zunionstore', long, 1, 'z'}, {'sort', 's', 'store', long}} "
        "local refused = 0 "
        "for _, w in ipairs(words) do "
        "    local reply = redis.pcall(unpack(w)) "
        "    if reply.err == 'ERR the name of a key has 524289 bytes; at most "
        "524288 are allowed' then refused = refused + 1 end "
        "end "
        "return {#words, refused, redis.call('dbsize'), "
        "redis.call('del', long)}";
    place *at = *state;
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at->store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "[i:7, i:7, i:1, i:0]");
}

TEST(restore_with_a_passed_instant_deletes)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    size_t size = rdb_put_tail(bytes, rdb_from_hex("000161", bytes), 10);
    hf_bytes words[] = {hf_str("restore"), hf_str("k"),
                        hf_str("1"),       hf_view(bytes, size),
                        hf_str("absttl"),  hf_str("replace")};
    char text[TEXT_SIZE];

    expect(at->store, "set k old", "+:OK");
    assert_int_equal(perform(at->store, NULL, words, 6, 0, text), HF_OK);
    expect(at->store, "exists k", "i:0");
}

/* Each byte is replaced by others: the value is restored or refused. */
TEST(restore_survives_damage)
{
    static const unsigned char other[] = {0x00, 0x01, 0x7f, 0x80,
                                          0xc3, 0xfe, 0xff};
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    char text[TEXT_SIZE];
    size_t restored = 0;

    for (size_t i = 0; i < RDB_FORM_COUNT; i++) {
        size_t size = rdb_from_hex(rdb_forms[i].hex, bytes);

        for (size_t b = 0; b < size * sizeof(other); b++) {
            unsigned char kept = bytes[b / sizeof(other)];

            bytes[b / sizeof(other)] = other[b % sizeof(other)];
            (void)restore(at->store, bytes,
                          rdb_put_tail(bytes, size, HF__RDB_VERSION), text);
            if (strcmp(text, "+:OK") == 0)
                restored++;
            else if (strncmp(text, "Bad data format", 15) != 0)
                fail_msg("row %zu, byte %zu: %s", i, b / sizeof(other), text);
            bytes[b / sizeof(other)] = kept;
        }
    }
    assert_true(restored > 100);
    expect(at->store, "ping", "+:PONG");
}

/* The n-th allocation fails, for every n: restored, or the old value is left.
 */
TEST(memory_may_end_anywhere)
{
    place *at = *state;
    unsigned char bytes[VALUE_MAX];
    hf_status status = HF_NO_MEMORY;
    char text[TEXT_SIZE];
    size_t size =
        rdb_put_tail(bytes, rdb_from_hex(rdb_forms[6].hex, bytes), 10);
    long n;

    for (n = 0; status != HF_OK && n < 1000; n++) {
        close_store(at->store);
        at->store = must_open(at->url, NULL);
        expect(at->store, "set k old", "+:OK");
        hf__alloc_fail_after(n);
        status = restore(at->store, bytes, size, text);
        hf__alloc_fail_after(-1);
        if (status == HF_OK)
            expect(at->store, rdb_forms[6].read, rdb_forms[6].want);
        else
            expect(at->store, "get k", "s:old");
    }
    assert_int_equal(status, HF_OK);
    assert_true(n > 1);
}

/* 20 MiB in 240 KiB, for a store of 16. */
TEST_WITH(restore_reads_no_more_than_the_store_holds, NULL, NULL)
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
    (void)rdb_put_tail(bytes, sizeof(head) + 3 * runs, HF__RDB_VERSION);
    for (int large = 0; large < 2; large++) {
        make_place(&at, "volatile", large ? "?max_size=64M" : "?max_size=16M");
        at.store = must_open(at.url, NULL);
        (void)restore(at.store, bytes, sizeof(head) + 3 * runs + HF__RDB_TAIL,
                      text);
        assert_string_equal(text, large ? "+:OK" : "Bad data format");
        remove_place(&at);
    }
    free(bytes);
}

EACH_TEST_WITH(open_volatile_place, remove_state_place);
