/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_stream_test.c - streams in a dump: entries, groups and what is pending
 * come back, on stores of the same and of the other kind.
 */
#include <stdlib.h>

#include "holdfast/script.h"
#include "holdfast/store.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* One consumer has two entries, another what is left, once more. */
#define STREAM_GROUPS                                                          \
    "redis.call('xgroup', 'create', KEYS[1], 'g', '0') "                       \
    "redis.call('xgroup', 'create', KEYS[1], 'h', '$') "                       \
    "redis.call('xreadgroup', 'group', 'g', 'a', 'count', 2, 'streams', "      \
    "    KEYS[1], '>') "                                                       \
    "redis.call('xreadgroup', 'group', 'g', 'b', 'streams', KEYS[1], '>') "    \
    "redis.call('xreadgroup', 'group', 'g', 'b', 'streams', KEYS[1], '0') "

static const char *const makers[] = {
    /* Of one batch, of one step, longer, and without entries. */
    "redis.call('xadd', KEYS[1], '7-*', '', '\\0', 'f', '') " STREAM_GROUPS
    "redis.call('pexpire', KEYS[1], 900000) return ''",
    "for i = 1, 3000 do redis.call('xadd', KEYS[1], '7-*', 'f', i) end "
    "redis.call('xdel', KEYS[1], '7-9') " STREAM_GROUPS "return ''",
    "for i = 1, 50 do redis.call('xadd', KEYS[1], i .. '-1', 'f', "
    "    string.rep('x', 30000)) end " STREAM_GROUPS "return ''",
    "for i = 1, 9000 do redis.call('xadd', KEYS[1], '7-*', 'f', i) end "
    "redis.call('pexpire', KEYS[1], 900000) return ''",
    "redis.call('xgroup', 'create', KEYS[1], 'g', '5-5', 'mkstream') return ''",
};
#define MAKER_COUNT (sizeof(makers) / sizeof(makers[0]))

/* All of it but how long ago entries were delivered, consumers seen. */
static const char tell[] =
    "local key, list = KEYS[1], {} "
    "local function put(from) "
    "    for _, item in ipairs(from) do "
    "        if type(item) == 'table' then put(item) "
    "        else list[#list + 1] = tostring(item) end "
    "    end "
    "end "
    "put(redis.call('xrange', key, '-', '+')) "
    "put(redis.call('xinfo', 'groups', key)) "
    "list[#list + 1] = redis.call('xinfo', 'stream', key)[8] "
    "for _, group in ipairs(redis.call('xinfo', 'groups', key)) do "
    "    for _, entry in ipairs(redis.call('xpending', key, group[2], '-', "
    "            '+', 99999)) do "
    "        list[#list + 1] = entry[1] .. entry[2] .. entry[4] "
    "        list[#list + 1] = tostring(entry[3] < 900000) "
    "    end "
    "end "
    "return #list .. ' ' .. redis.sha1hex(table.concat(list, '\\0')) .. "
    "    tostring(redis.call('pttl', key) > 0)";

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

static void expect_same(hf_client *one, hf_client *two, hf_bytes key)
{
    hf_reply *first = run(one, tell, key);
    hf_reply *second = run(two, tell, key);

    assert_true(hf_reply_bytes(first).size > 40);
    assert_bytes(hf_reply_bytes(first), hf_reply_bytes(second));
    hf_reply_free(first);
    hf_reply_free(second);
}

/* Of `count` keys that match the pattern; empty: all. */
static void move(hf_client *from, hf_bytes pattern, hf_client *to,
                 uint32_t flags, uint64_t count)
{
    hf_store_dump_options dumped = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_load_options loaded = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape tape = {.data = NULL};

    dumped.pattern = pattern;
    expect_status(HF_OK, hf_store_dump(from, &dumped, dump_tape_put, &tape,
                                       &result, ERR));
    assert_int_equal(result.keys, count);
    assert_int_equal(result.changed + result.left_out, 0);
    loaded.flags = flags;
    expect_status(
        HF_OK, hf_store_load(to, &loaded, dump_tape_take, &tape, &result, ERR));
    assert_int_equal(result.keys, count);
    free(tape.data);
}

TEST(dump_moves_streams_to_another_store_and_back)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *here, *there;
    hf_bytes keys[MAKER_COUNT];

    opts.request_ms = 60000;
    opts.script_budget_ms = 60000;
    here = fixture_client(f, &opts);
    there = fixture_elsewhere(f, "there", &opts);
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        char name[8] = {(char)('a' + i)};

        keys[i] = fixture_key(f, name);
        make(here, makers[i], keys[i]);
    }
    move(here, fixture_key(f, "*"), there, 0, MAKER_COUNT);
    for (size_t i = 0; i < MAKER_COUNT; i++) {
        expect_same(here, there, keys[i]);
        make(here, "redis.call('set', KEYS[1], 'x') return ''", keys[i]);
    }
    move(there, bytes(""), here, HF_LOAD_REPLACE, MAKER_COUNT);
    for (size_t i = 0; i < MAKER_COUNT; i++)
        expect_same(here, there, keys[i]);
    move(there, bytes(""), fixture_elsewhere(f, "again", &opts), 0,
         MAKER_COUNT);
}
