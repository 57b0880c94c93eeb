/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - what differs between kinds of leases. The rest of src/lease
 * acquires, waits, renews, loses and releases, and knows no kind.
 *
 * Every kind has the keys of hf__lock_keys. Its scripts have the form of the
 * lock's (scripts/lock_*.lua), so that requests are filled and replies are read
 * in one place:
 *
 *   acquire  keys main, token, waiters; owner, lease, inbox, since and, if the
 *            handle has one, the argument of its kind
 *            -> token, or {pttl, holder, since, position in the queue}
 *   renew    n keys; n owners, n leases -> {i, why, ...} of those not renewed
 *   release  keys main, waiters; owner -> 1, or 0 or -1 if it held nothing
 *   leave    keys main, waiters; inbox -> anything
 */
#ifndef HF__LEASE_KINDS_H
#define HF__LEASE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct hf__lease_kind {
    /* Indexes of the scripts. */
    uint32_t acquire;
    uint32_t renew;
    uint32_t release;
    uint32_t leave;
    const char *refused; /* message: why an acquire was refused */
    bool on_quorum;      /* its scripts have a meaning on a quorum */
} hf__lease_kind;

#endif
