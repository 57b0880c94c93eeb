/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_stream.c - storing streams.
 *
 * The entries are in packs, each a record that is named by an id at most that
 * of its first entry. So the entry of an id, if there is one, is in the last
 * pack whose name is not higher. An entry is appended to the last pack while
 * it fits there; what is deleted is cut out, and an empty pack is removed.
 */
#include "engine/streams/type_stream.h"

#include <string.h>

#include "engine/files/header.h"
#include "engine/keys/command_reply.h"
#include "engine/keys/elements.h"
#include "engine/streams/stream_records.h"

bool hf__stream_open(hf__tx *tx, hf_bytes key, hf__record **record)
{
    return hf__key_of_type(tx, key, HF__TYPE_STREAM, record);
}

hf__record *hf__stream_make(hf__tx *tx, hf_bytes key)
{
    static const hf__stream_head none;
    hf__record *record;

    /* It would delete and copy the key without its records. */
    if (!hf__sidecar_knows_format_3(tx->env->sidecar.map)) {
        hf__reply_error(tx, "ERR a program that does not know streams may "
                            "have the store open; close all of its programs");
        return NULL;
    }
    record = hf__key_make(tx, key, HF__TYPE_STREAM);
    if (record == NULL || !hf__tx_raise_format(tx, HF__FORMAT_STREAMS) ||
        !hf__elements_begin(tx, record))
        return NULL;
    hf__stream_head_set(tx, record, &none);
    return tx->fatal == HF_OK ? record : NULL;
}

bool hf__stream_head_get(hf__tx *tx, hf__record *record, hf__stream_head *head)
{
    return hf__content_copy(tx, record, head, sizeof(*head));
}

void hf__stream_head_set(hf__tx *tx, hf__record *record,
                         const hf__stream_head *head)
{
    (void)hf__content_set(tx, record, head, sizeof(*head));
}

/* ------------------------------------------------------------------ packs */

static void name_pack(hf__stream_name *name, uint64_t keyid, hf__stream_id id)
{
    hf__stream_name_begin(name, keyid, HF__STREAM_PACK);
    hf__stream_name_id(name, id);
}

static bool seek_pack(hf__tx *tx, uint64_t keyid, hf__stream_id id,
                      hf__stream_seek seek, hf__pack *pack)
{
    hf__stream_name name;

    name_pack(&name, keyid, id);
    if (!hf__stream_record_seek(tx, &name, HF__STREAM_PREFIX, seek,
                                &pack->data))
        return false;
    pack->id = hf__stream_name_get_id(&name);
    if (hf__pack_count(pack) > 0 && hf__pack_count(pack) <= HF__PACK_ENTRIES)
        return true;
    hf__tx_fail(tx, MDB_CORRUPTED);
    return false;
}

bool hf__stream_pack(hf__tx *tx, const hf__record *record, hf__stream_id id,
                     hf__pack *pack)
{
    return seek_pack(tx, record->keyid, id, HF__SEEK_FROM, pack);
}

static void put_pack(hf__tx *tx, uint64_t keyid, hf__stream_id id,
                     hf_bytes data)
{
    hf__stream_name name;

    name_pack(&name, keyid, id);
    hf__stream_record_put(tx, &name, data);
}

static void drop_pack(hf__tx *tx, uint64_t keyid, hf__stream_id id)
{
    hf__stream_name name;

    name_pack(&name, keyid, id);
    hf__stream_record_delete(tx, &name);
}

static void make_pack(hf__tx *tx, hf__record *record, hf__stream_id id,
                      const hf_bytes *pairs, size_t count)
{
    unsigned char *to = hf__tx_scratch(tx, hf__pack_size(pairs, count));
    size_t size;

    if (to == NULL)
        return;
    size = hf__pack_make(to, pairs, count);
    size = hf__pack_append(to, size, id, id, pairs, count);
    put_pack(tx, record->keyid, id, hf_view(to, size));
}

