/* SPDX-License-Identifier: Apache-2.0 */
/* every_call.c - see every_call.h. */
#include "support/every_call.h"
#include "support/every_wait.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static hf_bytes one(void)
{
    return hf_str("1");
}

/* Run it, or start it: `...` are the arguments before async and err. */
#define CALL(function, ...)                                                    \
    (async == NULL ? function(__VA_ARGS__, err)                                \
                   : function##_start(__VA_ARGS__, async, err))

#define DEFINE(name)                                                           \
    static hf_status name(every_place *p, const hf_async *async, hf_error *err)

/* ------------------------------------------------------------------ values */

DEFINE(value_get)
{
    return CALL(hf_value_get, p->client, p->key, &p->result.buffer);
}

DEFINE(value_set)
{
    return CALL(hf_value_set, p->client, p->key, one(), NULL, NULL);
}

DEFINE(value_set_nx)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.flags = HF_SET_NX;
    return CALL(hf_value_set, p->client, p->key, one(), &options, NULL);
}

DEFINE(value_set_get)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.flags = HF_SET_GET;
    return CALL(hf_value_set, p->client, p->key, one(), &options,
                &p->result.buffer);
}

DEFINE(value_append)
{
    return CALL(hf_value_append, p->client, p->key, one(), NULL);
}

DEFINE(value_delete)
{
    return CALL(hf_value_delete, p->client, p->key);
}

DEFINE(value_cas)
{
    hf_bytes expected = one();

    return CALL(hf_value_cas, p->client, p->key, &expected, one(), NULL,
                &p->result.buffer);
}

DEFINE(value_cas_at_most_once)
{
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_bytes expected = one();

    options.flags = HF_CAS_ONCE;
    return CALL(hf_value_cas, p->client, p->key, &expected, one(), &options,
                &p->result.buffer);
}

DEFINE(value_delete_if)
{
    return CALL(hf_value_delete_if, p->client, p->key, one(),
                &p->result.buffer);
}

DEFINE(value_get_expire)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;

    options.ttl_ms = 1000;
    return CALL(hf_value_get_expire, p->client, p->key, &options,
                &p->result.buffer);
}

DEFINE(value_expire_if)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;

    options.expires_unix_ms = 1;
    return CALL(hf_value_expire_if, p->client, p->key, one(), &options,
                &p->result.buffer);
}

DEFINE(value_get_versioned)
{
    return CALL(hf_value_get_versioned, p->client, p->key, &p->result.buffer,
                &p->result.version);
}

/* SHA-1 of "1" */
static hf_bytes version_of_one(void)
{
    return hf_str("356a192b7913b04c54574d18c28d46e6395428ab");
}

DEFINE(value_cas_versioned)
{
    hf_bytes expected = version_of_one();

    return CALL(hf_value_cas_versioned, p->client, p->key, &expected, one(),
                NULL, &p->result.buffer);
}

DEFINE(value_delete_versioned)
{
    return CALL(hf_value_delete_versioned, p->client, p->key, version_of_one(),
                &p->result.buffer);
}

DEFINE(value_put_fenced)
{
    return CALL(hf_value_put_fenced, p->client, p->key, one(), 7, NULL,
                &p->result.token);
}

DEFINE(value_add)
{
    return CALL(hf_value_add, p->client, p->key, 1, NULL, &p->result.number);
}

DEFINE(value_get_many)
{
    hf_bytes keys[] = {p->key};

    (void)async;
    return hf_value_get_many(p->client, keys, 1, &p->result.buffer,
                             &p->result.status, err);
}

DEFINE(value_set_many)
{
    hf_value_set_item item = {p->key, one()};

    (void)async;
    return hf_value_set_many(p->client, &item, 1, NULL, &p->result.status, err);
}

DEFINE(value_cas_many)
{
    hf_bytes expected = one();
    hf_value_cas_item item = {p->key, &expected, one(), &p->result.buffer};

    (void)async;
    return hf_value_cas_many(p->client, &item, 1, NULL, &p->result.status, err);
}

DEFINE(value_add_many)
{
    hf_value_add_item item = {p->key, 1, &p->result.number};

    (void)async;
    return hf_value_add_many(p->client, &item, 1, NULL, &p->result.status, err);
}

