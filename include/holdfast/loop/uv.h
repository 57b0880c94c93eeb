/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/loop/uv.h - a client in a loop of libuv.
 *
 * Contents:
 * - hf_uv: a client and the loop that it is attached to
 * - hf_uv_attach(), hf_uv_detach()
 * - hf_uv_ready(), hf_uv_closed(): what libuv calls
 *
 * A program that includes this links libuv; libholdfast does not need it.
 *
 * @code
 * void stop_loop(void *user, hf_status status, const hf_error *err)
 * {
 *     fprintf(stderr, "%s: %s\n", hf_status_name(status), err->message);
 *     uv_stop((uv_loop_t *)user);
 * }
 * hf_status start(uv_loop_t *loop, hf_client *client, hf_uv **attached,
 *                 hf_error *err)
 * {
 *     return hf_uv_attach(loop, client, stop_loop, loop, attached, err);
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOOP_UV_H
#define HOLDFAST_LOOP_UV_H

#include <stdlib.h>
#include <uv.h>

#include "holdfast/loop/fail.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A client that is attached to a loop; of hf_uv_attach(). */
typedef struct hf_uv {
    uv_poll_t poll;    /**< keeps uv_run() running unless it is uv_unref()ed */
    hf_client *client; /**< what is dispatched */
    hf_done_fn failed; /**< called once if the client cannot be dispatched */
    void *user;        /**< passed to failed() */
} hf_uv;

/** libuv calls it when hf_client_dispatch() has something to do. */
static inline void hf_uv_ready(uv_poll_t *poll, int error, int events)
{
    hf_uv *self = (hf_uv *)poll->data;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    (void)events;
    if (error < 0)
        status = hf_loop_fail(&err, HF_SYSTEM, -error, "uv_poll_start",
                              uv_strerror(error));
    else
        status = hf_client_dispatch(self->client, NULL, &err);
    if (status == HF_OK)
        return; /* a done() may have detached it */
    uv_poll_stop(poll);
    if (self->failed != NULL)
        self->failed(self->user, status, &err);
}

/** libuv calls it when the loop has dropped a client that was detached. */
static inline void hf_uv_closed(uv_handle_t *poll)
{
    free(poll->data);
}

/**
 * Stop dispatching a client; to be done before hf_client_close(), which may
 * follow at once. A done() may do both. The loop frees the memory when it runs
 * next.
 *
 * @param attached  of hf_uv_attach(); may be NULL
 */
static inline void hf_uv_detach(hf_uv *attached)
{
    if (attached != NULL)
        uv_close((uv_handle_t *)&attached->poll, hf_uv_closed);
}

/**
 * Have a loop dispatch a client: done() of its calls runs in uv_run().
 *
 * @param loop      only its thread may attach and detach
 * @param failed    called once, with a status and its details, if the client
 *                  cannot be dispatched any more, as in a child of fork(); it
 *                  may detach it; NULL: not reported
 * @param user      passed to failed()
 * @param attached  [out] for hf_uv_detach()
 *
 * @retval HF_OK         the client is attached
 * @retval HF_SYSTEM     it is attached to this loop already (`sys_errno` is
 *                       EEXIST), or libuv cannot watch it
 * @retval HF_NO_MEMORY  out of memory
 */
static inline HF_MUST_USE hf_status hf_uv_attach(uv_loop_t *loop,
                                                 hf_client *client,
                                                 hf_done_fn failed, void *user,
                                                 hf_uv **attached,
                                                 hf_error *err)
{
    int fd, error;
    hf_status status = hf_client_fd(client, &fd, err);
    hf_uv *self;

    if (status != HF_OK)
        return status;
    self = (hf_uv *)malloc(sizeof(*self));
    if (self == NULL)
        return hf_loop_fail(err, HF_NO_MEMORY, 0, "malloc", "out of memory");
    self->client = client;
    self->failed = failed;
    self->user = user;
    error = uv_poll_init(loop, &self->poll, fd);
    if (error != 0) {
        free(self);
        return hf_loop_fail(err, HF_SYSTEM, -error, "uv_poll_init",
                            uv_strerror(error));
    }
    self->poll.data = self;
    error = uv_poll_start(&self->poll, UV_READABLE, hf_uv_ready);
    if (error != 0) {
        hf_uv_detach(self);
        return hf_loop_fail(err, HF_SYSTEM, -error, "uv_poll_start",
                            uv_strerror(error));
    }
    *attached = self;
    return HF_OK;
}

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOOP_UV_H */
