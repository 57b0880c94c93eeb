/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - watching keys: the queue of changes between a store's feed, on the
 * loop thread, and those who fetch them.
 *
 * A change goes to the first started call, or into the queue.
 *
 * Locks: the completions' mutex, then `mutex`. Calls are completed with none
 * held, by who has removed them from `calls`.
 */
#include "core/async.h"
#include "core/client.h"
#include "core/feeds.h"
#include "data/change_queue.h"
#include "util/clock.h"
#include "util/cond.h"
#include "util/container.h"
#include "util/error.h"
#include "util/glob.h"
#include "util/mem.h"
#include "util/options.h"

#define BYTES_DEFAULT (INT64_C(1) << 20)
#define BYTES_MIN 1024
#define BYTES_MAX (INT64_C(1) << 30)

#define OWN "hf:"

struct hf_watch {
    hf__client_feed feed;
    hf_client *client;
    hf_bytes pattern;
    bool is_key; /* not a pattern */
    bool shows_own;
    pthread_mutex_t mutex; /* guards the rest */
    pthread_cond_t changed;
    hf__change_queue queue;
    hf_call *calls; /* started, in their order */
    hf_call **calls_end;
    char text[];
};

void hf_change_free(hf_change *change)
{
    if (change != NULL)
        hf_buffer_free(&change->key);
}

/* ------------------------------------------------------------ started calls */

static hf_status finish_next(hf_call *call, hf_error *err)
{
    hf_change *change = call->out;

    (void)err;
    hf_buffer_free(&change->key);
    change->kind = (hf_change_kind)call->note;
    change->key.data = call->owned;
    change->key.size = call->key.size;
    call->owned = NULL;
    return HF_OK;
}

static void add_call_locked(hf_watch *watch, hf_call *call)
{
    call->next = NULL;
    *watch->calls_end = call;
    watch->calls_end = &call->next;
}

/* NULL: there is none. */
static hf_call *take_call_locked(hf_watch *watch)
{
    hf_call *call = watch->calls;

    if (call == NULL)
        return NULL;
    watch->calls = call->next;
    if (watch->calls == NULL)
        watch->calls_end = &watch->calls;
    return call;
}

static bool remove_call_locked(hf_watch *watch, const hf_call *call)
{
    hf_call **at = &watch->calls;

    while (*at != NULL && *at != call)
        at = &(*at)->next;
    if (*at == NULL)
        return false;
    *at = call->next;
    if (*at == NULL)
        watch->calls_end = at;
    return true;
}

/* Give the first change to a call that was removed. */
static void fill_locked(hf_watch *watch, hf_call *call)
{
    hf_change_kind kind = HF_CHANGE_GAP;
    hf_buffer key = HF_BUFFER_INIT;

    if (!hf__change_queue_take(&watch->queue, &kind, &key)) {
        hf__request_fail(&call->request, HF_NO_MEMORY, "a change");
        return;
    }
    call->note = kind;
    call->owned = key.data;
    call->key = hf_view(key.data, key.size);
}

/* Complete started calls while there are changes. */
static void serve(hf_watch *watch)
{
    hf_call *call;

    for (;;) {
        pthread_mutex_lock(&watch->mutex);
        call = hf__change_queue_is_empty(&watch->queue)
                   ? NULL
                   : take_call_locked(watch);
        if (call != NULL)
            fill_locked(watch, call);
        pthread_mutex_unlock(&watch->mutex);
        if (call == NULL)
            return;
        hf__call_complete(call);
    }
}

static void end_calls(hf_watch *watch, hf_status status, const char *why)
{
    hf_call *call;

    for (;;) {
        pthread_mutex_lock(&watch->mutex);
        call = take_call_locked(watch);
        pthread_mutex_unlock(&watch->mutex);
        if (call == NULL)
            return;
        hf__request_fail(&call->request, status, "%s", why);
        hf__call_complete(call);
    }
}

/* While the call is pending, its watch cannot be freed. */
static void cancel_next(hf_call *call)
{
    hf_watch *watch = call->context;
    bool removed;

    if (!hf__call_lock_pending(call))
        return;
    pthread_mutex_lock(&watch->mutex);
    removed = remove_call_locked(watch, call);
    pthread_mutex_unlock(&watch->mutex);
    hf__call_unlock_pending(call);
    if (!removed)
        return;
    hf__request_fail(&call->request, HF_CANCELLED, "cancelled");
    hf__call_complete(call);
}

/* -------------------------------------------------------------------- feed */

