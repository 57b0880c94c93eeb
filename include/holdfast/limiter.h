/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/limiter.h - rate limiters.
 *
 * Contents:
 * - hf_limiter_options, hf_limiter_state
 * - hf_limiter_take(): take a cost, or learn when it can be taken
 * - hf_limiter_take_many()
 * - hf_limiter_inspect(): how much is left
 *
 * Each has a `_start` form.
 *
 * @code
 * hf_status send_mail(hf_client *client, hf_bytes user, hf_error *err)
 * {
 *     hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;
 *     hf_limiter_state state;
 *
 *     options.count = 10; // a second
 *     options.burst = 20;
 *     options.wait_ms = 500;
 *     return hf_limiter_take(client, user, 1, &options, &state, err);
 * }
 * @endcode
 *
 * A limiter is a bucket that holds up to `burst` units and gains `count` units
 * in `period_ms`, evenly (GCRA). A missing key is a full bucket, and the key
 * expires when the bucket is full again, so an idle limiter leaves nothing
 * behind; deleting the key fills the bucket.
 *
 * Time is that of the store, in integers: no client's clock matters, and no
 * rounding adds up. Setting the store's clock forward fills the bucket at most;
 * setting it back changes nothing. If the key is lost, by a failover say, the
 * bucket is full.
 *
 * Use the same rate and burst everywhere. They are not stored: each call
 * compares what was taken with its own.
 */
#ifndef HOLDFAST_LIMITER_H
#define HOLDFAST_LIMITER_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Greatest `count` and `burst`. */
#define HF_LIMITER_COUNT_MAX 1000000000

/** Longest `period_ms` and `wait_ms`, ms: 30 days. */
#define HF_LIMITER_PERIOD_MAX_MS 2592000000

/** Options of hf_limiter_take(). */
typedef struct hf_limiter_options {
    size_t struct_size; /**< #HF_LIMITER_OPTIONS_INIT sets it */
    uint32_t flags;     /**< must be 0 */
    uint32_t reserved0; /**< must be 0 */
    /** Units gained per `period_ms`, 1..#HF_LIMITER_COUNT_MAX, at most one in a
     *  microsecond. Needed. */
    int64_t count;
    /** Time in which `count` units are gained, ms; 0: 1000;
     *  1..#HF_LIMITER_PERIOD_MAX_MS. */
    int64_t period_ms;
    /** Units of a full bucket; 0: `count`; 1..#HF_LIMITER_COUNT_MAX. They must
     *  be gained in a year or less. */
    int64_t burst;
    /** Longest time to wait for the units, ms; 0: do not wait;
     *  0..#HF_LIMITER_PERIOD_MAX_MS. */
    int64_t wait_ms;
} hf_limiter_options;

/* clang-format off */
#define HF_LIMITER_OPTIONS_INIT \
    { sizeof(hf_limiter_options), 0, 0, 0, 0, 0, 0 }
/* clang-format on */

/** A limiter after a call. */
typedef struct hf_limiter_state {
    int64_t remaining; /**< units in the bucket */
    int64_t retry_ms;  /**< refused: when this cost can be taken; else 0 */
    int64_t full_ms;   /**< until the bucket is full */
} hf_limiter_state;

/**
 * Take units from a limiter.
 *
 * With `wait_ms` units that are not there yet are taken in advance, and the
 * call returns when they are: callers are served in the order of their
 * requests, each with one request. If that would take longer than `wait_ms`,
 * nothing is taken, and the call returns at once.
 *
 * A started call cannot be part of a transaction. If it is cancelled, or its
 * client closed, while it waits, the units stay taken.
 *
 * @param name   the limiter; a key
 * @param cost   units to take, 1..burst
 * @param opts   the rate; never NULL
 * @param state  [out] set with HF_OK and HF_TIMEOUT; may be NULL
 *
 * @retval HF_OK             taken, and to be used now
 * @retval HF_TIMEOUT        refused: the units will not be there within
 * wait_ms; nothing is taken
 * @retval HF_CANCELLED      interrupted while it waited
 * (hf_client_interrupt()); the units stay taken
 * @retval HF_INDETERMINATE  no reply arrived: the units may be taken
 * @retval HF_WRONG_TYPE     the key holds something that is not a limiter
 * @retval HF_INVALID        also if `cost` is greater than the burst
 *
 * Blocks: up to wait_ms plus request_ms.
 */
HF_API HF_MUST_USE hf_status hf_limiter_take(hf_client *client, hf_bytes name,
                                             int64_t cost,
                                             const hf_limiter_options *opts,
                                             hf_limiter_state *state,
                                             hf_error *err);

/**
 * Look at a limiter. Nothing is changed.
 *
 * @param name   the limiter
 * @param opts   the rate; never NULL. wait_ms is not used.
 * @param state  [out] retry_ms is 0
 *
 * @retval HF_OK          `*state` is filled
 * @retval HF_WRONG_TYPE  the key holds something that is not a limiter
 */
HF_API HF_MUST_USE hf_status hf_limiter_inspect(hf_client *client,
                                                hf_bytes name,
                                                const hf_limiter_options *opts,
                                                hf_limiter_state *state,
                                                hf_error *err);

/** One limiter of hf_limiter_take_many(). */
typedef struct hf_limiter_item {
    hf_bytes name;           /**< the limiter */
    int64_t cost;            /**< units to take */
    hf_limiter_state *state; /**< [out] may be NULL */
} hf_limiter_item;

/**
 * hf_limiter_take() of many limiters, each by itself: some may be refused,
 * while others give theirs.
 *
 * @param items     the limiters
 * @param count     how many
 * @param opts      the rate of all; wait_ms must be 0
 * @param statuses  [out] of each item
 *
 * @retval HF_OK  the store answered every one of them: see `statuses`
 */
HF_API HF_MUST_USE hf_status hf_limiter_take_many(
    hf_client *client, const hf_limiter_item *items, size_t count,
    const hf_limiter_options *opts, hf_status *statuses, hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_limiter_inspect_start, hf_bytes name,
         const hf_limiter_options *opts, hf_limiter_state *state);
HF_START(hf_limiter_take_start, hf_bytes name, int64_t cost,
         const hf_limiter_options *opts, hf_limiter_state *state);
HF_START(hf_limiter_take_many_start, const hf_limiter_item *items, size_t count,
         const hf_limiter_options *opts, hf_status *statuses);

#ifdef __cplusplus
}
#endif

#endif
