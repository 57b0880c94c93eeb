/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/rwlock.h - read-write locks: many readers or one writer.
 *
 * Contents:
 * - hf_rwlock_new(): a pair of handles, for reading and for writing
 * - hf_rwlock_downgrade(): from writing to reading
 *
 * Both handles are hf_locks, and lock.h has their functions. The write lock is
 * the lock of that name: it excludes, and waits for, every handle of
 * hf_lock_new() and other libraries that lock the name.
 *
 * Each reader has a lease and a fencing token of its own, and that of a reader
 * that was killed ends alone. Tokens grow with every grant of either kind.
 *
 * Waiters are served in order: a reader that comes after a waiting writer waits
 * for it. A release lets in all readers at the head of the queue, or one
 * writer.
 *
 * @code
 * hf_status look_up(hf_client *client, hf_error *err)
 * {
 *     hf_lock *read = NULL, *write = NULL;
 *     hf_status status = hf_rwlock_new(client, hf_str("index"), 0, NULL, &read,
 *                                      &write, err);
 *
 *     if (status == HF_OK)
 *         status = hf_lock_acquire(read, 5000, err);
 *     if (status == HF_OK)
 *         printf("the index does not change now\n");
 *     hf_lock_free(read); // releases it
 *     hf_lock_free(write);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_RWLOCK_H
#define HOLDFAST_RWLOCK_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Flags of hf_rwlock_new(). */
enum {
    /** Writers come first: `write` waits in front of all who wait without this,
     *  so readers starve while one writer follows another. */
    HF_RWLOCK_PREFER_WRITERS = 1u << 0
};

/**
 * Make the two handles of a read-write lock. Nothing is sent.
 *
 * The pair holds the lock either for reading or for writing. An acquire of
 * `write` while `read` is held is refused with HF_INVALID, as it would wait for
 * itself: release it first. An acquire of `read` while `write` is held is
 * refused likewise: see hf_rwlock_downgrade(). So threads that lock
 * independently of each other need a pair each.
 *
 * In Redisson and Curator a thread that writes may also acquire the read lock,
 * as they count the holds of each thread. Here a handle holds the lock, for
 * whichever thread uses it: code that reads, and is called while `write` is
 * held, gets `write` and acquires that again, which is re-entry without a
 * request, and allows no other writer or reader either.
 *
 * The key of a lock that is held for reading is a sorted set, which other
 * libraries cannot overwrite by SET NX. It expires up to a quarter of a lease
 * after the last reader was killed; writers of Holdfast need not wait for that.
 * Leases of readers on a server end by its wall clock.
 *
 * @param name   as for hf_lock_new()
 * @param flags  0 or #HF_RWLOCK_PREFER_WRITERS
 * @param opts   of both handles, as for hf_lock_new()
 * @param read   [out] free it with hf_lock_free()
 * @param write  [out] likewise; NULL: only read
 *
 * @retval HF_OK           the handles can be acquired
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:)
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_rwlock_new(hf_client *client, hf_bytes name,
                                           uint32_t flags,
                                           const hf_lock_options *opts,
                                           hf_lock **read, hf_lock **write,
                                           hf_error *err);

/**
 * Go from writing to reading in one step, in which no other writer gets in:
 * afterwards the other handle of the pair holds the lock, with the same owner
 * id and fencing token, and `write` does not. Readers at the head of the queue
 * are let in, perhaps before the reply arrives. So hf_lock_is_held() of `write`
 * is false as soon as the request is sent, whatever the status, and on_lost of
 * `write` is not called for what happens to the lock from then on.
 *
 * After #HF_INDETERMINATE, and any other status not listed here, `write` may
 * have the lock in the store, or `read`, but neither handle holds it nor renews
 * it. Call this again, or release `write`, which ends either; that returns
 * HF_INDETERMINATE if the downgrade may have been done.
 *
 * @param write  the write handle of a pair, acquired once
 *
 * @retval HF_OK             the pair's read handle holds the lock
 * @retval HF_LOST           another owner has it, or its lease ended before the
 *                           reply arrived; nothing is held
 * @retval HF_EXPIRED        the lease had expired; nothing is held
 * @retval HF_INVALID        `write` is not the write handle of a pair, does not
 *                           hold the lock, or was acquired several times;
 *                           nothing was sent. Or `read` was freed meanwhile
 * @retval HF_INDETERMINATE  no reply arrived
 */
HF_API HF_MUST_USE hf_status hf_rwlock_downgrade(hf_lock *write, hf_error *err);

/**
 * Starts hf_rwlock_downgrade(). The handles may be freed meanwhile.
 *
 *
 * @retval HF_INVALID  as for hf_rwlock_downgrade(); nothing was started
 */
HF_START_OF(hf_rwlock_downgrade_start, hf_lock *write);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_RWLOCK_H */
