/* SPDX-License-Identifier: Apache-2.0 */
/* stream_args.c - see stream_args.h. */
#include "engine/commands/stream_args.h"

#define ERROR_ID "ERR Invalid stream ID specified as stream command argument"

bool hf__arg_stream_id(hf__tx *tx, hf_bytes arg, uint64_t seq, bool *open,
                       hf__stream_id *id)
{
    if (hf__stream_id_read(arg, seq, open, id))
        return true;
    return hf__reply_error(tx, ERROR_ID);
}

bool hf__arg_stream_start(hf__tx *tx, hf__record *record, hf_bytes arg,
                          hf__stream_id *id)
{
    hf__stream_head head = {0};

    if (!hf__arg_is(arg, "$"))
        return hf__arg_stream_id(tx, arg, 0, NULL, id);
    if (record != NULL && !hf__stream_head_get(tx, record, &head))
        return false;
    *id = head.last;
    return true;
}

bool hf__arg_stream_bound(hf__tx *tx, hf_bytes arg, bool end, hf__stream_id *id)
{
    bool without = arg.size > 1 && *(const char *)arg.data == '(';

    if (without)
        arg = hf_view((const char *)arg.data + 1, arg.size - 1);
    if (!without && hf__arg_is(arg, "-"))
        *id = HF__STREAM_ID_FIRST;
    else if (!without && hf__arg_is(arg, "+"))
        *id = HF__STREAM_ID_LAST;
    else if (!hf__arg_stream_id(tx, arg, end ? UINT64_MAX : 0, NULL, id))
        return false;
    if (!without || (end ? hf__stream_id_previous(id) : hf__stream_id_next(id)))
        return true;
    return hf__reply_error(tx, "ERR invalid %s ID for the interval",
                           end ? "end" : "start");
}

hf__stream_id *hf__arg_stream_ids(hf__tx *tx, const hf_bytes *args,
                                  size_t count)
{
    hf__stream_id *ids = hf__tx_alloc(tx, (count + 1) * sizeof(*ids));

    for (size_t i = 0; ids != NULL && i < count; i++) {
        if (!hf__arg_stream_id(tx, args[i], 0, NULL, &ids[i]))
            return NULL;
    }
    return ids;
}

bool hf__arg_stream_group(hf__tx *tx, const hf_bytes *args, hf_bytes name,
                          const char *more, hf__record **record,
                          hf__group *group)
{
    if (!hf__stream_open(tx, args[1], record))
        return false;
    if (*record != NULL && hf__group_get(tx, *record, name, group))
        return true;
    if (tx->fatal == HF_OK)
        hf__reply_error(tx,
                        "NOGROUP No such key '%.*s' or consumer group "
                        "'%.*s'%s",
                        HF__SHOWN(args[1]), HF__SHOWN(name), more);
    return false;
}

bool hf__need_group(hf__tx *tx, const hf__record *record, const hf_bytes *args,
                    hf__group *group)
{
    if (hf__group_get(tx, record, args[3], group))
        return true;
    if (tx->fatal == HF_OK)
        hf__reply_error(tx,
                        "NOGROUP No such consumer group '%.*s' for key name "
                        "'%.*s'",
                        HF__SHOWN(args[3]), HF__SHOWN(args[2]));
    return false;
}

void hf__group_change(hf__tx *tx, hf__record *record, hf_bytes name,
                      const hf__group *group)
{
    hf__group_put(tx, record, name, group);
    hf__key_touch_watched(tx, record);
}

int64_t hf__stream_now(hf__tx *tx)
{
    return hf__tx_unix_us(tx) / 1000;
}

int64_t hf__stream_idle(hf__tx *tx, int64_t since_ms)
{
    int64_t now_ms = hf__stream_now(tx), idle_ms;

    if (since_ms > now_ms)
        return 0;
    return __builtin_sub_overflow(now_ms, since_ms, &idle_ms) ? INT64_MAX
                                                              : idle_ms;
}

bool hf__need_consumer(hf__tx *tx, hf__record *record, const hf__group *group,
                       hf_bytes name, uint32_t *number)
{
    int64_t now_ms = hf__stream_now(tx);

    if (hf__consumer_find(tx, record, group, name, number)) {
        hf__consumer_change(tx, record, group, *number, 0, now_ms);
    } else if (tx->fatal == HF_OK) {
        hf__consumer_make(tx, record, group, name, now_ms, number);
        hf__record_event(tx, HF__EVENT_STREAM, "xgroup-createconsumer", record);
    }
    return tx->fatal == HF_OK;
}

void hf__reply_stream_id(hf__tx *tx, hf__stream_id id)
{
    char text[HF__STREAM_ID_TEXT_SIZE];
    size_t size = hf__stream_id_put(text, id);

    hf__reply_bytes(tx, text, size);
}

void hf__reply_stream_entry(hf__tx *tx, hf__entry *entry)
{
    hf_bytes name, value;
    uint64_t left = entry->left;

    hf__reply_array(tx, 2);
    hf__reply_stream_id(tx, entry->id);
    hf__reply_array(tx, (size_t)(2 * left));
    for (; left > 0 && tx->fatal == HF_OK; left--) {
        if (!hf__entry_next(entry, &name, &value)) {
            hf__tx_fail(tx, MDB_CORRUPTED);
            name = value = hf_view("", 0);
        }
        hf__reply_bytes(tx, name.data, name.size);
        hf__reply_bytes(tx, value.data, value.size);
    }
}

size_t hf__reply_stream_range(hf__tx *tx, const hf__record *record,
                              hf__stream_id from, hf__stream_id to,
                              bool backward, uint64_t most)
{
    hf__stream_walk walk;
    hf__entry entry;
    uint64_t count = 0;

    hf__stream_walk_begin(&walk, tx, record, from, to, backward);
    while (count < most && hf__stream_walk_next(&walk, &entry))
        count++;
    hf__reply_array(tx, (size_t)count);
    hf__stream_walk_begin(&walk, tx, record, from, to, backward);
    for (uint64_t i = 0; i < count && hf__stream_walk_next(&walk, &entry); i++)
        hf__reply_stream_entry(tx, &entry);
    return (size_t)count;
}
