/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_test.c - hf_store_dump() and hf_store_load(): a dump of this kind of
 * store restores the same data into it, and into an embedded one.
 *
 * A script reads what a key holds as one text, so that two keys are compared in
 * one step whatever their type.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/value.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* A step moves at most 4096 elements and 1 MiB: all of these take several. */
#define MANY "20000"
#define BIG_SIZE (((size_t)5 << 20) + 4)

/* A dump, and what was reported of it. */
typedef struct dump_record {
    dump_tape tape; /* the first, for its functions */
    uint64_t told;  /* progress */
    char named[64]; /* the last key that was left out, and its type */
} dump_record;

static void on_progress(void *user, const hf_store_transfer *so_far)
{
    dump_record *to = user;

    assert_true(so_far->bytes >= to->told);
    to->told = so_far->bytes;
}

static void on_left_out(void *user, hf_bytes key, const char *type)
{
    dump_record *to = user;

    (void)snprintf(to->named, sizeof(to->named), "%.*s %s", (int)key.size,
                   (const char *)key.data, type);
}

/* Dump the keys of the running test. */
static hf_store_transfer dump(hf_client *client, dump_record *to,
                              const char *pattern)
{
    hf_store_dump_options opts = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;

    memset(to, 0, sizeof(*to));
    opts.pattern = hf_str(pattern);
    opts.progress = on_progress;
    expect_status(
        HF_OK, hf_store_dump(client, &opts, dump_tape_put, to, &result, ERR));
    assert_true(result.complete);
    assert_int_equal(result.bytes, to->tape.size);
    assert_int_equal(to->told, to->tape.size);
    return result;
}

static hf_store_transfer load(hf_client *client, dump_record *from,
                              uint32_t flags, hf_status status)
{
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;

    from->tape.at = 0;
    from->told = 0;
    opts.flags = flags;
    opts.progress = on_progress;
    expect_status(status, hf_store_load(client, &opts, dump_tape_take, from,
                                        &result, ERR));
    assert_int_equal(from->told, result.bytes);
    return result;
}

/* ---------------------------------------------------------------- scripts */

/* A client whose scripts may take long. */
static hf_client *slow_scripts(fixture *f, const char *url)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    opts.request_ms = 60000;
    opts.script_budget_ms = 60000;
    return fixture_client_at(f, url, &opts);
}

/* Another store, embedded and empty. */
static hf_client *elsewhere(fixture *f, const char *name)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    opts.request_ms = 60000;
    opts.script_budget_ms = 60000;
    return fixture_elsewhere(f, name, &opts);
}

/* The store under test, or one of the same kind with more room. */
static hf_client *roomy(fixture *f)
{
    char url[FIXTURE_PATH_SIZE];
    char name[32];

    if (!fixture_is_embedded(f))
        return slow_scripts(f, f->url);
    (void)snprintf(name, sizeof(name), "roomy%u", f->test_number);
    fixture_embedded_url(f, name, "2G", url);
    return slow_scripts(f, url);
}

/* Run a script; its reply as text. */
static hf_buffer run(hf_client *client, const char *source, hf_bytes key,
                     const char *arg)
{
    hf_buffer text = HF_BUFFER_INIT;
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    hf_bytes args[] = {hf_str(arg)};

    expect_status(HF_OK, hf_script_load(client, hf_str(source), &script, ERR));
    expect_status(HF_OK, hf_script_run(script, &key, 1, args, 1, &reply, ERR));
    text.size = hf_reply_bytes(reply).size;
    text.data = malloc(text.size + 1);
    assert_non_null(text.data);
    memcpy(text.data, hf_reply_bytes(reply).data, text.size + 1);
    hf_reply_free(reply);
    hf_script_free(script);
    return text;
}

static void make(hf_client *client, const char *source, hf_bytes key)
{
    hf_buffer text = run(client, source, key, "");

    free(text.data);
}

/* Type, whether it expires, and its content in sorted order. Servers write a
 * score as 0.1 or as 0.10000000000000001. */
