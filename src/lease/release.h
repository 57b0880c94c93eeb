/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - releases that no caller waits for. */
#ifndef HF__LEASE_RELEASE_H
#define HF__LEASE_RELEASE_H

#include "core/form.h"
#include "holdfast/lock.h"
#include "lease/handle.h"

/* A call on the handle has ended: if the handle was freed meanwhile on the
 * client's own thread, complete that. */
void hf__lock_free_deferred(hf_lock *lock);

/* Fill the request that releases an acquisition; it has room for
 * HF__LOCK_RELEASE_WORDS words, of which this sets those up to the owner. */
void hf__lock_release_fill(const hf_lock *lock, hf__request *request,
                           hf_bytes *words, const char owner[HF_OWNER_SIZE]);

/* Release a handle of such a kind, which was checked. */
hf_status hf__lock_release_as(hf__form form, hf_lock *lock,
                              const hf__outcome *outcome);

/* Release an acquisition; the outcome is not reported. */
void hf__lock_undo(const hf_lock *lock, const char owner[HF_OWNER_SIZE]);

#endif
