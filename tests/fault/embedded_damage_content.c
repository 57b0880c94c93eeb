/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_content.c - filling a store, reading it back, overwriting it.
 */
#include "embedded_damage_content.h"

#include <stdio.h>
#include <string.h>

#include "holdfast/script.h"
#include "holdfast/value.h"
#include "power_cut_found.h"
#include "power_cut_work.h"
#include "support/prng.h"

#define THREADS 3u
#define OPS 120u /* in each round */
#define PLAIN 1200u
#define PLAIN_SIZE_MAX 500u

/* Large collections: KEYS are a hash, a sorted set, a list, a set. */
static const char make_wide[] =
    "for i = 1, 1500 do "
    "redis.call('hset', KEYS[1], 'field' .. i, 'value' .. i) "
    "redis.call('zadd', KEYS[2], i, 'member' .. i) "
    "redis.call('rpush', KEYS[3], 'item' .. i) "
    "redis.call('sadd', KEYS[4], 'element' .. i) "
    "end";
static const char read_wide[] =
    "local items = redis.call('lrange', KEYS[3], 0, -1) "
    "local ranks = redis.call('zrange', KEYS[2], 0, -1) "
    "if #items ~= 1500 or #ranks ~= 1500 then return 0 end "
    "if redis.call('hlen', KEYS[1]) ~= 1500 then return 0 end "
    "if #redis.call('hgetall', KEYS[1]) ~= 3000 then return 0 end "
    "if #redis.call('smembers', KEYS[4]) ~= 1500 then return 0 end "
    "for i = 1, 1500 do "
    "if redis.call('hget', KEYS[1], 'field' .. i) ~= 'value' .. i or "
    "redis.call('zscore', KEYS[2], 'member' .. i) ~= tostring(i) or "
    "ranks[i] ~= 'member' .. i or items[i] ~= 'item' .. i or "
    "redis.call('sismember', KEYS[4], 'element' .. i) ~= 1 "
    "then return i end end "
    "return -1";
static const char change_wide[] =
    "for i = 1, 1500, 3 do "
    "redis.call('hset', KEYS[1], 'field' .. i, 'again') "
    "redis.call('hdel', KEYS[1], 'field' .. (i + 1)) "
    "redis.call('zincrby', KEYS[2], 5, 'member' .. i) "
    "redis.call('zrem', KEYS[2], 'member' .. (i + 1)) "
    "redis.call('lpop', KEYS[3]) "
    "redis.call('lset', KEYS[3], -1, 'last') "
    "redis.call('srem', KEYS[4], 'element' .. i) "
    "end";

static hf_status run_wide(hf_client *client, const char *source,
                          int64_t *result, hf_error *err)
{
    const hf_bytes keys[4] = {hf_str("wide:hash"), hf_str("wide:scores"),
                              hf_str("wide:list"), hf_str("wide:set")};
    hf_script *script;
    hf_reply *reply;
    hf_status status = hf_script_load(client, hf_str(source), &script, err);

    if (status != HF_OK)
        return status;
    status = hf_script_run(script, keys, 4, NULL, 0, &reply, err);
    hf_script_free(script);
    if (status != HF_OK)
        return status;
    *result = hf_reply_integer(reply);
    hf_reply_free(reply);
    return HF_OK;
}

/* ------------------------------------------------------------------- plain */

static size_t plain_value(uint64_t seed, unsigned index, unsigned round,
                          unsigned char value[PLAIN_SIZE_MAX])
{
    prng random = prng_of(seed, index, round);
    size_t size = prng_below(&random, PLAIN_SIZE_MAX);

    for (size_t i = 0; i < size; i++)
        value[i] = (unsigned char)prng_next(&random);
    return size;
}

static hf_bytes plain_key(char key[KEY_SIZE], unsigned index)
{
    (void)snprintf(key, KEY_SIZE, "plain:%u", index);
    return hf_str(key);
}

/* Of every five keys, round 1 writes two and deletes one. */
static unsigned plain_round(unsigned index)
{
    return index % 5 < 2;
}

static bool plain_gone(unsigned index)
{
    return index % 5 == 2;
}

static hf_status write_plain(hf_client *client, uint64_t seed, unsigned index,
                             unsigned round, hf_error *err)
{
    unsigned char value[PLAIN_SIZE_MAX];
    char key[KEY_SIZE];
    size_t size = plain_value(seed, index, round, value);

    return hf_value_set(client, plain_key(key, index), hf_view(value, size),
                        NULL, NULL, err);
}

static hf_status write_plains(hf_client *client, uint64_t seed, unsigned round,
                              hf_error *err)
{
    hf_status status = HF_OK;
    char key[KEY_SIZE];

    for (unsigned i = 0; i < PLAIN && status == HF_OK; i++) {
        if (round == 0 || plain_round(i) == round)
            status = write_plain(client, seed, i, round, err);
        else if (plain_gone(i))
            status = hf_value_delete(client, plain_key(key, i), err);
    }
    return status;
}

