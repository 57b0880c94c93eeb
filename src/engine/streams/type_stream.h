/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_stream.h - streams: entries, each with an id and fields.
 */
#ifndef HF__ENGINE_TYPE_STREAM_H
#define HF__ENGINE_TYPE_STREAM_H

#include "engine/keys/keyspace.h"
#include "engine/streams/pack.h"

/* The content of a stream's record; the record counts the entries. Stored. */
typedef struct hf__stream_head {
    hf__stream_id last;    /* the highest that there was, or was set */
    hf__stream_id deleted; /* the highest that XDEL has deleted */
    uint64_t added;        /* entries that there ever were */
    uint32_t numbers;      /* given to groups and consumers so far */
    uint32_t groups;       /* that there are */
    uint32_t packs;
    uint32_t unused; /* 0 */
} hf__stream_head;

/* The stream; NULL in *record: none. false: another type, replied, or fatal. */
bool hf__stream_open(hf__tx *tx, hf_bytes key, hf__record **record);
/* A stream without entries in place of what the key has. NULL: fatal. */
hf__record *hf__stream_make(hf__tx *tx, hf_bytes key);

/* false: fatal. */
bool hf__stream_head_get(hf__tx *tx, hf__record *record, hf__stream_head *head);
void hf__stream_head_set(hf__tx *tx, hf__record *record,
                         const hf__stream_head *head);

/* Append an entry of `count` fields; `id` is higher than all there were, and
 * becomes head->last. The caller sets the head. */
void hf__stream_append(hf__tx *tx, hf__record *record, hf__stream_head *head,
                       hf__stream_id id, const hf_bytes *pairs, size_t count);
/* false: there is none of this id, or fatal. Changes head->packs. */
bool hf__stream_delete(hf__tx *tx, hf__record *record, hf__stream_head *head,
                       hf__stream_id id);

/* What XTRIM and XADD remove at the beginning. */
typedef struct hf__stream_trim {
    bool by_id;     /* those below `id`, else all but the last `count` */
    bool by_packs;  /* only whole packs */
    uint64_t limit; /* at most so many entries; 0: any number */
    uint64_t count;
    hf__stream_id id;
} hf__stream_trim;
/* Returns how many were removed. Changes head->packs. */
uint64_t hf__stream_cut(hf__tx *tx, hf__record *record, hf__stream_head *head,
                        const hf__stream_trim *how);

/* Walks the entries from `from` up to `to`, or backward from `to` down to
 * `from`. Needs no end. No writes meanwhile. */
typedef struct hf__stream_walk {
    hf__tx *tx;
    uint64_t keyid;
    hf__stream_id from, to;
    bool backward;
    bool begun, over;
    hf__pack pack;
    hf__entry at;  /* forward */
    unsigned left; /* backward: of the offsets */
    uint32_t offsets[HF__PACK_ENTRIES];
} hf__stream_walk;

void hf__stream_walk_begin(hf__stream_walk *walk, hf__tx *tx,
                           const hf__record *record, hf__stream_id from,
                           hf__stream_id to, bool backward);
bool hf__stream_walk_next(hf__stream_walk *walk, hf__entry *entry);

/* The first pack whose own id is not lower. */
bool hf__stream_pack(hf__tx *tx, const hf__record *record, hf__stream_id id,
                     hf__pack *pack);
/* The entry of this id. */
bool hf__stream_entry(hf__tx *tx, const hf__record *record, hf__stream_id id,
                      hf__entry *entry);
/* The first or the last one. */
bool hf__stream_edge(hf__tx *tx, const hf__record *record, bool last,
                     hf__entry *entry);

#endif
