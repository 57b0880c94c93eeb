/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/key.h - keys of any type: expiry, type, name, list.
 *
 * Contents: hf_key_ttl(), hf_key_expire(), hf_key_type(), hf_key_rename(),
 * hf_key_list(). All but the last have a `_start` form.
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
 */
HF_API HF_MUST_USE hf_status hf_key_expire(hf_client *client, hf_bytes key,
                                           int64_t ttl_ms, hf_error *err);

/**
 * Get the type of a key: TYPE of Redis.
 *
 * @param key   the key
 * @param type  [out] "string", "list", "set", "zset", "hash"; on a server also
 *              "stream", or a name that a module gives
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
 * @retval HF_UNSUPPORTED  the key is a lock that is held; or the message names
 *                         the flag
 */
HF_API HF_MUST_USE hf_status hf_key_rename(hf_client *client, hf_bytes key,
                                           hf_bytes new_key, uint32_t flags,
                                           hf_error *err);

/**
 * Reports one key of hf_key_list(). It may call every function except
 * hf_client_close().
 *
 * @param user  hf_key_list()'s
 * @param key   without the client's prefix; valid until it returns
 *
 * @return 0 to continue; anything else ends the list
 */
typedef int (*hf_key_list_fn)(void *user, hf_bytes key);

/**
 * List the keys with the client's prefix, in no order. A key that exists during
 * the whole call is listed once; others may be. The library's own keys
 * (scripts/README.md) are not listed.
 *
 * All key names of the store are read by SCAN, in a cluster on every master;
 * each match takes 24 bytes of memory. A user of a server needs +scan.
 *
 * @param pattern  of names, as for KEYS of Redis; empty: all
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
                                         hf_key_list_fn report, void *user,
                                         hf_error *err);

/** Starts hf_key_ttl(). */
HF_API HF_MUST_USE hf_status hf_key_ttl_start(hf_client *client, hf_bytes key,
                                              int64_t *ttl_ms,
                                              const hf_async *async,
                                              hf_error *err);

/** Starts hf_key_expire(). */
HF_API HF_MUST_USE hf_status hf_key_expire_start(hf_client *client,
                                                 hf_bytes key, int64_t ttl_ms,
                                                 const hf_async *async,
                                                 hf_error *err);

/** Starts hf_key_type(). */
HF_API HF_MUST_USE hf_status hf_key_type_start(hf_client *client, hf_bytes key,
                                               hf_buffer *type,
                                               const hf_async *async,
                                               hf_error *err);

/** Starts hf_key_rename(). */
HF_API HF_MUST_USE hf_status hf_key_rename_start(hf_client *client,
                                                 hf_bytes key, hf_bytes new_key,
                                                 uint32_t flags,
                                                 const hf_async *async,
                                                 hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_KEY_H */
