/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_glib.c - asynchronous calls in a GLib main loop, as in a GTK program:
 * g_unix_fd_add() attaches a client.
 *
 *     ./loop_glib [STORE]
 */
#include <glib-unix.h>

#include "example.h"

typedef struct app {
    hf_client *client;
    GMainLoop *loop;
    hf_buffer value;
} app;

static gboolean ready(gint fd, GIOCondition condition, gpointer user)
{
    app *self = user;
    hf_error err = HF_ERROR_INIT;

    (void)fd;
    (void)condition;
    need(hf_client_dispatch(self->client, NULL, &err), &err);
    return G_SOURCE_CONTINUE;
}

static void got(void *user, hf_status status, const hf_error *err)
{
    app *self = user;

    need(status, err);
    printf("greeting: %s\n", (const char *)self->value.data);
    g_main_loop_quit(self->loop);
}

static void stored(void *user, hf_status status, const hf_error *err)
{
    app *self = user;
    hf_async async = HF_ASYNC_INIT;
    hf_error failure = HF_ERROR_INIT;

    need(status, err);
    async.done = got;
    async.user = self;
    need(hf_value_get_start(self->client, hf_str("greeting"), &self->value,
                            &async, &failure),
         &failure);
}

int main(int argc, char **argv)
{
    app self = {.client = open_store(argc, argv)};
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;
    guint source;
    int fd;

    self.loop = g_main_loop_new(NULL, FALSE);
    need(hf_client_fd(self.client, &fd, &err), &err);
    source = g_unix_fd_add(fd, G_IO_IN, ready, &self);

    async.done = stored;
    async.user = &self;
    need(hf_value_set_start(self.client, hf_str("greeting"),
                            hf_str("hello from GLib"), NULL, NULL, &async,
                            &err),
         &err);
    g_main_loop_run(self.loop);
    g_source_remove(source); /* before the descriptor is closed */
    g_main_loop_unref(self.loop);
    hf_buffer_free(&self.value);
    hf_client_close(self.client);
}
