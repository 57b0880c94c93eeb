/* SPDX-License-Identifier: Apache-2.0 */
/* pending.c - see pending.h. */
#include "core/pending.h"

#include "core/client.h"
#include "util/container.h"

void hf__pending_add(hf_client *client, hf__pending *self)
{
    self->next = client->pending;
    self->at = &client->pending;
    if (self->next != NULL)
        self->next->at = &self->next;
    client->pending = self;
}

void hf__pending_remove(hf__pending *self)
{
    *self->at = self->next;
    if (self->next != NULL)
        self->next->at = self->at;
}

typedef struct closing {
    hf__task task;
    hf_client *client;
} closing;

static void close_all(hf__task *task)
{
    hf_client *client = hf__container_of(task, closing, task)->client;
    hf__pending *first;

    while ((first = client->pending) != NULL) {
        hf__pending_remove(first);
        first->close(first);
    }
}

void hf__pending_close(hf_client *client)
{
    closing all = {.task = {.run = close_all}, .client = client};

    if (hf__loop_started(client->loop))
        hf__loop_call(client->loop, &all.task);
}