static const char tell[] =
    "local key, kind = KEYS[1], redis.call('type', KEYS[1]).ok "
    "local list = {} "
    "if kind == 'string' then list = {redis.call('get', key)} "
    "elseif kind == 'list' then list = redis.call('lrange', key, 0, -1) "
    "elseif kind == 'zset' then "
    "    list = redis.call('zrange', key, 0, -1, 'withscores') "
    "    for i = 2, #list, 2 do "
    "        list[i] = string.format('%.17g', list[i]) "
    "    end "
    "elseif kind == 'set' then list = redis.call('smembers', key) "
    "    table.sort(list) "
    "elseif kind == 'hash' then "
    "    local all = redis.call('hgetall', key) "
    "    for i = 1, #all, 2 do "
    "        list[#list + 1] = #all[i] .. ':' .. all[i] .. all[i + 1] "
    "    end "
    "    table.sort(list) "
    "end "
    "return kind .. ' ' .. tostring(redis.call('pttl', key) > 0) .. ' ' .. "
    "    #list .. ' ' .. redis.sha1hex(table.concat(list, '\\0')) ";

static void expect_same(hf_client *one, hf_client *two, hf_bytes key)
{
    hf_buffer first = run(one, tell, key, "");
    hf_buffer second = run(two, tell, key, "");

    assert_true(memcmp(first.data, "none", 4) != 0);
    assert_bytes(hf_view(first.data, first.size),
                 hf_view(second.data, second.size));
    free(first.data);
    free(second.data);
}

static void expect_none(hf_client *client, const char *pattern)
{
    hf_buffer text =
        run(client, "return tostring(#redis.call('keys', ARGV[1]))", bytes("x"),
            pattern);

    assert_bytes(bytes("0"), hf_view(text.data, text.size));
    free(text.data);
}

/* "t3:*": the keys of the running test. */
static const char *mine(fixture *f)
{
    return (const char *)fixture_key(f, "*").data;
}

/* ------------------------------------------------------------- round trip */

/* One of each type and of each special case. */
static const char *const makers[] = {
    "redis.call('set', KEYS[1], '') return ''",
    "redis.call('set', KEYS[1], '\\0\\r\\n\\255', 'px', 900000) return ''",
    "redis.call('set', KEYS[1], string.rep('x', 70000)) return ''",
    "redis.call('set', KEYS[1], string.rep('x', 1500000), 'px', 900000) "
    "return ''",
    "redis.call('hset', KEYS[1], '', '', '\\0f', '\\255', 'a', '1') return ''",
    "redis.call('hset', KEYS[1], 'a', string.rep('y', 1300000), 'b', '') "
    "redis.call('pexpire', KEYS[1], 900000) return ''",
    "redis.call('rpush', KEYS[1], '', 'b', 'a', 'b', '\\0') return ''",
    "for i = 1, 5000 do redis.call('rpush', KEYS[1], i % 100) end return ''",
    "redis.call('sadd', KEYS[1], '', '1', '-7', '\\0\\0') return ''",
    "for i = 1, 5000 do redis.call('sadd', KEYS[1], i) end "
    "redis.call('pexpire', KEYS[1], 900000) return ''",
    "redis.call('zadd', KEYS[1], 'inf', 'a', '-inf', 'b', '-0', 'c', "
    "'0.1', 'd', '3.0000000000000004e-300', '', '9007199254740993', 'f', "
    "'1.7976931348623157e308', 'g', '5e-324', 'h') return ''",
    "for i = 1, 5000 do redis.call('zadd', KEYS[1], i / 7, i) end return ''",
    "for i = 1, 129 do redis.call('hset', KEYS[1], i, i) end return ''",
};
#define MAKER_COUNT (sizeof(makers) / sizeof(makers[0]))

static void make_all(fixture *f, hf_client *client, hf_bytes *keys)
{
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        char name[24];

        (void)snprintf(name, sizeof(name), "key %zu\n\x01", i);
        keys[i] = fixture_key(f, name);
        make(client, makers[i], keys[i]);
    }
}

TEST(dump_moves_every_type_to_another_store_and_back)
{
    fixture *f = *state;
    hf_client *here = slow_scripts(f, f->url);
    hf_client *there = elsewhere(f, "there");
    hf_client *again = elsewhere(f, "again");
    hf_bytes keys[MAKER_COUNT];
    hf_store_transfer result;
    dump_record first, second;

    make_all(f, here, keys);
    result = dump(f->client, &first, mine(f));
    assert_int_equal(result.keys, MAKER_COUNT);
    assert_true(result.keys_total >= MAKER_COUNT);
    result = load(there, &first, 0, HF_OK);
    assert_int_equal(result.keys, MAKER_COUNT);
    assert_int_equal(result.bytes, first.tape.size);
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        expect_same(here, there, keys[i]);
        make(here, "redis.call('del', KEYS[1]) return ''", keys[i]);
    }
    memset(&second, 0, sizeof(second));
    expect_status(
        HF_OK, hf_store_dump(there, NULL, dump_tape_put, &second, NULL, ERR));
    result = load(f->client, &second, 0, HF_OK);
    assert_int_equal(result.keys, MAKER_COUNT);
    result = load(again, &first, 0, HF_OK);
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        expect_same(here, there, keys[i]);
        expect_same(here, again, keys[i]);
    }
    expect_none(here, "hf:load:*");
    expect_none(there, "hf:load:*");
    free(first.tape.data);
    free(second.tape.data);
}

