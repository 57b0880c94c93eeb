/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_waiting.c - see run_waiting.h. The request completes within submit() or
 * on the loop thread, where it is cancelled: so there it is known whether it
 * has completed.
 */
#include "core/run_waiting.h"

#include "core/client.h"
#include "util/cond.h"
#include "util/container.h"

typedef struct waiting {
    hf_client *client;
    hf__request *request;
    hf__sleeper sleeper;
    hf__task cancel;
    unsigned interrupts;   /* the client's, when it began */
    pthread_mutex_t mutex; /* guards `done` */
    pthread_cond_t changed;
    bool done;
} waiting;

static void wake_thread(hf__sleeper *sleeper)
{
    waiting *self = hf__container_of(sleeper, waiting, sleeper);

    pthread_mutex_lock(&self->mutex);
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static void request_done(hf__request *request)
{
    waiting *self = request->user;

    pthread_mutex_lock(&self->mutex);
    self->done = true;
    pthread_cond_broadcast(&self->changed);
    pthread_mutex_unlock(&self->mutex);
}

static bool is_done(waiting *self)
{
    bool done;

    pthread_mutex_lock(&self->mutex);
    done = self->done;
    pthread_mutex_unlock(&self->mutex);
    return done;
}

static void run_cancel(hf__task *task)
{
    waiting *self = hf__container_of(task, waiting, cancel);
    hf__store *store = self->client->store;

    if (!is_done(self))
        store->ops->cancel(store, self->request);
}

/* Sleep until the request is done; false: it is to be cancelled first. */
static bool await_done(waiting *self, bool cancelled)
{
    bool done;

    pthread_mutex_lock(&self->mutex);
    while (!self->done && (cancelled || !hf__client_interrupted(
                                            self->client, self->interrupts)))
        hf__cond_wait_until(&self->changed, &self->mutex, INT64_MAX);
    done = self->done;
    pthread_mutex_unlock(&self->mutex);
    return done;
}

void hf__run_waiting(hf_client *client, hf__request *request)
{
    waiting self = {.client = client,
                    .request = request,
                    .sleeper = {.wake = wake_thread},
                    .cancel = {.run = run_cancel}};

    self.interrupts = atomic_load(&client->interrupts.count);
    pthread_mutex_init(&self.mutex, NULL);
    hf__cond_init(&self.changed);
    hf__sleeper_add(&client->interrupts, &self.sleeper);
    request->caller_waits = true;
    request->on_done = request_done;
    request->user = &self;
    client->store->ops->submit(client->store, &request, 1);
    if (!await_done(&self, false)) {
        hf__loop_call(client->loop, &self.cancel);
        (void)await_done(&self, true);
    }
    hf__sleeper_remove(&client->interrupts, &self.sleeper);
    pthread_cond_destroy(&self.changed);
    pthread_mutex_destroy(&self.mutex);
}
