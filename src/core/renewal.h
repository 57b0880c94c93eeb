/* SPDX-License-Identifier: Apache-2.0 */
/* renewal.h - asking the store to let leases run anew. */
#ifndef HF__CORE_RENEWAL_H
#define HF__CORE_RENEWAL_H

#include "core/watchdog.h"

/* A script's worth of locks, and their list. */
typedef struct hf__renewal hf__renewal;

/* Put a lock into one of the batches or, if it fits in none, into a new one
 * before them; the list is returned. Without memory the lock is left to be
 * tried again. The watchdog's mutex is held. */
hf__renewal *hf__renewal_add_locked(hf__watchdog *watchdog, hf_lock *lock,
                                    hf__renewal *batches);

/* Send all batches, and forget them: each frees itself once it is answered.
 * `next_ms` is when the background thread is needed again. */
void hf__renewal_send(hf__renewal *batches, int64_t next_ms);

/* Renew one lock now, on the calling thread. The mutex is not held. */
hf_status hf__renewal_now(hf__watchdog *watchdog, hf_lock *lock, hf_error *err);

#endif
