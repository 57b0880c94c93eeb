/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.h - asking the store to let leases run anew. */
#ifndef HF__LEASE_RENEWAL_H
#define HF__LEASE_RENEWAL_H

#include "lease/lease.h"

/* A script's worth of locks. */
typedef struct hf__renewal hf__renewal;

/* A cluster has 16384 shards: some 16 share a place if all are in use. */
#define HF__RENEWAL_PLACES 1024

/* Batches being filled. Those that still take locks are found by their shard:
 * looking through all of them for each lock would take a square of time. */
typedef struct hf__renewals {
    hf__renewal *first; /* NULL: none, and `open` is not set yet */
    hf__renewal *open[HF__RENEWAL_PLACES];
} hf__renewals;

static inline void hf__renewals_init(hf__renewals *renewals)
{
    renewals->first = NULL;
}

/* Put a lock into the batch of its shard, or into a new one. `status`, unless
 * NULL, is told by hf__renewal_run() what came of it. false: no memory, and the
 * lock is left to be tried again. The watchdog's mutex is held. */
bool hf__renewal_add_locked(hf__watchdog *watchdog, hf_lock *lock,
                            hf_status *status, hf__renewals *renewals);

/* Send all batches, and forget them: each frees itself once it is answered.
 * `next_ms` is when the background thread is needed again. */
void hf__renewal_send(hf__renewals *renewals, int64_t next_ms);

/* What the store said of the `count` locks of one script; false: nothing that
 * it can say. */
bool hf__renewal_read(const hf_reply *reply, size_t count,
                      hf__renewal_answer *answers);

/* Send all batches and wait until all are answered. */
void hf__renewal_run(hf__renewals *renewals);

#endif
