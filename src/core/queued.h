/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queued.h - calls that become part of a transaction instead of being sent.
 *
 * The `_start` form of every operation queues its call if hf_async::txn is set:
 * the same body puts it together, and its own `finish` reads what the
 * transaction returned for it.
 */
#ifndef HF__CORE_QUEUED_H
#define HF__CORE_QUEUED_H

#include "core/call.h"

/* hf_txn begins with this. */
typedef struct hf__txn {
    hf_client *client;
    /* Take a call that was put together, or fail; then the caller ends it. */
    hf_status (*take)(hf_txn *txn, hf_call *call, hf_error *err);
    /* Add a condition: the owner has the lease of that name; `how`: a word of
     * scripts/use/txn_held.lua. If `has` is not empty, it is also what the
     * hash with the role HF__ROLE_ITEMS has under the owner. */
    hf_status (*guard)(hf_txn *txn, const char *how, hf_bytes name,
                       hf_bytes owner, hf_bytes has, hf_error *err);
} hf__txn;

/* A transaction takes calls and leases of its own client only. */
hf_status hf__queued_check_client(const hf_txn *txn, const hf_client *client,
                                  hf_error *err);

/* Allocate a call to be queued; `async` is checked. */
hf_status hf__queued_new(const hf_async *async, const hf__operation *operation,
                         hf_client *client, hf_call **call, hf_error *err);

/* Hand it to the transaction; on a failure it is freed. */
hf_status hf__queued_add(hf_txn *txn, hf_call *call);

#endif
