/* SPDX-License-Identifier: Apache-2.0 */
/* keep.h - a lock that was released early remains in the store for its minimum
 * (hf_lock_options.min_hold_ms). */
#ifndef HF__LEASE_KEEP_H
#define HF__LEASE_KEEP_H

#include "core/call.h"
#include "holdfast/lock.h"
#include "lease/handle.h"

/* If the lock, which was valid, is to remain: fill the call with a renewal for
 * what is left of the minimum, and return true. */
bool hf__lock_keep(hf_call *call, const hf_lock *lock);

/* That renewal has succeeded: notify the first waiter, which knows a later end
 * of the lease. */
void hf__lock_kept(const hf_lock *lock);

#endif
