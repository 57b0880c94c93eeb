/* SPDX-License-Identifier: Apache-2.0 */
/* undo.h - releases what a node granted to an acquire that failed. */
#ifndef HF__STORE_QUORUM_UNDO_H
#define HF__STORE_QUORUM_UNDO_H

#include "store/quorum/quorum.h"

typedef struct hf__undo {
    const hf__acquire_rule *rule;
    hf_bytes words[HF__FOLLOW_WORDS_MAX]; /* of rule->undo */
    int64_t ttl_ms;
} hf__undo;

/* One under way. */
typedef struct hf__release hf__release;

/*
 * Send an undo after everything that was sent to the node before, and do not
 * wait for it. If that fails, the lease expires. Within hf__work_enter().
 * *noted, unless NULL, points to it while it is under way, until
 * hf__undo_ended(), which must be called before `noted` is freed.
 */
void hf__undo_send(hf__quorum *quorum, size_t node, const hf__undo *undo,
                   hf__release **noted);

/* Has the node answered, or was none sent? Ends tracking. */
bool hf__undo_ended(hf__quorum *quorum, hf__release **noted);

#endif
