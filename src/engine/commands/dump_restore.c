/* SPDX-License-Identifier: Apache-2.0 */
/*
 * dump_restore.c - DUMP and RESTORE: a value in the form of Redis (rdb.h),
 * which any Redis from 7.0 on reads.
 */
#include "engine/commands/payload.h"

#include <math.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commands/expiry_args.h"
#include "engine/files/keyhead.h"
#include "engine/keys/deadlines.h"
#include "engine/keys/rdb.h"
#include "engine/keys/rdb_write.h"
#include "engine/keys/type_hash.h"
#include "engine/keys/type_list.h"
#include "engine/keys/type_set.h"
#include "engine/keys/type_string.h"
#include "engine/keys/type_zset.h"
#include "engine/streams/stream_rdb.h"

/* -------------------------------------------------------------------- DUMP */

static void dump_string(hf__rdb_out *to, hf__record *record)
{
    size_t size = hf__string_size(record);

    hf__rdb_put_type(to, HF__RDB_STRING);
    hf__rdb_put_length(to, size);
    for (size_t at = 0; at < size && to->tx->fatal == HF_OK;) {
        hf_bytes piece = hf__string_piece(to->tx, record, at);

        hf__rdb_put_part(to, piece);
        at += piece.size;
    }
}

static void dump_list(hf__rdb_out *to, hf__record *record)
{
    hf__list_walk walk;
    hf_bytes value;

    hf__rdb_put_type(to, HF__RDB_LIST);
    hf__rdb_put_length(to, record->count);
    hf__list_walk_begin(&walk, to->tx, record, 0, false);
    while (hf__list_walk_next(&walk, &value))
        hf__rdb_put_string(to, value);
    hf__list_walk_end(&walk);
}

static void dump_set(hf__rdb_out *to, hf__record *record)
{
    hf__set_walk walk;
    hf_bytes member;

    hf__rdb_put_type(to, HF__RDB_SET);
    hf__rdb_put_length(to, record->count);
    hf__set_walk_begin(&walk, to->tx, record);
    while (hf__set_walk_next(&walk, &member))
        hf__rdb_put_string(to, member);
    hf__set_walk_end(&walk);
}

static void dump_zset(hf__rdb_out *to, hf__record *record)
{
    hf__zset_walk walk;
    hf_bytes member;
    double score;

    hf__rdb_put_type(to, HF__RDB_ZSET);
    hf__rdb_put_length(to, record->count);
    hf__zset_walk_begin(&walk, to->tx, record, -INFINITY, false);
    while (hf__zset_walk_next(&walk, &member, &score)) {
        uint64_t bits;

        memcpy(&bits, &score, sizeof(bits));
        hf__rdb_put_string(to, member);
        hf__rdb_put_integer(to, bits, 8);
    }
    hf__zset_walk_end(&walk);
}

/* `first_ms`: no deadline is earlier; 0: there are none. */
static void put_fields(hf__rdb_out *to, hf__record *record, int64_t first_ms)
{
    hf__hash_walk walk;
    hf_bytes field, value;

    hf__rdb_put_length(to, hf__hash_count(to->tx, record));
    hf__hash_walk_begin(&walk, to->tx, record);
    while (hf__hash_walk_next(&walk, &field, &value)) {
        int64_t expire_ms;

        if (first_ms != 0)
            hf__rdb_put_length(
                to, hf__deadline_get(to->tx, record, field, &expire_ms)
                        ? (uint64_t)(expire_ms - first_ms) + 1
                        : 0);
        hf__rdb_put_string(to, field);
        hf__rdb_put_string(to, value);
    }
    hf__hash_walk_end(&walk);
}

