/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/async.h - calls that do not wait for their reply.
 *
 * Contents:
 * - hf_async: how an asynchronous call reports its completion
 * - HF_START(), by which the `_start` functions are declared, each in the
 * header of its noun
 * - hf_client_fd(), hf_client_dispatch(): for the event loop; for epoll, libuv,
 * GLib and libevent see the headers in holdfast/loop
 * - hf_client_wait(): for programs without one
 * - hf_call_cancel()
 *
 * @code
 * hf_status run_calls(hf_client *client, hf_error *err)
 * {
 *     size_t running = 0;
 *     hf_status status = hf_client_dispatch(client, &running, err);
 *
 *     while (status == HF_OK && running > 0) {
 *         status = hf_client_wait(client, HF_FOREVER, err);
 *         if (status == HF_OK)
 *             status = hf_client_dispatch(client, &running, err);
 *     }
 *     return status;
 * }
 * @endcode
 */
#ifndef HOLDFAST_ASYNC_H
#define HOLDFAST_ASYNC_H

#include "holdfast/client.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * An asynchronous call in progress, for hf_call_cancel(). It ends when done()
 * returns.
 */
typedef struct hf_call hf_call;

/** A transaction; see holdfast/txn.h. */
typedef struct hf_txn hf_txn;

/**
 * Reports the outcome of an asynchronous call. It is called exactly once, by
 * hf_client_dispatch(), or by hf_client_close() for a call that is then still
 * in progress. It may start other calls (during the close they are HF_INVALID,
 * as is every other call on the client), free what it owns, dispatch, and close
 * the client.
 *
 * @param user    hf_async::user
 * @param status  what the blocking function would have returned, or
 *                HF_CANCELLED
 * @param err     details; NULL if status is HF_OK; valid until done() returns
 */
typedef void (*hf_done_fn)(void *user, hf_status status, const hf_error *err);

/**
 * How an asynchronous call reports its completion.
 *
 * `hf_NAME_start()` starts what the blocking `hf_NAME()` does, and returns
 * without waiting for the reply. `async` has the function to call on
 * completion. The other parameters are those of `hf_NAME()`: inputs are copied
 * before the start returns; output parameters belong to the call until done()
 * is called, and are written just before that, as the blocking function writes
 * them.
 *
 * A start returns HF_OK if done() will be called. What can be checked
 * immediately is: then the status is that of `hf_NAME()`, nothing is started,
 * and done() is not called. This includes HF_INVALID if `async` is invalid,
 * HF_NO_MEMORY, and HF_UNAVAILABLE if as many calls are in progress, or hold as
 * much memory, as the client's `max_calls` and `max_call_bytes` allow:
 * dispatch, and start it again.
 *
 * Calls in progress at the same time take effect in any order. To run a call
 * after another, start it from the other's done().
 *
 * done() is never called on the library's own thread. An embedded store that
 * does not wait for a disk completes the call within the start, in
 * microseconds; done() is called by hf_client_dispatch() all the same.
 */
typedef struct hf_async {
    size_t struct_size; /**< #HF_ASYNC_INIT sets it */
    hf_done_fn done;    /**< never NULL, unless `txn` is set */
    void *user;         /**< passed to done() */
    hf_call **call;     /**< [out] for hf_call_cancel(); may be NULL */
    /** NULL, or the transaction (holdfast/txn.h) that the call becomes part of:
     *  then nothing is started, and `done`, `user` and `call` are not used. */
    hf_txn *txn;
} hf_async;

/* clang-format off */
#define HF_ASYNC_INIT { sizeof(hf_async), NULL, NULL, NULL, NULL }
/* clang-format on */

/**
 * Declares `hf_NAME_start()`, by its full name. Each header has a block of
 * these for the functions that it documents:
 *
 *     HF_START(hf_latch_inspect_start, hf_bytes name, int64_t *left);
 *
 * declares
 *
 *     hf_status hf_latch_inspect_start(hf_client *client, hf_bytes name,
 *                                   int64_t *left, const hf_async *async,
 *                                   hf_error *err);
 *
 * that is, the client, what is listed, `async` and `err`. Those listed are the
 * parameters of `hf_NAME()`, here hf_latch_inspect(). HF_START_OF() is for
 * functions without a parameter `client`: what is listed comes first.
 */
#define HF_START(name, ...) HF_START_OF(name, hf_client *client, __VA_ARGS__)
#define HF_START_OF(name, ...)                                                 \
    HF_API HF_MUST_USE hf_status name(__VA_ARGS__, const hf_async *async,      \
                                      hf_error *err)

/**
 * A file descriptor that polls readable while hf_client_dispatch() has
 * something to do. It belongs to the client: do not read, write or close it. It
 * works in any event loop, level-triggered or edge-triggered.
 *
 * @param fd  [out] the descriptor, valid until hf_client_close()
 *
 * @retval HF_OK      `*fd` can be polled
 * @retval HF_SYSTEM  no descriptor could be opened
 *
 * Never blocks.
 */
HF_API HF_MUST_USE hf_status hf_client_fd(hf_client *client, int *fd,
                                          hf_error *err);

/**
 * Call done() of each asynchronous call that has completed, in the order of
 * completion. Calls that complete meanwhile are left for the next dispatch.
 *
 * @param running  [out] calls whose done() has not been called, and fills of
 *                 hf_cache_get_or_fill_start() that have not ended; may be NULL
 *
 * @retval HF_OK  done() was called for all of them
 *
 * Never blocks. Several threads may dispatch at once; each call is reported by
 * one of them.
 */
HF_API HF_MUST_USE hf_status hf_client_dispatch(hf_client *client,
                                                size_t *running, hf_error *err);

/**
 * Wait until hf_client_dispatch() has something to do: what poll() on
 * hf_client_fd() does, for a program that has nothing else to wait for. It
 * dispatches nothing itself. For one call at a time it takes less processor
 * time than poll(), as the calling thread may read the reply.
 *
 * @param wait_ms  0: only look; #HF_FOREVER: no limit; negative: invalid
 *
 * @retval HF_OK         a call has completed, which another thread may have
 *                       dispatched already
 * @retval HF_TIMEOUT    none has within wait_ms
 * @retval HF_CANCELLED  hf_client_interrupt(), or another thread closes the
 *                       client
 *
 * Blocks: up to wait_ms. Several threads may wait at once: one completed call
 * wakes all of them. It is no cancellation point: pthread_cancel() takes effect
 * after it.
 */
HF_API HF_MUST_USE hf_status hf_client_wait(hf_client *client, int64_t wait_ms,
                                            hf_error *err);

/**
 * Complete an asynchronous call now. done() is called by the next dispatch,
 * with HF_CANCELLED if the call was not sent, so that nothing was applied; with
 * HF_INDETERMINATE if it was sent and its reply was not waited for; or with its
 * outcome, if it is known.
 *
 * @param call  one whose done() has not been called; may be NULL
 */
HF_API void hf_call_cancel(hf_call *call);

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_ASYNC_H */