/* ------------------------------------------------------------------ hashes */

DEFINE(hash_put)
{
    hf_field field = {one(), one()};

    return CALL(hf_hash_put, p->client, p->key, &field, 1, NULL);
}

DEFINE(hash_put_many)
{
    hf_field field = {one(), one()};
    hf_hash_put_item item = {p->key, &field, 1};

    (void)async;
    return hf_hash_put_many(p->client, &item, 1, NULL, &p->result.status, err);
}

DEFINE(hash_get)
{
    return CALL(hf_hash_get, p->client, p->key, one(), &p->result.buffer);
}

DEFINE(hash_get_all)
{
    return CALL(hf_hash_get_all, p->client, p->key, &p->result.fields);
}

DEFINE(hash_cas)
{
    hf_bytes expected = one();

    return CALL(hf_hash_cas, p->client, p->key, one(), &expected, one(), NULL,
                &p->result.buffer);
}

DEFINE(hash_cas_at_most_once)
{
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_bytes expected = one();

    options.flags = HF_CAS_ONCE;
    return CALL(hf_hash_cas, p->client, p->key, one(), &expected, one(),
                &options, &p->result.buffer);
}

DEFINE(hash_put_fenced)
{
    hf_field field = {one(), one()};

    return CALL(hf_hash_put_fenced, p->client, p->key, &field, 1, 7, NULL,
                &p->result.token);
}

DEFINE(hash_get_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_get_fields, p->client, p->key, names, 1,
                &p->result.buffer);
}

DEFINE(hash_add)
{
    return CALL(hf_hash_add, p->client, p->key, one(), 1, NULL,
                &p->result.number);
}

DEFINE(hash_expire_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_expire_fields, p->client, p->key, 60000, names, 1,
                &p->result.removed);
}

DEFINE(hash_ttl_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_ttl_fields, p->client, p->key, names, 1,
                &p->result.ttl_ms);
}

DEFINE(hash_delete_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_delete_fields, p->client, p->key, names, 1,
                &p->result.removed);
}

DEFINE(hash_delete)
{
    return CALL(hf_hash_delete, p->client, p->key);
}

/* ------------------------------------------------------------------ caches */

static hf_cache_options kept(void)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    return options;
}

static void fill_one(void *user, hf_cache_fill *fill)
{
    (void)user;
    (void)!hf_cache_fill_done(fill, HF_OK, one(), NULL);
}

DEFINE(cache_get)
{
    return CALL(hf_cache_get, p->client, p->key, NULL, &p->result.buffer);
}

DEFINE(cache_get_or_fill)
{
    hf_cache_options options = kept();

    return CALL(hf_cache_get_or_fill, p->client, p->key, fill_one, NULL,
                &options, &p->result.buffer, NULL);
}

DEFINE(cache_get_many)
{
    (void)async;
    return hf_cache_get_many(p->client, &p->key, 1, NULL, &p->result.buffer,
                             &p->result.status, err);
}

DEFINE(cache_put)
{
    hf_cache_options options = kept();

    return CALL(hf_cache_put, p->client, p->key, one(), &options);
}

DEFINE(cache_put_many)
{
    hf_cache_put_item item = {p->key, one()};
    hf_cache_options options = kept();

    (void)async;
    return hf_cache_put_many(p->client, &item, 1, &options, &p->result.status,
                             err);
}

DEFINE(cache_delete)
{
    return CALL(hf_cache_delete, p->client, p->key);
}

DEFINE(cache_delete_many)
{
    (void)async;
    return hf_cache_delete_many(p->client, &p->key, 1, &p->result.status, err);
}

DEFINE(cache_invalidate)
{
    return CALL(hf_cache_invalidate, p->client, p->key);
}

DEFINE(cache_invalidate_many)
{
    (void)async;
    return hf_cache_invalidate_many(p->client, &p->key, 1, &p->result.status,
                                    err);
}

/* --------------------------------------------------------------- timelines */

DEFINE(timeline_add)
{
    hf_timeline_add_options options = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute = hf_attribute_number(one(), 1);

    options.attributes = &attribute;
    options.attribute_count = 1;
    return CALL(hf_timeline_add, p->client, p->key, one(), one(), 60000,
                &options);
}

