/* SPDX-License-Identifier: Apache-2.0 */
/* every_key.c - the calls of timelines, keys, scripts, commands and
 * transactions, and those that transfer a store, for every_call.c. */
#include "support/every_define.h"

#include <errno.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"

/* ---------------------------------------------------------------- timelines */

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

    return CALL(hf_timeline_add_many, p->client, p->key, &item, 1, 0,
                &p->result.status);
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

    return CALL(hf_timeline_remove_many, p->client, p->key, &id, 1,
                &p->result.status);
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

DEFINE(timeline_count_matching)
{
    return CALL(hf_timeline_count_matching, p->client, p->key, NULL,
                &p->result.count, &p->result.buffer);
}

DEFINE(timeline_delete)
{
    return CALL(hf_timeline_delete, p->client, p->key);
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

DEFINE(key_rename)
{
    return CALL(hf_key_rename, p->client, p->key, p->key, 0);
}

DEFINE(key_copy)
{
    return CALL(hf_key_copy, p->client, p->key, p->key, HF_COPY_REPLACE);
}

DEFINE(key_delete)
{
    return CALL(hf_key_delete, p->client, p->key);
}

/* ----------------------------------------------------------------- commands */

DEFINE(command)
{
    hf_bytes words[] = {hf_str("GET"), p->key};

    return CALL(hf_command, p->client, 2, words, &p->result.reply);
}

DEFINE(command_many)
{
    hf_bytes words[] = {hf_str("GET"), p->key};
    hf_command_item item = {2, words};

    return CALL(hf_command_many, p->client, &item, 1, &p->result.reply,
                &p->result.status);
}

/* ------------------------------------------------------------- transactions */

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

/* ---------------------------------------------------------------- transfers */

static int drop_bytes(void *user, const void *data, size_t size)
{
    (void)user;
    return data == NULL || size == 0 ? EINVAL : 0;
}

static int give_dump(void *user, void *data, size_t size, size_t *got)
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
    return hf_store_dump(p->client, NULL, drop_bytes, NULL, NULL, err);
}

DEFINE(store_load)
{
    (void)async;
    p->dump_at = 0;
    return hf_store_load(p->client, NULL, give_dump, p, NULL, err);
}