/* false: it has no room, or fatal. */
static bool append_to(hf__tx *tx, hf__record *record, const hf__pack *pack,
                      hf__stream_id id, const hf_bytes *pairs, size_t count)
{
    size_t size = pack->data.size;
    size_t room = hf__pack_room(pairs, count);
    unsigned char *to;

    if (hf__pack_count(pack) == HF__PACK_ENTRIES || room > 2 * HF__PACK_SIZE)
        return false;
    to = hf__tx_scratch(tx, size + room);
    if (to == NULL)
        return false;
    memcpy(to, pack->data.data, size);
    size = hf__pack_append(to, size, pack->id, id, pairs, count);
    if (size > HF__PACK_SIZE)
        return false;
    put_pack(tx, record->keyid, pack->id, hf_view(to, size));
    return true;
}

void hf__stream_append(hf__tx *tx, hf__record *record, hf__stream_head *head,
                       hf__stream_id id, const hf_bytes *pairs, size_t count)
{
    hf__pack pack;

    if (head->packs == 0 ||
        !seek_pack(tx, record->keyid, HF__STREAM_ID_LAST, HF__SEEK_UP_TO,
                   &pack) ||
        !append_to(tx, record, &pack, id, pairs, count)) {
        make_pack(tx, record, id, pairs, count);
        head->packs++;
    }
    head->last = id;
    head->added++;
    record->count++;
}

/* Remove the bytes from `from` to `to` of a pack, which hold `count` entries,
 * and the pack if these are all. */
static void cut_pack(hf__tx *tx, hf__record *record, hf__stream_head *head,
                     const hf__pack *pack, size_t from, size_t to,
                     unsigned count)
{
    const unsigned char *data = pack->data.data;
    size_t size = pack->data.size;
    unsigned char *copy;

    record->count -= count;
    if (count == hf__pack_count(pack)) {
        head->packs--;
        drop_pack(tx, record->keyid, pack->id);
        return;
    }
    copy = hf__tx_scratch(tx, size);
    if (copy == NULL)
        return;
    memcpy(copy, data, from);
    memcpy(copy + from, data + to, size - to);
    copy[0] = (unsigned char)(copy[0] - count);
    put_pack(tx, record->keyid, pack->id, hf_view(copy, size - to + from));
}

/* The entry of this id, in *pack. */
static bool find_entry(hf__tx *tx, const hf__record *record, hf__stream_id id,
                       hf__pack *pack, hf__entry *at)
{
    memset(at, 0, sizeof(*at));
    if (!seek_pack(tx, record->keyid, id, HF__SEEK_UP_TO, pack))
        return false;
    while (hf__pack_next(pack, at)) {
        int order = hf__stream_id_compare(at->id, id);

        if (order >= 0)
            return order == 0;
    }
    return false;
}

bool hf__stream_entry(hf__tx *tx, const hf__record *record, hf__stream_id id,
                      hf__entry *entry)
{
    hf__pack pack;

    return find_entry(tx, record, id, &pack, entry);
}

bool hf__stream_delete(hf__tx *tx, hf__record *record, hf__stream_head *head,
                       hf__stream_id id)
{
    hf__pack pack;
    hf__entry at;

    if (!find_entry(tx, record, id, &pack, &at))
        return false;
    cut_pack(tx, record, head, &pack, at.offset, at.offset + at.size, 1);
    return true;
}

/* --------------------------------------------------------------- trimming */

/* How many entries at the beginning of a pack are to go, and where the first
 * one that stays begins. */
static unsigned count_gone(const hf__record *record, const hf__stream_trim *how,
                           const hf__pack *pack, size_t *from, size_t *to)
{
    uint64_t most = record->count > how->count ? record->count - how->count : 0;
    hf__entry at = {0};
    unsigned gone = 0;

    *from = *to = 0;
    while (hf__pack_next(pack, &at)) {
        if (*from == 0)
            *from = *to = at.offset;
        if (how->by_id ? hf__stream_id_compare(at.id, how->id) >= 0
                       : gone == most)
            break;
        gone++;
        *to = at.offset + at.size;
    }
    return gone;
}

