/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_fields_test.c - deadlines of fields in a dump: they come back on a store
 * whose fields expire, and no other store gets such a key.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/hash.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Where the type of the first key is. */
#define TYPE_AT (28 + 5)
#define HASH 2
#define TIMED_HASH 6

/* Those that match a pattern; empty: all. */
static dump_tape dump_keys(hf_client *client, hf_bytes pattern, uint64_t keys)
{
    hf_store_dump_options opts = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape moved = {.data = NULL};

    opts.pattern = pattern;
    expect_status(HF_OK, hf_store_dump(client, &opts, dump_tape_put, &moved,
                                       &result, ERR));
    assert_int_equal(result.keys, keys);
    assert_int_equal(result.changed, 0);
    return moved;
}

static dump_tape dump(hf_client *client, hf_bytes key)
{
    return dump_keys(client, key, 1);
}

static hf_store_transfer load(hf_client *client, dump_tape *moved,
                              uint32_t flags, hf_status status)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;

    moved->at = 0;
    opts.flags = flags;
    expect_status(status, hf_store_load(client, &opts, dump_tape_take, moved,
                                        &result, ERR));
    return result;
}

/* An embedded store, whose fields expire. */
static hf_client *elsewhere(fixture *f, const char *name)
{
    return fixture_elsewhere(f, name, NULL);
}

static hf_reply *run(hf_client *client, const char *source, hf_bytes key)
{
    hf_script *script = NULL;
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_script_load(client, hf_str(source), &script, ERR));
    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    hf_script_free(script);
    return reply;
}

static void make(hf_client *client, const char *source, hf_bytes key)
{
    hf_reply_free(run(client, source, key));
}

static bool fields_expire(fixture *f)
{
    hf_bytes name = bytes("f");
    hf_status status = hf_hash_expire_fields(f->client, fixture_key(f, "none"),
                                             1, &name, 1, NULL, ERR);

    /* Only an old server may refuse. */
    assert_true(status == HF_NOT_FOUND ||
                (status == HF_UNSUPPORTED &&
                 (f->server != NULL || f->cluster != NULL)));
    return status == HF_NOT_FOUND;
}

/* All fields with their deadlines; an embedded store's vary by 1 ms. */
static const char tell[] =
    "local key, list = KEYS[1], {} "
    "local names = redis.call('hkeys', key) "
    "table.sort(names) "
    "for i, name in ipairs(names) do "
    "    local at = redis.call('hpexpiretime', key, 'fields', 1, name)[1] "
    "    list[i] = #name .. ':' .. name .. redis.call('hget', key, name) .. "
    "        '@' .. math.floor(at / 10000 + 0.5) "
    "end "
    "return #list .. ' ' .. redis.sha1hex(table.concat(list, '\\0')) .. "
    "    tostring(redis.call('pttl', key) > 0)";

static void expect_same(hf_client *one, hf_client *two, hf_bytes key)
{
    hf_reply *first = run(one, tell, key);
    hf_reply *second = run(two, tell, key);

    assert_true(hf_reply_bytes(first).size > 40);
    assert_bytes(hf_reply_bytes(first), hf_reply_bytes(second));
    hf_reply_free(first);
    hf_reply_free(second);
}

/* Small, of one step, and of many; those read in pieces have the first deadline
 * in the last piece, and in all. */
#define HOUR_MS "(math.floor(redis.call('time')[1] / 10) * 10 + 3600) * 1000"
static const char *const makers[] = {
    "redis.call('hset', KEYS[1], '', '', 'a', '\\0') "
    "redis.call('hpexpireat', KEYS[1], " HOUR_MS ", 'fields', 1, '') ",
    "redis.call('hset', KEYS[1], 'a', '1') "
    "redis.call('hpexpireat', KEYS[1], 70368744177663, 'fields', 1, 'a') "
    "redis.call('pexpire', KEYS[1], 900000) ",
    "for i = 1, 700 do redis.call('hset', KEYS[1], i, i) "
    "    redis.call('hpexpireat', KEYS[1], " HOUR_MS " + i * 10000, "
    "'fields', 1, i) end ",
    "for i = 1, 5000 do redis.call('hset', KEYS[1], i, i) end "
    "redis.call('hpexpireat', KEYS[1], " HOUR_MS ", 'fields', 1, 77) ",
    "for i = 1, 5000 do redis.call('hset', KEYS[1], i, i) "
    "    redis.call('hpexpireat', KEYS[1], " HOUR_MS " + i * 10000, "
    "'fields', 1, i) end redis.call('pexpire', KEYS[1], 900000) ",
    "redis.call('hset', KEYS[1], 'a', string.rep('x', 2000000), 'b', '') "
    "redis.call('hpexpireat', KEYS[1], " HOUR_MS ", 'fields', 1, 'b') ",
};
#define MAKER_COUNT (sizeof(makers) / sizeof(makers[0]))

