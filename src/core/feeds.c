/* SPDX-License-Identifier: Apache-2.0 */
/* feeds.c - see feeds.h. */
#include "core/feeds.h"

#include "core/client.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/error.h"
#include "util/mem.h"

void hf__client_feeds_init(hf__client_feeds *feeds)
{
    pthread_mutex_init(&feeds->mutex, NULL);
    hf__cond_init(&feeds->changed);
    feeds->first = NULL;
}

void hf__client_feeds_done(hf__client_feeds *feeds)
{
    pthread_cond_destroy(&feeds->changed);
    pthread_mutex_destroy(&feeds->mutex);
}

static void add_feed(hf__client_feeds *feeds, hf__client_feed *self)
{
    pthread_mutex_lock(&feeds->mutex);
    self->next = feeds->first;
    self->at = &feeds->first;
    if (self->next != NULL)
        self->next->at = &self->next;
    feeds->first = self;
    pthread_mutex_unlock(&feeds->mutex);
}

static void remove_locked(hf__client_feed *self)
{
    *self->at = self->next;
    if (self->next != NULL)
        self->next->at = self->at;
    self->at = NULL;
}

/* Remove it from the list. */
static void take_change(hf__client_feeds *feeds, hf__client_feed *self)
{
    pthread_mutex_lock(&feeds->mutex);
    remove_locked(self);
    pthread_mutex_unlock(&feeds->mutex);
}

/* Until the client has closed it. */
static void await_feed(hf__client_feeds *feeds, const hf__client_feed *self)
{
    pthread_mutex_lock(&feeds->mutex);
    while (self->at != NULL || self->busy)
        hf__cond_wait_until(&feeds->changed, &feeds->mutex, INT64_MAX);
    pthread_mutex_unlock(&feeds->mutex);
}

static hf_status open_feed(hf__client_feed *self, hf_bytes prefix,
                           hf_error *err)
{
    hf_client *client = self->client;
    const hf__store_ops *ops = client->store->ops;
    size_t size = client->prefix_size + prefix.size;
    int64_t deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), client->request_ms);

    if (self->takes_stamps && ops->stamps_open != NULL)
        return ops->stamps_open(client->store, deadline_ms, &self->stamps, err);
    if (ops->feed_open == NULL)
        return hf__fail(err, HF_UNSUPPORTED,
                        "this store does not report changes of keys");
    self->prefix = hf__alloc(size);
    if (self->prefix == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a watch");
    memcpy(self->prefix, client->prefix, client->prefix_size);
    if (prefix.size > 0)
        memcpy(self->prefix + client->prefix_size, prefix.data, prefix.size);
    self->feed.prefix = hf_view(self->prefix, size);
    return ops->feed_open(client->store, &self->feed, deadline_ms, err);
}

static void close_feed(hf__client_feed *self)
{
    hf__store *store = self->client->store;

    if (self->stamps != NULL)
        store->ops->stamps_close(store);
    else
        store->ops->feed_close(store, &self->feed);
}

hf_status hf__client_feed_open(hf__client_feed *self, hf_client *client,
                               hf_bytes prefix, hf_error *err)
{
    hf_status status;

    self->client = client;
    self->prefix = NULL;
    self->stamps = NULL;
    self->busy = false;
    status = open_feed(self, prefix, err);
    if (status != HF_OK) {
        hf__free(self->prefix);
        return status;
    }
    hf__client_ref(client);
    add_feed(&client->feeds, self);
    return HF_OK;
}

void hf__client_feed_close(hf__client_feed *self)
{
    hf_client *client = self->client;

    if (hf__client_forked(client)) {
        ; /* there is no loop */
    } else if (hf__life_enter(&client->life)) {
        take_change(&client->feeds, self);
        close_feed(self);
        hf__life_leave(&client->life);
    } else {
        await_feed(&client->feeds, self);
    }
    hf__free(self->prefix);
    hf__client_unref(client);
}

static hf__client_feed *take_first(hf__client_feeds *feeds)
{
    hf__client_feed *one;

    pthread_mutex_lock(&feeds->mutex);
    one = feeds->first;
    if (one != NULL) {
        remove_locked(one);
        one->busy = true;
    }
    pthread_mutex_unlock(&feeds->mutex);
    return one;
}

void hf__client_feeds_close(hf__client_feeds *feeds)
{
    hf__client_feed *one;

    while ((one = take_first(feeds)) != NULL) {
        if (one->ending != NULL)
            one->ending(one);
        close_feed(one);
        if (one->ended != NULL)
            one->ended(one);
        pthread_mutex_lock(&feeds->mutex);
        one->busy = false;
        pthread_cond_broadcast(&feeds->changed);
        pthread_mutex_unlock(&feeds->mutex);
    }
}
