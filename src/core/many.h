/* SPDX-License-Identifier: Apache-2.0 */
/* many.h - many calls at once: what the `_many` functions share. */
#ifndef HF__CORE_MANY_H
#define HF__CORE_MANY_H

#include "core/call.h"

/* Prepare call number `index` of what `user` describes. */
typedef hf_status (*hf__many_prepare)(hf_call *call, hf_client *client,
                                      const void *user, size_t index,
                                      hf_error *err);

/* Calls that go to the store together: enough to hide the way there and back; a
 * call is over a kilobyte. As long as the store answers each window of them has
 * request_ms of its own, however many there are. */
#define HF__MANY_WINDOW 1024

/* A status with which no answer came. */
static inline bool hf__many_is_silence(hf_status status)
{
    return status == HF_UNAVAILABLE || status == HF_INDETERMINATE;
}

/*
 * Run `count` calls and write what each came to into statuses[]. HF_OK: the
 * store answered every one of them; else the first status that is no answer,
 * its message preceded by the item's number.
 */
hf_status hf__many_run(hf_client *client, size_t count, hf_status *statuses,
                       hf__many_prepare prepare, const void *user,
                       hf_error *err);

/* The same of statuses that came otherwise. */
hf_status hf__many_verdict(const hf_status *statuses, size_t count,
                           hf_error *err);

#endif
