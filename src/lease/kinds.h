/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kinds.h - what differs between kinds of leases. The rest of src/lease
 * acquires, waits, renews, loses and releases, and knows no kind.
 *
 * Every kind has the keys of hf__lock_keys. Its scripts have the form of the
 * lock's (scripts/lock_*.lua), so that requests are filled and replies are read
 * in one place:
 *
 *   acquire  keys main, token, waiters; owner, lease, entry, began, rank and,
 * if the handle has one, the argument of its kind
 *            -> token, or {pttl, holder, store's clock, position in the queue}
 *   renew    n keys; n owners, n leases -> {i, why, ...} of those not renewed
 *   release  keys main, token, waiters; owner and, if they are needed, leave,
 *            entry, began, rank, gap
 *            -> 1 or a grant, or 0 or -1 if it held nothing
 *
 * An entry of the queue is `<lease>[,<argument or mode>] <inbox>-<number>`, the
 * owner id being the end of it (scripts/README.md). A release gives the lease
 * to the first in the queue (scripts/use/hand_over.lua), and leaves it free
 * instead if the kind has gaps and the caller says so.
 *
 * A kind may have a key of its own, in the slot of the name: an acquire takes
 * it behind these three, a release in place of the token. And its acquire may
 * reply {token, ...} in place of the token, with more items than a refusal has.
 * A kind whose release has an outcome may take it behind the words of an
 * acquire, too: the owner that is ended, then how (acquire_steps.h).
 *
 * Those of a kind of Redisson have another argument: acquire the kind's own,
 * behind the rank, release how to publish, behind the owner. Their release is
 * also what leaves a queue.
 */
#ifndef HF__LEASE_KINDS_H
#define HF__LEASE_KINDS_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/lock.h"
#include "holdfast/reply.h"

typedef struct hf__lease_kind {
    /* Indexes of the scripts. */
    uint32_t acquire;
    uint32_t renew;
    uint32_t release;
    const char *refused; /* message: why an acquire was refused */
    const char *mode;    /* of its entries in the queue; NULL: none */
    /* How its key shows who holds it: a word of scripts/use/txn_held.lua; NULL:
     * it does not, as Redisson's readers have keys of their own, and its
     * permits a number. */
    const char *held_as;
    /* message: why it is not acquired while the other handle of the pair holds
     * the lock */
    const char *pair_holds;
    const char *role;       /* of its own key (own_key.h); NULL: it has none */
    const char *held_again; /* message: why it is not entered again while it is
                             * held; NULL: it is */
    /* Keep in `kept` of the handle what a reply {token, ...} says. */
    hf_status (*keep)(struct hf_lock *lock, const hf_reply *reply,
                      hf_error *err);
    /* Of what is kept: its id, by which a release with an outcome names it. */
    hf_bytes (*kept_id)(const struct hf_lock *lock);
    bool on_quorum; /* its scripts have a meaning on a quorum */
    bool passes;    /* one holder: a client passes it on by itself */
    bool gaps;      /* other libraries use it: see above */
    /* Its key says that a lease ended without a release: a free leaves it to
     * that if it was lost, or what was done under it may not be known. */
    bool outlives;
    bool is_string; /* its key, which says who was granted the lease */
    const struct hf__redisson *redisson; /* its layout; NULL: ours */
    /* Reads another reply of acquire than a token, which has the shape of a
     * refusal. HF_HELD: it is one. NULL: all are. */
    hf_status (*read_reply)(hf_lock *lock, const hf_reply *items,
                            hf_error *err);
} hf__lease_kind;

#endif
