/* SPDX-License-Identifier: Apache-2.0 */
/* undo.h - taking back what a node granted to an acquire that failed. */
#ifndef HF__STORE_QUORUM_UNDO_H
#define HF__STORE_QUORUM_UNDO_H

#include "store/quorum/quorum.h"

typedef struct hf__undo {
    const hf__acquire_rule *rule;
    hf_bytes words[HF__FOLLOW_WORDS_MAX]; /* of rule->undo */
    int64_t ttl_ms;
    /* A majority had granted it. Else nobody is woken: who was refused by some
     * of its votes sleeps for a short time (asking.h), and all who wait would
     * come at once and split the votes again. */
    bool wakes;
} hf__undo;

/* A release under way, as long as it is. */
typedef struct hf__release hf__release;

/*
 * Send the release behind what the node was sent before; nobody waits for it.
 * If it cannot be sent, the lease ends by itself. Within hf__work_enter().
 * *noted, unless NULL, is it while it is under way, until hf__undo_ended() is
 * asked, which must be before `noted` ends.
 */
void hf__undo_send(hf__quorum *quorum, size_t node, const hf__undo *undo,
                   hf__release **noted);

/* Has the node answered, or was it not sent at all? Not noted afterwards. */
bool hf__undo_ended(hf__quorum *quorum, hf__release **noted);

#endif