static bool wants(const hf_watch *watch, hf_bytes name)
{
    if (!watch->shows_own && name.size >= sizeof(OWN) - 1 &&
        memcmp(name.data, OWN, sizeof(OWN) - 1) == 0)
        return false;
    if (watch->is_key)
        return name.size == watch->pattern.size &&
               memcmp(name.data, watch->pattern.data, name.size) == 0;
    return hf__glob_fits(watch->pattern, name);
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf_watch *watch = hf__container_of(feed, hf_watch, feed.feed);
    hf_bytes name = key;

    if (kind != HF_CHANGE_GAP) {
        size_t prefix_size = watch->client->prefix_size;

        name = hf_view((const char *)key.data + prefix_size,
                       key.size - prefix_size);
        if (!wants(watch, name))
            return;
    }
    pthread_mutex_lock(&watch->mutex);
    if (kind == HF_CHANGE_GAP)
        hf__change_queue_gap(&watch->queue);
    else
        hf__change_queue_put(&watch->queue, kind, name);
    pthread_cond_signal(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
    serve(watch);
}

static void on_broken(hf__feed *feed)
{
    on_changed(feed, HF_CHANGE_GAP, hf_view(NULL, 0));
}

static void on_ended(hf__client_feed *feed)
{
    end_calls(hf__container_of(feed, hf_watch, feed), HF_UNAVAILABLE,
              "the client was closed");
}

/* -------------------------------------------------------------------- open */

/* The pattern's beginning, which every key that fits has. */
static size_t literal_size(const hf_watch *watch)
{
    const char *at = watch->pattern.data;
    size_t size = 0;

    if (watch->is_key)
        return watch->pattern.size;
    while (size < watch->pattern.size && strchr("*?[\\", at[size]) == NULL)
        size++;
    return size;
}

static hf_status load(const hf_watch_options *opts, hf_bytes pattern,
                      hf_watch_options *options, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), opts,
                         "hf_watch_options", err);

    if (status == HF_OK)
        status = hf__check_flags(options->flags, HF_WATCH_KEY,
                                 options->reserved0, "hf_watch_options", err);
    if (status != HF_OK)
        return status;
    if (pattern.data == NULL && pattern.size > 0)
        return hf__fail(err, HF_INVALID, "the pattern is NULL");
    if (pattern.size == 0 || pattern.size > HF_NAME_MAX)
        return hf__fail(err, HF_INVALID,
                        "the pattern has %zu bytes; allowed are 1 to %d",
                        pattern.size, HF_NAME_MAX);
    if (options->max_bytes == 0)
        options->max_bytes = BYTES_DEFAULT;
    if (options->max_bytes < BYTES_MIN || options->max_bytes > BYTES_MAX)
        return hf__fail(
            err, HF_INVALID, "max_bytes is %lld; allowed are %d to %lld",
            (long long)options->max_bytes, BYTES_MIN, (long long)BYTES_MAX);
    return HF_OK;
}

static hf_watch *new_watch(hf_client *client, hf_bytes pattern,
                           const hf_watch_options *options)
{
    hf_watch *watch = hf__calloc(1, sizeof(*watch) + pattern.size);

    if (watch == NULL)
        return NULL;
    hf__change_queue_init(&watch->queue, (size_t)options->max_bytes);
    memcpy(watch->text, pattern.data, pattern.size);
    watch->pattern = hf_view(watch->text, pattern.size);
    watch->client = client;
    watch->is_key = (options->flags & HF_WATCH_KEY) != 0;
    watch->shows_own = pattern.size >= sizeof(OWN) - 1 &&
                       memcmp(watch->text, OWN, sizeof(OWN) - 1) == 0;
    watch->calls_end = &watch->calls;
    watch->feed.feed.changed = on_changed;
    watch->feed.feed.broken = on_broken;
    watch->feed.feed.kinds = true;
    watch->feed.ended = on_ended;
    pthread_mutex_init(&watch->mutex, NULL);
    hf__cond_init(&watch->changed);
    return watch;
}

static void free_watch(hf_watch *watch)
{
    pthread_cond_destroy(&watch->changed);
    pthread_mutex_destroy(&watch->mutex);
    hf__change_queue_done(&watch->queue);
    hf__free(watch);
}

static hf_status open_watch(hf_client *client, hf_bytes pattern,
                            const hf_watch_options *options, hf_watch **watch,
                            hf_error *err)
{
    hf_watch *made = new_watch(client, pattern, options);
    hf_status status;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a watch");
    status = hf__client_feed_open(
        &made->feed, client, hf_view(pattern.data, literal_size(made)), err);
    if (status != HF_OK)
        free_watch(made);
    else
        *watch = made;
    return status;
}