TEST(load_keeps_the_instant_of_expiry)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, "there");
    hf_bytes keys[] = {fixture_key(f, "s"), fixture_key(f, "h")};
    const char *pattern = mine(f);
    dump_record tape;

    put_value(f->client, keys[0], bytes("1"), 60000);
    put_hash(f->client, keys[1], words("a", "1"), 3600000);
    (void)dump(f->client, &tape, pattern);
    (void)load(there, &tape, 0, HF_OK);
    assert_ttl(there, keys[0], 60000);
    assert_ttl(there, keys[1], 3600000);
    free(tape.tape.data);
}

/* No script can read it to the last digit. */
TEST(dump_takes_any_instant_of_expiry)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, "there");
    hf_bytes key = fixture_key(f, "s");
    hf_bytes expire[] = {hf_str("PEXPIREAT"), key,
                         hf_str("9223372036854770000")};
    hf_bytes ask[] = {hf_str("PEXPIRETIME"), key};
    const char *pattern = mine(f);
    hf_reply *reply = NULL;
    dump_record tape;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, hf_command(f->client, 3, expire, NULL, ERR));
    (void)dump(f->client, &tape, pattern);
    (void)load(there, &tape, 0, HF_OK);
    expect_status(HF_OK, hf_command(there, 2, ask, &reply, ERR));
    assert_int_equal(hf_reply_integer(reply), INT64_C(1) << 53);
    hf_reply_free(reply);
    free(tape.tape.data);
}

/* What belongs to a key has names of our own, which a load brings along. */
TEST(load_keeps_timelines_caches_and_fences)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, "there");
    hf_bytes line = fixture_key(f, "l"), entry = fixture_key(f, "e");
    hf_bytes fenced = fixture_key(f, "f");
    hf_attribute size = hf_attribute_number(bytes("size"), 7);
    hf_timeline_add_options added = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_timeline_items items = HF_TIMELINE_ITEMS_INIT;
    hf_cache_options kept = HF_CACHE_OPTIONS_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_field one = {bytes("a"), bytes("1")};
    dump_record tape;
    char pattern[32];

    added.attributes = &size;
    added.attribute_count = 1;
    kept.ttl_ms = 60000;
    expect_status(HF_OK, hf_timeline_add(f->client, line, bytes("id"),
                                         bytes("text"), 60000, &added, ERR));
    expect_status(HF_OK,
                  hf_cache_put(f->client, entry, bytes("v"), &kept, ERR));
    expect_status(HF_OK, hf_hash_put_fenced(f->client, fenced, &one, 1, 5, NULL,
                                            NULL, ERR));
    (void)snprintf(pattern, sizeof(pattern), "*%s", mine(f));
    (void)dump(f->client, &tape, pattern);
    (void)load(there, &tape, 0, HF_OK);
    expect_status(HF_OK,
                  hf_timeline_get(there, line, bytes("id"), &items, ERR));
    assert_bytes(bytes("text"), items.items->payload);
    hf_timeline_items_free(&items);
    expect_status(HF_OK, hf_cache_get(there, entry, &kept, &value, ERR));
    assert_buffer(&value, bytes("v"));
    expect_status(HF_CONFLICT, hf_hash_put_fenced(there, fenced, &one, 1, 4,
                                                  NULL, NULL, ERR));
    free(tape.tape.data);
}

