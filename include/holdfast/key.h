/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/key.h - keys of any type: expiry, type, name, copy, list.
 *
 * Contents: hf_key_ttl(), hf_key_expire(), hf_key_type(), hf_key_rename(),
 * hf_key_copy(), hf_key_delete(), hf_key_list(). Each has a `_start` form.
 *
 * A timeline, a set or a rank whose members expire, a cache entry, a fenced
 * value is one object of several keys. These calls treat it as one, in one
 * step: what is done to its key is done to all. They refuse to change a lock,
 * permits or an election that are held, and a barrier at which parties wait,
 * with HF_HELD and a message that says which. docs/reference/objects.md has a
 * table of objects and calls.
 *
 * @code
 * hf_status extend(hf_client *client, hf_bytes key, hf_error *err)
 * {
 *     int64_t ttl_ms = 0;
 *     hf_status status = hf_key_ttl(client, key, &ttl_ms, err);
 *
 *     if (status == HF_OK && ttl_ms >= 0 && ttl_ms < 10000)
 *         status = hf_key_expire(client, key, 60000, err);
 *     return status; // HF_NOT_FOUND: no such key, or it has expired
 * }
 * @endcode
 */
#ifndef HOLDFAST_KEY_H
#define HOLDFAST_KEY_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Get the remaining time to live of a key: PTTL of Redis.
 *
 * @param key     the key
 * @param ttl_ms  [out] ms to live; -1: the key does not expire
 *
 * @retval HF_OK         `*ttl_ms` is set
 * @retval HF_NOT_FOUND  no such key
 */
HF_API HF_MUST_USE hf_status hf_key_ttl(hf_client *client, hf_bytes key,
                                        int64_t *ttl_ms, hf_error *err);

/**
 * Set or remove the time to live of a key: PEXPIRE and PERSIST of Redis. The
 * keys that belong to a timeline or a cache entry expire with it; the highest
 * fencing token of a key does not.
 *
 * @param key     the key
 * @param ttl_ms  1..#HF_TTL_MAX_MS from now by the store's clock; -1: the key
 *                no longer expires
 *
 * @retval HF_OK         the new expiry is set
 * @retval HF_NOT_FOUND  no such key
 * @retval HF_HELD       it is held
 */
HF_API HF_MUST_USE hf_status hf_key_expire(hf_client *client, hf_bytes key,
                                           int64_t ttl_ms, hf_error *err);

/**
 * Get what a key is. For its type in Redis send TYPE by hf_command().
 *
 * @param key   the key
 * @param type  [out] "timeline", "rank" (some member expires), "cache" (an
 *              entry whose times or tags are known), "lock" (also one that is
 *              read), "semaphore", "election", "latch", "once", "queue",
 *              "barrier" (parties wait there); else the type in Redis:
 *              "string", "list", "set", "zset", "hash", "stream"; on a server
 *              also a name that a module gives. Limiters and ids are strings
 *
 * @retval HF_OK         `*type` is set
 * @retval HF_NOT_FOUND  no such key
 */
HF_API HF_MUST_USE hf_status hf_key_type(hf_client *client, hf_bytes key,
                                         hf_buffer *type, hf_error *err);

/** Flags of hf_key_rename(). */
enum {
    HF_RENAME_NX = 1u << 0 /**< only if no key has the new name */
};

/**
 * Give a key another name. It keeps its value, its expiry and what belongs to
 * it: the items of a timeline, the tags of a cache entry, the highest fencing
 * token. Both names refuse lower tokens afterwards. A key that has the new name
 * is replaced.
 *
 * @param key      the key
 * @param new_key  its name afterwards; in a cluster in the same slot, so both
 *                 have a common {tag}
 * @param flags    0, or #HF_RENAME_NX
 *
 * @retval HF_OK         renamed
 * @retval HF_NOT_FOUND  no such key
 * @retval HF_CONFLICT   with #HF_RENAME_NX: a key has the new name
 * @retval HF_HELD       one of the two is held
 */
