/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/async.h - calls that do not wait for their answer.
 */
#ifndef HOLDFAST_ASYNC_H
#define HOLDFAST_ASYNC_H

#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An asynchronous call under way, for hf_call_cancel(). It ends when done()
 * returns.
 */
typedef struct hf_call hf_call;

/**
 * Tells what an asynchronous call came to, exactly once, from within
 * hf_client_dispatch(), or from within hf_client_close() for what is still
 * under way then. It may start other calls (while closing they are HF_INVALID,
 * as is every other call on the client), free what is its own, dispatch, and
 * close the client.
 *
 * @param user    hf_async::user
 * @param status  what the blocking function would have returned, or
 *                HF_CANCELLED
 * @param err     the detail; NULL if status is HF_OK; ends with the call
 */
typedef void (*hf_done_fn)(void *user, hf_status status, const hf_error *err);

/**
 * How an asynchronous call reports.
 *
 * Each function `hf_NAME_start()` below starts what the blocking `hf_NAME()`
 * does and returns without waiting for the answer; `async` says whom to tell
 * what it came to. The other parameters are those of `hf_NAME()`: inputs are
 * copied before the start returns; out-parameters belong to the call until
 * done() is called, and are written just before that, as the blocking function
 * writes them.
 *
 * A start returns HF_OK if done() will be called. Whatever can be checked at
 * once is checked at once: then the status is that of `hf_NAME()`, nothing is
 * started and done() is never called. So it is with HF_INVALID if `async` is
 * wrong, with HF_NO_MEMORY, and with HF_UNAVAILABLE if as many calls are under
 * way, or hold as much memory, as the client's `max_calls` and `max_call_bytes`
 * allow: dispatch, and start it again.
 *
 * Calls under way at the same time take effect in any order; what must come
 * after another call is started by that one's done().
 *
 * Nothing of the user's runs on the library's thread. An embedded store that
 * waits for no disk answers within the start itself, which takes microseconds;
 * done() is called by hf_client_dispatch() there too.
 */
typedef struct hf_async {
    size_t struct_size; /**< #HF_ASYNC_INIT sets it */
    hf_done_fn done;    /**< never NULL */
    void *user;         /**< given to done() */
    hf_call **call;     /**< [out] for hf_call_cancel(); NULL: not wanted */
} hf_async;

/* clang-format off */
#define HF_ASYNC_INIT { sizeof(hf_async), NULL, NULL, NULL }
/* clang-format on */

/**
 * A file descriptor that polls readable while hf_client_dispatch() has
 * something to do. It belongs to the client: do not read, write or close it.
 * It fits any event loop, level-triggered or edge-triggered.
 *
 * @param client  open client
 * @param fd      [out] the descriptor, valid until hf_client_close()
 * @param err     [out] may be NULL
 *
 * @retval HF_OK       `*fd` can be polled
 * @retval HF_INVALID  an argument is NULL, or the client is from before fork()
 * @retval HF_SYSTEM   no descriptor could be had
 *
 * Never blocks. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_fd(hf_client *client, int *fd,
                                          hf_error *err);

/**
 * Call done() of every asynchronous call that has completed, in the order in
 * which they did. Calls that complete meanwhile are for the next time.
 *
 * @param client   open client
 * @param running  [out] asynchronous calls not told yet; may be NULL
 * @param err      [out] may be NULL
 *
 * @retval HF_OK       done() was called for whatever there was
 * @retval HF_INVALID  the client is NULL or from before fork()
 *
 * Never blocks. Threads: several may dispatch at once; each call is told by
 * one of them. Since 0.1.
 */
HF_API HF_MUST_USE hf_status hf_client_dispatch(hf_client *client,
                                                size_t *running, hf_error *err);

/**
 * Have an asynchronous call completed now. It is told as any other, and in no
 * case later than without this: HF_CANCELLED if it was not sent, so that
 * nothing was applied; HF_INDETERMINATE if it was and its answer was not
 * waited for; or what it came to.
 *
 * @param call  a call whose done() has not been called; NULL is allowed
 *
 * Never blocks. Since 0.1.
 */
HF_API void hf_call_cancel(hf_call *call);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_ASYNC_H */
