/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch.c - watching keys: the queue of changes between a store's feed, on the
 * loop thread, and those who fetch them.
 */
#include "holdfast/watch.h"
#include "core/client.h"
#include "core/feeds.h"
#include "core/stream.h"
#include "data/change_queue.h"
#include "util/bytes.h"
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
    hf_bytes pattern;
    bool is_key; /* not a pattern */
    bool shows_own;
    hf__stream stream;
    hf__change_queue queue; /* guarded by its mutex */
    char text[];
};

void hf_change_free(hf_change *change)
{
    if (change != NULL)
        hf_buffer_free(&change->key);
}

/* ------------------------------------------------------------------ changes */

static bool has_change(const hf__stream *stream)
{
    return !hf__change_queue_is_empty(
        &hf__container_of(stream, const hf_watch, stream)->queue);
}

static void move_change(void *to, void *from)
{
    hf_change *change = to, *other = from;

    hf_buffer_free(&change->key);
    change->kind = other->kind;
    change->key = other->key;
    other->key = (hf_buffer)HF_BUFFER_INIT;
}

static hf_status take_change(hf__stream *stream, void *item, hf_error *err)
{
    hf_watch *watch = hf__container_of(stream, hf_watch, stream);
    hf_change taken = HF_CHANGE_INIT;

    if (!hf__change_queue_take(&watch->queue, &taken.kind, &taken.key))
        return hf__fail(err, HF_NO_MEMORY, "a change");
    move_change(item, &taken);
    return HF_OK;
}

static void free_change(void *item)
{
    hf_change_free(item);
}

static const hf__stream_kind changes = {.item_size = sizeof(hf_change),
                                        .timeout = "no change",
                                        .has = has_change,
                                        .take = take_change,
                                        .move = move_change,
                                        .free = free_change};

/* -------------------------------------------------------------------- feed */

static bool wants_change(const hf_watch *watch, hf_bytes name)
{
    if (!watch->shows_own && name.size >= sizeof(OWN) - 1 &&
        memcmp(name.data, OWN, sizeof(OWN) - 1) == 0)
        return false;
    if (watch->is_key)
        return hf__bytes_same(name, watch->pattern);
    return hf__glob_fits(watch->pattern, name);
}

static void on_changed(hf__feed *feed, hf_change_kind kind, hf_bytes key)
{
    hf_watch *watch = hf__container_of(feed, hf_watch, feed.feed);
    hf_bytes name = key;

    if (kind != HF_CHANGE_GAP) {
        size_t prefix_size = watch->stream.client->prefix_size;

        name = hf_view((const char *)key.data + prefix_size,
                       key.size - prefix_size);
        if (!wants_change(watch, name))
            return;
    }
    pthread_mutex_lock(&watch->stream.mutex);
    if (kind == HF_CHANGE_GAP)
        hf__change_queue_gap(&watch->queue);
    else
        hf__change_queue_put(&watch->queue, kind, name);
    pthread_mutex_unlock(&watch->stream.mutex);
    hf__stream_serve(&watch->stream);
}

static void on_broken(hf__feed *feed)
{
    on_changed(feed, HF_CHANGE_GAP, hf_view(NULL, 0));
}

static void on_ended(hf__client_feed *feed)
{
    hf__stream_end(&hf__container_of(feed, hf_watch, feed)->stream,
                   HF_UNAVAILABLE, "the client was closed");
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

static hf_status load_options(const hf_watch_options *opts, hf_bytes pattern,
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
    watch->is_key = (options->flags & HF_WATCH_KEY) != 0;
    watch->shows_own = pattern.size >= sizeof(OWN) - 1 &&
                       memcmp(watch->text, OWN, sizeof(OWN) - 1) == 0;
    watch->feed.feed.changed = on_changed;
    watch->feed.feed.broken = on_broken;
    watch->feed.feed.kinds = true;
    watch->feed.ended = on_ended;
    hf__stream_init(&watch->stream, client, &changes);
    return watch;
}

static void free_watch(hf_watch *watch, bool forked)
{
    hf__stream_done(&watch->stream, forked);
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
        free_watch(made, false);
    else
        *watch = made;
    return status;
}

hf_status hf_watch_open(hf_client *client, hf_bytes pattern,
                        const hf_watch_options *opts, hf_watch **watch,
                        hf_error *err)
{
    hf_watch_options options;
    hf_status status = load_options(opts, pattern, &options, err);

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
    forked = hf__client_forked(watch->stream.client);
    if (!forked)
        hf__stream_end(&watch->stream, HF_CANCELLED, "the watch was closed");
    hf__client_feed_close(&watch->feed);
    free_watch(watch, forked);
}

/* -------------------------------------------------------------------- next */

static hf_status check_next(const hf_watch *watch, const hf_change *change,
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

hf_status hf_watch_next(hf_watch *watch, hf_change *change, int64_t wait_ms,
                        hf_error *err)
{
    hf_status status = check_next(watch, change, err);

    return status == HF_OK
               ? hf__stream_next(&watch->stream, change, wait_ms, err)
               : status;
}

hf_status hf_watch_next_start(hf_watch *watch, hf_change *change,
                              const hf_async *async, hf_error *err)
{
    hf_status status = check_next(watch, change, err);

    return status == HF_OK
               ? hf__stream_next_start(&watch->stream, change, async, err)
               : status;
}