/* Scores of every form, compared as the store writes them. */
TEST(scores_come_back_to_the_last_digit)
{
    fixture *f = *state;
    hf_client *here = slow_scripts(f, f->url);
    hf_client *there = elsewhere(f, "there");
    hf_bytes key = fixture_key(f, "z");
    const char *pattern = mine(f);
    dump_record tape;

    make(here,
         "local x = 12345 "
         "for i = 1, 2000 do x = (x * 1103515245 + 12345) % 2147483648 "
         "    local s = string.format('%.17g', (x - 1e9) / 3 ^ (i % 600)) "
         "    redis.call('zadd', KEYS[1], s, i) end return ''",
         key);
    (void)dump(f->client, &tape, pattern);
    (void)load(there, &tape, 0, HF_OK);
    expect_same(here, there, key);
    free(tape.tape.data);
}

/* ------------------------------------------------------------------- large */

static const char fill_many[] =
    "local key = KEYS[1] "
    "for i = 0, " MANY " - 1, 100 do local h, l, z = {}, {}, {} "
    "    for j = i, i + 99 do "
    "        h[#h + 1] = 'f' .. j h[#h + 1] = 'v' .. j "
    "        l[#l + 1] = 'e' .. j "
    "        z[#z + 1] = j / 8 z[#z + 1] = 'm' .. j "
    "    end "
    "    redis.call('hset', key .. 'h', unpack(h)) "
    "    redis.call('rpush', key .. 'l', unpack(l)) "
    "    redis.call('sadd', key .. 's', unpack(l)) "
    "    redis.call('zadd', key .. 'z', unpack(z)) "
    "end return ''";

/* The first element that differs. */
static const char check_many[] =
    "local key = KEYS[1] "
    "if redis.call('hlen', key .. 'h') ~= " MANY " then return 'hlen' end "
    "if redis.call('llen', key .. 'l') ~= " MANY " then return 'llen' end "
    "if redis.call('scard', key .. 's') ~= " MANY " then return 'scard' end "
    "if redis.call('zcard', key .. 'z') ~= " MANY " then return 'zcard' end "
    "for i = 0, " MANY " - 1, 500 do "
    "    local l = redis.call('lrange', key .. 'l', i, i + 499) "
    "    local z = redis.call('zrange', key .. 'z', i, i + 499, 'withscores') "
    "    for j = i, i + 499 do "
    "        if redis.call('hget', key .. 'h', 'f' .. j) ~= 'v' .. j then "
    "            return 'h' .. j end "
    "        if redis.call('sismember', key .. 's', 'e' .. j) ~= 1 then "
    "            return 's' .. j end "
    "        if l[j - i + 1] ~= 'e' .. j then return 'l' .. j end "
    "        if z[2 * (j - i) + 1] ~= 'm' .. j or "
    "            tonumber(z[2 * (j - i) + 2]) ~= j / 8 then "
    "            return 'z' .. j end "
    "    end "
    "end return 'fine'";

TEST(collections_of_many_steps_are_moved)
{
    fixture *f = *state;
    hf_client *here = roomy(f);
    hf_client *there = elsewhere(f, "there");
    hf_bytes key = fixture_key(f, "{many}");
    const char *pattern = mine(f);
    hf_store_transfer result;
    hf_buffer text;
    dump_record tape;

    make(here, fill_many, key);
    result = dump(here, &tape, pattern);
    assert_int_equal(result.keys, 4);
    assert_int_equal(result.changed, 0);
    (void)load(there, &tape, 0, HF_OK);
    text = run(there, check_many, key, "");
    assert_bytes(bytes("fine"), hf_view(text.data, text.size));
    free(text.data);
    /* Replacing an existing key, which is never seen half written. */
    (void)load(here, &tape, HF_LOAD_REPLACE, HF_OK);
    text = run(here, check_many, key, "");
    assert_bytes(bytes("fine"), hf_view(text.data, text.size));
    free(text.data);
    expect_none(here, "hf:load:*");
    make(here,
         "for c in string.gmatch('hlsz', '.') do "
         "redis.call('del', KEYS[1] .. c) end return ''",
         key);
    free(tape.tape.data);
}

