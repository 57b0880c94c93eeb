/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/semaphore.h - semaphores: at most N holders at the same time.
 *
 * Contents:
 * - hf_semaphore_new(), hf_semaphore_new_weighted(): a handle for one or
 * several permits
 * - hf_semaphore_resize(): change how many there are, while it is in use
 * - hf_semaphore_inspect(): how many are held and available
 *
 * The last two have a `_start` form.
 *
 * A handle is an hf_lock, and lock.h has its functions: permits are held under
 * a lease with a fencing token. HF_TIMEOUT, and HF_HELD of hf_lock_try(), mean
 * that too few permits are free, or that others wait for them. Permits of a
 * holder that was killed are free when its lease expires. hf_lock_holders()
 * lists the holders, hf_lock_break() takes all permits away.
 *
 * Waiters are served in order. One that waits for several permits is not
 * overtaken by those who want fewer.
 *
 * Use the same number of permits everywhere: each acquire compares what is held
 * with its own. While programs with different numbers run, a waiter with the
 * smaller one holds up those behind it. A number stored by
 * hf_semaphore_resize() overrides those of all handles; a handle made with 0
 * permits has no other.
 *
 * Leases on a server end by its wall clock: setting it forward lets others
 * acquire while a permit is still held.
 *
 * @code
 * hf_status download(hf_client *client, hf_error *err)
 * {
 *     hf_lock *permit = NULL;
 *     hf_status status = hf_semaphore_new(client, hf_str("downloads"), 4, NULL,
 *                                         &permit, err);
 *
 *     if (status == HF_OK)
 *         status = hf_lock_acquire(permit, HF_FOREVER, err);
 *     if (status == HF_OK)
 *         printf("one of at most four that download\n");
 *     hf_lock_free(permit); // releases it
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_SEMAPHORE_H
#define HOLDFAST_SEMAPHORE_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most permits of a semaphore; each one held is an entry in its key. */
#define HF_SEMAPHORE_PERMITS_MAX 100000

/**
 * Make a handle for one permit of a semaphore: of all handles of a name, at
 * most `permits` hold one at the same time. Nothing is sent.
 *
 * @param name     as for hf_lock_new(). A name is either a lock or a semaphore:
 *                 HF_WRONG_TYPE
 * @param permits  0..#HF_SEMAPHORE_PERMITS_MAX; 0: the stored number, without
 *                 which an acquire fails with HF_INVALID
 * @param opts     as for hf_lock_new()
 * @param lock     [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:),
 *                         whose majorities do not add up to N holders
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_semaphore_new(hf_client *client, hf_bytes name,
                                              int64_t permits,
                                              const hf_lock_options *opts,
                                              hf_lock **lock, hf_error *err);

/**
 * Make a handle for several permits, which are acquired and released together.
 *
 * @param name     as for hf_semaphore_new()
 * @param permits  as for hf_semaphore_new()
 * @param weight   how many of them the handle takes: 1..`permits`. An acquire
 *                 fails with HF_INVALID if fewer are stored
 * @param opts     as for hf_lock_new()
 * @param lock     [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  as for hf_semaphore_new()
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_semaphore_new_weighted(
    hf_client *client, hf_bytes name, int64_t permits, int64_t weight,
    const hf_lock_options *opts, hf_lock **lock, hf_error *err);

/**
 * Store how many permits a semaphore has, for all handles, and wake those who
 * wait for what becomes free. If more are held than that, no one acquires until
 * enough were released; no holder loses its permits. The number stays stored
 * when no one uses the semaphore.
 *
 * @param name     the semaphore's name
 * @param permits  1..#HF_SEMAPHORE_PERMITS_MAX; 0: remove the stored number
 *
 * @retval HF_OK          stored, or removed
 * @retval HF_NOT_FOUND   `permits` is 0, and no number was stored
 * @retval HF_WRONG_TYPE  the key holds something that is not a semaphore
 */
HF_API HF_MUST_USE hf_status hf_semaphore_resize(hf_client *client,
                                                 hf_bytes name, int64_t permits,
                                                 hf_error *err);

/** A semaphore as seen by hf_semaphore_inspect(). */
typedef struct hf_semaphore_info {
    size_t struct_size; /**< #HF_SEMAPHORE_INFO_INIT sets it */
    int64_t permits;    /**< how many there are: the stored number, or that of
                              the call */
    bool stored;        /**< the number is stored */
    int64_t available;  /**< how many are free */
    int64_t held;       /**< permits held */
    int64_t holders;    /**< handles that hold them */
    int64_t waiters;    /**< clients in the wait queue */
} hf_semaphore_info;

/* clang-format off */
#define HF_SEMAPHORE_INFO_INIT \
    { sizeof(hf_semaphore_info), 0, false, 0, 0, 0, 0 }
/* clang-format on */

/**
 * Look at a semaphore. Nothing is changed. One that is not in use has all its
 * permits.
 *
 * @param name     the semaphore's name
 * @param permits  how many there are if no number is stored; may be 0
 * @param info     [in,out] start it with #HF_SEMAPHORE_INFO_INIT
 *
 * @retval HF_OK          `*info` is filled
 * @retval HF_WRONG_TYPE  the key holds something that is not a semaphore
 */
HF_API HF_MUST_USE hf_status hf_semaphore_inspect(hf_client *client,
                                                  hf_bytes name,
                                                  int64_t permits,
                                                  hf_semaphore_info *info,
                                                  hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_semaphore_resize_start, hf_bytes name, int64_t permits);
HF_START(hf_semaphore_inspect_start, hf_bytes name, int64_t permits,
         hf_semaphore_info *info);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SEMAPHORE_H */
