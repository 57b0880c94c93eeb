/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/loop/libevent.h - a client in a loop of libevent.
 *
 * Contents:
 * - hf_libevent: a client and the event that dispatches it
 * - hf_libevent_attach(), hf_libevent_detach()
 * - hf_libevent_ready(): what libevent calls
 *
 * A program that includes this links libevent; libholdfast does not need it.
 *
 * @code
 * void break_loop(void *user, hf_status status, const hf_error *err)
 * {
 *     fprintf(stderr, "%s: %s\n", hf_status_name(status), err->message);
 *     event_base_loopbreak((struct event_base *)user);
 * }
 * hf_status start(struct event_base *base, hf_client *client,
 *                 hf_libevent **attached, hf_error *err)
 * {
 *     return hf_libevent_attach(base, client, break_loop, base, attached, err);
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOOP_LIBEVENT_H
#define HOLDFAST_LOOP_LIBEVENT_H

#include <event2/event.h>
#include <stdlib.h>

#include "holdfast/loop/fail.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A client that is attached to a loop; of hf_libevent_attach(). */
typedef struct hf_libevent {
    struct event *event; /**< persistent, of default priority */
    hf_client *client;   /**< what is dispatched */
    hf_done_fn failed;   /**< called once if the client cannot be dispatched */
    void *user;          /**< passed to failed() */
} hf_libevent;

/** libevent calls it when hf_client_dispatch() has something to do. */
static inline void hf_libevent_ready(evutil_socket_t fd, short events,
                                     void *user)
{
    hf_libevent *self = (hf_libevent *)user;
    hf_error err = HF_ERROR_INIT;
    hf_status status = hf_client_dispatch(self->client, NULL, &err);

    (void)fd;
    (void)events;
    if (status == HF_OK)
        return; /* a done() may have detached it */
    event_del(self->event);
    if (self->failed != NULL)
        self->failed(self->user, status, &err);
}

/**
 * Stop dispatching a client; to be done before hf_client_close(), which may
 * follow at once, and before event_base_free(). A done() may do all of it but
 * the last.
 *
 * @param attached  of hf_libevent_attach(); may be NULL
 */
static inline void hf_libevent_detach(hf_libevent *attached)
{
    if (attached == NULL)
        return;
    event_free(attached->event);
    free(attached);
}

/**
 * Have a loop dispatch a client: done() of its calls runs in
 * event_base_dispatch().
 *
 * @param base      the loop
 * @param failed    called once, with a status and its details, if the client
 *                  cannot be dispatched any more, as in a child of fork(); it
 *                  may detach it; NULL: not reported
 * @param user      passed to failed()
 * @param attached  [out] for hf_libevent_detach()
 *
 * @retval HF_OK         the client is attached
 * @retval HF_SYSTEM     libevent cannot watch it
 * @retval HF_NO_MEMORY  out of memory
 */
static inline HF_MUST_USE hf_status hf_libevent_attach(
    struct event_base *base, hf_client *client, hf_done_fn failed, void *user,
    hf_libevent **attached, hf_error *err)
{
    int fd;
    hf_status status = hf_client_fd(client, &fd, err);
    hf_libevent *self;

    if (status != HF_OK)
        return status;
    self = (hf_libevent *)malloc(sizeof(*self));
    if (self == NULL)
        return hf_loop_fail(err, HF_NO_MEMORY, 0, "malloc", "out of memory");
    self->client = client;
    self->failed = failed;
    self->user = user;
    self->event =
        event_new(base, fd, EV_READ | EV_PERSIST, hf_libevent_ready, self);
    if (self->event == NULL) {
        free(self);
        return hf_loop_fail(err, HF_NO_MEMORY, 0, "event_new", "out of memory");
    }
    if (event_add(self->event, NULL) != 0) {
        hf_libevent_detach(self);
        return hf_loop_fail(err, HF_SYSTEM, 0, "event_add",
                            "libevent cannot watch the client");
    }
    *attached = self;
    return HF_OK;
}

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOOP_LIBEVENT_H */