hf_status hf_watch_open(hf_client *client, hf_bytes pattern,
                        const hf_watch_options *opts, hf_watch **watch,
                        hf_error *err)
{
    hf_watch_options options;
    hf_status status = load(opts, pattern, &options, err);

    if (status == HF_OK)
        status = hf__check_out(watch, "watch", err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(client, err);
    if (status != HF_OK)
        return status;
    status = open_watch(client, pattern, &options, watch, err);
    hf__life_leave(&client->life);
    return status;
}

void hf_watch_close(hf_watch *watch)
{
    bool forked;

    if (watch == NULL)
        return;
    forked = hf__client_forked(watch->client);
    if (!forked)
        end_calls(watch, HF_CANCELLED, "the watch was closed");
    hf__client_feed_close(&watch->feed);
    free_watch(watch);
}

/* -------------------------------------------------------------------- next */

static hf_status check(const hf_watch *watch, const hf_change *change,
                       hf_error *err)
{
    hf_status status = hf__check_out(watch, "watch", err);

    if (status == HF_OK)
        status = hf__check_out(change, "change", err);
    if (status == HF_OK)
        status = hf__check_struct(change->struct_size, sizeof(*change),
                                  "hf_change", "HF_CHANGE_INIT", err);
    return status;
}

typedef struct waiter {
    hf__sleeper sleeper;
    hf_watch *watch;
    unsigned interrupts; /* the client's counter when it began */
} waiter;

static void wake(hf__sleeper *sleeper)
{
    hf_watch *watch = hf__container_of(sleeper, waiter, sleeper)->watch;

    pthread_mutex_lock(&watch->mutex);
    pthread_cond_broadcast(&watch->changed);
    pthread_mutex_unlock(&watch->mutex);
}

static hf_status await_locked(const waiter *self, int64_t until_ms,
                              hf_error *err)
{
    hf_watch *watch = self->watch;

    while (hf__change_queue_is_empty(&watch->queue)) {
        if (hf__client_interrupted(watch->client, self->interrupts))
            return hf__fail(err, HF_CANCELLED, HF__INTERRUPTED);
        if (hf__clock_boot_ms() >= until_ms)
            return hf__fail(err, HF_TIMEOUT, "no change");
        hf__cond_wait_until(&watch->changed, &watch->mutex, until_ms);
    }
    return HF_OK;
}

static hf_status next_by(waiter *self, hf_change *change, int64_t until_ms,
                         hf_error *err)
{
    hf_watch *watch = self->watch;
    hf_change_kind kind = HF_CHANGE_GAP;
    hf_buffer key = HF_BUFFER_INIT;
    hf_status status;

    pthread_mutex_lock(&watch->mutex);
    status = await_locked(self, until_ms, err);
    if (status == HF_OK && !hf__change_queue_take(&watch->queue, &kind, &key))
        status = hf__fail(err, HF_NO_MEMORY, "a change");
    pthread_mutex_unlock(&watch->mutex);
    if (status != HF_OK)
        return status;
    hf_buffer_free(&change->key);
    change->kind = kind;
    change->key = key;
    return HF_OK;
}

hf_status hf_watch_next(hf_watch *watch, hf_change *change, int64_t wait_ms,
                        hf_error *err)
{
    waiter self = {.sleeper = {.wake = wake, .about = watch}, .watch = watch};
    hf_status status = check(watch, change, err);

    if (status == HF_OK)
        status = hf__check_wait(wait_ms, err);
    if (status == HF_OK)
        status = hf__client_enter_blocking(watch->client, err);
    if (status != HF_OK)
        return status;
    self.interrupts = atomic_load(&watch->client->interrupts.count);
    hf__sleeper_add(&watch->client->interrupts, &self.sleeper);
    status = next_by(&self, change,
                     hf__clock_after(hf__clock_boot_ms(), wait_ms), err);
    hf__sleeper_remove(&watch->client->interrupts, &self.sleeper);
    hf__life_leave(&watch->client->life);
    return status;
}

static void start_next(hf_watch *watch, hf_call *call, const hf_async *async)
{
    call->context = watch;
    call->cancel = cancel_next;
    call->finish = finish_next;
    hf__call_start_begin(call, async);
    pthread_mutex_lock(&watch->mutex);
    add_call_locked(watch, call);
    pthread_mutex_unlock(&watch->mutex);
    serve(watch);
    hf__call_start_end(call);
}

hf_status hf_watch_next_start(hf_watch *watch, hf_change *change,
                              const hf_async *async, hf_error *err)
{
    hf_status status = check(watch, change, err);
    hf_call *call;

    if (status == HF_OK)
        status = hf__call_new(watch->client, async, &call, err);
    if (status != HF_OK)
        return status;
    hf__call_init(call, watch->client);
    call->out = change;
    status = hf__call_enter(call, false, err);
    if (status == HF_OK)
        start_next(watch, call, async);
    else
        hf__call_discard(call);
    return status;
}
