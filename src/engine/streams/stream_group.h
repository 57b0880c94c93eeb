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
#include "engine/streams/stream_records.h"
#include "engine/streams/type_stream.h"

#define HF__GROUP_READ_UNKNOWN INT64_C(-1)

/* An entry that is not acknowledged, as it is stored. */
typedef struct hf__unacked {
    int64_t since_ms; /* Unix time of the last delivery */
    uint64_t deliveries;
    uint32_t consumer;
    uint32_t unused; /* 0 */
} hf__unacked;

/* Make it the current group; the name must stay. false: there is none, or
 * fatal. */
bool hf__group_get(hf__open_stream *s, hf_bytes name);
/* A new one, which is then the current. Changes the head, and stores it. false:
 * fatal. */
bool hf__group_make(hf__open_stream *s, hf_bytes name, hf__stream_id last,
                    int64_t read);
/* Store the current group and consumer. */
void hf__group_save(hf__open_stream *s);
void hf__group_delete(hf__open_stream *s);

/* The names of all groups, or of the consumers of the current one with their
 * numbers as scores; sorted, in a list that this begins. */
typedef enum hf__stream_names {
    HF__GROUPS = 'g', /* stored, as is the other */
    HF__CONSUMERS = 'c'
} hf__stream_names;
void hf__stream_list(hf__open_stream *s, hf__stream_names what,
                     hf__members *list);

/* All of these are of the current group. */

/* The number of a consumer. 0: there is none, or fatal. */
uint32_t hf__consumer_find(hf__open_stream *s, hf_bytes name);
/* It becomes the current one, seen at this time, and made if `number` is 0; the
 * name must stay. false: fatal. */
bool hf__consumer_enter(hf__open_stream *s, uint32_t number, hf_bytes name,
                        int64_t seen_ms);
void hf__consumer_save(hf__open_stream *s);
/* Its name is valid until the next write, and it is empty if fatal. */
void hf__consumer_get(hf__open_stream *s, uint32_t number,
                      hf__consumer *consumer);
/* With what is pending. Changes the group. */
void hf__consumer_delete(hf__open_stream *s, uint32_t number, hf_bytes name);

/* false: there is none, or fatal. */
bool hf__unacked_get(hf__open_stream *s, hf__stream_id id,
                     hf__unacked *pending);
/* Put it, and take it from the consumer that has it. Changes the group and the
 * current consumer. */
void hf__unacked_put(hf__open_stream *s, hf__stream_id id,
                     const hf__unacked *pending);
/* Changes the same. false: there was none, or fatal. */
bool hf__unacked_delete(hf__open_stream *s, hf__stream_id id);
/* The first one from *id on, or the last one up to it, of a consumer if that is
 * not 0; *id becomes its. false: there is none, or fatal. */
bool hf__unacked_seek(hf__open_stream *s, uint32_t consumer,
                      hf__stream_seek seek, hf__stream_id *id);

/* ---------------------------------------------------------------- counting */

/* How many entries there were up to this id, of which there may be none now;
 * or HF__GROUP_READ_UNKNOWN. */
int64_t hf__stream_rank(hf__open_stream *s, hf__stream_id id);
/* Was an entry from `from` on deleted, behind the first one there is? */
bool hf__stream_has_gap(hf__open_stream *s, hf__stream_id from);
/* How many entries the group has not read. false: unknown. */
bool hf__group_lag(hf__open_stream *s, int64_t *lag);

#endif
