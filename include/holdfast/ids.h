/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/ids.h - numbers that are unique and only grow.
 *
 * Contents:
 * - hf_ids_new(), hf_ids_free(): a handle for the ids of a name
 * - hf_ids_next(), hf_ids_next_many()
 *
 * The last two have a `_start` form.
 *
 * @code
 * hf_status number(hf_client *client, int64_t orders[10], hf_error *err)
 * {
 *     hf_ids *ids = NULL;
 *     hf_status status = hf_ids_new(client, hf_str("order"), NULL, &ids, err);
 *
 *     for (int i = 0; i < 10 && status == HF_OK; i++)
 *         status = hf_ids_next(ids, &orders[i], err); // one request for all
 *     hf_ids_free(ids);
 *     return status;
 * }
 * @endcode
 *
 * Order and gaps
 * ==============
 *
 * Ids are 1..2^63-1. No two calls get the same id of a name. A handle takes
 * them in blocks, so most calls send nothing. An id is greater than those of
 * all calls on the same handle that ended before this call began. Between
 * handles only blocks are ordered: with a block of 1, so are all ids of a name.
 * What is left of a block when its handle is freed or its process ends is not
 * used: ids have gaps.
 *
 * What the ids survive
 * ====================
 *
 * Ids begin at the store's clock, in us since 1970, and are never below it. So
 * they grow even if the counter is lost, by a restart without persistence, a
 * failover, or because the key was deleted, as long as the clock is not behind
 * the one that the last ids were taken by, and fewer than a million ids a
 * second were taken, blocks included. They do not survive the loss of the
 * counter together with a clock that is set back: then ids repeat. The counter
 * expires 7 days after the last block.
 *
 * With #HF_IDS_DENSE they begin at 1, and the counter never expires. If it is
 * lost, they begin at 1 again: ids repeat. Use this only on a store that loses
 * nothing (an embedded one on disk), or wait for replicas.
 */
#ifndef HOLDFAST_IDS_H
#define HOLDFAST_IDS_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most ids of a block. */
#define HF_IDS_BLOCK_MAX 1000000u

/** A handle for the ids of a name; any thread may use it. */
typedef struct hf_ids hf_ids;

/** Flags of hf_ids_options. */
enum {
    HF_IDS_DENSE = 1u << 0 /**< begin at 1 instead of the clock */
};

/** Options of hf_ids_new(). Use the same flags everywhere. */
typedef struct hf_ids_options {
    size_t struct_size; /**< #HF_IDS_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_IDS_* bits */
    uint32_t reserved0; /**< must be 0 */
    uint32_t block;     /**< 1..#HF_IDS_BLOCK_MAX; 0: 100 */
    uint32_t reserved1; /**< must be 0 */
} hf_ids_options;

/* clang-format off */
#define HF_IDS_OPTIONS_INIT { sizeof(hf_ids_options), 0, 0, 0, 0 }
/* clang-format on */

/**
 * Make a handle. Nothing is sent.
 *
 * @param name  the counter; a key
 * @param opts  NULL for defaults
 * @param ids   [out] free it with hf_ids_free()
 *
 * @retval HF_OK  `*ids` can be used
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_ids_new(hf_client *client, hf_bytes name,
                                        const hf_ids_options *opts,
                                        hf_ids **ids, hf_error *err);

/**
 * Free a handle. What is left of its block is not used. Started calls on it
 * complete as usual.
 *
 * @param ids  may be NULL; no blocking call on it may be in progress
 *
 * Never blocks.
 */
HF_API void hf_ids_free(hf_ids *ids);

/**
 * The next id.
 *
 * @param ids  the handle
 * @param id   [out] 1..2^63-1
 *
 * @retval HF_OK          `*id` was never returned before
 * @retval HF_CONFLICT    fewer than a block are left below 2^63
 * @retval HF_WRONG_TYPE  the key holds something other than such a counter
 *
 * Blocks: once for each block, up to request_ms. Threads share the request.
 */
HF_API HF_MUST_USE hf_status hf_ids_next(hf_ids *ids, int64_t *id,
                                         hf_error *err);

/**
 * Several ids, each greater than the one before; a started call takes all from
 * one block.
 *
 * @param ids     the handle
 * @param values  [out] `count` ids; after a failure undefined
 * @param count   how many, 0..#HF_IDS_BLOCK_MAX
 *
 * @retval HF_OK        all are set
 * @retval HF_CONFLICT  as for hf_ids_next()
 */
HF_API HF_MUST_USE hf_status hf_ids_next_many(hf_ids *ids, int64_t *values,
                                              size_t count, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START_OF(hf_ids_next_start, hf_ids *ids, int64_t *id);
HF_START_OF(hf_ids_next_many_start, hf_ids *ids, int64_t *values, size_t count);

#ifdef __cplusplus
}
#endif

#endif
