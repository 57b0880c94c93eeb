/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c - the driver for one Redis or Valkey server.
 *
 * perform() uses one of a few inline connections while the shared one has
 * little to do, so that a lone caller pays for no thread hop; under load, and
 * for everything asynchronous, requests share one connection on the loop
 * thread. Events come by a subscription on a connection of its own. All of
 * these belong to a node, of which this driver has one.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/address.h"
#include "store/redis/inbox.h"
#include "store/redis/inline.h"
#include "store/redis/mux.h"
#include "store/redis/node.h"
#include "store/redis/retry.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"

/* With more than this under way the shared connection is warm, and joining its
 * next write is cheaper than a write of one's own. */
#define INLINE_DEPTH_MAX 4

typedef struct redis_store {
    hf__store base;
    uint32_t fork_generation;
    hf__redis_node node;
    hf__inline inlines;
    hf__mux mux;
    hf__inbox inbox;
} redis_store;

static redis_store *of(hf__store *store)
{
    return (redis_store *)store;
}

static bool is_forked(const redis_store *self)
{
    return self->fork_generation != hf__fork_generation();
}

/* ---------------------------------------------------------- open and close */

static hf_status open_node(redis_store *self, const hf__store_config *config,
                           hf_error *err)
{
    hf_status status = hf__redis_address_init(&self->node.address, config, err);

    if (status != HF_OK)
        return status;
    self->node.connect_ms = config->connect_ms;
    self->node.loop = config->loop;
    status = hf__resolver_new(&self->node.address, &self->node.resolver, err);
    if (status != HF_OK)
        hf__redis_address_done(&self->node.address);
    return status;
}

static void free_node(redis_store *self)
{
    hf__resolver_free(self->node.resolver);
    hf__redis_address_done(&self->node.address);
    hf__free(self);
}

static hf_status redis_open(const hf__store_config *config, hf__store **store,
                            hf_error *err)
{
    redis_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = open_node(self, config, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    self->base.ops = &hf__redis_store_ops;
    self->base.capabilities = HF__CAP_EVENTS;
    self->fork_generation = hf__fork_generation();
    hf__inline_init(&self->inlines, &self->node);
    status = hf__inline_open(&self->inlines, err);
    if (status != HF_OK) {
        hf__inline_done(&self->inlines);
        free_node(self);
        return status;
    }
    hf__mux_init(&self->mux, &self->node);
    hf__inbox_init(&self->inbox, &self->node);
    *store = &self->base;
    return HF_OK;
}

static void redis_close(hf__store *store)
{
    redis_store *self = of(store);

    if (is_forked(self)) {
        hf__mux_abandon(&self->mux);
        hf__inbox_abandon(&self->inbox);
        hf__inline_abandon(&self->inlines);
    } else {
        hf__mux_close(&self->mux);
        hf__inbox_close(&self->inbox);
        hf__inline_done(&self->inlines);
    }
    free_node(self);
}

/* ---------------------------------------------------------------- requests */

/* Refuse what need not be tried; true: refused. */
static bool refuse(const redis_store *self, hf__request *request)
{
    request->sends = 0;
    if (is_forked(self))
        hf__request_fail(request, HF_INVALID,
                         "the client was opened before fork()");
    else if (hf__resp_request_bound(request) == SIZE_MAX)
        hf__request_fail(request, HF_INVALID,
                         "the request is longer than %zu bytes",
                         HF__RESP_REQUEST_MAX);
    else if (request->deadline_ms <= hf__clock_boot_ms())
        hf__request_fail(request, HF_UNAVAILABLE, "no time is left");
    else
        return false;
    return true;
}

static void redis_perform(hf__store *store, hf__request *request)
{
    redis_store *self = of(store);

    if (refuse(self, request))
        return;
    if (hf__mux_depth(&self->mux) <= INLINE_DEPTH_MAX &&
        hf__inline_perform(&self->inlines, request))
        return;
    hf__mux_perform(&self->mux, request);
}

static void redis_submit(hf__store *store, hf__request *const *requests,
                         size_t count)
{
    redis_store *self = of(store);
    size_t first = 0;
    size_t at;

    for (at = 0; at < count; at++) {
        if (!refuse(self, requests[at]))
            continue;
        if (at > first)
            hf__mux_submit(&self->mux, requests + first, at - first);
        first = at + 1;
        requests[at]->on_done(requests[at]);
    }
    if (at > first)
        hf__mux_submit(&self->mux, requests + first, at - first);
}

/* ------------------------------------------------------------------ events */

static const char *redis_inbox(hf__store *store)
{
    return of(store)->inbox.id;
}

static uint32_t redis_event_seq(hf__store *store, hf_bytes topic,
                                int64_t deadline_ms)
{
    redis_store *self = of(store);

    if (!is_forked(self) && hf__loop_start(self->node.loop, NULL) == HF_OK) {
        hf__inbox_start(&self->inbox);
        hf__inbox_wait(&self->inbox, deadline_ms);
    }
    return hf__events_read(&self->inbox.events, hf__events_bucket(topic));
}

static bool redis_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                             int64_t until_ms)
{
    return hf__events_wait(&of(store)->inbox.events, hf__events_bucket(topic),
                           seq, until_ms);
}

