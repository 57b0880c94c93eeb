/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - a list of names with scores in tx->arena, collected by a command
 * before it replies or writes.
 */
#ifndef HF__ENGINE_MEMBERS_H
#define HF__ENGINE_MEMBERS_H

#include "engine/commit/tx.h"

typedef struct hf__member {
    hf_bytes name;
    double score;
    size_t index; /* order of appending */
    bool gone;    /* to be removed by hf__members_sweep() */
} hf__member;

typedef struct hf__members {
    hf__tx *tx;
    hf__member *items;
    size_t count;
    size_t capacity;
} hf__members;

void hf__members_init(hf__members *list, hf__tx *tx);

/* Append a copy; false: fatal. */
bool hf__members_add(hf__members *list, hf_bytes name, double score);
/* Append without copying: the list is valid until the next write. */
bool hf__members_refer(hf__members *list, hf_bytes name, double score);
/* Remove those that are gone. */
void hf__members_sweep(hf__members *list);

/* By score, then by name. */
void hf__members_sort(hf__members *list);
/* By name; equal names in the order of appending. */
void hf__members_sort_names(hf__members *list);

/* Reply with all of them, as pairs if `with_scores`. */
void hf__members_reply(const hf__members *list, bool with_scores);

#endif