static unsigned dump_hash(hf__rdb_out *to, hf__record *record)
{
    const unsigned char *content = hf__content(to->tx, record);
    hf__deadlines fields;

    if (record->form != HF__FORM_DEADLINES) {
        hf__rdb_put_type(to, HF__RDB_HASH);
        put_fields(to, record, 0);
        return HF__RDB_VERSION;
    }
    if (content == NULL)
        return 0;
    memcpy(&fields, content, sizeof(fields));
    hf__rdb_put_type(to, HF__RDB_HASH_DEADLINES);
    hf__rdb_put_integer(to, (uint64_t)hf__tx_to_unix(to->tx, fields.first_ms),
                        8);
    put_fields(to, record, fields.first_ms);
    return HF__RDB_VERSION_DEADLINES;
}

unsigned hf__dump_value(hf__rdb_out *to, hf__record *record)
{
    unsigned version = HF__RDB_VERSION;

    switch ((hf__type)record->type) {
    case HF__TYPE_STRING:
        dump_string(to, record);
        break;
    case HF__TYPE_LIST:
        dump_list(to, record);
        break;
    case HF__TYPE_SET:
        dump_set(to, record);
        break;
    case HF__TYPE_ZSET:
        dump_zset(to, record);
        break;
    case HF__TYPE_HASH:
        version = dump_hash(to, record);
        break;
    case HF__TYPE_STREAM:
        hf__stream_dump(to, record);
        break;
    }
    return version;
}

hf_bytes hf__payload_put(hf__tx *tx, hf__record *record)
{
    hf__rdb_out to = {.tx = tx};

    hf__rdb_put_tail(&to, hf__dump_value(&to, record));
    return hf_view(tx->scratch, to.size);
}

static void run_dump(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__key_find(tx, args[1]);
    hf_bytes payload;

    (void)count;
    if (record == NULL) {
        hf__reply_nil(tx);
        return;
    }
    payload = hf__payload_put(tx, record);
    if (tx->fatal == HF_OK)
        hf__reply_bytes(tx, payload.data, payload.size);
}

/* ----------------------------------------------------------------- RESTORE */

typedef struct restore {
    bool replace;
    bool absolute;
} restore;

static bool read_number(hf__tx *tx, hf_bytes arg, const char *name, int64_t max,
                        const char *suffix)
{
    int64_t value;

    if (!hf__arg_integer(tx, arg, &value))
        return false;
    if (value >= 0 && value <= max)
        return true;
    return hf__reply_error(tx, "ERR Invalid %s value, must be >= 0%s", name,
                           suffix);
}

/* IDLETIME and FREQ are of no use here. */
static bool read_options(hf__tx *tx, const hf_bytes *args, size_t count,
                         restore *options)
{
    bool idle = false;
    bool used = false;

    for (size_t i = 4; i < count; i++) {
        bool more = i + 1 < count;

        if (hf__arg_is(args[i], "replace")) {
            options->replace = true;
        } else if (hf__arg_is(args[i], "absttl")) {
            options->absolute = true;
        } else if (hf__arg_is(args[i], "idletime") && more && !used) {
            idle = true;
            if (!read_number(tx, args[++i], "IDLETIME", INT64_MAX, ""))
                return false;
        } else if (hf__arg_is(args[i], "freq") && more && !idle) {
            used = true;
            if (!read_number(tx, args[++i], "FREQ", 255, " and <= 255"))
                return false;
        } else {
            return hf__reply_error(tx, HF__ERROR_SYNTAX);
        }
    }
    return true;
}

static bool read_payload(hf__tx *tx, hf_bytes payload, hf__rdb_value *value)
{
    if (!hf__rdb_tail_fits(payload))
        return hf__reply_error(tx, HF__ERROR_RDB_TAIL);
    return hf__rdb_read(tx, hf_view(payload.data, payload.size - HF__RDB_TAIL),
                        value) &&
           (value->type != HF__TYPE_STREAM ||
            hf__stream_check(tx, value->data));
}

static void put_zset(hf__tx *tx, hf__record *record, const hf__members *list)
{
    double score;

    for (size_t i = 0; i < list->count && tx->fatal == HF_OK; i++) {
        const hf__member *item = &list->items[i];

        if (!hf__zset_score(tx, record, item->name, &score))
            hf__zset_add(tx, record, item->name, item->score);
    }
}

