/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/semaphore.h - semaphores: at most N holders at the same time.
 *
 * Contents:
 * - hf_semaphore_new(): a handle for one of N permits
 *
 * A permit is a lease: its handle is an hf_lock, and lock.h has its functions.
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
#define HF_SEMAPHORE_PERMITS_MAX 100000u

/**
 * Make a handle for one permit of a semaphore: of all handles of a name, at
 * most `permits` hold one at the same time. Nothing is sent.
 *
 * Every hf_lock_* function that takes a handle works as for a lock. HF_HELD
 * means that all permits are held. Each permit has its own lease and fencing
 * token, and that of a holder that was killed is free when its lease expires.
 * Functions that take a name return HF_WRONG_TYPE: a name is either a lock or a
 * semaphore.
 *
 * Use the same number everywhere. It is not stored: each acquire compares the
 * permits that are held with its own number. It can therefore be changed while
 * the semaphore is in use; until all programs have the new number, those with
 * the smaller one wait longer.
 *
 * Permits expire by the wall clock of the store's machine, on a volatile store
 * too: setting it forward lets others acquire while a permit is still held.
 *
 * @param name     as for hf_lock_new()
 * @param permits  1..#HF_SEMAPHORE_PERMITS_MAX
 * @param opts     as for hf_lock_new()
 * @param lock     [out] free it with hf_lock_free()
 *
 * @retval HF_OK           `*lock` can be acquired
 * @retval HF_UNSUPPORTED  as for hf_lock_new(), and on a quorum (redlock:)
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_semaphore_new(hf_client *client, hf_bytes name,
                                              uint32_t permits,
                                              const hf_lock_options *opts,
                                              hf_lock **lock, hf_error *err);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_SEMAPHORE_H */