DEFINE(timeline_add_many)
{
    hf_timeline_add_item item = {one(), one(), 60000, 0, NULL, 0};

    (void)async;
    return hf_timeline_add_many(p->client, p->key, &item, 1, 0,
                                &p->result.status, err);
}

DEFINE(timeline_get)
{
    return CALL(hf_timeline_get, p->client, p->key, one(), &p->result.items);
}

DEFINE(timeline_remove)
{
    return CALL(hf_timeline_remove, p->client, p->key, one());
}

DEFINE(timeline_remove_many)
{
    hf_bytes id = one();

    (void)async;
    return hf_timeline_remove_many(p->client, p->key, &id, 1, &p->result.status,
                                   err);
}

DEFINE(timeline_count)
{
    return CALL(hf_timeline_count, p->client, p->key, &p->result.count);
}

DEFINE(timeline_page)
{
    return CALL(hf_timeline_page, p->client, p->key, NULL, &p->result.items);
}

DEFINE(timeline_range)
{
    return CALL(hf_timeline_range, p->client, p->key, 0, 0, 10,
                &p->result.items);
}

DEFINE(timeline_update)
{
    hf_timeline_update_options options = HF_TIMELINE_UPDATE_OPTIONS_INIT;

    options.at_ms = 1;
    return CALL(hf_timeline_update, p->client, p->key, one(), &options);
}

DEFINE(timeline_trim)
{
    return CALL(hf_timeline_trim, p->client, p->key, 1, 0, &p->result.trimmed);
}

/* ------------------------------------------------------------ keys, scripts */

DEFINE(key_ttl)
{
    return CALL(hf_key_ttl, p->client, p->key, &p->result.ttl_ms);
}

DEFINE(key_expire)
{
    return CALL(hf_key_expire, p->client, p->key, 1000);
}

DEFINE(key_persist)
{
    return CALL(hf_key_expire, p->client, p->key, -1);
}

DEFINE(key_type)
{
    return CALL(hf_key_type, p->client, p->key, &p->result.buffer);
}

static int no_key(void *user, hf_bytes key)
{
    (void)user;
    (void)key;
    return 0;
}

DEFINE(key_list)
{
    (void)async;
    return hf_key_list(p->client, hf_view(NULL, 0), 0, no_key, NULL, err);
}

DEFINE(script_load)
{
    return CALL(hf_script_load, p->client, hf_str("return 2"),
                &p->result.script);
}

DEFINE(script_run)
{
    hf_bytes keys[] = {p->key};

    return CALL(hf_script_run, p->script, keys, 1, NULL, 0, &p->result.reply);
}

/* ---------------------------------------------------------------- commands */

DEFINE(command)
{
    hf_bytes words[] = {hf_str("GET"), p->key};

    return CALL(hf_command, p->client, COUNT(words), words, &p->result.reply);
}

DEFINE(command_many)
{
    hf_bytes words[] = {hf_str("GET"), p->key};
    hf_command_item item = {COUNT(words), words};

    (void)async;
    return hf_command_many(p->client, &item, 1, &p->result.reply,
                           &p->result.status, err);
}

/* ------------------------------------------------------------ transactions */

DEFINE(txn_exec)
{
    hf_async queue = HF_ASYNC_INIT;
    hf_status status = hf_txn_new(p->client, NULL, &queue.txn, err);

    if (status == HF_OK)
        status = hf_txn_if_absent(queue.txn, p->key, err);
    if (status == HF_OK)
        status = hf_value_set_start(p->client, p->key, one(), NULL, NULL,
                                    &queue, err);
    if (status == HF_OK)
        status = CALL(hf_txn_exec, queue.txn);
    hf_txn_free(queue.txn);
    return status;
}

/* ------------------------------------------------------------------- locks */

DEFINE(lock_try)
{
    if (async != NULL)
        return hf_lock_acquire_start(p->lock, 0, async, err);
    return hf_lock_try(p->lock, err);
}

DEFINE(lock_acquire_for)
{
    if (async != NULL)
        return hf_lock_acquire_for_start(p->lock, 0, 60000, async, err);
    return hf_lock_acquire_for(p->lock, 0, 60000, err);
}

