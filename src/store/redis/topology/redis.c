/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c - the driver for one Redis or Valkey server. Events come by a
 * subscription on a connection of its own.
 */
#include "store/redis/redis.h"
#include "store/redis/diagnose/diagnose_server.h"
#include "store/redis/topology/single_server.h"
#include "store/redis/wire/address.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct redis_store {
    hf__single_server single;
    hf__redis_address address;
} redis_store;

static redis_store *redis_of(hf__store *store)
{
    return (redis_store *)store;
}

/* ---------------------------------------------------------- open and close */

/* `until_ms`: 0: do not wait. */
static hf_status make_server(redis_store *self, int64_t until_ms, hf_error *err)
{
    hf__resolver *resolver;
    hf_status status =
        hf__resolver_new(&self->address.where, until_ms, &resolver, err);

    if (status != HF_OK)
        return status;
    status = hf__server_new(&self->single.context, &self->address.account,
                            resolver, &self->single.server, err);
    if (status != HF_OK)
        hf__resolver_free(resolver);
    return status;
}

static hf_status open_server(redis_store *self, bool lazy, hf_error *err)
{
    int64_t until_ms = lazy ? 0
                            : hf__clock_after(hf__clock_boot_ms(),
                                              self->single.context.connect_ms);
    hf_status status = make_server(self, until_ms, err);

    if (status != HF_OK || lazy)
        return status;
    status = hf__server_open(self->single.server, until_ms, err);
    if (status == HF_OK &&
        hf__redis_node_traits(&self->single.server->node).mode ==
            HF__REDIS_SENTINEL)
        status = hf__fail(err, HF_INVALID, "%s is a sentinel, not a server",
                          self->address.where.text);
    if (status != HF_OK)
        hf__server_close(self->single.server);
    return status;
}

static hf_status redis_open(const hf__store_config *config, hf__store **store,
                            hf_error *err)
{
    redis_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->single.base.ops = &hf__redis_store_ops;
    self->single.base.capabilities =
        HF__CAP_EVENTS | HF__CAP_REPLICAS | HF__CAP_WAITS;
    hf__store_context_init(&self->single.context, config, NULL);
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
    hf__event_conn_init(&self->single.event_conn, &self->single.server->node);
    hf__change_feeds_init(&self->single.feeds, &self->single.context,
                          self->single.server, NULL);
    *store = &self->single.base;
    return HF_OK;
}

static void redis_close(hf__store *store)
{
    redis_store *self = redis_of(store);

    if (hf__store_context_is_forked(&self->single.context)) {
        hf__event_conn_close_forked(&self->single.event_conn);
        hf__change_feeds_close_forked(&self->single.feeds);
        hf__server_close_forked(self->single.server);
    } else {
        hf__event_conn_close(&self->single.event_conn);
        hf__change_feeds_drain(&self->single.feeds);
        hf__server_close(self->single.server);
    }
    hf__redis_address_done(&self->address);
    hf__free(self);
}

/* ---------------------------------------------------------------- describe */

static void redis_describe(hf__store *store, hf__describe_fn line, void *user)
{
    static const char *const names[] = {
        "valkey_version", "redis_version",     "redis_mode",        "role",
        "run_id",         "uptime_in_seconds", "maxmemory_policy",  "maxmemory",
        "aof_enabled",    "loading",           "connected_clients", NULL};
    redis_store *self = redis_of(store);

    line(user, "store",
         self->address.where.path != NULL ? "server on a unix socket"
                                          : "server over TCP");
    line(user, "address", self->address.where.text);
    hf__single_server_describe(&self->single, &self->address.account, names,
                               line, user);
}

static void redis_diagnose(hf__store *store, const hf__diagnosis *diagnosis)
{
    redis_store *self = redis_of(store);

    (void)hf__server_diagnose(self->single.server, self->address.where.text,
                              diagnosis);
}

static const char *const schemes[] = {
    "redis", "valkey", "redis+unix", "valkey+unix", "rediss", "valkeys", NULL};

const hf__store_ops hf__redis_store_ops = {
    .schemes = schemes,
    .open = redis_open,
    .describe = redis_describe,
    .close = redis_close,
    .diagnose = redis_diagnose,
    HF__SINGLE_SERVER_OPS, /* all else */
};
