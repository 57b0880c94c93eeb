/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/together.h - acquiring several locks at once, all or none.
 *
 * Contents:
 * - hf_lock_acquire_all()
 *
 * Each lock is then held by its own handle, with a fencing token of its own,
 * and is renewed, lost and released like any other; hf_lock_release_many()
 * releases them all.
 *
 * @code
 * hf_status move_money(hf_lock *from, hf_lock *to, hf_error *err)
 * {
 *     hf_lock *locks[] = {from, to};
 *     hf_status statuses[2];
 *     hf_status status = hf_lock_acquire_all(locks, 2, 5000, err);
 *
 *     if (status != HF_OK)
 *         return status; // neither is held
 *     puts("moving");
 *     return hf_lock_release_many(locks, 2, statuses, err);
 * }
 * @endcode
 *
 * In which order
 * ==============
 *
 * Programs that acquire the same locks never block one another for good,
 * however they order their arrays: locks are taken in one order, that of their
 * names' bytes (in a cluster, that of their hash slots first). A call that
 * waits holds the locks that come before the one it waits for, and those are
 * renewed; it keeps its place in each wait queue, so it gets them all in the
 * end.
 *
 * Locks of one server, or of one hash slot of a cluster, are taken by one
 * script, so acquiring them takes one request if all are free, and one more for
 * each that is not. Semaphores, and locks with `replicas`, take one request
 * each.
 *
 * The order does not include what a program holds before the call: two programs
 * that each hold one lock and then call this for the other's wait until
 * `wait_ms` has passed.
 */
#ifndef HOLDFAST_TOGETHER_H
#define HOLDFAST_TOGETHER_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Most locks that can be acquired together. */
#define HF_LOCK_ALL_MAX 128u

/**
 * Acquire all of several locks or permits, waiting up to `wait_ms` for all
 * together. If that fails none is held, and those that had been acquired are
 * released before the call returns.
 *
 * A handle that holds its lock already is entered again, and needs one more
 * release. A lock that is lost while others are waited for is reported to its
 * on_lost; then all are released, and acquired from the start. A process that
 * is killed in the call leaves locks that expire after their leases.
 *
 * @param locks    `count` different handles of one client, of any kind, for
 *                 different names
 * @param count    1..#HF_LOCK_ALL_MAX
 * @param wait_ms  as for hf_lock_acquire()
 *
 * @retval HF_OK             all are held
 * @retval HF_TIMEOUT        another owner held one until wait_ms had passed; or
 *                           another call is using one of the handles
 * @retval HF_CANCELLED      one was interrupted; see hf_lock_interrupt()
 * @retval HF_LOST           a handle had lost its lock before: release it
 * first; or a lock was lost while others were waited for, and there is no time
 * left: none is held
 * @retval HF_INVALID        also if two handles have the same name
 * @retval HF_WRONG_TYPE     a key holds something that is not such a lock
 * @retval HF_INDETERMINATE  no reply arrived: none is held, but the attempt may
 *                           block some for at most their leases
 * @retval HF_UNAVAILABLE    as for hf_lock_acquire()
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * The message names the lock because of which the call failed. Blocks: up to
 * wait_ms plus twice request_ms.
 */
HF_API HF_MUST_USE hf_status hf_lock_acquire_all(hf_lock *const *locks,
                                                 size_t count, int64_t wait_ms,
                                                 hf_error *err);

/**
 * Starts hf_lock_acquire_all().
 *
 * @param locks    as for hf_lock_acquire_all(); the array is copied. The
 *                 handles must not be freed before done() is called
 * @param async    done() can also receive HF_CANCELLED

 */
HF_START_OF(hf_lock_acquire_all_start, hf_lock *const *locks, size_t count,
            int64_t wait_ms);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_TOGETHER_H */
