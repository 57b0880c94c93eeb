/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/redisson.h - locks that Java programs share by Redisson.
 *
 * Contents:
 * - hf_redisson_kind, hf_redisson_lock_new()
 * - hf_redisson_latch_set(), hf_redisson_latch_arrive(),
 *   hf_redisson_latch_await(), hf_redisson_latch_inspect(): RCountDownLatch
 * - hf_redisson_semaphore_set(), hf_redisson_semaphore_acquire(),
 *   hf_redisson_semaphore_release(), hf_redisson_semaphore_inspect():
 *   RSemaphore
 *
 * A lock in the layout of Redisson is stored, renewed, waited for and broken as
 * Redisson does it, so a Java program and one that uses this library exclude
 * and wake each other on one name. Every hf_lock_* function that takes a handle
 * works as for a lock of hf_lock_new(), with these differences:
 *
 * - Locks are not handed over: a release wakes one waiting call of each
 *   program, and the first to ask has the lock. #HF_REDISSON_FAIR_LOCK is first
 *   come, first served.
 * - Only a fenced lock has tokens that grow with each holder, in Java too.
 * Those of locks and read-write locks grow with the holders that use this
 * library; those of fair locks and permits are the store's time in us.
 * - A hold count is kept for each handle; the one in the store stays 1.
 * - A lock that another program broke or deleted is noticed at the next
 *   renewal.
 * - A name with a `{` but without a Redis hash tag ("a{b", "{}a") is refused:
 *   Redisson's keys would be in several slots.
 * - hf_lock_list() does not list them.
 *
 * hf_lock_inspect(), hf_lock_holders(), hf_lock_break() and
 * hf_lock_break_owner() of any client know a lock of Redisson by its key: a
 * hash that expires and has only owners. They also know a semaphore of which
 * permits are held: its owners are the ids of the permits, 32 hexadecimal
 * digits as in Java. The token of a fenced lock is shown; of the other kinds it
 * is unknown.
 *
 * With the parameter `layout=redisson`, the URL of a client makes this the
 * layout of hf_lock_new() and of `holdfast run` and `lock`: hf_lock_new() makes
 * a handle for an #HF_REDISSON_LOCK, and the calls above leave all other
 * keys alone, with HF_WRONG_TYPE. Our read-write locks, semaphores, elections
 * and latches are HF_UNSUPPORTED there.
 *
 * In a cluster messages are sharded, as from Redisson 3.22 on (SPUBLISH), and
 * plain otherwise. The parameter `channels` of the URL says it differently:
 * `plain` for a Redisson whose shardedSubscriptionMode is OFF, `sharded` for
 * one behind a proxy; `auto` is the default.
 *
 * A user of the server needs the keys NAME, `redisson_*` and `{NAME}:*`, and
 * the channels `redisson_*`.
 *
 * @code
 * hf_status close_the_books(hf_client *client, hf_error *err)
 * {
 *     hf_lock *lock = NULL; // client.getLock("books") in Java
 *     hf_status status = hf_redisson_lock_new(
 *         client, hf_str("books"), HF_REDISSON_LOCK, NULL, &lock, err);
 *
 *     if (status != HF_OK)
 *         return status;
 *     status = hf_lock_acquire(lock, 5000, err); // HF_TIMEOUT: held for 5 s
 *     if (status == HF_OK)
 *         status = hf_lock_release(lock, err);
 *     hf_lock_free(lock);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_REDISSON_H
#define HOLDFAST_REDISSON_H

#include "holdfast/async.h"
#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The kinds of locks. A name is one of these in all programs. */
typedef enum hf_redisson_kind {
    HF_REDISSON_LOCK = 0,        /**< RLock */
    HF_REDISSON_FENCED_LOCK = 1, /**< RFencedLock */
    /** RFairLock. A waiter that was killed is passed over 10 s after it could
     *  have had the lock; one in Java after fairLockWaitTimeout, 300 s. */
    HF_REDISSON_FAIR_LOCK = 2,
    HF_REDISSON_READ_LOCK = 3,  /**< RReadWriteLock.readLock() */
    HF_REDISSON_WRITE_LOCK = 4, /**< RReadWriteLock.writeLock() */
    /** A permit of an RPermitExpirableSemaphore. There are as many as
     *  trySetPermits() of Java has said, or hf_value_set() of NAME to their
     *  number; until then none is free. */
    HF_REDISSON_PERMIT = 5
} hf_redisson_kind;

/**
 * Make a handle for a lock of Redisson. Nothing is sent.
 *
 * @param name  the client's prefix and this are Redisson's name of the lock
 * @param kind  which of its locks
 * @param opts  as for hf_lock_new(). Redisson's lease is 30 s, too; the two
 *              need not be equal.
 * @param lock  [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_INVALID      also if the name has a `{` but no hash tag
 * @retval HF_UNSUPPORTED  on embedded stores and a quorum, where no Redisson
 *                         is; an unknown kind
 *
 * An acquire returns HF_WRONG_TYPE if the name is in use as another kind, as
 * far as that shows.
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_redisson_lock_new(
    hf_client *client, hf_bytes name, hf_redisson_kind kind,
    const hf_lock_options *opts, hf_lock **lock, hf_error *err);

/** Greatest count of a latch, and number of permits in a call. */
#define HF_REDISSON_COUNT_MAX 2147483647

/**
 * Set the count of an RCountDownLatch (trySetCount()), unless it has one.
 *
 * A latch is a plain number without a time to live. At 0 it is deleted: an open
 * latch looks like one that was never set.
 *
 * @param name   the latch; in a cluster without a `{`
 * @param count  1..#HF_REDISSON_COUNT_MAX
 *
 * @retval HF_OK             set by this call
 * @retval HF_CONFLICT       it has a count; it is unchanged
 * @retval HF_UNSUPPORTED    on embedded stores and a quorum
 * @retval HF_INDETERMINATE  no reply arrived
 */
HF_API HF_MUST_USE hf_status hf_redisson_latch_set(hf_client *client,
                                                   hf_bytes name, int64_t count,
                                                   hf_error *err);

/**
 * Count an RCountDownLatch down by 1 (countDown()), and wake all that wait if
 * it opens. A call that is sent again after a lost connection counts once.
 *
 * @param name  the latch
 *
 * @retval HF_OK             counted
 * @retval HF_NOT_FOUND      it is open, or was never set
 * @retval HF_INDETERMINATE  no reply arrived; repeated, it could count twice
 */
HF_API HF_MUST_USE hf_status hf_redisson_latch_arrive(hf_client *client,
                                                      hf_bytes name,
                                                      hf_error *err);

/**
 * Wait until an RCountDownLatch is open (await()).
 *
 * @param name     the latch
 * @param wait_ms  longest time to wait, 0..#HF_FOREVER
 *
 * @retval HF_OK         it is open, or was never set
 * @retval HF_TIMEOUT    it was not open until wait_ms had passed
 * @retval HF_CANCELLED  interrupted (hf_client_interrupt())
 *
 * Blocks: up to wait_ms plus request_ms. Without a reply it asks again until
 * wait_ms has passed.
 */
HF_API HF_MUST_USE hf_status hf_redisson_latch_await(hf_client *client,
                                                     hf_bytes name,
                                                     int64_t wait_ms,
                                                     hf_error *err);

/**
 * The count of an RCountDownLatch (getCount()).
 *
 * @param name  the latch
 * @param left  [out] 0: it is open, or was never set
 *
 * @retval HF_OK  `*left` is set
 */
HF_API HF_MUST_USE hf_status hf_redisson_latch_inspect(hf_client *client,
                                                       hf_bytes name,
                                                       int64_t *left,
                                                       hf_error *err);

/**
 * Set the number of free permits of an RSemaphore (trySetPermits()), unless it
 * has one.
 *
 * An RSemaphore is a plain number: permits have no owner and no lease, and
 * those of a program that died are lost. #HF_REDISSON_PERMIT has both, but is
 * another kind: a name is one of them in all programs.
 *
 * @param name     the semaphore
 * @param permits  1..#HF_REDISSON_COUNT_MAX
 *
 * @retval HF_OK             set by this call
 * @retval HF_CONFLICT       it has a number; it is unchanged
 * @retval HF_UNSUPPORTED    on embedded stores and a quorum
 * @retval HF_INDETERMINATE  no reply arrived
 */
HF_API HF_MUST_USE hf_status hf_redisson_semaphore_set(hf_client *client,
                                                       hf_bytes name,
                                                       int64_t permits,
                                                       hf_error *err);

/**
 * Take permits of an RSemaphore (acquire(), tryAcquire()), all or none. There
 * is no queue: who asks first after a release has them, and one who waits for
 * many may be overtaken.
 *
 * A request is never sent twice. If its reply is lost the permits may be taken,
 * without a
 * holder: that is #HF_INDETERMINATE, also before wait_ms has passed.
 *
 * @param name     the semaphore
 * @param permits  1..#HF_REDISSON_COUNT_MAX
 * @param wait_ms  longest time to wait, 0..#HF_FOREVER
 *
 * @retval HF_OK             taken
 * @retval HF_TIMEOUT        too few were free until wait_ms had passed
 * @retval HF_CANCELLED      interrupted (hf_client_interrupt())
 * @retval HF_UNAVAILABLE    nothing was sent, or the client was closed during
 *                           the wait; none are taken
 * @retval HF_INDETERMINATE  a request got no reply
 *
 * Blocks: up to wait_ms plus request_ms.
 */
HF_API HF_MUST_USE hf_status hf_redisson_semaphore_acquire(hf_client *client,
                                                           hf_bytes name,
                                                           int64_t permits,
                                                           int64_t wait_ms,
                                                           hf_error *err);

/**
 * Add permits to an RSemaphore (release(), addPermits()), and wake those that
 * wait. It is not checked that they were taken before. A call that is sent
 * again after a lost connection adds them once.
 *
 * @param name     the semaphore
 * @param permits  how many, -#HF_REDISSON_COUNT_MAX..#HF_REDISSON_COUNT_MAX;
 *                 negative: take them away, even below 0
 *
 * @retval HF_OK             added
 * @retval HF_INDETERMINATE  no reply arrived; repeated, it could add twice
 */
HF_API HF_MUST_USE hf_status hf_redisson_semaphore_release(hf_client *client,
                                                           hf_bytes name,
                                                           int64_t permits,
                                                           hf_error *err);

/**
 * The number of free permits of an RSemaphore (availablePermits()).
 *
 * @param name     the semaphore
 * @param permits  [out] 0 if it was never set
 *
 * @retval HF_OK  `*permits` is set
 */
HF_API HF_MUST_USE hf_status hf_redisson_semaphore_inspect(hf_client *client,
                                                           hf_bytes name,
                                                           int64_t *permits,
                                                           hf_error *err);

/** The `_start` forms; see #HF_START. */
HF_START(hf_redisson_latch_set_start, hf_bytes name, int64_t count);
HF_START(hf_redisson_latch_arrive_start, hf_bytes name);
HF_START(hf_redisson_latch_await_start, hf_bytes name, int64_t wait_ms);
HF_START(hf_redisson_latch_inspect_start, hf_bytes name, int64_t *left);
HF_START(hf_redisson_semaphore_set_start, hf_bytes name, int64_t permits);
HF_START(hf_redisson_semaphore_acquire_start, hf_bytes name, int64_t permits,
         int64_t wait_ms);
HF_START(hf_redisson_semaphore_release_start, hf_bytes name, int64_t permits);
HF_START(hf_redisson_semaphore_inspect_start, hf_bytes name, int64_t *permits);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_REDISSON_H */
