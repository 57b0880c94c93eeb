/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_group.h - consumer groups of a stream: what each has read, its
 * consumers, and the entries that these have not acknowledged.
 *
 * Groups and consumers have numbers, by which their records are named; no two
 * of a stream have the same. Names are looked up in elements of the stream's
 * key (keys/elements.h).
 */
#ifndef HF__ENGINE_STREAM_GROUP_H
#define HF__ENGINE_STREAM_GROUP_H

#include "engine/keys/members.h"
#include "engine/streams/type_stream.h"

#define HF__GROUP_READ_UNKNOWN INT64_C(-1)

/* As it is stored. */
typedef struct hf__group {
    hf__stream_id last; /* delivered */
    int64_t read;       /* entries up to `last`, or unknown */
    uint64_t pending;   /* entries that are not acknowledged */
    uint32_t number;
    uint32_t unused; /* 0 */
} hf__group;

/* As it is stored, before the name. */
typedef struct hf__consumer {
    int64_t seen_ms; /* Unix time */
    uint64_t pending;
} hf__consumer;

/* An entry that is not acknowledged, as it is stored. */
typedef struct hf__unacked {
    int64_t since_ms; /* Unix time of the last delivery */
    uint64_t deliveries;
    uint32_t consumer;
    uint32_t unused; /* 0 */
} hf__unacked;

/* false: there is none, or fatal. */
bool hf__group_get(hf__tx *tx, const hf__record *record, hf_bytes name,
                   hf__group *group);
void hf__group_put(hf__tx *tx, const hf__record *record, hf_bytes name,
                   const hf__group *group);
/* A new one. Changes the head of the stream. */
void hf__group_make(hf__tx *tx, hf__record *record, hf_bytes name,
                    hf__stream_id last, int64_t read);
void hf__group_delete(hf__tx *tx, hf__record *record, hf_bytes name,
                      const hf__group *group);
/* Their names, sorted, in a list that this begins. */
void hf__group_list(hf__tx *tx, const hf__record *record, hf__members *list);

/* false: there is none, or fatal. */
bool hf__consumer_find(hf__tx *tx, const hf__record *record,
                       const hf__group *group, hf_bytes name, uint32_t *number);
void hf__consumer_make(hf__tx *tx, hf__record *record, const hf__group *group,
                       hf_bytes name, int64_t seen_ms, uint32_t *number);
/* `name` is valid until the next write. false: fatal. */
bool hf__consumer_get(hf__tx *tx, const hf__record *record,
                      const hf__group *group, uint32_t number,
                      hf__consumer *consumer, hf_bytes *name);
/* Add to what is pending; seen_ms 0: as it was. */
void hf__consumer_change(hf__tx *tx, const hf__record *record,
                         const hf__group *group, uint32_t number, int64_t more,
                         int64_t seen_ms);
/* With what is pending. Changes the group. */
void hf__consumer_delete(hf__tx *tx, hf__record *record, hf__group *group,
                         hf_bytes name, uint32_t number);
/* The same, with their numbers as scores. */
void hf__consumer_list(hf__tx *tx, const hf__record *record,
                       const hf__group *group, hf__members *list);

/* false: there is none, or fatal. */
bool hf__unacked_get(hf__tx *tx, const hf__record *record,
                     const hf__group *group, hf__stream_id id,
                     hf__unacked *pending);
/* Put it, and take it from the consumer that has it. Changes the group. Returns
 * by how many the pending entries of its consumer become more; the caller adds
 * them. */
unsigned hf__unacked_put(hf__tx *tx, const hf__record *record, hf__group *group,
                         hf__stream_id id, const hf__unacked *pending);
/* Changes the group. false: there was none, or fatal. */
bool hf__unacked_delete(hf__tx *tx, const hf__record *record, hf__group *group,
                        hf__stream_id id);
/* The first one from *id on, of a consumer if that is not 0; *id becomes its.
 * false: there is none, or fatal. */
bool hf__unacked_seek(hf__tx *tx, const hf__record *record,
                      const hf__group *group, uint32_t consumer,
                      hf__stream_id *id);
/* The last one. */
bool hf__unacked_last(hf__tx *tx, const hf__record *record,
                      const hf__group *group, hf__stream_id *id);

/* ---------------------------------------------------------------- counting */

/* How many entries there were up to this id, of which there may be none now;
 * or HF__GROUP_READ_UNKNOWN. */
int64_t hf__stream_rank(hf__tx *tx, hf__record *record,
                        const hf__stream_head *head, hf__stream_id id);
/* Was an entry from `from` on deleted, behind the first one there is? */
bool hf__stream_has_gap(hf__tx *tx, const hf__record *record,
                        const hf__stream_head *head, hf__stream_id from);
/* How many entries the group has not read. false: unknown. */
bool hf__group_lag(hf__tx *tx, hf__record *record, const hf__stream_head *head,
                   const hf__group *group, int64_t *lag);

#endif
