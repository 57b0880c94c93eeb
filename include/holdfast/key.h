/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/key.h - what holds for a key of any type.
 */
#ifndef HOLDFAST_KEY_H
#define HOLDFAST_KEY_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Remaining time to live of a key of any type.
 *
 * @param client  open client
 * @param key     the key
 * @param ttl_ms  [out] ms to live; -1: the key does not expire
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             `*ttl_ms` is set
 * @retval HF_NOT_FOUND      no such key
 * @retval HF_INVALID        bad key
 * @retval HF_UNAVAILABLE    not asked
 * @retval HF_INDETERMINATE  no answer; nothing was changed
 * @retval HF_DENIED         the store refused the command
 * @retval HF_NO_MEMORY      nothing was done
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_key_ttl(hf_client *client, hf_bytes key,
                                        int64_t *ttl_ms, hf_error *err);

/**
 * Set or remove the time to live of a key of any type.
 *
 * @param client  open client
 * @param key     the key
 * @param ttl_ms  1..#HF_TTL_MAX_MS from now on the store's clock; -1: the key
 *                shall not expire
 * @param err     [out] may be NULL
 *
 * @retval HF_OK             the key lives that long from now
 * @retval HF_NOT_FOUND      no such key; nothing was changed
 * @retval HF_INVALID        bad key or ttl_ms; nothing was changed
 * @retval HF_UNAVAILABLE    nothing was changed
 * @retval HF_INDETERMINATE  no answer: it may be applied
 * @retval HF_DENIED         the store refused the command
 * @retval HF_FULL           nothing was changed
 * @retval HF_NO_MEMORY      nothing was changed
 *
 * Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_key_expire(hf_client *client, hf_bytes key,
                                           int64_t ttl_ms, hf_error *err);

/** Starts hf_key_ttl(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_key_ttl_start(hf_client *client, hf_bytes key,
                                              int64_t *ttl_ms,
                                              const hf_async *async,
                                              hf_error *err);

/** Starts hf_key_expire(). Since 0.1. */
HF_API HF_MUST_USE hf_status hf_key_expire_start(hf_client *client,
                                                 hf_bytes key, int64_t ttl_ms,
                                                 const hf_async *async,
                                                 hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_KEY_H */
