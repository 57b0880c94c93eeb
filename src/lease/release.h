/* SPDX-License-Identifier: Apache-2.0 */
/* release.h - releases that the library makes by itself. */
#ifndef HF__LEASE_RELEASE_H
#define HF__LEASE_RELEASE_H

#include "lease/handle.h"

/* A call on the handle has ended: if it was freed on the client's own thread
 * meanwhile, let it go. */
void hf__lock_free_deferred(hf_lock *lock);

/* A release of an acquisition that nobody waits for. */
void hf__lock_undo(const hf_lock *lock, const char owner[HF_OWNER_SIZE]);

#endif
