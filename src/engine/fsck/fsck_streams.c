/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_streams.c - the records of a stream: packs of entries in order,
 * consumers, and what is pending, which is there twice.
 */
#include <string.h>

#include "engine/fsck/fsck.h"
#include "engine/streams/stream_group.h"
#include "util/hash_bytes.h"

/* Its entries follow those of the packs before it. */
static void take_pack(const hf__item *item, hf__stream_id id,
                      hf__stream_tally *at)
{
    hf__pack pack = {id, hf_view(item->value, item->value_size)};
    hf__entry entry = {0};

    at->packs++;
    if (at->packs > 1 && hf__stream_id_compare(id, at->last) <= 0)
        at->bent = true;
    if (item->value_size > item->value_held) { /* one large entry */
        pack.data = hf_view(item->value, item->value_held);
        at->bent = at->bent || hf__pack_count(&pack) != 1;
        at->entries++;
        at->last = id;
        return;
    }
    if (!hf__pack_is_whole(&pack)) {
        at->bent = true;
        return;
    }
    at->entries += hf__pack_count(&pack);
    while (hf__pack_next(&pack, &entry))
        at->last = entry.id;
}

/* An entry that is not acknowledged, by group or by consumer. */
static void take_pending(const hf__item *item, const hf__stream_name *name,
                         hf__stream_tally *at)
{
    bool taken = name->bytes[HF__STREAM_PREFIX - 1] == HF__STREAM_TAKEN;
    hf__unacked pending = {0};
    unsigned char text[24];
    uint64_t sum;

    if (item->value_size != (taken ? 0 : sizeof(pending))) {
        at->bent = true;
        return;
    }
    if (taken)
        pending.consumer =
            hf__stream_name_get_number(name, HF__STREAM_PREFIX + 4);
    else
        memcpy(&pending, item->value, sizeof(pending));
    memcpy(text, name->bytes + HF__STREAM_PREFIX, 4);
    memcpy(text + 4, &pending.consumer, 4);
    memcpy(text + 8, name->bytes + name->size - 16, 16);
    sum = hf__hash(hf_view(text, sizeof(text)), 0);
    at->pending_sum += taken ? 0 - sum : sum;
    at->pending += taken ? 0 : 1;
}

static void take_consumer(const hf__item *item, hf__stream_tally *at)
{
    hf__consumer_state consumer;

    if (item->value_held < sizeof(consumer)) {
        at->bent = true;
        return;
    }
    memcpy(&consumer, item->value, sizeof(consumer));
    at->consumer_pending += consumer.pending;
}

void hf__fsck_stream_group(hf_bytes name, hf_bytes value, hf__stream_tally *at)
{
    hf__group group;

    if (name.size == 0 || *(const char *)name.data != 'g' ||
        value.size != sizeof(group))
        return;
    memcpy(&group, value.data, sizeof(group));
    at->group_pending += group.pending;
}

bool hf__fsck_stream_agrees(const hf__stream_tally *at)
{
    return at->pending_sum == 0 && at->pending == at->group_pending &&
           at->pending == at->consumer_pending;
}

static size_t stream_name_size(unsigned char what)
{
    switch (what) {
    case HF__STREAM_PACK:
        return HF__STREAM_PREFIX + 16;
    case HF__STREAM_CONSUMER:
        return HF__STREAM_PREFIX + 8;
    case HF__STREAM_PENDING:
        return HF__STREAM_PREFIX + 20;
    case HF__STREAM_TAKEN:
        return HF__STREAM_PREFIX + 24;
    default:
        return 0;
    }
}

bool hf__fsck_stream_is_named(const hf__item *item)
{
    const unsigned char *name = item->key.data;

    return item->key.size >= HF__STREAM_PREFIX &&
           item->key.size == stream_name_size(name[HF__STREAM_PREFIX - 1]);
}

void hf__fsck_stream_add(const hf__item *item, hf__stream_tally *at)
{
    hf__stream_name name = {.size = item->key.size};

    at->records++;
    memcpy(name.bytes, item->key.data, name.size);
    switch (name.bytes[HF__STREAM_PREFIX - 1]) {
    case HF__STREAM_PACK:
        take_pack(item, hf__stream_name_get_id(&name), at);
        break;
    case HF__STREAM_CONSUMER:
        take_consumer(item, at);
        break;
    default:
        take_pending(item, &name, at);
    }
}
