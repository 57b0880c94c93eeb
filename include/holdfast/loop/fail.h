/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/loop/fail.h - how the adapters for event loops report errors.
 *
 * Contents:
 * - hf_loop_fail(): fills an hf_error
 *
 * Programs include an adapter (holdfast/loop/epoll.h, uv.h, glib.h or
 * libevent.h), which includes this.
 *
 * @code
 * hf_status attach_to_own_loop(int number, hf_error *err)
 * {
 *     return number == 0 ? HF_OK
 *                        : hf_loop_fail(err, HF_SYSTEM, number, "own_loop_add",
 *                                       "it is full");
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOOP_FAIL_H
#define HOLDFAST_LOOP_FAIL_H

#include <stdio.h>

#include "holdfast/async.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Fill `err`, if it is not NULL: the message is "CALL: REASON".
 *
 * @param status     what to return
 * @param sys_errno  the errno that caused it, or 0
 * @param call       the function of the loop that failed
 * @param reason     why
 * @return status
 */
static inline hf_status hf_loop_fail(hf_error *err, hf_status status,
                                     int sys_errno, const char *call,
                                     const char *reason)
{
    if (err == NULL)
        return status;
    err->status = status;
    err->sys_errno = sys_errno;
    (void)snprintf(err->message, sizeof(err->message), "%s: %s", call, reason);
    return status;
}

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOOP_FAIL_H */
