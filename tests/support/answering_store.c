/* SPDX-License-Identifier: Apache-2.0 */
/* answering_store.c - see answering_store.h. */
#include "support/answering_store.h"

#include <stdio.h>
#include <string.h>

#include "core/client.h"
#include "store/redis/server/retry.h"

/* Longest name of a command. */
#define NAME_SIZE 32

static void perform_request(hf__store *store, hf__request *request)
{
    answering_store *self = (answering_store *)(void *)store;
    char name[NAME_SIZE] = "";
    const char *target = name;
    hf__redirect redirect;

    if (request->script != NULL)
        target = request->script->name;
    else
        snprintf(name, sizeof(name), "%.*s", (int)request->words[0].size,
                 (const char *)request->words[0].data);
    request->sends = 1;
    hf__reply_set_nil(&request->reply);
    if (self->answer(self->user, target, &request->arena, &request->reply)) {
        /* A verdict to retry is ignored: there is no other server. */
        (void)hf__retry_judge(request, false, &redirect);
        return;
    }
    hf__request_done(request);
    hf__request_fail(request, HF_INDETERMINATE, "no answer");
}

static void submit_requests(hf__store *store, hf__request *const *requests,
                            size_t count)
{
    answering_store *self = (answering_store *)(void *)store;

    if (self->submitted != NULL)
        self->submitted(self->user, requests, count);
    for (size_t i = 0; i < count; i++) {
        perform_request(store, requests[i]);
        requests[i]->on_done(requests[i]);
    }
}

static const char *store_inbox(hf__store *store)
{
    (void)store;
    return "0123456789abcdef";
}

static uint32_t event_seq(hf__store *store, hf_bytes topic, int64_t deadline_ms)
{
    (void)store;
    (void)topic;
    (void)deadline_ms;
    return 0;
}

static bool event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                       int64_t until_ms)
{
    (void)store;
    (void)topic;
    (void)seq;
    (void)until_ms;
    return true;
}

static hf_status event_watch(hf__store *store, hf_bytes topic, hf__watch *watch,
                             hf_error *err)
{
    (void)store;
    (void)topic;
    (void)watch;
    (void)err;
    return HF_OK;
}

static void event_channel(hf__store *store, hf_bytes topic, hf_bytes channel,
                          bool sharded, int64_t keep_ms)
{
    (void)store;
    (void)topic;
    (void)channel;
    (void)sharded;
    (void)keep_ms;
}

static void event_unwatch(hf__store *store, hf__watch *watch)
{
    (void)store;
    (void)watch;
}

static uint32_t store_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

static const hf__store_ops ops = {
    .perform = perform_request,
    .submit = submit_requests,
    .inbox = store_inbox,
    .event_seq = event_seq,
    .event_wait = event_wait,
    .event_watch = event_watch,
    .event_unwatch = event_unwatch,
    .event_channel = event_channel,
    .shard = store_shard,
};

void answering_store_begin(answering_store *self, hf_client *client)
{
    self->base.ops = &ops;
    self->base.capabilities = 0;
    self->real = client->store;
    client->store = &self->base;
}

void answering_store_end(answering_store *self, hf_client *client)
{
    client->store = self->real;
}
