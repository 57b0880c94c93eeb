/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_uv.c - asynchronous calls in a libuv loop, which ends when the client
 * is detached from it.
 *
 *     ./loop_uv [STORE]
 */
#include <holdfast/loop/uv.h>

#include "example.h"

typedef struct app {
    hf_client *client;
    hf_uv *attached;
    hf_buffer value;
} app;

static void got(void *user, hf_status status, const hf_error *err)
{
    app *self = user;

    need(status, err);
    printf("greeting: %s\n", (const char *)self->value.data);
    hf_uv_detach(self->attached); /* nothing is left to wait for */
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
    uv_loop_t *loop = uv_default_loop();
    hf_async async = HF_ASYNC_INIT;
    hf_error err = HF_ERROR_INIT;

    need(hf_uv_attach(loop, self.client, end_program, NULL, &self.attached,
                      &err),
         &err);
    async.done = stored;
    async.user = &self;
    need(hf_value_set_start(self.client, hf_str("greeting"),
                            hf_str("hello from libuv"), NULL, NULL, &async,
                            &err),
         &err);
    uv_run(loop, UV_RUN_DEFAULT);
    hf_buffer_free(&self.value);
    hf_client_close(self.client);
}
