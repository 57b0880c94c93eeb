/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/key.h - the expiry of a key of any type.
 *
 * Contents: hf_key_ttl(), hf_key_expire(). Both have a `_start` form.
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
 * Set or remove the time to live of a key: PEXPIRE and PERSIST of Redis.
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

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_KEY_H */