DEFINE(lock_acquire_many)
{
    (void)async;
    return hf_lock_acquire_many(&p->lock, 1, 0, &p->result.status, err);
}

DEFINE(lock_renew)
{
    return CALL(hf_lock_renew, p->lock);
}

DEFINE(lock_renew_many)
{
    (void)async;
    return hf_lock_renew_many(&p->lock, 1, &p->result.status, err);
}

DEFINE(lock_release)
{
    return CALL(hf_lock_release, p->lock);
}

DEFINE(lock_release_many)
{
    (void)async;
    return hf_lock_release_many(&p->lock, 1, &p->result.status, err);
}

DEFINE(lock_acquire_all)
{
    hf_status status = HF_OK;
    hf_lock *locks[2];

    if (p->second == NULL)
        status =
            hf_lock_new(p->client, hf_str("second"), NULL, &p->second, err);
    if (status != HF_OK)
        return status;
    locks[0] = p->lock;
    locks[1] = p->second;
    return CALL(hf_lock_acquire_all, locks, 2, 0);
}

/* The held lock is exported, and becomes the handle that adopts it. */
DEFINE(lock_adopt)
{
    hf_buffer text = HF_BUFFER_INIT;
    hf_status status = hf_lock_export(p->lock, &text, err);

    if (status != HF_OK)
        return status;
    hf_lock_free(p->lock);
    p->lock = NULL;
    status = CALL(hf_lock_adopt, p->client, hf_view(text.data, text.size), NULL,
                  &p->lock);
    hf_buffer_free(&text);
    return status;
}

DEFINE(lock_inspect)
{
    return CALL(hf_lock_inspect, p->client, p->key, &p->result.info);
}

DEFINE(lock_holder)
{
    return CALL(hf_lock_holder, p->client,
                hf_str("0123456789abcdef-0123456789abcde"), &p->result.holder);
}

DEFINE(lock_break)
{
    return CALL(hf_lock_break, p->client, p->key);
}

static int ignore_holder(void *user, const hf_lock_info *holder)
{
    (void)user;
    return holder->owner_size == 0;
}

DEFINE(lock_holders)
{
    return CALL(hf_lock_holders, p->client, p->key, ignore_holder, NULL);
}

DEFINE(semaphore_inspect)
{
    return CALL(hf_semaphore_inspect, p->client, p->key, 1, &p->result.permits);
}

static int ignore_lock(void *user, hf_bytes name, const hf_lock_info *info)
{
    (void)user;
    return name.size == 0 || info->remaining_ms < 0;
}

DEFINE(lock_list)
{
    (void)async;
    return hf_lock_list(p->client, hf_str(""), ignore_lock, NULL, err);
}

DEFINE(lock_acquire)
{
    if (async != NULL)
        return hf_lock_acquire_start(p->lock, 50, async, err);
    return hf_lock_acquire(p->lock, 50, err);
}

/* --------------------------------------------------------------- transfers */

static int drop(void *user, const void *data, size_t size)
{
    (void)user;
    return data == NULL || size == 0 ? EINVAL : 0;
}

static int give(void *user, void *data, size_t size, size_t *got)
{
    every_place *p = user;
    size_t left = p->dump_size - p->dump_at;

    *got = left < size ? left : size;
    memcpy(data, p->dump + p->dump_at, *got);
    p->dump_at += *got;
    return 0;
}

DEFINE(store_dump)
{
    (void)async;
    return hf_store_dump(p->client, NULL, drop, NULL, NULL, err);
}

DEFINE(store_load)
{
    (void)async;
    p->dump_at = 0;
    return hf_store_load(p->client, NULL, give, p, NULL, err);
}

/* ------------------------------------------------------------------- table */

#define STARTS .starts = true
#define BATCH .is_batch = true
#define NEWER .is_newer = true
#define HELD .needs_lock = true, .needs_held = true
#define CANDIDATE .needs_lock = true, .is_election = true
#define TRANSFER .keyless = true, .transfers = true

