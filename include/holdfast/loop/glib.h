/* SPDX-License-Identifier: Apache-2.0 */
/**
 * @file holdfast/loop/glib.h - a client in a main loop of GLib, as of GTK.
 *
 * Contents:
 * - hf_glib: a client that a source dispatches
 * - hf_glib_attach(), hf_glib_detach()
 * - hf_glib_ready(): what GLib calls
 *
 * A program that includes this links GLib; libholdfast does not need it.
 *
 * @code
 * void quit_loop(void *user, hf_status status, const hf_error *err)
 * {
 *     fprintf(stderr, "%s: %s\n", hf_status_name(status), err->message);
 *     g_main_loop_quit((GMainLoop *)user);
 * }
 * hf_status start(GMainLoop *loop, hf_client *client, GSource **attached,
 *                 hf_error *err)
 * {
 *     return hf_glib_attach(NULL, client, quit_loop, loop, attached, err);
 * }
 * @endcode
 */
#ifndef HOLDFAST_LOOP_GLIB_H
#define HOLDFAST_LOOP_GLIB_H

#include <glib-unix.h>

#include "holdfast/loop/fail.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A client that a source dispatches, which owns this. */
typedef struct hf_glib {
    hf_client *client; /**< what is dispatched */
    hf_done_fn failed; /**< called once if the client cannot be dispatched */
    void *user;        /**< passed to failed() */
} hf_glib;

/** GLib calls it when hf_client_dispatch() has something to do. */
static inline gboolean hf_glib_ready(gint fd, GIOCondition condition,
                                     gpointer user)
{
    hf_glib *self = (hf_glib *)user;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    (void)fd;
    if ((condition & G_IO_IN) != 0)
        status = hf_client_dispatch(self->client, NULL, &err);
    else
        status = hf_loop_fail(&err, HF_SYSTEM, 0, "poll",
                              "the descriptor of the client was closed");
    if (status == HF_OK)
        return G_SOURCE_CONTINUE; /* a done() may have detached it */
    if (self->failed != NULL)
        self->failed(self->user, status, &err);
    return G_SOURCE_REMOVE;
}

/**
 * Stop dispatching a client; to be done before hf_client_close(), which may
 * follow at once. A done() may do both.
 *
 * @param attached  of hf_glib_attach(); may be NULL
 */
static inline void hf_glib_detach(GSource *attached)
{
    if (attached == NULL)
        return;
    g_source_destroy(attached);
    g_source_unref(attached);
}

/**
 * Have a main loop dispatch a client: done() of its calls runs in
 * g_main_loop_run(), also in one that a done() runs.
 *
 * @param context   NULL: the default one
 * @param failed    called once, with a status and its details, if the client
 *                  cannot be dispatched any more, as in a child of fork(); it
 *                  may detach it; NULL: not reported
 * @param user      passed to failed()
 * @param attached  [out] for hf_glib_detach(); of default priority
 *
 * @retval HF_OK  the client is attached
 *
 * Without memory, GLib ends the program.
 */
static inline HF_MUST_USE hf_status
hf_glib_attach(GMainContext *context, hf_client *client, hf_done_fn failed,
               void *user, GSource **attached, hf_error *err)
{
    int fd;
    hf_status status = hf_client_fd(client, &fd, err);
    GSource *source;
    hf_glib *self;

    if (status != HF_OK)
        return status;
    self = g_new(hf_glib, 1);
    self->client = client;
    self->failed = failed;
    self->user = user;
    source = g_unix_fd_source_new(fd, G_IO_IN);
    g_source_set_callback(source, (GSourceFunc)(void (*)(void))hf_glib_ready,
                          self, g_free);
    g_source_set_can_recurse(source, TRUE);
    (void)g_source_attach(source, context);
    *attached = source;
    return HF_OK;
}

#ifdef __cplusplus
}
#endif

#endif /* HOLDFAST_LOOP_GLIB_H */
