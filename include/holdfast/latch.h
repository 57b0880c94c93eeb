/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/latch.h - latches: wait for a number of arrivals.
 *
 * Contents:
 * - hf_latch_set(): make a latch with a count
 * - hf_latch_arrive(): count it down
 * - hf_latch_await(): wait until it is 0; hf_latch_await_early(): of a latch
 * that is not set yet, too
 * - hf_latch_inspect(), hf_latch_delete()
 *
 * Each has a `_start` form.
 *
 * @code
 * hf_status coordinate(hf_client *client, hf_error *err)
 * {
 *     hf_bytes name = hf_str("import");
 *     hf_status status = hf_latch_set(client, name, 3, 3600000, NULL, err);
 *
 *     // three workers, each when it is done, and again if it is in doubt:
 *     //     hf_latch_arrive(client, name, hf_str("worker-1"), 1, NULL, err);
 *     if (status == HF_OK)
 *         status = hf_latch_await(client, name, 60000, err);
 *     return status;
 * }
 * @endcode
 *
 * A latch is set once. It is **open** when its count is 0, and stays so until
 * its time to live has passed or it is deleted; then there is no latch, and it
 * may be set again. Awaiting an open latch returns at once.
 *
 * The key is a hash that remembers who has arrived, so that a lost reply or a
 * worker that starts again does not count twice.
 */
#ifndef HOLDFAST_LATCH_H
#define HOLDFAST_LATCH_H

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Greatest count of a latch: each arrival is kept in its key. */
#define HF_LATCH_COUNT_MAX 1000000

/**
 * Make a latch, unless there is one.
 *
 * @param name    the latch; a key. One with a `}` needs a hash tag
 * @param count   arrivals until it opens, 1..#HF_LATCH_COUNT_MAX
 * @param ttl_ms  time to live of the latch, open or not, 1..#HF_TTL_MAX_MS
 * @param left    [out] on HF_CONFLICT the count of the latch; may be NULL
 *
 * @retval HF_OK          made by this call
 * @retval HF_CONFLICT    there is one; it is unchanged
 * @retval HF_WRONG_TYPE  the key holds something that is not a latch
 */
HF_API HF_MUST_USE hf_status hf_latch_set(hf_client *client, hf_bytes name,
                                          int64_t count, int64_t ttl_ms,
                                          int64_t *left, hf_error *err);

/**
 * Count a latch down, and wake all that wait if it opens. At an open latch this
 * does nothing.
 *
 * @param name   the latch
 * @param id     who arrives, 1..#HF_NAME_MAX bytes: a later arrival with
 *               the same id does not count, by whatever process; empty: an id
 *               of this call alone
 * @param count  by how much, 1..#HF_LATCH_COUNT_MAX; the latch stops at 0
 * @param left   [out] the count that is left, 0: open; may be NULL
 *
 * @retval HF_OK             counted, or the id was counted before
 * @retval HF_NOT_FOUND      there is no latch
 * @retval HF_INDETERMINATE  no reply arrived. With an id the call may be
 *                           repeated
 */
HF_API HF_MUST_USE hf_status hf_latch_arrive(hf_client *client, hf_bytes name,
                                             hf_bytes id, int64_t count,
                                             int64_t *left, hf_error *err);

/**
 * Wait until a latch is open.
 *
 * @param name     the latch
 * @param wait_ms  longest time to wait, 0..#HF_FOREVER
 *
 * @retval HF_OK         it is open
 * @retval HF_TIMEOUT    it was not open until wait_ms had passed
 * @retval HF_NOT_FOUND  there is no latch, or it expired or was deleted during
 *                       the wait
 * @retval HF_CANCELLED  interrupted (hf_client_interrupt())
 *
 * Blocks: up to wait_ms plus request_ms. Without a reply it asks again until
 * wait_ms has passed.
 */
HF_API HF_MUST_USE hf_status hf_latch_await(hf_client *client, hf_bytes name,
                                            int64_t wait_ms, hf_error *err);

/**
 * Wait until a latch is open, also if it is not set yet, or is deleted or
 * expires during the wait: then until one is set and opens. A latch that opens
 * and expires unseen, as during an outage of the store, is waited for again.
 *
 * @param name     the latch
 * @param wait_ms  longest time to wait, 0..#HF_FOREVER
 *
 * @retval HF_OK         it is open
 * @retval HF_TIMEOUT    it was not set and open until wait_ms had passed
 * @retval HF_CANCELLED  interrupted (hf_client_interrupt())
 *
 * Blocks: up to wait_ms plus request_ms. Without a reply it asks again until
 * wait_ms has passed.
 */
HF_API HF_MUST_USE hf_status hf_latch_await_early(hf_client *client,
                                                  hf_bytes name,
                                                  int64_t wait_ms,
                                                  hf_error *err);

/**
 * The count of a latch.
 *
 * @param name  the latch
 * @param left  [out] 0: open
 *
 * @retval HF_OK         `*left` is set
 * @retval HF_NOT_FOUND  there is no latch
 */
HF_API HF_MUST_USE hf_status hf_latch_inspect(hf_client *client, hf_bytes name,
                                              int64_t *left, hf_error *err);

/**
 * Delete a latch. All that wait for it in hf_latch_await() get HF_NOT_FOUND.
 *
 * @param name  the latch
 *
 * @retval HF_OK         deleted
 * @retval HF_NOT_FOUND  there was none
 */
HF_API HF_MUST_USE hf_status hf_latch_delete(hf_client *client, hf_bytes name,
                                             hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_latch_set_start, hf_bytes name, int64_t count, int64_t ttl_ms,
         int64_t *left);
HF_START(hf_latch_arrive_start, hf_bytes name, hf_bytes id, int64_t count,
         int64_t *left);
HF_START(hf_latch_await_start, hf_bytes name, int64_t wait_ms);
HF_START(hf_latch_await_early_start, hf_bytes name, int64_t wait_ms);
HF_START(hf_latch_inspect_start, hf_bytes name, int64_t *left);
HF_START(hf_latch_delete_start, hf_bytes name);

#ifdef __cplusplus
}
#endif

#endif