static reading read_plain(hf_client *client, uint64_t seed, unsigned index,
                          hf_error *err)
{
    unsigned char value[PLAIN_SIZE_MAX];
    hf_buffer there = HF_BUFFER_INIT;
    char key[KEY_SIZE];
    hf_status status = hf_value_get(client, plain_key(key, index), &there, err);
    size_t size;
    bool same;

    if (status == HF_NOT_FOUND)
        return plain_gone(index) ? READ_SAME : READ_WRONG;
    if (status != HF_OK)
        return READ_ERROR;
    size = plain_value(seed, index, plain_round(index), value);
    same = !plain_gone(index) && there.size == size &&
           memcmp(there.data, value, size) == 0;
    hf_buffer_free(&there);
    return same ? READ_SAME : READ_WRONG;
}

/* --------------------------------------------------------------------- all */

bool content_write(const char *url, uint64_t seed, unsigned round)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    int64_t ignored;
    bool worked = true;

    opts.request_ms = 60000;
    opts.script_budget_ms = 60000;
    if (hf_client_open(url, &opts, &client, &err) != HF_OK ||
        (round == 0 && run_wide(client, make_wide, &ignored, &err) != HF_OK) ||
        write_plains(client, seed, round, &err) != HF_OK) {
        fprintf(stderr, "embedded_damage: %s\n", err.message);
        return false;
    }
    for (unsigned i = 0; i < THREADS && worked; i++)
        worked = work_here(client, seed, i, round * OPS + 1, (round + 1) * OPS);
    hf_client_close(client);
    return worked;
}

/* The first failure is kept. */
static reading take_wrong(reading before, hf_error *err, const char *what)
{
    if (before != READ_WRONG) {
        err->status = HF_OK;
        (void)snprintf(err->message, sizeof(err->message), "%s", what);
    }
    return READ_WRONG;
}

static reading take_error(reading before, hf_error *err, const hf_error *that)
{
    if (before == READ_SAME)
        *err = *that;
    return before == READ_SAME ? READ_ERROR : before;
}

static reading read_thread(hf_client *client, uint64_t seed, unsigned thread,
                           reading before, hf_error *err)
{
    hf_error error = HF_ERROR_INIT;
    reading result = before;
    const char *differs;
    found there;
    model want;

    model_init(&want, seed, thread);
    for (uint64_t i = 0; i < 2 * OPS; i++) {
        op next = model_next(&want);

        model_apply(&want, &next);
    }
    want.locked = false;
    if (found_read(&there, client, thread, &error) != HF_OK) {
        result = take_error(before, err, &error);
    } else {
        differs = found_differs(&there, &want);
        if (differs != NULL)
            result = take_wrong(before, err, differs);
    }
    found_free(&there);
    return result;
}

reading content_read(hf_client *client, uint64_t seed, hf_error *err)
{
    hf_error error = HF_ERROR_INIT;
    reading result = READ_SAME;
    int64_t differs = -1;

    for (unsigned i = 0; i < THREADS; i++)
        result = read_thread(client, seed, i, result, err);
    for (unsigned i = 0; i < PLAIN; i++) {
        reading one = read_plain(client, seed, i, &error);

        if (one == READ_WRONG)
            result = take_wrong(result, err, "a plain value");
        else if (one == READ_ERROR)
            result = take_error(result, err, &error);
    }
    if (run_wide(client, read_wide, &differs, &error) != HF_OK)
        result = take_error(result, err, &error);
    else if (differs != -1)
        result = take_wrong(result, err, "a large collection");
    return result;
}

hf_status content_overwrite(hf_client *client, uint64_t seed, hf_error *err)
{
    static const char *const lines[] = {"keys *", "dbsize", "flushdb",
                                        "set after all"};
    hf_error ignored = HF_ERROR_INIT;
    hf_status result = HF_OK;
    int64_t number;

    for (unsigned i = 0; i < PLAIN; i += 2) {
        hf_status status = write_plain(client, seed, i, 2, &ignored);

        if (result == HF_OK && status != HF_OK) {
            result = status;
            *err = ignored;
        }
    }
    if (run_wide(client, change_wide, &number, &ignored) != HF_OK &&
        result == HF_OK) {
        result = ignored.status;
        *err = ignored;
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        hf_reply *reply = NULL;
        hf_status status = ask(client, lines[i], &reply, &ignored);

        if (status == HF_OK)
            hf_reply_free(reply);
        if (result == HF_OK && status != HF_OK) {
            result = status;
            *err = ignored;
        }
    }
    return result;
}