static void put_hash(hf__tx *tx, hf__record *record, const hf__members *list)
{
    for (size_t i = 0; i < list->count && tx->fatal == HF_OK; i += 2) {
        const hf__member *field = &list->items[i];
        int64_t expire_ms = 0;

        if (field->score > 0)
            expire_ms = hf__tx_from_unix(tx, (int64_t)field->score);
        if (field->score > 0 && expire_ms <= tx->now_ms)
            continue;
        (void)hf__hash_put(tx, record, field->name, field[1].name);
        if (expire_ms != 0)
            hf__hash_expire(tx, record, field->name, expire_ms);
    }
    if (hf__hash_is_empty(tx, record))
        hf__key_drop(tx, record);
}

static void put_value(hf__tx *tx, hf__record *record,
                      const hf__rdb_value *value)
{
    const hf__member *items = value->list.items;

    switch (value->type) {
    case HF__TYPE_STRING:
        (void)hf__content_set(tx, record, items[0].name.data,
                              items[0].name.size);
        break;
    case HF__TYPE_LIST:
        for (size_t i = 0; i < value->list.count && tx->fatal == HF_OK; i++)
            hf__list_push(tx, record, items[i].name, false);
        break;
    case HF__TYPE_SET:
        for (size_t i = 0; i < value->list.count && tx->fatal == HF_OK; i++)
            (void)hf__set_add(tx, record, items[i].name);
        break;
    case HF__TYPE_ZSET:
        put_zset(tx, record, &value->list);
        break;
    case HF__TYPE_HASH:
        put_hash(tx, record, &value->list);
        break;
    case HF__TYPE_STREAM:
        hf__stream_restore(tx, record, value->data);
        break;
    }
}

static void store_value(hf__tx *tx, hf_bytes key, const hf__rdb_value *value,
                        int64_t expire_ms)
{
    bool over = expire_ms != 0 && expire_ms <= tx->now_ms;
    hf__record *record = over ? hf__key_find(tx, key)
                              : (value->type == HF__TYPE_STREAM
                                     ? hf__stream_make(tx, key)
                                     : hf__key_make(tx, key, value->type));

    if (record == NULL && !over) /* fatal, or replied */
        return;
    hf__reply_line(tx, "OK");
    if (over && record != NULL)
        hf__key_delete(tx, record);
    if (over)
        return;
    record->expire_ms = expire_ms;
    put_value(tx, record, value);
    hf__key_event(tx, HF__EVENT_GENERIC, "restore", key);
}

void hf__payload_get(hf__tx *tx, hf_bytes key, hf_bytes payload,
                     int64_t expire_ms)
{
    hf__rdb_value value;

    if (read_payload(tx, payload, &value))
        store_value(tx, key, &value, expire_ms);
}

static void run_restore(hf__tx *tx, const hf_bytes *args, size_t count)
{
    restore options = {0};
    hf__rdb_value value;
    int64_t ttl_ms;
    int64_t expire_ms = 0;

    if (!read_options(tx, args, count, &options))
        return;
    if (!options.replace && hf__key_find(tx, args[1]) != NULL) {
        hf__reply_error(tx, "BUSYKEY Target key name already exists.");
        return;
    }
    if (!hf__arg_from(tx, args[2], 0, "ERR Invalid TTL value, must be >= 0",
                      &ttl_ms) ||
        !read_payload(tx, args[3], &value))
        return;
    if (ttl_ms == 0 ||
        hf__expiry_instant(tx, (hf__expiry){false, options.absolute}, ttl_ms,
                           true, &expire_ms))
        store_value(tx, args[1], &value, expire_ms);
}

const hf__command_entry hf__commands_dump[] = {
    {"dump", 0, run_dump},
    {"restore", HF__COMMAND_WRITES | HF__COMMAND_GROWS, run_restore},
    {NULL, 0, NULL}};