/* Adding and removing a watch on the loop thread. */
typedef struct watch_task {
    hf__task base;
    hf__events *events;
    hf__watch *watch;
} watch_task;

static void run_add(hf__task *task)
{
    const watch_task *self = (watch_task *)task;

    hf__events_add(self->events, self->watch);
}

static void run_remove(hf__task *task)
{
    const watch_task *self = (watch_task *)task;

    hf__events_remove(self->events, self->watch);
}

static hf_status redis_event_watch(hf__store *store, hf_bytes topic,
                                   hf__watch *watch, hf_error *err)
{
    redis_store *self = of(store);
    watch_task task = {{run_add, NULL}, &self->inbox.events, watch};
    hf_status status;

    if (is_forked(self))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    status = hf__loop_start(self->node.loop, err);
    if (status != HF_OK)
        return status;
    hf__inbox_start(&self->inbox);
    watch->bucket = hf__events_bucket(topic);
    if (hf__loop_here(self->node.loop))
        run_add(&task.base);
    else
        hf__loop_call(self->node.loop, &task.base);
    return HF_OK;
}

static void redis_event_unwatch(hf__store *store, hf__watch *watch)
{
    redis_store *self = of(store);
    watch_task task = {{run_remove, NULL}, &self->inbox.events, watch};

    if (!is_forked(self))
        hf__loop_call(self->node.loop, &task.base);
}

static uint32_t redis_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* ---------------------------------------------------------------- describe */

/* Copy the value of `name` out of INFO's "name:value\r\n" lines. */
static bool find_info(hf_bytes info, const char *name, char *value, size_t size)
{
    const char *line = info.data;
    const char *end = line + info.size;
    size_t length = strlen(name);
    const char *stop;

    while (line < end) {
        stop = memchr(line, '\r', (size_t)(end - line));
        if (stop == NULL)
            return false;
        if ((size_t)(stop - line) > length && line[length] == ':' &&
            memcmp(line, name, length) == 0) {
            snprintf(value, size, "%.*s", (int)(stop - line) - (int)length - 1,
                     line + length + 1);
            return true;
        }
        line = stop + (end - stop > 1 ? 2 : 1);
    }
    return false;
}

static void describe_info(hf_bytes info, hf__describe_fn line, void *user)
{
    static const char *const names[] = {
        "valkey_version", "redis_version",     "redis_mode",       "role",
        "run_id",         "uptime_in_seconds", "maxmemory_policy", "maxmemory",
        "aof_enabled",    "loading",           "connected_clients"};
    char value[128];
    size_t at;

    for (at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        if (find_info(info, names[at], value, sizeof(value)))
            line(user, names[at], value);
    }
}

static void redis_describe(hf__store *store, hf__describe_fn line, void *user)
{
    redis_store *self = of(store);
    hf_bytes word = hf_str("INFO");
    hf__request request;
    char db[24];

    line(user, "store",
         self->node.address.path != NULL ? "server on a unix socket"
                                         : "server over TCP");
    line(user, "address", self->node.address.text);
    snprintf(db, sizeof(db), "%lld", (long long)self->node.address.db);
    line(user, "database", db);
    line(user, "inbox", self->inbox.id);
    hf__request_init(&request);
    request.words = &word;
    request.word_count = 1;
    request.deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), self->node.connect_ms);
    redis_perform(store, &request);
    if (request.status != HF_OK)
        line(user, "error", request.error.message);
    else if (request.reply.kind == HF_REPLY_STRING)
        describe_info(
            hf_view(request.reply.bytes.data, request.reply.bytes.size), line,
            user);
    hf__request_done(&request);
}

const hf__store_ops hf__redis_store_ops = {
    .open = redis_open,
    .perform = redis_perform,
    .submit = redis_submit,
    .inbox = redis_inbox,
    .event_seq = redis_event_seq,
    .event_wait = redis_event_wait,
    .event_watch = redis_event_watch,
    .event_unwatch = redis_event_unwatch,
    .shard = redis_shard,
    .describe = redis_describe,
    .close = redis_close,
};
