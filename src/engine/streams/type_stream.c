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

bool hf__stream_load(hf__open_stream *s, hf__tx *tx, hf__record *record)
{
    *s = (hf__open_stream){.tx = tx, .record = record};
    return record == NULL ||
           hf__content_copy(tx, record, &s->head, sizeof(s->head));
}

bool hf__stream_open(hf__open_stream *s, hf__tx *tx, hf_bytes key)
{
    hf__record *record;

    return hf__key_of_type(tx, key, HF__TYPE_STREAM, &record) &&
           hf__stream_load(s, tx, record);
}

void hf__stream_save(hf__open_stream *s)
{
    (void)hf__content_set(s->tx, s->record, &s->head, sizeof(s->head));
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
    return hf__content_set(tx, record, &none, sizeof(none)) ? record : NULL;
}

/* ------------------------------------------------------------------ packs */

static hf__stream_name name_pack(const hf__open_stream *s, hf__stream_id id)
{
    return hf__stream_name_of(s->record->keyid, HF__STREAM_PACK, 0, 0, id);
}

static bool seek_pack(hf__open_stream *s, hf__stream_id id,
                      hf__stream_seek seek, hf__pack *pack)
{
    hf__stream_name name = name_pack(s, id);

    if (!hf__stream_record_seek(s->tx, &name, HF__STREAM_PREFIX, seek,
                                &pack->data))
        return false;
    pack->id = hf__stream_name_get_id(&name);
    if (hf__pack_count(pack) > 0 && hf__pack_count(pack) <= HF__PACK_ENTRIES)
        return true;
    hf__tx_fail(s->tx, MDB_CORRUPTED);
    return false;
}

bool hf__stream_pack(hf__open_stream *s, hf__stream_id id, hf__pack *pack)
{
    return seek_pack(s, id, HF__SEEK_FROM, pack);
}

static void put_pack(hf__open_stream *s, hf__stream_id id, const void *data,
                     size_t size)
{
    hf__stream_name name = name_pack(s, id);

    hf__stream_record_put(s->tx, &name, hf_view(data, size));
}

/* Put the entry into a pack; NULL: of its own. false: it has no room there, or
 * fatal. */
static bool put_entry(hf__open_stream *s, const hf__pack *pack,
                      hf__stream_id id, const hf_bytes *pairs, size_t count)
{
    size_t room = hf__pack_room(pairs, count);
    size_t size = pack == NULL ? 0 : pack->data.size;
    unsigned char *to;

    if (pack != NULL &&
        (hf__pack_count(pack) == HF__PACK_ENTRIES || room > 2 * HF__PACK_SIZE))
        return false;
    to = hf__tx_scratch(s->tx, pack == NULL ? hf__pack_size(pairs, count)
                                            : size + room);
    if (to == NULL)
        return false;
    if (pack == NULL)
        size = hf__pack_make(to, pairs, count);
    else
        memcpy(to, pack->data.data, size);
    size = hf__pack_append(to, size, pack == NULL ? id : pack->id, id, pairs,
                           count);
    if (pack != NULL && size > HF__PACK_SIZE)
        return false;
    put_pack(s, pack == NULL ? id : pack->id, to, size);
    return true;
}

void hf__stream_append(hf__open_stream *s, hf__stream_id id,
                       const hf_bytes *pairs, size_t count)
{
    hf__pack pack;

    if (s->head.packs == 0 ||
        !seek_pack(s, HF__STREAM_ID_LAST, HF__SEEK_UP_TO, &pack) ||
        !put_entry(s, &pack, id, pairs, count)) {
        (void)put_entry(s, NULL, id, pairs, count);
        s->head.packs++;
    }
    s->head.last = id;
    s->head.added++;
    s->record->count++;
}

/* Remove the bytes from `from` to `to` of a pack, which hold `count` entries,
 * and the pack if these are all. */
static void cut_pack(hf__open_stream *s, const hf__pack *pack, size_t from,
                     size_t to, unsigned count)
{
    hf__stream_name name = name_pack(s, pack->id);
    const unsigned char *data = pack->data.data;
    size_t size = pack->data.size;
    unsigned char *copy;

    s->record->count -= count;
    if (count == hf__pack_count(pack)) {
        s->head.packs--;
        hf__stream_record_delete(s->tx, &name);
        return;
    }
    copy = hf__tx_scratch(s->tx, size);
    if (copy == NULL)
        return;
    memcpy(copy, data, from);
    memcpy(copy + from, data + to, size - to);
    copy[0] = (unsigned char)(copy[0] - count);
    put_pack(s, pack->id, copy, size - to + from);
}

bool hf__stream_delete(hf__open_stream *s, hf__stream_id id)
{
    hf__stream_walk walk;
    hf__entry at;

    hf__stream_walk_begin(&walk, s, id, id, false);
    if (!hf__stream_walk_next(&walk, &at))
        return false;
    cut_pack(s, &walk.pack, at.offset, at.offset + at.size, 1);
    return true;
}

/* --------------------------------------------------------------- trimming */

