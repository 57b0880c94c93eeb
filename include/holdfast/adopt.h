/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/adopt.h - passing a held lock to another process by a text.
 *
 * Contents:
 * - hf_lock_export(): stop holding a lock, without releasing it
 * - hf_lock_adopt(): hold it in its place
 *
 * A supervisor can acquire a lock for a program that it then starts, and a
 * program can keep its lock while it is replaced by a newer version. Nothing is
 * released in between, so no other client can acquire the lock, as long as it
 * is adopted before its lease ends. The fencing token stays the same.
 *
 * @code
 * hf_status hand_over(hf_lock *lock, int pipe, hf_error *err)
 * {
 *     hf_buffer text = HF_BUFFER_INIT;
 *     hf_status status = hf_lock_export(lock, &text, err);
 *
 *     if (status == HF_OK)
 *         dprintf(pipe, "%s\n", (const char *)text.data);
 *     hf_buffer_free(&text);
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_ADOPT_H
#define HOLDFAST_ADOPT_H

#include "holdfast/lock.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Stop holding a lock without releasing it, and get the text with which another
 * handle can adopt it: in this process or another, on this machine or another.
 *
 * The lease is no longer renewed; it ends ttl_ms after its last renewal, at the
 * latest, unless the lock is adopted before. If the text is lost, others have
 * to wait for that. Nothing is sent, with one exception: a lock that was handed
 * over by a release has a lease of a second at most until it is renewed for the
 * first time. If it has not been yet, that is done first.
 *
 * The text is one word of printable ASCII without quotes. Who has it and may
 * use the store can adopt the lock, once.
 *
 * @param lock  the handle; afterwards it can be acquired again, or freed
 * @param text  [out] free it with hf_buffer_free()
 *
 * @retval HF_OK           the handle does not hold the lock any more
 * @retval HF_INVALID      the handle does not hold the lock, or was acquired
 *                         more than once
 * @retval HF_LOST         it has lost the lock
 * @retval HF_TIMEOUT      the same: its max_hold_ms has passed
 * @retval HF_UNSUPPORTED  this kind of lease cannot be passed on
 *
 * If the lease was to be renewed first, also what hf_lock_renew() returns.
 * After other statuses than HF_OK the handle holds what it held.
 */
HF_API HF_MUST_USE hf_status hf_lock_export(hf_lock *lock, hf_buffer *text,
                                            hf_error *err);

/**
 * Make a handle that holds a lock which another handle has exported.
 *
 * One request checks that the lock is still there, puts a new owner id in the
 * place of the old one, and begins a new lease. So of several that adopt with
 * the same text one succeeds.
 *
 * @param client  of the same store as the exporter, and with the same prefix
 * @param text    from hf_lock_export()
 * @param opts    as for hf_lock_new(); ttl_ms 0: that of the exporter.
 *                max_hold_ms counts from now. Too few replicas count as for a
 *                renewal, see hf_lock_replicas()
 * @param lock    [out] the handle, which holds the lock; free it with
 *                hf_lock_free()
 *
 * @retval HF_OK             `*lock` holds the lock
 * @retval HF_EXPIRED        the lease had ended, or the lock was released
 * @retval HF_LOST           another owner holds it, or it was adopted before
 * @retval HF_INVALID        the text is damaged
 * @retval HF_UNSUPPORTED    also if a newer version has made the text
 * @retval HF_WRONG_TYPE     the key holds something that is not such a lock
 * @retval HF_INDETERMINATE  no reply arrived: if it was adopted, it is released
 * @retval HF_SYSTEM         the background thread could not be started
 *
 * With a status other than HF_OK and HF_INDETERMINATE, nothing has changed.
 */
HF_API HF_MUST_USE hf_status hf_lock_adopt(hf_client *client, hf_bytes text,
                                           const hf_lock_options *opts,
                                           hf_lock **lock, hf_error *err);

/**
 * Starts hf_lock_adopt(). The lock is renewed since the store has replied, even
 * while the call waits to be dispatched.

 */
HF_START(hf_lock_adopt_start, hf_bytes text, const hf_lock_options *opts,
         hf_lock **lock);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_ADOPT_H */