uint64_t hf__stream_cut(hf__tx *tx, hf__record *record, hf__stream_head *head,
                        const hf__stream_trim *how)
{
    uint64_t before = record->count;
    hf__pack pack;

    while ((how->by_id || record->count > how->count) &&
           seek_pack(tx, record->keyid, HF__STREAM_ID_FIRST, HF__SEEK_FROM,
                     &pack)) {
        unsigned count = hf__pack_count(&pack);
        size_t from, to;
        unsigned gone = count_gone(record, how, &pack, &from, &to);

        if ((how->limit > 0 && before - record->count + count > how->limit) ||
            gone == 0 || (gone < count && how->by_packs))
            break;
        cut_pack(tx, record, head, &pack, from, to, gone);
        if (gone < count)
            break;
    }
    return before - record->count;
}

/* ------------------------------------------------------------------ walks */

void hf__stream_walk_begin(hf__stream_walk *walk, hf__tx *tx,
                           const hf__record *record, hf__stream_id from,
                           hf__stream_id to, bool backward)
{
    walk->tx = tx;
    walk->keyid = record->keyid;
    walk->from = from;
    walk->to = to;
    walk->backward = backward;
    walk->begun = false;
    walk->over = hf__stream_id_compare(from, to) > 0;
}

static void enter_pack(hf__stream_walk *walk)
{
    hf__entry at = {0};

    memset(&walk->at, 0, sizeof(walk->at));
    walk->left = 0;
    while (walk->backward && walk->left < HF__PACK_ENTRIES &&
           hf__pack_next(&walk->pack, &at))
        walk->offsets[walk->left++] = (uint32_t)at.offset;
}

/* The first pack that may have entries of the walk. */
static bool find_pack(hf__stream_walk *walk)
{
    hf__stream_id id = walk->backward ? walk->to : walk->from;

    return seek_pack(walk->tx, walk->keyid, id, HF__SEEK_UP_TO, &walk->pack) ||
           (!walk->backward && walk->tx->fatal == HF_OK &&
            seek_pack(walk->tx, walk->keyid, id, HF__SEEK_FROM, &walk->pack));
}

static bool next_pack(hf__stream_walk *walk)
{
    hf__stream_id id = walk->pack.id;
    bool found;

    if (!walk->begun)
        found = find_pack(walk);
    else if (walk->backward)
        found =
            hf__stream_id_previous(&id) &&
            seek_pack(walk->tx, walk->keyid, id, HF__SEEK_UP_TO, &walk->pack);
    else
        found =
            hf__stream_id_next(&id) &&
            seek_pack(walk->tx, walk->keyid, id, HF__SEEK_FROM, &walk->pack);
    walk->begun = true;
    walk->over = !found;
    if (found)
        enter_pack(walk);
    return found;
}

static bool next_entry(hf__stream_walk *walk)
{
    if (!walk->begun)
        return false;
    if (!walk->backward)
        return hf__pack_next(&walk->pack, &walk->at);
    if (walk->left == 0)
        return false;
    walk->left--;
    walk->at.offset = walk->left > 0 ? walk->offsets[walk->left - 1] : 0;
    walk->at.size =
        walk->left > 0 ? walk->offsets[walk->left] - walk->at.offset : 0;
    return hf__pack_next(&walk->pack, &walk->at);
}

bool hf__stream_walk_next(hf__stream_walk *walk, hf__entry *entry)
{
    while (!walk->over && hf__tx_spend(walk->tx, 30)) {
        if (!next_entry(walk)) {
            if (!next_pack(walk))
                return false;
            continue;
        }
        if (hf__stream_id_compare(walk->at.id, walk->from) < 0) {
            walk->over = walk->backward;
            continue;
        }
        if (hf__stream_id_compare(walk->at.id, walk->to) > 0) {
            walk->over = !walk->backward;
            continue;
        }
        *entry = walk->at;
        return true;
    }
    return false;
}

bool hf__stream_edge(hf__tx *tx, const hf__record *record, bool last,
                     hf__entry *entry)
{
    hf__stream_walk walk;

    hf__stream_walk_begin(&walk, tx, record, HF__STREAM_ID_FIRST,
                          HF__STREAM_ID_LAST, last);
    return hf__stream_walk_next(&walk, entry);
}
