/* SPDX-License-Identifier: Apache-2.0 */
/* told.c - see told.h. */
#include "support/told.h"

#include <poll.h>

#include "support/expect.h"

#define PATIENCE_MS 10000

static void note(void *user, hf_status status, const hf_error *err)
{
    told *self = user;

    self->count++;
    self->status = status;
    self->error_filled =
        err != NULL && err->status == status && err->message[0] != '\0';
}

hf_async tell(told *note_in)
{
    hf_async async = HF_ASYNC_INIT;

    async.done = note;
    async.user = note_in;
    return async;
}

void dispatch(hf_client *client)
{
    expect_status(HF_OK, hf_client_dispatch(client, NULL, ERR));
}

void await_told(hf_client *client, const told *awaited, unsigned count)
{
    int64_t until_ms = test_now_ms() + PATIENCE_MS;
    struct pollfd pfd = {.events = POLLIN};

    expect_status(HF_OK, hf_client_fd(client, &pfd.fd, ERR));
    while (awaited->count < count && test_now_ms() < until_ms) {
        if (poll(&pfd, 1, 100) > 0)
            dispatch(client);
    }
    assert_int_equal(awaited->count, count);
}

void await_ok(hf_client *client, const told *awaited)
{
    await_told(client, awaited, 1);
    expect_status(HF_OK, awaited->status);
}
