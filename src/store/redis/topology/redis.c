/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis.c - the driver for one Redis or Valkey server. Events come by a
 * subscription on a connection of its own.
 */
#include "store/redis/redis.h"
#include "store/redis/diagnose/diagnose.h"
#include "store/redis/topology/single_server.h"
#include "store/redis/wire/address.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct redis_store {
    hf__lone lone;
    hf__redis_address address;
} redis_store;

static redis_store *of(hf__store *store)
{
    return (redis_store *)store;
}

static bool is_forked(const redis_store *self)
{
    return hf__fleet_is_forked(&self->lone.fleet);
}

/* ---------------------------------------------------------- open and close */

/* `until_ms`: 0 if nothing is to be waited for. */
static hf_status make_server(redis_store *self, int64_t until_ms, hf_error *err)
{
    hf__resolver *resolver;
    hf_status status =
        hf__resolver_new(&self->address.where, until_ms, &resolver, err);

    if (status != HF_OK)
        return status;
    status = hf__server_new(&self->lone.fleet, &self->address.account, resolver,
                            &self->lone.server, err);
    if (status != HF_OK)
        hf__resolver_free(resolver);
    return status;
}

static hf_status open_server(redis_store *self, bool lazy, hf_error *err)
{
    int64_t until_ms = lazy ? 0
                            : hf__clock_after(hf__clock_boot_ms(),
                                              self->lone.fleet.connect_ms);
    hf_status status = make_server(self, until_ms, err);

    if (status != HF_OK || lazy)
        return status;
    status = hf__server_open(self->lone.server, until_ms, err);
    if (status == HF_OK &&
        hf__redis_node_traits(&self->lone.server->node).mode ==
            HF__REDIS_SENTINEL)
        status = hf__fail(err, HF_INVALID, "%s is a sentinel, not a server",
                          self->address.where.text);
    if (status != HF_OK)
        hf__server_close(self->lone.server);
    return status;
}

static hf_status redis_open(const hf__store_config *config, hf__store **store,
                            hf_error *err)
{
    redis_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->lone.base.ops = &hf__redis_store_ops;
    self->lone.base.capabilities = HF__CAP_EVENTS | HF__CAP_REPLICAS;
    hf__fleet_init(&self->lone.fleet, config, NULL);
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
    hf__inbox_init(&self->lone.inbox, &self->lone.server->node);
    *store = &self->lone.base;
    return HF_OK;
}

static void redis_close(hf__store *store)
{
    redis_store *self = of(store);

    if (is_forked(self)) {
        hf__inbox_abandon(&self->lone.inbox);
        hf__server_abandon(self->lone.server);
    } else {
        hf__inbox_close(&self->lone.inbox);
        hf__server_close(self->lone.server);
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
    redis_store *self = of(store);

    line(user, "store",
         self->address.where.path != NULL ? "server on a unix socket"
                                          : "server over TCP");
    line(user, "address", self->address.where.text);
    hf__lone_describe(&self->lone, &self->address.account, names, line, user);
}

static void redis_examine(hf__store *store, const hf__examination *examination)
{
    redis_store *self = of(store);

    (void)hf__server_examine(self->lone.server, self->address.where.text,
                             examination);
}

static const char *const schemes[] = {
    "redis", "valkey", "redis+unix", "valkey+unix", "rediss", "valkeys", NULL};

const hf__store_ops hf__redis_store_ops = {
    .schemes = schemes,
    .open = redis_open,
    .describe = redis_describe,
    .close = redis_close,
    .examine = redis_examine,
    HF__LONE_OPS, /* all else */
};
