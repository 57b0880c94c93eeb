/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.h - extending leases at the store. */
#ifndef HF__LEASE_RENEWAL_H
#define HF__LEASE_RENEWAL_H

#include "holdfast/lock.h"
#include "holdfast/reply.h"
#include "lease/lease.h"

/* The locks of one script. */
typedef struct hf__renewal hf__renewal;

/* A cluster has 16384 shards: some 16 share a place if all are in use. */
#define HF__RENEWAL_PLACES 1024

/* Batches being filled. Those with room are found by their shard: searching all
 * of them for each lock would be quadratic. */
typedef struct hf__renewals {
    hf__renewal *first; /* NULL: none, and `open` is not set yet */
    hf__renewal **end;
    hf__renewal *open[HF__RENEWAL_PLACES];
} hf__renewals;

static inline void hf__renewals_init(hf__renewals *renewals)
{
    renewals->first = NULL;
    renewals->end = &renewals->first;
}

/* Add a lock to a batch of its shard. hf__renewal_run() sets `*status`, unless
 * it is NULL. false: no memory; the lock will be tried again. The watchdog's
 * mutex is held. */
bool hf__renewal_add_locked(hf__watchdog *watchdog, hf_lock *lock,
                            hf_status *status, hf__renewals *renewals);

/* Send the first batch, which frees itself when it completes; false: there is
 * none. `next_ms` is when the background thread is needed again. */
bool hf__renewal_send(hf__renewals *renewals, int64_t next_ms);

/* Complete all batches without sending them. */
void hf__renewal_drop(hf__renewals *renewals);

/* Read the reply for the `count` locks of one script; false: malformed. */
bool hf__renewal_read(const hf_reply *reply, size_t count,
                      hf__renewal_answer *answers);

/* Send all batches and wait until all are complete. */
void hf__renewal_run(hf__renewals *renewals);

#endif
