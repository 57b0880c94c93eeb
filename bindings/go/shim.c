/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shim.c - see shim.h.
 */
#include "shim.h"

/* Defined in Go: callbacks.go. */
extern void holdfastLost(uintptr_t handle, int reason);
extern void holdfastFill(uintptr_t handle, hf_cache_fill *fill);

hf_status go_value_cas(hf_client *client, hf_bytes key, bool exists,
                       hf_bytes expected, hf_bytes value, int64_t ttl_ms,
                       hf_buffer *current, hf_error *err)
{
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms;
    return hf_value_cas(client, key, exists ? &expected : NULL, value, &opts,
                        current, err);
}

static void lost(hf_lock *lock, hf_status reason, void *user)
{
    (void)lock;
    holdfastLost((uintptr_t)user, (int)reason);
}

static void report_to(hf_lock_options *opts, uintptr_t handle)
{
    opts->on_lost = handle == 0 ? NULL : lost;
    opts->user = (void *)handle;
}

hf_status go_lock_new(hf_client *client, int kind, hf_bytes name,
                      int64_t permits, hf_lock_options *opts, uintptr_t handle,
                      hf_lock **lock, hf_lock **pair, hf_error *err)
{
    report_to(opts, handle);
    switch (kind) {
    case 1:
        return hf_rwlock_new(client, name, 0, opts, lock, NULL, err);
    case 2:
        return hf_rwlock_new(client, name, 0, opts, pair, lock, err);
    case 3:
        return hf_semaphore_new(client, name, permits, opts, lock, err);
    case 4:
        return hf_queue_new(client, name, opts, lock, err);
    default:
        return hf_lock_new(client, name, opts, lock, err);
    }
}

hf_status go_once_new(hf_client *client, hf_bytes key,
                      const hf_once_options *once, hf_lock_options *opts,
                      uintptr_t handle, hf_lock **lock, hf_error *err)
{
    report_to(opts, handle);
    return hf_once_new(client, key, once, opts, lock, err);
}

static void fill_entry(void *user, hf_cache_fill *fill)
{
    holdfastFill((uintptr_t)user, fill);
}

hf_status go_cache_get_or_fill(hf_client *client, hf_bytes key,
                               uintptr_t handle, const hf_cache_options *opts,
                               hf_bytes tag, hf_buffer *value, hf_error *err)
{
    hf_cache_options tagged = *opts;

    tagged.tags = &tag;
    tagged.tag_count = tag.size > 0;
    return hf_cache_get_or_fill(client, key, fill_entry, (void *)handle,
                                &tagged, value, NULL, err);
}

hf_status go_cache_fill_done(hf_cache_fill *fill, hf_status status,
                             hf_bytes value)
{
    return hf_cache_fill_done(fill, status, value, NULL);
}

static hf_async queued(hf_txn *txn)
{
    hf_async queue = HF_ASYNC_INIT;

    queue.txn = txn;
    return queue;
}

hf_status go_txn_set(hf_client *client, hf_txn *txn, hf_bytes key,
                     hf_bytes value, hf_error *err)
{
    hf_async queue = queued(txn);

    return hf_value_set_start(client, key, value, NULL, NULL, &queue, err);
}

hf_status go_txn_put_fenced(hf_client *client, hf_txn *txn, hf_bytes key,
                            hf_bytes value, uint64_t token, hf_error *err)
{
    hf_async queue = queued(txn);

    return hf_value_put_fenced_start(client, key, value, token, NULL, NULL,
                                     &queue, err);
}

hf_status go_txn_add(hf_client *client, hf_txn *txn, hf_bytes key,
                     int64_t delta, hf_error *err)
{
    hf_async queue = queued(txn);

    return hf_value_add_start(client, key, delta, NULL, NULL, &queue, err);
}

hf_status go_txn_timeline_remove(hf_client *client, hf_txn *txn, hf_bytes key,
                                 hf_bytes id, hf_error *err)
{
    hf_async queue = queued(txn);

    return hf_timeline_remove_start(client, key, id, &queue, err);
}