const every_call every_calls[] = {
    {"value get", "GET", value_get, STARTS},
    {"value set", "SET", value_set, STARTS},
    {"value set nx", "SET", value_set_nx, STARTS},
    {"value set get", "SET", value_set_get, STARTS},
    {"value append", "APPEND", value_append, STARTS},
    {"value delete", "value_delete", value_delete, STARTS},
    {"value cas", "value_cas_once", value_cas, STARTS},
    {"value cas once", "value_cas", value_cas_at_most_once, STARTS},
    {"value delete if", "value_delete_if_once", value_delete_if, STARTS},
    {"value get expire", "GETEX", value_get_expire, STARTS},
    {"value expire if", "value_expire_if_once", value_expire_if, STARTS},
    {"value get versioned", "GET", value_get_versioned, STARTS},
    {"value cas versioned", "value_cas_versioned_once", value_cas_versioned,
     STARTS},
    {"value delete if version", "value_delete_versioned_once",
     value_delete_versioned, STARTS},
    {"value put fenced", "value_put_fenced", value_put_fenced, STARTS},
    {"value add", "value_add", value_add, STARTS},
    {"value add many", "value_add", value_add_many, BATCH},
    {"value get many", "GET", value_get_many, BATCH},
    {"value set many", "SET", value_set_many, BATCH},
    {"value cas many", "value_cas_once", value_cas_many, BATCH},
    {"hash put", "hash_put", hash_put, STARTS},
    {"hash put many", "hash_put", hash_put_many, BATCH},
    {"hash get", "HGET", hash_get, STARTS},
    {"hash put fenced", "hash_put_fenced", hash_put_fenced, STARTS},
    {"hash get fields", "HMGET", hash_get_fields, STARTS},
    {"hash get all", "HGETALL", hash_get_all, STARTS},
    {"hash cas", "hash_cas_once", hash_cas, STARTS},
    {"hash cas once", "hash_cas", hash_cas_at_most_once, STARTS},
    {"hash add", "hash_add", hash_add, STARTS},
    {"hash expire fields", "HPEXPIRE", hash_expire_fields, STARTS, NEWER},
    {"hash ttl fields", "HPTTL", hash_ttl_fields, STARTS, NEWER},
    {"hash delete fields", "HDEL", hash_delete_fields, STARTS},
    {"hash delete", "hash_delete", hash_delete, STARTS},
    {"cache get", "MGET", cache_get, STARTS},
    {"cache get or fill", "MGET", cache_get_or_fill, STARTS},
    {"cache get many", "MGET", cache_get_many, BATCH},
    {"cache put", "cache_put", cache_put, STARTS},
    {"cache put many", "cache_put", cache_put_many, BATCH},
    {"cache delete", "cache_delete", cache_delete, STARTS},
    {"cache delete many", "cache_delete", cache_delete_many, BATCH},
    {"cache invalidate", "DEL", cache_invalidate, STARTS},
    {"cache invalidate many", "DEL", cache_invalidate_many, BATCH},
    {"timeline add", "timeline_add", timeline_add, STARTS},
    {"timeline add many", "timeline_add", timeline_add_many, BATCH},
    {"timeline get", "timeline_get", timeline_get, STARTS},
    {"timeline remove", "timeline_remove", timeline_remove, STARTS},
    {"timeline remove many", "timeline_remove", timeline_remove_many, BATCH},
    {"timeline count", "timeline_count", timeline_count, STARTS},
    {"timeline count matching", "timeline_count_matching",
     every_timeline_count_matching, STARTS},
    {"timeline page", "timeline_page", timeline_page, STARTS},
    {"timeline range", "timeline_page", timeline_range, STARTS},
    {"timeline update", "timeline_update", timeline_update, STARTS},
    {"timeline trim", "timeline_trim", timeline_trim, STARTS},
    {"timeline delete", "timeline_delete", every_timeline_delete, STARTS},
    {"key ttl", "PTTL", key_ttl, STARTS},
    {"key expire", "key_expire", key_expire, STARTS},
    {"key persist", "key_persist", key_persist, STARTS},
    {"key type", "key_type", key_type, STARTS},
    {"key rename", "key_rename", every_key_rename, STARTS},
    {"key copy", "key_copy", every_key_copy, STARTS},
    {"key delete", "key_delete", every_key_delete, STARTS},
    {"key list", "SCAN", key_list, .keyless = true, .scans = true},
    {"script load", "SCRIPT", script_load, STARTS, .keyless = true},
    {"script run", "user script", script_run, STARTS, .any_reply = true,
     .needs_script = true},
    {"command", "GET", command, STARTS, .any_reply = true, .is_raw = true},
    {"command many", "GET", command_many, BATCH, .any_reply = true,
     .is_raw = true},
    {"txn exec", "txn_run", txn_exec, STARTS},
    {"limiter take", "limiter_take", every_limiter_take, STARTS},
    {"limiter take, waiting", "limiter_take", every_limiter_take_waiting,
     STARTS},
    {"limiter take many", "limiter_take", every_limiter_take_many, BATCH},
    {"ids next", "ids_take", every_ids_next, STARTS},
    {"latch set", "latch_set", every_latch_set, STARTS},
    {"latch arrive", "latch_arrive", every_latch_arrive, STARTS},
    {"latch await", "latch_await", every_latch_await, STARTS},
    {"latch await early", "latch_await", every_latch_await_early, STARTS},
    {"latch left", "latch_await", every_latch_left, STARTS},
    {"latch delete", "latch_delete", every_latch_delete, STARTS},
    {"barrier wait", "barrier_arrive", every_barrier_wait, STARTS},
    {"barrier reset", "barrier_reset", every_barrier_reset, STARTS},
    {"lock try", "lock_acquire", lock_try, STARTS, .needs_lock = true,
     .takes_lock = true},
    {"lock acquire", "lock_acquire", lock_acquire, STARTS, .needs_lock = true,
     .takes_lock = true, .waits = true},
    {"lock acquire for", "lock_acquire", lock_acquire_for, STARTS,
     .needs_lock = true, .takes_lock = true},
    {"lock acquire many", "lock_acquire", lock_acquire_many, BATCH,
     .needs_lock = true, .takes_lock = true},
    {"lock acquire all", "lock_acquire_all", lock_acquire_all, STARTS,
     .needs_lock = true, .takes_lock = true},
    {"lock renew", "lock_renew", lock_renew, STARTS, HELD},
    {"lock renew many", "lock_renew", lock_renew_many, BATCH, HELD},
    {"lock release", "lock_release", lock_release, STARTS, HELD},
    {"lock release many", "lock_release", lock_release_many, BATCH, HELD},
    {"lock adopt", "lock_adopt", lock_adopt, STARTS, HELD},
    {"lock inspect", "lock_inspect", lock_inspect, STARTS},
    {"lock holder", "client_find", lock_holder, STARTS, .keyless = true},
    {"lock break", "lock_break", lock_break, STARTS},
    {"lock break owner", "lock_inspect", every_lock_break_owner, STARTS},
    {"rwlock downgrade", "rwlock_downgrade", every_rwlock_downgrade, STARTS,
     HELD, .is_pair = true},
    {"lock holders", "lock_holders", lock_holders, STARTS},
    {"semaphore inspect", "semaphore_inspect", semaphore_inspect, STARTS},
    {"semaphore resize", "semaphore_resize", every_semaphore_resize, STARTS},
    {"lock list, names", "SCAN", lock_list, .keyless = true, .scans = true},
    {"lock list, lock", "lock_list", lock_list, .keyless = true, .scans = true},
    {"election try", "election_acquire", lock_try, STARTS, CANDIDATE,
     .takes_lock = true},
    {"election proclaim", "election_proclaim", every_election_proclaim, STARTS,
     CANDIDATE, .needs_held = true},
    {"election leader", "election_leader", every_election_leader, STARTS},
    {"store dump, clock", "TIME", store_dump, TRANSFER},
    {"store dump, names", "SCAN", store_dump, TRANSFER},
    {"store dump, times of fields", "HPEXPIRETIME", store_dump, TRANSFER,
     NEWER},
    {"store dump, key", "key_read", store_dump, TRANSFER},
    {"store load, clock", "TIME", store_load, TRANSFER},
    {"store load, string", "SET", store_load, TRANSFER},
    {"store load, hash", "key_write", store_load, TRANSFER},
};
const size_t every_call_count = COUNT(every_calls);
