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

/* A group as it is stored. */
typedef struct hf__group {
    hf__stream_id last; /* delivered */
    int64_t read;       /* entries up to `last`, or unknown */
    uint64_t pending;   /* entries that are not acknowledged */
    uint32_t number;
    uint32_t unused; /* 0 */
} hf__group;

/* A consumer as it is stored, before its name. */
typedef struct hf__consumer_state {
    int64_t seen_ms; /* Unix time */
    uint64_t pending;
} hf__consumer_state;

typedef struct hf__consumer {
    hf_bytes name;
    uint32_t number;
    hf__consumer_state state;
} hf__consumer;

/* The stream that a command works on, and a group and consumer of it: the
 * current ones. What changes in memory is stored by its _save(). */
typedef struct hf__open_stream {
    hf__tx *tx;
    hf__record *record; /* NULL: there is none, and the head is 0 */
    hf__stream_head head;
    hf_bytes group_name;
    hf__group group;
    hf__consumer consumer; /* number 0: none */
} hf__open_stream;

/* false: fatal. */
bool hf__stream_load(hf__open_stream *s, hf__tx *tx, hf__record *record);
/* That of a key, if there is one. false: another type, replied, or fatal. */
bool hf__stream_open(hf__open_stream *s, hf__tx *tx, hf_bytes key);
/* A stream without entries in place of what the key has. NULL: fatal. */
hf__record *hf__stream_make(hf__tx *tx, hf_bytes key);
/* Store the head. */
void hf__stream_save(hf__open_stream *s);

/* Append an entry of `count` fields; `id` is higher than all there were, and
 * becomes the last. Changes the head. */
void hf__stream_append(hf__open_stream *s, hf__stream_id id,
                       const hf_bytes *pairs, size_t count);
/* false: there is none of this id, or fatal. Changes the head. */
bool hf__stream_delete(hf__open_stream *s, hf__stream_id id);

/* What XTRIM and XADD remove at the beginning. */
typedef struct hf__stream_trim {
    bool by_id;    /* those below `id`, else all but the last `count` */
    bool by_packs; /* only whole packs */
    int64_t limit; /* at most so many entries; 0: any number */
    int64_t count;
    hf__stream_id id;
} hf__stream_trim;
/* Returns how many were removed. Changes the head. */
uint64_t hf__stream_cut(hf__open_stream *s, const hf__stream_trim *how);

/* Walks the entries from `from` up to `to`, or backward from `to` down to
 * `from`. Needs no end. No writes meanwhile. */
typedef struct hf__stream_walk {
    hf__open_stream *s;
    hf__stream_id from, to;
    bool backward;
    bool begun, over;
    hf__pack pack;
    hf__entry at;  /* forward */
    unsigned left; /* backward: of the offsets */
    uint32_t offsets[HF__PACK_ENTRIES];
} hf__stream_walk;

void hf__stream_walk_begin(hf__stream_walk *walk, hf__open_stream *s,
                           hf__stream_id from, hf__stream_id to, bool backward);
bool hf__stream_walk_next(hf__stream_walk *walk, hf__entry *entry);

/* How many there are from `from` up to `to`, and at most `most`. */
uint64_t hf__stream_count(hf__open_stream *s, hf__stream_id from,
                          hf__stream_id to, uint64_t most);
/* The first pack whose own id is not lower. */
bool hf__stream_pack(hf__open_stream *s, hf__stream_id id, hf__pack *pack);
/* The entry of this id. */
bool hf__stream_entry(hf__open_stream *s, hf__stream_id id, hf__entry *entry);
/* The first or the last one. */
bool hf__stream_edge(hf__open_stream *s, bool last, hf__entry *entry);

#endif