TEST(deadlines_of_fields_are_moved)
{
    fixture *f = *state;
    hf_client *from = elsewhere(f, "from");
    hf_client *back = elsewhere(f, "back");

    if (!fields_expire(f))
        return;
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        char name[24];
        hf_bytes key;
        dump_tape there, again;

        (void)snprintf(name, sizeof(name), "h%zu", i);
        key = fixture_key(f, name);
        make(from, makers[i], key);
        there = dump(from, key);
        assert_int_equal(load(f->client, &there, 0, HF_OK).keys, 1);
        expect_same(from, f->client, key);
        assert_int_equal(load(f->client, &there, HF_LOAD_REPLACE, HF_OK).keys,
                         1);
        expect_same(from, f->client, key);
        again = dump(f->client, key);
        assert_int_equal(load(back, &again, 0, HF_OK).keys, 1);
        expect_same(from, back, key);
        free(there.data);
        free(again.data);
    }
}

static const char tell_fields[] =
    "local list = redis.call('hgetall', KEYS[1]) "
    "local all = {} "
    "for i = 1, #list, 2 do all[#all + 1] = list[i] .. '=' .. list[i + 1] end "
    "table.sort(all) "
    "return #all .. ' ' .. redis.sha1hex(table.concat(all, ',')) .. "
    "    tostring(redis.call('pttl', KEYS[1]) > 0)";

static void expect_same_fields(hf_client *one, hf_client *two, hf_bytes key)
{
    hf_reply *first = run(one, tell_fields, key);
    hf_reply *second = run(two, tell_fields, key);

    assert_bytes(hf_reply_bytes(first), hf_reply_bytes(second));
    hf_reply_free(first);
    hf_reply_free(second);
}

/* Small, and of many steps; new, and in place of another key. */
TEST(server_without_deadlines_refuses_the_key_by_name)
{
    fixture *f = *state;
    hf_client *from = elsewhere(f, "from");
    hf_bytes keys[] = {fixture_key(f, "small"), fixture_key(f, "large")};

    if (fields_expire(f))
        return;
    for (size_t i = 0; i < 2; i++) {
        hf_store_transfer result;
        dump_tape moved;

        make(from, makers[i == 0 ? 0 : 4], keys[i]);
        moved = dump(from, keys[i]);
        result = load(f->client, &moved, 0, HF_UNSUPPORTED);
        assert_false(result.complete);
        assert_int_equal(result.keys, 0);
        assert_non_null(strstr(expect_message(), i == 0 ? "small" : "large"));
        assert_non_null(strstr(expect_message(), "HPEXPIRE"));
        assert_no_key(f->client, keys[i]);
        put_value(f->client, keys[i], bytes("mine"), 0);
        result = load(f->client, &moved, HF_LOAD_REPLACE, HF_UNSUPPORTED);
        assert_value(f->client, keys[i], bytes("mine"));
        result = load(f->client, &moved, HF_LOAD_CHECK, HF_UNSUPPORTED);
        assert_true(result.complete);
        assert_int_equal(result.refused, 1);
        free(moved.data);
    }
}

