/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_glib.c - asynchronous calls in a GLib main loop, as in a GTK program.
 *
 *     ./loop_glib [STORE]
 */
#include <holdfast/loop/glib.h>

#include "example.h"

typedef struct app {
    hf_client *client;
    GMainLoop *loop;
    hf_buffer value;
} app;

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
    GSource *attached;

    self.loop = g_main_loop_new(NULL, FALSE);
    need(hf_glib_attach(NULL, self.client, end_program, NULL, &attached, &err),
         &err);
    async.done = stored;
    async.user = &self;
    need(hf_value_set_start(self.client, hf_str("greeting"),
                            hf_str("hello from GLib"), NULL, NULL, &async,
                            &err),
         &err);
    g_main_loop_run(self.loop);
    hf_glib_detach(attached);
    g_main_loop_unref(self.loop);
    hf_buffer_free(&self.value);
    hf_client_close(self.client);
}
