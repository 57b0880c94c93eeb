/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async.h - starting and cancelling asynchronous calls.
 *
 * What is under way is bounded in number and in bytes, as a program may start
 * calls faster than a store answers them. Renewals and releases are exempt from
 * both bounds: there are no more of them than locks, and others wait for what
 * they free.
 */
#ifndef HF__CORE_ASYNC_H
#define HF__CORE_ASYNC_H

#include "core/call.h"

/* Allocate a call to be started; `async` is checked. HF_UNAVAILABLE: as many as
 * the client allows are under way. */
hf_status hf__call_new(hf_client *client, const hf_async *async, hf_call **call,
                       hf_error *err);
/* The same for one that renews or releases, for which there is always room. */
hf_status hf__call_new_lease(hf_client *client, const hf_async *async,
                             hf_call **call, hf_error *err);
/* Free a call from hf__call_new() that was not started. */
void hf__call_discard(hf_call *call);
/* Start a call from hf__call_new(). On a failure it is freed. */
hf_status hf__call_start(hf_call *call, hf_status prepared,
                         const hf_async *async, hf_error *err);

/* Copy the words' bytes into call->copies. */
hf_status hf__call_copy_words(hf_call *call, hf_error *err);

/* Start a call that runs no request of its own: begin; hand it to what
 * completes it (hf__call_complete()); then its start is over, and the caller
 * uses nothing of the call any more. */
void hf__call_start_begin(hf_call *call, const hf_async *async);
void hf__call_start_end(hf_call *call);

/* One more call under way until it is uncounted, or delivered
 * (hf__call_complete()): for those that the library makes itself. There is no
 * bound: each comes from a call that was counted. */
void hf__call_count(hf_call *call);
void hf__call_uncount(hf_call *call);

/* hf_call_cancel() for callers that have entered the client; NULL is allowed.
 */
void hf__call_cancel(hf_call *call);

#endif