/* Those that it cannot hold are left out, or come without the deadlines. */
TEST(server_without_deadlines_takes_the_rest)
{
    fixture *f = *state;
    hf_client *from = elsewhere(f, "from");
    hf_bytes small = fixture_key(f, "small"), large = fixture_key(f, "large");
    hf_bytes plain = fixture_key(f, "plain");
    hf_store_transfer result;
    dump_tape moved;

    if (fields_expire(f))
        return;
    make(from, makers[0], small);
    make(from, makers[4], large);
    put_hash(from, plain, words("a", "1"), 0);
    moved = dump_keys(from, hf_str(""), 3);
    result = load(f->client, &moved, HF_LOAD_CONTINUE, HF_UNSUPPORTED);
    assert_true(result.complete);
    assert_int_equal(result.keys, 1);
    assert_int_equal(result.refused, 2);
    assert_field(f->client, plain, bytes("a"), bytes("1"));
    assert_no_key(f->client, small);
    assert_no_key(f->client, large);
    result =
        load(f->client, &moved, HF_LOAD_DROP_FIELD_TTL | HF_LOAD_SKIP, HF_OK);
    assert_int_equal(result.keys, 2);
    assert_int_equal(result.existing, 1);
    expect_same_fields(from, f->client, small);
    expect_same_fields(from, f->client, large);
    free(moved.data);
}

TEST(only_a_hash_with_deadlines_has_the_new_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_bytes name = bytes("1");
    dump_tape plain, once;

    make(f->client, "for i = 1, 100 do redis.call('hset', KEYS[1], i, i) end",
         key);
    plain = dump(f->client, key);
    assert_int_equal(plain.data[TYPE_AT], HASH);
    free(plain.data);
    if (!fields_expire(f))
        return;
    expect_status(HF_OK, hf_hash_expire_fields(f->client, key, 60000, &name, 1,
                                               NULL, ERR));
    once = dump(f->client, key);
    assert_int_equal(once.data[TYPE_AT], TIMED_HASH);
    free(once.data);
    expect_status(
        HF_OK, hf_hash_expire_fields(f->client, key, -1, &name, 1, NULL, ERR));
    plain = dump(f->client, key);
    assert_int_equal(plain.data[TYPE_AT], HASH);
    free(plain.data);
}

/* The dump is made in another store: here nothing has been seen of it. */
TEST(fields_that_have_expired_are_not_loaded)
{
    fixture *f = *state;
    hf_client *from = elsewhere(f, "from");
    hf_bytes keys[] = {fixture_key(f, "some"), fixture_key(f, "all")};
    hf_bytes names[] = {bytes("a"), bytes("b")};
    hf_buffer value = HF_BUFFER_INIT;
    dump_tape some, all;

    if (!fields_expire(f))
        return;
    for (size_t i = 0; i < 2; i++) {
        put_hash(from, keys[i], words("a", "1"), 0);
        put_hash(from, keys[i], words("b", "1"), 0);
        expect_status(HF_OK, hf_hash_expire_fields(from, keys[i], 1500, names,
                                                   1 + i, NULL, ERR));
    }
    some = dump(from, keys[0]);
    all = dump(from, keys[1]);
    expect_soon(key_is_gone(from, keys[1]), 10000);
    put_value(f->client, keys[1], bytes("mine"), 0);
    assert_int_equal(load(f->client, &some, 0, HF_OK).keys, 1);
    assert_int_equal(load(f->client, &all, HF_LOAD_REPLACE, HF_OK).expired, 1);
    expect_status(HF_NOT_FOUND,
                  hf_hash_get(f->client, keys[0], names[0], &value, ERR));
    assert_field(f->client, keys[0], names[1], bytes("1"));
    assert_value(f->client, keys[1], bytes("mine"));
    free(some.data);
    free(all.data);
}

TEST(damaged_deadlines_are_refused_and_leave_no_half)
{
    fixture *f = *state;
    hf_client *from = elsewhere(f, "from");
    hf_bytes key = fixture_key(f, "large");
    dump_tape moved;

    if (!fields_expire(f))
        return;
    make(from, makers[4], key);
    moved = dump(from, key);
    for (size_t part = 1; part < 4; part++) {
        moved.data[moved.size / 4 * part] ^= 1;
        (void)load(f->client, &moved, 0, HF_CORRUPT);
        assert_no_key(f->client, key);
        moved.data[moved.size / 4 * part] ^= 1;
    }
    assert_int_equal(load(f->client, &moved, 0, HF_OK).keys, 1);
    expect_same(from, f->client, key);
    free(moved.data);
}
