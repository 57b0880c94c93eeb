/* SPDX-License-Identifier: Apache-2.0 */
/* blocking_wait.c - see blocking_wait.h. */
#include "core/blocking_wait.h"

#include "core/client.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/order.h"

/* How long a call may wait for its subscription. */
#define LISTEN_MS 1000

uint32_t hf__topic_seq(const hf_client *client, hf_bytes topic,
                       int64_t until_ms)
{
    int64_t by_ms = hf__clock_after(hf__clock_boot_ms(), LISTEN_MS);

    return client->store->ops->event_seq(client->store, topic,
                                         hf__at_most(until_ms, by_ms));
}

static void wake(hf__sleeper *sleeper)
{
    hf__blocking_wait *self =
        hf__container_of(sleeper, hf__blocking_wait, sleeper);
    hf__store *store = self->client->store;
    hf_bytes topic;

    pthread_mutex_lock(&self->mutex);
    topic = self->topic;
    pthread_cond_broadcast(&self->woken);
    pthread_mutex_unlock(&self->mutex);
    if (topic.size > 0)
        store->ops->event_wake(store, topic);
}

void hf__blocking_wait_init(hf__blocking_wait *self, hf_client *client)
{
    *self =
        (hf__blocking_wait){.sleeper = {.wake = wake, .about = self},
                            .client = client,
                            .count = atomic_load(&client->interrupts.count)};
    pthread_mutex_init(&self->mutex, NULL);
    hf__cond_init(&self->woken);
}

void hf__blocking_wait_done(hf__blocking_wait *self)
{
    hf__sleeper_remove(&self->client->interrupts, &self->sleeper);
    pthread_cond_destroy(&self->woken);
    pthread_mutex_destroy(&self->mutex);
}

void hf__blocking_wait_listen(hf__blocking_wait *self, hf_bytes topic,
                              int64_t until_ms)
{
    pthread_mutex_lock(&self->mutex);
    self->topic = topic;
    pthread_mutex_unlock(&self->mutex);
    self->seq = hf__topic_seq(self->client, topic, until_ms);
}

static bool interrupted(const hf__blocking_wait *self)
{
    return hf__client_interrupted(self->client, self->count);
}

bool hf__blocking_wait_sleep(hf__blocking_wait *self, int64_t until_ms)
{
    hf__store *store = self->client->store;

    hf__sleeper_add(&self->client->interrupts, &self->sleeper);
    if (self->topic.size > 0) {
        if (!interrupted(self))
            (void)store->ops->event_wait(store, self->topic, self->seq,
                                         until_ms);
        return !interrupted(self);
    }
    pthread_mutex_lock(&self->mutex);
    while (!interrupted(self) && hf__clock_boot_ms() < until_ms)
        hf__cond_wait_until(&self->woken, &self->mutex, until_ms);
    pthread_mutex_unlock(&self->mutex);
    return !interrupted(self);
}
