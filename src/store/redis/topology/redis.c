/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c - the driver for one Redis or Valkey server: the topology where
 * every request goes to the same place. Events come by a subscription on a
 * connection of its own.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/events/inbox.h"
#include "store/redis/events/listen.h"
#include "store/redis/examine/examine.h"
#include "store/redis/server/server.h"
#include "store/redis/wire/address.h"
#include "store/redis/wire/info.h"
#include "store/redis/wire/tls.h"
#include "store/store.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct redis_store {
    hf__store base;
    hf__fleet fleet;
    hf__redis_address address;
    hf__server *server;
    hf__inbox inbox;
} redis_store;

static redis_store *of(hf__store *store)
{
    return (redis_store *)store;
}

static bool is_forked(const redis_store *self)
{
    return hf__fleet_is_forked(&self->fleet);
}

/* ---------------------------------------------------------- open and close */

static hf_status make_server(redis_store *self, bool lazy, hf_error *err)
{
    hf__resolver *resolver;
    hf_status status =
        hf__resolver_new(&self->address.where, lazy, &resolver, err);

    if (status != HF_OK)
        return status;
    status = hf__server_new(&self->fleet, &self->address.account, resolver,
                            &self->server, err);
    if (status != HF_OK)
        hf__resolver_free(resolver);
    return status;
}

static hf_status open_server(redis_store *self, bool lazy, hf_error *err)
{
    hf_status status = make_server(self, lazy, err);

    if (status != HF_OK || lazy)
        return status;
    status = hf__server_open(self->server, err);
    if (status == HF_OK &&
        hf__redis_node_traits(&self->server->node).mode == HF__REDIS_SENTINEL)
        status = hf__fail(err, HF_INVALID, "%s is a sentinel, not a server",
                          self->address.where.text);
    if (status != HF_OK)
        hf__server_close(self->server);
    return status;
}

static hf_status redis_open(const hf__store_config *config, hf__store **store,
                            hf_error *err)
{
    redis_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->base.ops = &hf__redis_store_ops;
    self->base.capabilities = HF__CAP_EVENTS;
    hf__fleet_init(&self->fleet, config, NULL);
    status = hf__redis_address_init(&self->address, config, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    status = open_server(self, config->lazy, err);
    if (status != HF_OK) {
        hf__redis_address_done(&self->address);
        hf__free(self);
        return status;
    }
    hf__inbox_init(&self->inbox, &self->server->node);
    *store = &self->base;
    return HF_OK;
}

static void redis_close(hf__store *store)
{
    redis_store *self = of(store);

    if (is_forked(self)) {
        hf__inbox_abandon(&self->inbox);
        hf__server_abandon(self->server);
    } else {
        hf__inbox_close(&self->inbox);
        hf__server_close(self->server);
    }
    hf__redis_address_done(&self->address);
    hf__free(self);
}

/* ---------------------------------------------------------------- requests */

static void redis_perform(hf__store *store, hf__request *request)
{
    redis_store *self = of(store);

    if (!hf__fleet_refuse(&self->fleet, request))
        hf__server_perform(self->server, request);
}

static void redis_submit(hf__store *store, hf__request *const *requests,
                         size_t count)
{
    redis_store *self = of(store);
    size_t first = 0;
    size_t at;

    for (at = 0; at < count; at++) {
        if (!hf__fleet_refuse(&self->fleet, requests[at]))
            continue;
        if (at > first)
            hf__server_submit(self->server, requests + first, at - first);
        first = at + 1;
        requests[at]->on_done(requests[at]);
    }
    if (at > first)
        hf__server_submit(self->server, requests + first, at - first);
}

static uint32_t redis_generation(hf__store *store)
{
    return atomic_load(&of(store)->server->mux.generation);
}

static void redis_cancel(hf__store *store, hf__request *request)
{
    (void)store;
    hf__mux_cancel(request);
}

/* ------------------------------------------------------------------ events */

static const char *redis_inbox(hf__store *store)
{
    return of(store)->inbox.id;
}

static uint32_t redis_event_seq(hf__store *store, hf_bytes topic,
                                int64_t deadline_ms)
{
    return hf__listen_seq(&of(store)->inbox, topic, deadline_ms);
}

static bool redis_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                             int64_t until_ms)
{
    return hf__listen_wait(&of(store)->inbox, topic, seq, until_ms);
}

static hf_status redis_event_watch(hf__store *store, hf_bytes topic,
                                   hf__watch *watch, hf_error *err)
{
    return hf__listen_watch(&of(store)->inbox, topic, watch, err);
}

static void redis_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__listen_unwatch(&of(store)->fleet, of(store)->inbox.events, watch);
}

static uint32_t redis_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* ---------------------------------------------------------------- describe */

static void describe_info(hf_bytes info, hf__describe_fn line, void *user)
{
    static const char *const names[] = {
        "valkey_version", "redis_version",     "redis_mode",       "role",
        "run_id",         "uptime_in_seconds", "maxmemory_policy", "maxmemory",
        "aof_enabled",    "loading",           "connected_clients"};
    char value[128];
    size_t at;

    for (at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        if (hf__info_find(info, names[at], value, sizeof(value)))
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
         self->address.where.path != NULL ? "server on a unix socket"
                                          : "server over TCP");
    line(user, "address", self->address.where.text);
    snprintf(db, sizeof(db), "%lld", (long long)self->address.account.db);
    line(user, "database", db);
    if (self->address.account.tls != NULL)
        line(user, "tls", hf__tls_describe(self->address.account.tls));
    line(user, "inbox", self->inbox.id);
    hf__request_init(&request);
    request.words = &word;
    request.word_count = 1;
    request.deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), self->fleet.connect_ms);
    redis_perform(store, &request);
    if (request.status != HF_OK)
        line(user, "error", request.error.message);
    else if (request.reply.kind == HF_REPLY_STRING)
        describe_info(
            hf_view(request.reply.bytes.data, request.reply.bytes.size), line,
            user);
    hf__request_done(&request);
}

static void redis_examine(hf__store *store, const hf__examination *examination)
{
    redis_store *self = of(store);

    if (hf__server_examine(self->server, self->address.where.text, examination))
        hf__inbox_examine(&self->inbox, self->address.where.text, examination);
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
    .cancel = redis_cancel,
    .generation = redis_generation,
    .examine = redis_examine,
};
