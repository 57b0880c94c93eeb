/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_memory_test.c - a dump and a load in which each allocation fails once:
 * both end cleanly, and a dump that claims to be complete is.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "embedded_store.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "support/test.h"
#include "util/mem.h"

/* More allocations than either needs. */
#define TRIES_MAX 20000

/* Some failures are recovered from; this many successes in a row mean that
 * there was none. */
#define CALM 30
#define ROOM ((size_t)4 << 20)

typedef struct stream {
    unsigned char *data;
    size_t size;
    size_t at;
} stream;

static int put(void *user, const void *data, size_t size)
{
    stream *to = user;

    assert_true(to->size + size <= ROOM);
    memcpy(to->data + to->size, data, size);
    to->size += size;
    return 0;
}

static int get(void *user, void *data, size_t size, size_t *got)
{
    stream *from = user;

    *got = from->size - from->at < size ? from->size - from->at : size;
    memcpy(data, from->data + from->at, *got);
    from->at += *got;
    return 0;
}

static hf_client *must_open_client(const char *url)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK)
        fail_msg("%s: %s", url, err.message);
    return client;
}

static int64_t run(hf_client *client, const char *source)
{
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    int64_t number;

    assert_int_equal(hf_script_load(client, hf_str(source), &script, NULL),
                     HF_OK);
    assert_int_equal(hf_script_run(script, NULL, 0, NULL, 0, &reply, NULL),
                     HF_OK);
    number = hf_reply_integer(reply);
    hf_reply_free(reply);
    hf_script_free(script);
    return number;
}

/* Keys that cover every path of a dump and a load. */
static const char fill[] =
    "redis.call('set', 's', 'v') redis.call('set', 'e', '') "
    "redis.call('set', 'long', string.rep('x', 300000)) "
    "redis.call('hset', 'h', 'a', '1', 'b', '2') "
    "redis.call('hpexpire', 'h', 900000, 'fields', 1, 'a') "
    "for i = 1, 4200 do redis.call('hset', 'many', i, i) end "
    "redis.call('hpexpire', 'many', 900000, 'fields', 1, '4200') "
    "redis.call('zadd', 'z', 1, 'a', 2, 'b') "
    "redis.call('set', 'hf:token', '1700000000000000') "
    "redis.call('set', 'hf:fence:{h}', '9') "
    "for i = 1, 4200 do redis.call('rpush', 'l', i) end return 1";

/* 1: all keys are there; 0: none of them is there in part. */
static const char look[] =
    "local n = redis.call('dbsize') "
    "if n ~= 9 then return 0 end "
    "return redis.call('llen', 'l') == 4200 and "
    "    redis.call('strlen', 'long') == 300000 and "
    "    redis.call('hpttl', 'h', 'fields', 1, 'a')[1] > 0 and "
    "    redis.call('hpttl', 'many', 'fields', 1, '4200')[1] > 0 and "
    "    redis.call('hlen', 'many') == 4200 and "
    "    redis.call('hlen', 'h') == 2 and redis.call('zcard', 'z') == 2 and "
    "    1 or -1";

TEST(dump_survives_each_allocation_that_fails)
{
    stream dump = {.data = malloc(ROOM)};
    place at;
    hf_client *client;
    long after;
    int whole = 0;

    assert_non_null(dump.data);
    make_place(&at, "volatile", "");
    client = must_open_client(at.url);
    (void)run(client, fill);
    for (after = 0; whole < CALM && after < TRIES_MAX; after++) {
        hf_store_transfer result = HF_STORE_TRANSFER_INIT;
        hf_status status;

        dump.size = 0;
        hf__alloc_fail_after(after);
        status = hf_store_dump(client, NULL, put, &dump, &result, NULL);
        hf__alloc_fail_after(-1);
        assert_true(status == HF_OK || status == HF_NO_MEMORY);
        assert_int_equal(result.complete, status == HF_OK);
        whole = status == HF_OK ? whole + 1 : 0;
        if (status == HF_OK)
            assert_int_equal(result.keys, 9);
    }
    assert_in_range(after, CALM + 10, TRIES_MAX - 1);
    hf_client_close(client);
    remove_place(&at);
    free(dump.data);
}

TEST(load_survives_each_allocation_that_fails)
{
    stream dump = {.data = malloc(ROOM)};
    hf_client *from, *to;
    place one, two;
    long after;
    hf_status status;
    int whole = 0;

    assert_non_null(dump.data);
    make_place(&one, "volatile", "");
    make_place(&two, "volatile", "");
    from = must_open_client(one.url);
    to = must_open_client(two.url);
    (void)run(from, fill);
    assert_int_equal(hf_store_dump(from, NULL, put, &dump, NULL, NULL), HF_OK);
    for (after = 0; whole < CALM && after < TRIES_MAX; after++) {
        hf_store_transfer result = HF_STORE_TRANSFER_INIT;
        int64_t seen;

        dump.at = 0;
        hf__alloc_fail_after(after);
        status = hf_store_load(to, NULL, get, &dump, &result, NULL);
        hf__alloc_fail_after(-1);
        if (status != HF_OK && status != HF_NO_MEMORY)
            fail_msg("after %ld: %s", after, hf_status_name(status));
        whole = status == HF_OK ? whole + 1 : 0;
        seen = run(to, look);
        assert_int_equal(seen, status == HF_OK ? 1 : seen == 1);
        assert_int_equal(run(to, "return #redis.call('keys', 'hf:load:*')"), 0);
        (void)run(to, "redis.call('flushdb') return 1");
    }
    assert_in_range(after, CALM + 10, TRIES_MAX - 1);
    hf_client_close(from);
    hf_client_close(to);
    remove_place(&one);
    remove_place(&two);
    free(dump.data);
}
