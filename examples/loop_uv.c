/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_uv.c - asynchronous calls in a libuv loop: two lines attach a client,
 * one detaches it.
 *
 *     ./loop_uv [STORE]
 */
#include <uv.h>

#include "example.h"

typedef struct app {
    hf_client *client;
    uv_poll_t poll;
    hf_buffer value;
} app;

static void ready(uv_poll_t *handle, int status, int events)
{
    app *self = handle->data;
    hf_error err = HF_ERROR_INIT;

    (void)events;
    if (status == 0)
        need(hf_client_dispatch(self->client, NULL, &err), &err);
}

static void got(void *user, hf_status status, const hf_error *err)
{
    app *self = user;

    need(status, err);
    printf("greeting: %s\n", (const char *)self->value.data);
    uv_poll_stop(&self->poll); /* nothing is left to wait for */
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
    int fd;

    need(hf_client_fd(self.client, &fd, &err), &err);
    self.poll.data = &self;
    if (uv_poll_init(loop, &self.poll, fd) != 0 ||
        uv_poll_start(&self.poll, UV_READABLE, ready) != 0)
        return 1;

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
