/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.h - a list of names with scores, in memory: what a command gathers
 * before it answers or writes. Its memory is tx->arena's.
 */
#ifndef HF__EMBEDDED_MEMBERS_H
#define HF__EMBEDDED_MEMBERS_H

#include "store/embedded/commit/tx.h"

typedef struct hf__member {
    hf_bytes name;
    double score;
    size_t index; /* when it was appended */
    bool gone;    /* to be left out by hf__members_sweep() */
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
/* Append the view itself: the list must not outlive the next write. */
bool hf__members_refer(hf__members *list, hf_bytes name, double score);
/* Close up over those that are gone. */
void hf__members_sweep(hf__members *list);

/* By score, then by the bytes of the names. */
void hf__members_sort(hf__members *list);
/* By the bytes of the names; equal names as they were appended. */
void hf__members_sort_names(hf__members *list);

/* Say all of them as one flat array. */
void hf__members_reply(const hf__members *list, bool with_scores);

#endif
