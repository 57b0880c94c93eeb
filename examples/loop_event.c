/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop_event.c - asynchronous calls in a libevent loop.
 *
 *     ./loop_event [STORE]
 */
#include <holdfast/loop/libevent.h>

#include "example.h"

typedef struct app {
    hf_client *client;
    struct event_base *base;
    hf_buffer value;
} app;

static void got(void *user, hf_status status, const hf_error *err)
{
    app *self = user;

    need(status, err);
    printf("greeting: %s\n", (const char *)self->value.data);
    event_base_loopbreak(self->base);
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
    hf_libevent *attached;

    self.base = event_base_new();
    need(hf_libevent_attach(self.base, self.client, end_program, NULL,
                            &attached, &err),
         &err);
    async.done = stored;
    async.user = &self;
    need(hf_value_set_start(self.client, hf_str("greeting"),
                            hf_str("hello from libevent"), NULL, NULL, &async,
                            &err),
         &err);
    event_base_dispatch(self.base);
    hf_libevent_detach(attached);
    event_base_free(self.base);
    hf_buffer_free(&self.value);
    hf_client_close(self.client);
}