TEST(value_of_many_steps_is_moved)
{
    fixture *f = *state;
    hf_client *here = roomy(f);
    hf_client *there = elsewhere(f, "there");
    hf_bytes key = fixture_key(f, "big");
    const char *pattern = mine(f);
    hf_buffer value = HF_BUFFER_INIT;
    uint32_t *big = malloc(BIG_SIZE);
    dump_record tape;

    assert_non_null(big);
    for (size_t i = 0; i < BIG_SIZE / sizeof(*big); i++)
        big[i] = (uint32_t)(i * 2654435761u);
    put_value(here, key, hf_view(big, BIG_SIZE), 0);
    (void)dump(here, &tape, pattern);
    expect_status(HF_OK, hf_value_delete(here, key, ERR));
    (void)load(here, &tape, 0, HF_OK);
    (void)load(there, &tape, 0, HF_OK);
    expect_status(HF_OK, hf_value_get(here, key, &value, ERR));
    assert_int_equal(value.size, BIG_SIZE);
    assert_true(memcmp(value.data, big, BIG_SIZE) == 0);
    hf_buffer_free(&value);
    expect_status(HF_OK, hf_value_get(there, key, &value, ERR));
    assert_int_equal(value.size, BIG_SIZE);
    assert_true(memcmp(value.data, big, BIG_SIZE) == 0);
    hf_buffer_free(&value);
    expect_status(HF_OK, hf_value_delete(here, key, ERR));
    free(tape.tape.data);
    free(big);
}

/* --------------------------------------------------------- keys that exist */

/* A large key too, which is not sent for nothing. */
TEST(load_without_a_flag_leaves_an_existing_key_alone)
{
    fixture *f = *state;
    hf_bytes keys[] = {fixture_key(f, "small"), fixture_key(f, "large")};
    const char *pattern = mine(f);
    hf_store_transfer result;
    dump_record tape;

    for (size_t i = 0; i < 2; i++) {
        make(f->client, makers[i == 0 ? 4 : 7], keys[i]);
        (void)dump(f->client, &tape, pattern);
        make(f->client,
             "redis.call('del', KEYS[1]) redis.call('set', KEYS[1], 'mine') "
             "return ''",
             keys[i]);
        result = load(f->client, &tape, 0, HF_CONFLICT);
        assert_non_null(strstr(expect_message(), i == 0 ? "small" : "large"));
        assert_false(result.complete);
        assert_int_equal(result.keys, 0);
        assert_value(f->client, keys[i], bytes("mine"));
        result = load(f->client, &tape, HF_LOAD_SKIP, HF_OK);
        assert_int_equal(result.keys, 0);
        assert_int_equal(result.existing, 1);
        assert_value(f->client, keys[i], bytes("mine"));
        result = load(f->client, &tape, HF_LOAD_CHECK, HF_OK);
        assert_int_equal(result.keys, 1);
        assert_int_equal(result.existing, 0);
        result =
            load(f->client, &tape,
                 (uint32_t)HF_LOAD_CHECK | (uint32_t)HF_LOAD_LOOK_UP, HF_OK);
        assert_int_equal(result.existing, 1);
        (void)load(f->client, &tape, HF_LOAD_LOOK_UP, HF_INVALID);
        assert_value(f->client, keys[i], bytes("mine"));
        result = load(f->client, &tape, HF_LOAD_REPLACE, HF_OK);
        assert_int_equal(result.keys, 1);
        expect_status(HF_WRONG_TYPE,
                      hf_value_get(f->client, keys[i], &(hf_buffer){0}, ERR));
        make(f->client, "redis.call('del', KEYS[1]) return ''", keys[i]);
        free(tape.tape.data);
    }
    expect_none(f->client, "hf:load:*");
}

TEST(load_leaves_out_what_has_expired)
{
    fixture *f = *state;
    hf_client *there = elsewhere(f, "there");
    hf_bytes keys[] = {fixture_key(f, "v"), fixture_key(f, "h"),
                       fixture_key(f, "stays")};
    const char *pattern = mine(f);
    hf_store_transfer result;
    dump_record tape;

    put_value(f->client, keys[0], bytes("1"), 300);
    put_hash(f->client, keys[1], words("a", "1"), 300);
    put_value(f->client, keys[2], bytes("1"), 0);
    result = dump(f->client, &tape, pattern);
    expect_soon(key_is_gone(f->client, keys[0]) &&
                    key_is_gone(f->client, keys[1]),
                5000);
    if (result.keys == 3) { /* otherwise they expired before the dump */
        put_value(f->client, keys[0], bytes("new"), 0);
        result = load(f->client, &tape, HF_LOAD_REPLACE, HF_OK);
        assert_int_equal(result.expired, 2);
        assert_value(f->client, keys[0], bytes("new"));
    }
    result = load(there, &tape, 0, HF_OK);
    assert_int_equal(result.keys, 1);
    assert_no_key(there, keys[0]);
    assert_no_key(there, keys[1]);
    assert_value(there, keys[2], bytes("1"));
    free(tape.tape.data);
}

