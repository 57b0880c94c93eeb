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

bool hf__arg_stream_start(hf__open_stream *s, hf_bytes arg, hf__stream_id *id)
{
    if (!hf__arg_is(arg, "$"))
        return hf__arg_stream_id(s->tx, arg, 0, NULL, id);
    *id = s->head.last;
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

bool hf__need_stream(hf__open_stream *s, hf__tx *tx, hf_bytes key,
                     const char *error)
{
    return hf__stream_open(s, tx, key) &&
           (s->record != NULL || hf__reply_error(tx, "%s", error));
}

bool hf__need_group(hf__open_stream *s, const hf_bytes *args)
{
    return hf__group_get(s, args[3]) ||
           (s->tx->fatal == HF_OK &&
            hf__reply_error(s->tx,
                            "NOGROUP No such consumer group '%.*s' for key "
                            "name '%.*s'",
                            HF__SHOWN(args[3]), HF__SHOWN(args[2])));
}

bool hf__need_both(hf__open_stream *s, hf__tx *tx, const hf_bytes *args,
                   hf_bytes name, const char *more)
{
    return hf__stream_open(s, tx, args[1]) &&
           ((s->record != NULL && hf__group_get(s, name)) ||
            (tx->fatal == HF_OK &&
             hf__reply_error(tx,
                             "NOGROUP No such key '%.*s' or consumer group "
                             "'%.*s'%s",
                             HF__SHOWN(args[1]), HF__SHOWN(name), more)));
}

bool hf__need_consumer(hf__open_stream *s, hf_bytes name)
{
    uint32_t number = hf__consumer_find(s, name);

    if (!hf__consumer_enter(s, number, name, hf__stream_now(s->tx)))
        return false;
    if (number == 0)
        hf__record_event(s->tx, HF__EVENT_STREAM, "xgroup-createconsumer",
                         s->record);
    return true;
}

void hf__group_change(hf__open_stream *s)
{
    hf__group_save(s);
    hf__key_touch_watched(s->tx, s->record);
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

void hf__reply_stream_range(hf__open_stream *s, hf__stream_id from,
                            hf__stream_id to, bool backward, uint64_t count)
{
    hf__stream_walk walk;
    hf__entry entry;

    hf__reply_array(s->tx, (size_t)count);
    hf__stream_walk_begin(&walk, s, from, to, backward);
    for (; count > 0 && hf__stream_walk_next(&walk, &entry); count--)
        hf__reply_stream_entry(s->tx, &entry);
}

static void reply_unacked(hf__open_stream *s, hf__stream_id id,
                          const hf__unacked *pending,
                          const hf__unacked_range *what)
{
    bool named = !what->info || what->consumer == 0;
    hf__consumer consumer;

    hf__reply_array(s->tx, named ? 4 : 3);
    hf__reply_stream_id(s->tx, id);
    if (named) {
        hf__consumer_get(s, pending->consumer, &consumer);
        hf__reply_bytes(s->tx, consumer.name.data, consumer.name.size);
    }
    hf__reply_integer(s->tx, what->info
                                 ? pending->since_ms
                                 : hf__stream_idle(s->tx, pending->since_ms));
    hf__reply_integer(s->tx, (int64_t)pending->deliveries);
}

/* Count them, at most `most`, and perhaps reply with each. */
static int64_t walk_unacked(hf__open_stream *s, const hf__unacked_range *what,
                            int64_t most, bool replies)
{
    hf__stream_id id = what->from;
    hf__unacked pending;
    int64_t count = 0;

    while (count < most &&
           hf__unacked_seek(s, what->consumer, HF__SEEK_FROM, &id) &&
           hf__stream_id_compare(id, what->to) <= 0 &&
           hf__unacked_get(s, id, &pending)) {
        if (hf__stream_idle(s->tx, pending.since_ms) >= what->idle_ms) {
            count++;
            if (replies)
                reply_unacked(s, id, &pending, what);
        }
        if (!hf__stream_id_next(&id))
            break;
    }
    return count;
}

void hf__reply_unacked(hf__open_stream *s, const hf__unacked_range *what)
{
    int64_t count = walk_unacked(s, what, what->most, false);

    hf__reply_array(s->tx, (size_t)count);
    (void)walk_unacked(s, what, count, true);
}