HF_API HF_MUST_USE hf_status hf_key_rename(hf_client *client, hf_bytes key,
                                           hf_bytes new_key, uint32_t flags,
                                           hf_error *err);

/** Flags of hf_key_copy(). */
enum {
    HF_COPY_REPLACE = 1u << 0 /**< replace a key that has the new name */
};

/**
 * Copy a key: its value, its expiry and what belongs to it, as hf_key_rename()
 * moves them. The copy refuses fencing tokens that are lower than those of
 * either name; it has the tags of a cache entry, so an invalidation is one of
 * both. A server runs nothing else meanwhile.
 *
 * @param key      the key
 * @param new_key  name of the copy; in a cluster in the same slot
 * @param flags    0, or #HF_COPY_REPLACE
 *
 * @retval HF_OK         copied
 * @retval HF_NOT_FOUND  no such key
 * @retval HF_CONFLICT   without #HF_COPY_REPLACE: a key has the new name
 * @retval HF_HELD       one of the two is held
 */
HF_API HF_MUST_USE hf_status hf_key_copy(hf_client *client, hf_bytes key,
                                         hf_bytes new_key, uint32_t flags,
                                         hf_error *err);

/**
 * Delete a key of any type, with what belongs to it. A fill of a cache entry
 * that is under way will not store its value; waits at a latch end. The highest
 * fencing token stays. Use hf_lock_break() and hf_barrier_reset() for what is
 * held.
 *
 * @param key  the key
 *
 * @retval HF_OK         deleted
 * @retval HF_NOT_FOUND  no such key
 * @retval HF_HELD       it is held
 */
HF_API HF_MUST_USE hf_status hf_key_delete(hf_client *client, hf_bytes key,
                                           hf_error *err);

/**
 * Reports one key of hf_key_list(): on the calling thread, or of a started call
 * in hf_client_dispatch(), once all keys were found. It may call every function
 * except hf_client_close().
 *
 * @param user  hf_key_list()'s
 * @param key   without the client's prefix; valid until it returns
 *
 * @return 0 to continue; anything else ends the list
 */
typedef int (*hf_key_list_fn)(void *user, hf_bytes key);

/** Flags of hf_key_list(). */
enum {
    HF_KEY_LIST_ALL = 1u << 0 /**< the library's own keys, too */
};

/**
 * List the keys with the client's prefix, in no order. A key that exists during
 * the whole call is listed once; others may be. So each object is listed once,
 * by its name: the library's own keys (scripts/README.md) are left out.
 *
 * All key names of the store are read by SCAN, in a cluster on every master;
 * each match takes 24 bytes of memory. A user of a server needs +scan.
 *
 * @param pattern  of names, as for KEYS of Redis; empty: all
 * @param flags    0, or #HF_KEY_LIST_ALL
 * @param report   called for each key
 * @param user     passed to `report`
 *
 * @retval HF_OK           all were listed
 * @retval HF_CANCELLED    `report` ended the list
 * @retval HF_UNSUPPORTED  on `redlock:`
 * @retval HF_UNAVAILABLE  the store was lost, or slots were being moved
 *
 * Blocks: as long as it takes; each request up to request_ms.
 */
HF_API HF_MUST_USE hf_status hf_key_list(hf_client *client, hf_bytes pattern,
                                         uint32_t flags, hf_key_list_fn report,
                                         void *user, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_key_ttl_start, hf_bytes key, int64_t *ttl_ms);
HF_START(hf_key_expire_start, hf_bytes key, int64_t ttl_ms);
HF_START(hf_key_type_start, hf_bytes key, hf_buffer *type);
HF_START(hf_key_rename_start, hf_bytes key, hf_bytes new_key, uint32_t flags);
HF_START(hf_key_copy_start, hf_bytes key, hf_bytes new_key, uint32_t flags);
HF_START(hf_key_delete_start, hf_bytes key);
HF_START(hf_key_list_start, hf_bytes pattern, uint32_t flags,
         hf_key_list_fn report, void *user);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_KEY_H */