/* ----------------------------------------------------------- our own keys */

TEST(queues_and_halves_of_loads_are_not_dumped)
{
    fixture *f = *state;
    static const char *const names[] = {"hf:wait:{x}", "xx:hf:wait:{xx:x}",
                                        "hf:load:0123456789abcdef:{x}"};
    dump_record tape;

    for (size_t i = 0; i < 3; i++)
        put_value(f->client, hf_str(names[i]), bytes("1"), 60000);
    assert_int_equal(dump(f->client, &tape, "*hf:[wl]*{*x}").keys, 0);
    free(tape.tape.data);
    expect_status(HF_OK, hf_value_delete(f->client, hf_str(names[0]), ERR));
}

TEST(key_that_no_dump_holds_is_left_out_and_named)
{
    fixture *f = *state;
    hf_store_dump_options opts = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_bytes key = fixture_key(f, "v");
    const char *name = mine(f);
    dump_record tape = {.told = 0};

    fixture_only_redis(f);
    if (fixture_is_served(f)) /* it stores no such name */
        skip();
    opts.pattern = hf_str(name);
    opts.left_out = on_left_out;
    make(f->client,
         "redis.call('set', KEYS[1] .. string.rep('x', 524288), 'v') return ''",
         key);
    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_UNSUPPORTED, hf_store_dump(f->client, &opts, dump_tape_put,
                                                &tape, &result, ERR));
    assert_non_null(strstr(expect_message(), "too long a name"));
    assert_true(result.complete);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(result.keys, 1);
    assert_memory_equal(tape.named, key.data, key.size);
    result = load(elsewhere(f, "there"), &tape, 0, HF_UNSUPPORTED);
    assert_true(result.complete);
    assert_int_equal(result.left_out, 1);
    assert_int_equal(result.keys, 1);
    free(tape.tape.data);
}

/* ------------------------------------------------------------------ faults */

TEST(dump_ends_when_its_writer_does)
{
    fixture *f = *state;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    dump_record tape = {.tape.fails_at = 10};

    put_value(f->client, fixture_key(f, "v"), bytes("1"), 0);
    assert_int_equal(
        hf_store_dump(f->client, NULL, dump_tape_put, &tape, &result, &err),
        HF_SYSTEM);
    assert_int_equal(err.sys_errno, ENOSPC);
    assert_false(result.complete);
    free(tape.tape.data);
}

/* In the middle of a key that is built in steps, and of small ones. */
TEST(load_that_fails_leaves_whole_keys_only)
{
    fixture *f = *state;
    hf_client *here = slow_scripts(f, f->url);
    hf_bytes keys[MAKER_COUNT];
    const char *pattern;
    hf_store_transfer result;
    hf_client *there;
    dump_record tape;

    make_all(f, here, keys);
    pattern = mine(f);
    (void)dump(f->client, &tape, pattern);
    for (size_t part = 1; part < 7; part++) {
        char name[16];

        (void)snprintf(name, sizeof(name), "there%zu", part);
        there = elsewhere(f, name);
        tape.tape.fails_at = tape.tape.size / 7 * part;
        result = load(there, &tape, 0, HF_SYSTEM);
        tape.tape.fails_at = 0;
        expect_none(there, "hf:load:*");
        tape.tape.at = 0;
        for (size_t i = 0; i < MAKER_COUNT; i++) {
            if (!key_is_gone(there, keys[i])) {
                expect_same(here, there, keys[i]);
                result.keys--;
            }
        }
        assert_int_equal(result.keys, 0);
        (void)load(there, &tape, HF_LOAD_SKIP, HF_OK);
        for (size_t i = 0; i < MAKER_COUNT; i++)
            expect_same(here, there, keys[i]);
        fixture_close_client(f, there);
    }
    free(tape.tape.data);
}

TEST(damaged_dump_is_refused_and_leaves_no_half)
{
    fixture *f = *state;
    hf_client *here = slow_scripts(f, f->url);
    hf_client *there = elsewhere(f, "there");
    hf_bytes key = fixture_key(f, "z");
    const char *pattern = mine(f);
    dump_record tape;

    make(here,
         "for i = 1, 20000 do redis.call('sadd', KEYS[1], i) end "
         "return ''",
         key);
    (void)dump(f->client, &tape, pattern);
    tape.tape.data[tape.tape.size - 60] ^= 1;
    (void)load(there, &tape, 0, HF_CORRUPT);
    assert_non_null(strstr(expect_message(), "at byte"));
    assert_no_key(there, key);
    expect_none(there, "*");
    (void)load(there, &tape, HF_LOAD_CHECK, HF_CORRUPT);
    tape.tape.data[0] ^= 1;
    (void)load(there, &tape, 0, HF_INVALID);
    free(tape.tape.data);
}

