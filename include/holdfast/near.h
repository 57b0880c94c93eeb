/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/near.h - a near cache: values kept in this process, and
 * dropped when they change in the store.
 *
 * Contents:
 * - hf_near_open(), hf_near_close()
 * - hf_near_get(), hf_near_forget()
 * - hf_near_read_stats()
 *
 * @code
 * hf_status greet(hf_near *near, hf_error *err)
 * {
 *     hf_buffer name = HF_BUFFER_INIT;
 *     hf_status status = hf_near_get(near, hf_str("user:1"), &name, err);
 *
 *     if (status == HF_OK)
 *         printf("hello %s\n", (const char *)name.data);
 *     hf_buffer_free(&name);
 *     return status;
 * }
 * @endcode
 *
 * How old a value may be
 * ======================
 *
 * On an embedded store a value is never stale: what a write changed is not
 * returned any more once that write has returned, in whichever process.
 *
 * A server reports changes to the process (CLIENT TRACKING; see watch.h for
 * the rights), and a value may be returned until the report has arrived: for
 * one way through the network, usually, and for up to 10 s after a connection
 * was cut without a sign. Own writes are no exception: use hf_near_forget()
 * after them. While the connection is down nothing is kept.
 *
 * It reports FLUSHALL and FLUSHDB, but not SWAPDB: what was kept
 * of the database before is returned until its key changes in any database, it
 * expires, or max_age_ms has passed. Set that where databases are swapped, or
 * open the near cache again.
 *
 * It knows plain values only. Of a cache entry (cache.h) it returns the value,
 * also if that is stale or one of its tags was invalidated: that changes no key
 * of the entry. Use hf_cache_get() for those.
 */
#ifndef HOLDFAST_NEAR_H
#define HOLDFAST_NEAR_H

#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A near cache. */
typedef struct hf_near hf_near;

/** Options of hf_near_open(). */
typedef struct hf_near_options {
    size_t struct_size; /**< #HF_NEAR_OPTIONS_INIT sets it */
    uint32_t reserved0; /**< must be 0 */
    uint32_t reserved1; /**< must be 0 */
    /** Most memory for keys and values, bytes; 0: 64 MiB; range 1 MiB..2^40.
     *  A value of more than 1/128 of it is not kept. */
    int64_t max_bytes;
    /** Only keys that begin with it are kept, so that a server need not report
     *  the changes of others; NULL: all. 0 to #HF_NAME_MAX bytes. */
    const char *prefix;
    /** Ask the store again for what has been kept for so
     * long, 1..#HF_TTL_MAX_MS; 0: until it changes. */
    int64_t max_age_ms;
} hf_near_options;

/* clang-format off */
#define HF_NEAR_OPTIONS_INIT { sizeof(hf_near_options), 0, 0, 0, NULL, 0 }
/* clang-format on */

/**
 * Open a near cache of a client, empty.
 *
 * It is worth having for values that are read much more often than written. One
 * for a process is enough; its threads share it.
 *
 * @param opts  NULL for defaults
 * @param near  [out] close it with hf_near_close()
 *
 * @retval HF_OK           changes are being noted
 * @retval HF_UNSUPPORTED  a quorum; or the server has no RESP3
 * @retval HF_DENIED       the user may not use CLIENT TRACKING; or the embedded
 *                         store is read-only
 * @retval HF_SYSTEM       64 other programs watch the embedded store
 *
 * Blocks: up to request_ms.
 */
HF_API HF_MUST_USE hf_status hf_near_open(hf_client *client,
                                          const hf_near_options *opts,
                                          hf_near **near, hf_error *err);

/**
 * Close a near cache and free its memory. It may be closed before or after its
 * client. Calls on it must have returned.
 *
 * @param near  may be NULL
 *
 * Not in on_lost.
 */
HF_API void hf_near_close(hf_near *near);

/**
 * Get a value: hf_value_get(), without the store if it is kept here. That there
 * is no such key is kept as well.
 *
 * @param near   an open near cache
 * @param key    the key
 * @param value  [out] a copy; free it with hf_buffer_free()
 *
 * @retval HF_OK          `*value` is set
 * @retval HF_NOT_FOUND   no such key
 * @retval HF_WRONG_TYPE  the key is not a value
 */
HF_API HF_MUST_USE hf_status hf_near_get(hf_near *near, hf_bytes key,
                                         hf_buffer *value, hf_error *err);

/**
 * Read a key from the store the next time.
 *
 * @param near  an open near cache; may be NULL
 * @param key   the key
 */
HF_API void hf_near_forget(hf_near *near, hf_bytes key);

/** Facts about a near cache. Start it with #HF_NEAR_STATS_INIT. */
typedef struct hf_near_stats {
    size_t struct_size; /**< #HF_NEAR_STATS_INIT sets it */
    uint64_t hits;      /**< answered without the store */
    uint64_t misses;    /**< answered by the store */
    uint64_t stale;     /**< of these: kept, but changed since or expired */
    uint64_t evictions; /**< dropped to make room */
    uint64_t entries;   /**< kept now */
    uint64_t bytes;     /**< that these use */
} hf_near_stats;

/* clang-format off */
#define HF_NEAR_STATS_INIT { sizeof(hf_near_stats), 0, 0, 0, 0, 0, 0 }
/* clang-format on */

/**
 * Count what happened since the near cache was opened.
 *
 * @param near  an open near cache
 * @param stats [out] the facts
 *
 * @retval HF_OK  `*stats` is set
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_near_read_stats(hf_near *near,
                                                hf_near_stats *stats,
                                                hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_NEAR_H */
