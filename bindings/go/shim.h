/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.h - what the Go package calls instead of functions that take pointers to
 * structures with pointers, which may not be passed from Go; and callbacks.
 */
#ifndef HOLDFAST_GO_SHIM_H
#define HOLDFAST_GO_SHIM_H

#include <holdfast.h>
#include <stdlib.h>

hf_status go_value_cas(hf_client *client, hf_bytes key, bool exists,
                       hf_bytes expected, hf_bytes value, int64_t ttl_ms,
                       hf_buffer *current, hf_error *err);

/* `on_lost` is called with the number `handle`; 0: not at all. */
hf_status go_lock_new(hf_client *client, int kind, hf_bytes name,
                      int64_t permits, hf_lock_options *opts, uintptr_t handle,
                      hf_lock **lock, hf_lock **pair, hf_error *err);

hf_status go_once_new(hf_client *client, hf_bytes key,
                      const hf_once_options *once, hf_lock_options *opts,
                      uintptr_t handle, hf_lock **lock, hf_error *err);

hf_status go_cache_get_or_fill(hf_client *client, hf_bytes key,
                               uintptr_t handle, const hf_cache_options *opts,
                               hf_bytes tag, hf_buffer *value, hf_error *err);
hf_status go_cache_fill_done(hf_cache_fill *fill, hf_status status,
                             hf_bytes value);

hf_status go_txn_set(hf_client *client, hf_txn *txn, hf_bytes key,
                     hf_bytes value, hf_error *err);
hf_status go_txn_put_fenced(hf_client *client, hf_txn *txn, hf_bytes key,
                            hf_bytes value, uint64_t token, hf_error *err);
hf_status go_txn_add(hf_client *client, hf_txn *txn, hf_bytes key,
                     int64_t delta, hf_error *err);
hf_status go_txn_timeline_remove(hf_client *client, hf_txn *txn, hf_bytes key,
                                 hf_bytes id, hf_error *err);

#endif