TEST(calls_check_their_arguments)
{
    fixture *f = *state;
    hf_client_options prefixed = HF_CLIENT_OPTIONS_INIT;
    hf_store_load_options opts = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_dump_options all = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer bad = {0};
    dump_record tape = {.told = 0};
    hf_client *client;

    prefixed.prefix = "p:";
    client = fixture_client(f, &prefixed);
    expect_status(HF_INVALID,
                  hf_store_dump(client, NULL, dump_tape_put, &tape, NULL, ERR));
    expect_status(HF_INVALID, hf_store_load(client, NULL, dump_tape_take, &tape,
                                            NULL, ERR));
    expect_status(HF_INVALID,
                  hf_store_dump(NULL, NULL, dump_tape_put, &tape, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_store_load(NULL, NULL, dump_tape_take, &tape, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_store_dump(f->client, NULL, NULL, &tape, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_store_load(f->client, NULL, NULL, &tape, NULL, ERR));
    expect_status(HF_INVALID, hf_store_dump(f->client, NULL, dump_tape_put,
                                            &tape, &bad, ERR));
    all.pattern = hf_view(NULL, 1);
    expect_status(HF_INVALID, hf_store_dump(f->client, &all, dump_tape_put,
                                            &tape, NULL, ERR));
    opts.flags = HF_LOAD_REPLACE | HF_LOAD_SKIP;
    expect_status(HF_INVALID, hf_store_load(f->client, &opts, dump_tape_take,
                                            &tape, NULL, ERR));
    opts.flags = 1u << 31;
    expect_status(
        HF_UNSUPPORTED,
        hf_store_load(f->client, &opts, dump_tape_take, &tape, NULL, ERR));
    assert_int_equal(tape.tape.size, 0);
}

/* ----------------------------------------------------------------- writers */

typedef struct churner {
    hf_script *script;
    hf_bytes key;
    atomic_bool stop;
    atomic_ulong rounds;
} churner;

static void *churn_on(void *user)
{
    churner *self = user;

    while (!atomic_load(&self->stop)) {
        hf_reply *reply = NULL;

        if (hf_script_run(self->script, &self->key, 1, NULL, 0, &reply, NULL) !=
            HF_OK)
            break;
        hf_reply_free(reply);
        atomic_fetch_add(&self->rounds, 1);
    }
    return NULL;
}

/* A set that changes all the time: members that stay are dumped. */
TEST(dump_of_a_changing_set_has_what_stays_in_it)
{
    fixture *f = *state;
    hf_client *here = slow_scripts(f, f->url);
    hf_client *there = elsewhere(f, "there");
    churner churn = {.key = fixture_key(f, "{s}")};
    const char *pattern = mine(f);
    hf_store_transfer result;
    pthread_t thread;
    hf_buffer text;
    dump_record tape;

    make(here,
         "for i = 1, 20000 do redis.call('sadd', KEYS[1], i) end "
         "return ''",
         churn.key);
    churn.script = fixture_script(
        f, f->other,
        "local c = redis.call('incr', KEYS[1] .. ':n') "
        "for i = 1, 50 do redis.call('sadd', KEYS[1], 'x' .. c .. i) end "
        "for i = 1, 50 do redis.call('srem', KEYS[1], 'x' .. (c - 9) .. i) end "
        "return c");
    assert_int_equal(pthread_create(&thread, NULL, churn_on, &churn), 0);
    expect_soon(atomic_load(&churn.rounds) > 0, 10000);
    result = dump(f->client, &tape, pattern);
    atomic_store(&churn.stop, true);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_in_range(result.keys, 1, 2);
    (void)load(there, &tape, 0, HF_OK);
    text = run(there,
               "for i = 1, 20000 do "
               "if redis.call('sismember', KEYS[1], i) ~= 1 then "
               "return tostring(i) end end return 'fine'",
               churn.key, "");
    assert_bytes(bytes("fine"), hf_view(text.data, text.size));
    free(text.data);
    free(tape.tape.data);
}
