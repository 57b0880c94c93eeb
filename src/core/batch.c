/* SPDX-License-Identifier: Apache-2.0 */
/*
 * batch.c - see batch.h.
 *
 * Locks: `mutex` guards the count of those under way. The last one signals
 * under it, so that the batch can go as soon as its owner has it back.
 */
#include "core/batch.h"

#include "util/clock.h"
#include "util/cond.h"

typedef struct batch {
    pthread_mutex_t mutex;
    pthread_cond_t over;
    size_t under_way;
} batch;

static void on_done(hf__request *request)
{
    batch *self = request->user;

    pthread_mutex_lock(&self->mutex);
    if (--self->under_way == 0)
        pthread_cond_signal(&self->over);
    pthread_mutex_unlock(&self->mutex);
}

static void set_times(hf_client *client, hf__request *request, int64_t extra_ms)
{
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = request->began_ms + client->request_ms + extra_ms;
}

void hf__submit_all(hf_client *client, hf__request *const *requests,
                    size_t count)
{
    batch self = {.mutex = PTHREAD_MUTEX_INITIALIZER, .under_way = count};

    if (count == 0)
        return;
    hf__cond_init(&self.over);
    for (size_t i = 0; i < count; i++) {
        requests[i]->on_done = on_done;
        requests[i]->user = &self;
    }
    client->store->ops->submit(client->store, requests, count);
    /* Each ends by its own deadline. */
    pthread_mutex_lock(&self.mutex);
    while (self.under_way > 0)
        hf__cond_wait_until(&self.over, &self.mutex, INT64_MAX);
    pthread_mutex_unlock(&self.mutex);
    pthread_cond_destroy(&self.over);
    pthread_mutex_destroy(&self.mutex);
}

void hf__run_all(hf_client *client, hf__request *const *requests, size_t count,
                 int64_t extra_ms)
{
    for (size_t i = 0; i < count; i++)
        set_times(client, requests[i], extra_ms);
    hf__submit_all(client, requests, count);
}

void hf__run_one(hf_client *client, hf__request *request, int64_t extra_ms)
{
    set_times(client, request, extra_ms);
    client->store->ops->perform(client->store, request);
}
