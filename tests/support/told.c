/* SPDX-License-Identifier: Apache-2.0 */
/* told.c - see told.h. */
#include "support/told.h"

#include <poll.h>
#include <stdlib.h>

#include "support/expect.h"
#include "support/test_clock.h"

#define PATIENCE_MS 10000

/* What done() gets. A call may outlive the `told` of a test that failed, which
 * is on the test's stack. */
typedef struct line {
    struct line *next;
    told *to; /* NULL: cut */
} line;

static line *lines;

static void note_outcome(void *user, hf_status status, const hf_error *err)
{
    told *self = ((const line *)user)->to;

    if (self == NULL)
        return;
    self->count++;
    self->status = status;
    self->error_filled =
        err != NULL && err->status == status && err->message[0] != '\0';
}

hf_async tell(told *note_in)
{
    hf_async async = HF_ASYNC_INIT;
    line *made = malloc(sizeof(*made));

    assert_non_null(made);
    *made = (line){.next = lines, .to = note_in};
    lines = made;
    async.done = note_outcome;
    async.user = made;
    return async;
}

void told_cut(void)
{
    for (line *at = lines; at != NULL; at = at->next)
        at->to = NULL;
}

void told_free(void)
{
    while (lines != NULL) {
        line *at = lines;

        lines = at->next;
        free(at);
    }
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

void *interrupt_soon(void *client)
{
    for (int i = 0; i < 20; i++) {
        test_rest();
        if (hf_client_interrupt(client, NULL) != HF_OK)
            return NULL;
    }
    return client;
}