/* How many entries at the beginning of a pack are to go, and where the first
 * one that stays begins. */
static unsigned count_gone(const hf__open_stream *s, const hf__stream_trim *how,
                           const hf__pack *pack, size_t *from, size_t *to)
{
    hf__entry at = {0};
    unsigned gone = 0;

    *from = *to = 0;
    while (hf__pack_next(pack, &at)) {
        if (*from == 0)
            *from = *to = at.offset;
        if (how->by_id ? hf__stream_id_compare(at.id, how->id) >= 0
                       : s->record->count - gone <= (uint64_t)how->count)
            break;
        gone++;
        *to = at.offset + at.size;
    }
    return gone;
}

uint64_t hf__stream_cut(hf__open_stream *s, const hf__stream_trim *how)
{
    uint64_t before = s->record->count;
    unsigned count, gone;
    size_t from, to;
    hf__pack pack;

    while ((how->by_id || s->record->count > (uint64_t)how->count) &&
           seek_pack(s, HF__STREAM_ID_FIRST, HF__SEEK_FROM, &pack)) {
        count = hf__pack_count(&pack);
        gone = count_gone(s, how, &pack, &from, &to);
        if ((how->limit > 0 &&
             before - s->record->count + count > (uint64_t)how->limit) ||
            gone == 0 || (gone < count && how->by_packs))
            break;
        cut_pack(s, &pack, from, to, gone);
        if (gone < count)
            break;
    }
    return before - s->record->count;
}

/* ------------------------------------------------------------------ walks */

void hf__stream_walk_begin(hf__stream_walk *walk, hf__open_stream *s,
                           hf__stream_id from, hf__stream_id to, bool backward)
{
    walk->s = s;
    walk->from = from;
    walk->to = to;
    walk->backward = backward;
    walk->begun = false;
    walk->over = hf__stream_id_compare(from, to) > 0;
}

/* The first pack that may have entries of the walk, and then its neighbour. */
static bool find_pack(hf__stream_walk *walk)
{
    hf__stream_id id = walk->backward ? walk->to : walk->from;
    bool first = !walk->begun;

    walk->begun = true;
    if (!first) {
        id = walk->pack.id;
        if (!(walk->backward ? hf__stream_id_previous(&id)
                             : hf__stream_id_next(&id)))
            return false;
    }
    if ((first || walk->backward) &&
        seek_pack(walk->s, id, HF__SEEK_UP_TO, &walk->pack))
        return true;
    return !walk->backward && walk->s->tx->fatal == HF_OK &&
           seek_pack(walk->s, id, HF__SEEK_FROM, &walk->pack);
}

static bool next_pack(hf__stream_walk *walk)
{
    hf__entry at = {0};

    walk->over = !find_pack(walk);
    if (walk->over)
        return false;
    walk->at = at;
    walk->left = 0;
    while (walk->backward && walk->left < HF__PACK_ENTRIES &&
           hf__pack_next(&walk->pack, &at))
        walk->offsets[walk->left++] = (uint32_t)at.offset;
    return true;
}

static bool next_entry(hf__stream_walk *walk)
{
    if (!walk->begun || (walk->backward && walk->left == 0))
        return false;
    if (walk->backward && --walk->left == 0) {
        walk->at.offset = walk->at.size = 0;
    } else if (walk->backward) {
        walk->at.offset = walk->offsets[walk->left - 1];
        walk->at.size = walk->offsets[walk->left] - walk->at.offset;
    }
    return hf__pack_next(&walk->pack, &walk->at);
}

bool hf__stream_walk_next(hf__stream_walk *walk, hf__entry *entry)
{
    while (!walk->over && hf__tx_spend(walk->s->tx, 30)) {
        if (!next_entry(walk)) {
            if (!next_pack(walk))
                return false;
        } else if (hf__stream_id_compare(walk->at.id, walk->from) < 0) {
            walk->over = walk->backward;
        } else if (hf__stream_id_compare(walk->at.id, walk->to) > 0) {
            walk->over = !walk->backward;
        } else {
            *entry = walk->at;
            return true;
        }
    }
    return false;
}

uint64_t hf__stream_count(hf__open_stream *s, hf__stream_id from,
                          hf__stream_id to, uint64_t most)
{
    hf__stream_walk walk;
    hf__entry entry;
    uint64_t count = 0;

    hf__stream_walk_begin(&walk, s, from, to, false);
    while (count < most && hf__stream_walk_next(&walk, &entry))
        count++;
    return count;
}

bool hf__stream_entry(hf__open_stream *s, hf__stream_id id, hf__entry *entry)
{
    hf__stream_walk walk;

    hf__stream_walk_begin(&walk, s, id, id, false);
    return hf__stream_walk_next(&walk, entry);
}

bool hf__stream_edge(hf__open_stream *s, bool last, hf__entry *entry)
{
    hf__stream_walk walk;

    hf__stream_walk_begin(&walk, s, HF__STREAM_ID_FIRST, HF__STREAM_ID_LAST,
                          last);
    return hf__stream_walk_next(&walk, entry);
}
