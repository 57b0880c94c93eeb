/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/once.h - work that is done once, with a result that is kept.
 *
 * Contents:
 * - hf_once_new(): a handle to claim a piece of work
 * - hf_once_complete(): store its result
 * - hf_once_result(): the result, if it is done
 * - hf_once_inspect(), hf_once_info_free(): look at the record of a piece of
 * work
 * - hf_once_delete(): make it new
 *
 * Complete, inspect and delete have a `_start` form.
 *
 * @code
 * hf_status handle(hf_client *c, hf_bytes key, int32_t *code, hf_error *err)
 * {
 *     hf_lock *claim = NULL;
 *     hf_status status = hf_once_new(c, key, NULL, NULL, &claim, err);
 *
 *     if (status == HF_OK)
 *         status = hf_lock_acquire(claim, 10000, err);
 *     if (status == HF_OK) // the work is ours: do it, then
 *         status = hf_once_complete(claim, *code = 200, hf_str(""), err);
 *     else if (status == HF_CONFLICT) // it was done before
 *         status = hf_once_result(claim, code, NULL, err);
 *     hf_lock_free(claim);
 *     return status;
 * }
 * @endcode
 *
 * A claim is an hf_lock, and lock.h has its functions: it is held under a lease
 * with a fencing token, renewed while the work is done. hf_lock_acquire()
 * claims the work, and says why it cannot:
 *
 * | status      | the work                                                   |
 * |-------------|------------------------------------------------------------|
 * | HF_OK       | is the caller's                                            |
 * | HF_CONFLICT | is done: hf_once_result()                                  |
 * | HF_TIMEOUT  | is another's, and was so for wait_ms (hf_lock_try(): HELD) |
 * | HF_EXPIRED  | is in doubt: a claim ended without a result                |
 * | HF_INVALID  | was claimed with another fingerprint                       |
 *
 * hf_lock_release(), and hf_lock_free() of a held claim, say that the work has
 * failed and may be done again: the caller that has waited longest has the
 * claim then, else the next that comes. So does hf_lock_release() after the
 * lease has ended, unless another caller has claimed the work; hf_lock_free()
 * then says nothing, nor after hf_once_complete() got no answer.
 *
 * After a lease that ended without either, or without a result, the work is
 * **in doubt**: the program may have been killed before its effect or after it.
 * It is never reported as done, and not done again unless a caller says so
 * (#HF_ONCE_RETRY_DOUBT). A program that does not know itself whether the work
 * had its effect closes its client first, which releases nothing.
 *
 * With a period the work is done once in each tick of the store's clock: see
 * hf_once_options.
 */
#ifndef HOLDFAST_ONCE_H
#define HOLDFAST_ONCE_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most bytes of a result. */
#define HF_ONCE_RESULT_MAX 1048576

/** Longest `period_ms`, ms: 366 days. */
#define HF_ONCE_PERIOD_MAX_MS 31622400000

/** Flags of hf_once_options. */
enum {
    /** Claim work in doubt, too: its effect may happen a second time. */
    HF_ONCE_RETRY_DOUBT = 1u << 0
};

/** Options of hf_once_new(). */
typedef struct hf_once_options {
    size_t struct_size; /**< #HF_ONCE_OPTIONS_INIT sets it */
    uint32_t flags;     /**< HF_ONCE_* bits */
    uint32_t reserved0; /**< must be 0 */
    /** What is to be done, as the body of the request: any bytes, of which the
     *  SHA-1 is stored. A claim of the same key with another fingerprint is
     *  refused with HF_INVALID. Empty: none. Not kept by the handle. */
    hf_bytes fingerprint;
    /** How long the record is kept, ms, after the result was stored, or after
     *  the lease ended without one; 0: 24 hours, or twice the period;
     *  1..#HF_TTL_MAX_MS, at least the period. Afterwards the work is new. */
    int64_t keep_ms;
    /** 0: the work is done once; else once in each tick: a period of so many
     *  ms, 1..#HF_ONCE_PERIOD_MAX_MS. Ticks begin at the multiples of the
     *  period since 1970 (UTC), less `early_ms`, by the store's clock. A claim
     *  is for the tick in which the store gets the first request of the
     *  acquire, however long that waits, if the client may subscribe; else for
     *  that of the last one. A claim of an earlier tick whose lease has not
     *  ended is waited for. A record of a later tick counts as one of this: the
     *  clock may have gone back since. */
    int64_t period_ms;
    /** How long before a multiple of the period its tick begins, ms: as much as
     *  the clock of a host may be ahead of the store's, so that what is started
     *  at the full hour by all hosts is in one tick. 0: a tenth of the period,
     *  at most a minute; 1..period_ms - 1. */
    int64_t early_ms;
} hf_once_options;

/* clang-format off */
#define HF_ONCE_OPTIONS_INIT \
    { sizeof(hf_once_options), 0, 0, { NULL, 0 }, 0, 0, 0 }
/* clang-format on */

/**
 * Make a handle to claim a piece of work. Nothing is sent.
 *
 * Functions that take the name of a lock return HF_WRONG_TYPE for the key.
 *
 * @param key   names the work; as the name of hf_lock_new()
 * @param once  may be NULL
 * @param opts  as for hf_lock_new(); `min_hold_ms` and `delay_ms` must be 0. If
 *              the holder dies, the work is in doubt after `ttl_ms`
 * @param lock  [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:)
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_once_new(hf_client *client, hf_bytes key,
                                         const hf_once_options *once,
                                         const hf_lock_options *opts,
                                         hf_lock **lock, hf_error *err);

/**
 * Store the result of the work, in the step that ends the claim. All that wait
 * for it get HF_CONFLICT.
 *
 * Also after the lease has ended, if no other caller has claimed the work
 * since. With HF_UNAVAILABLE, HF_FULL and HF_INDETERMINATE the handle is as it
 * was, and the call may be repeated. If it is not, the work is in doubt once
 * the lease has ended; freeing the handle does not give it back.
 *
 * @param lock    a handle from hf_once_new() that holds a claim, or has lost it
 * @param status  a number of the caller's, such as an exit status
 * @param result  0..#HF_ONCE_RESULT_MAX bytes
 *
 * @retval HF_OK          stored; the handle holds nothing
 * @retval HF_LOST        another owner has claimed the work; nothing is stored
 * @retval HF_EXPIRED     the record has expired or was deleted; nothing is
 *                        stored
 * @retval HF_WRONG_TYPE  the same, and the key holds something else now
 * @retval HF_INVALID     the result is too large; or the handle has no claim
 */
HF_API HF_MUST_USE hf_status hf_once_complete(hf_lock *lock, int32_t status,
                                              hf_bytes result, hf_error *err);

/**
 * The result that the last acquire found, which returned HF_CONFLICT.
 *
 * @param lock    a handle from hf_once_new()
 * @param status  [out] that of hf_once_complete(); may be NULL
 * @param result  [out] its bytes, until the handle is acquired again or freed;
 *                may be NULL
 *
 * @retval HF_OK         set
 * @retval HF_NOT_FOUND  the last acquire of this handle, if there was one, has
 *                       not returned HF_CONFLICT
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_once_result(const hf_lock *lock,
                                            int32_t *status, hf_bytes *result,
                                            hf_error *err);

/** How far work is. */
typedef enum hf_once_state {
    HF_ONCE_ABSENT = 0,  /**< there is no record */
    HF_ONCE_CLAIMED = 1, /**< a claim is held */
    HF_ONCE_DONE = 2,    /**< there is a result */
    HF_ONCE_DOUBT = 3    /**< a claim ended without a result */
} hf_once_state;

/** A record. Start it with #HF_ONCE_INFO_INIT; it may be used again. */
typedef struct hf_once_info {
    size_t struct_size; /**< #HF_ONCE_INFO_INIT sets it */
    hf_once_state state;
    int32_t status; /**< of the result; else 0 */
    /** Of a claim: until its lease ends, ms; else until the record expires. */
    int64_t remaining_ms;
    int64_t waiters; /**< clients in the wait queue */
    /** The tick that it is of: a multiple of the period, Unix time, ms; 0:
     * there is no period. */
    int64_t tick_ms;
    uint64_t token;            /**< of the claim */
    char owner[HF_OWNER_SIZE]; /**< of the claim, for hf_lock_holder(); or "" */
    hf_buffer result;          /**< followed by a NUL */
} hf_once_info;

/* clang-format off */
#define HF_ONCE_INFO_INIT \
    { sizeof(hf_once_info), HF_ONCE_ABSENT, 0, 0, 0, 0, 0, { 0 }, { NULL, 0 } }
/* clang-format on */

/**
 * Free the contents of an info.
 *
 * @param info  may be NULL
 */
HF_API void hf_once_info_free(hf_once_info *info);

/**
 * Look at a record. Nothing is changed.
 *
 * @param key   of the work
 * @param info  [in,out] start it with #HF_ONCE_INFO_INIT; what it held before
 * is freed
 *
 * @retval HF_OK           `*info` is set
 * @retval HF_NOT_FOUND    there is no record
 * @retval HF_WRONG_TYPE   the key holds something that is not such a record
 * @retval HF_UNSUPPORTED  on a quorum (redlock:)
 */
HF_API HF_MUST_USE hf_status hf_once_inspect(hf_client *client, hf_bytes key,
                                             hf_once_info *info, hf_error *err);

/**
 * Delete a record, in whatever state: the work is new. A claim is lost by this,
 * though its holder may continue.
 *
 * @param key  of the work
 *
 * @retval HF_OK           deleted
 * @retval HF_NOT_FOUND    there was none
 * @retval HF_WRONG_TYPE   the key holds something that is not such a record
 * @retval HF_UNSUPPORTED  on a quorum (redlock:)
 */
HF_API HF_MUST_USE hf_status hf_once_delete(hf_client *client, hf_bytes key,
                                            hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START_OF(hf_once_complete_start, hf_lock *lock, int32_t status,
            hf_bytes result);
HF_START(hf_once_inspect_start, hf_bytes key, hf_once_info *info);
HF_START(hf_once_delete_start, hf_bytes key);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_ONCE_H */
