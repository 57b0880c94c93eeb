/* SPDX-License-Identifier: Apache-2.0 */
/* background.c - see background.h. */
#include "core/background.h"

#include "util/clock.h"
#include "util/mem.h"

/* The words are behind it, and then what they refer to. */
typedef struct sent {
    hf__request request;
    hf_client *client;
    hf_bytes words[];
} sent;

static sent *copy_request(const hf__request *filled)
{
    size_t count = filled->word_count, size = 0;
    sent *made;
    char *at;

    for (size_t i = 0; i < count; i++)
        size += filled->words[i].size;
    made = hf__alloc(sizeof(*made) + count * sizeof(hf_bytes) + size);
    if (made == NULL)
        return NULL;
    at = (char *)(made->words + count);
    for (size_t i = 0; i < count; i++) {
        hf_bytes word = filled->words[i];

        if (word.size > 0)
            memcpy(at, word.data, word.size);
        made->words[i] = hf_view(at, word.size);
        at += word.size;
    }
    return made;
}

static void end_request(hf__request *request)
{
    sent *made = request->user;

    if (request->status != HF_OK)
        HF__LOG(made->client->log, HF_LOG_WARNING,
                "what a call left to be done failed (%s): %s",
                request->script->name, request->error.message);
    hf__request_done(request);
    hf__free(made);
}

hf__request *hf__background_copy(const hf__request *filled, int64_t time_ms)
{
    sent *made = copy_request(filled);
    hf__request *request;

    if (made == NULL)
        return NULL;
    request = &made->request;
    hf__request_script(request, filled->script, made->words, filled->word_count,
                       filled->key_count);
    request->deadline_ms = hf__clock_after(hf__clock_boot_ms(), time_ms);
    request->on_done = end_request;
    request->user = made;
    return request;
}

void hf__background_send(hf_client *client, hf__request *copy)
{
    sent *made;

    if (copy == NULL)
        return;
    made = copy->user;
    made->client = client;
    client->store->ops->submit(client->store, &copy, 1);
}
