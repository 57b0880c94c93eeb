/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel.c - the topology of one master whose place sentinels tell: every
 * request goes to the same hf__server, which moves.
 *
 * When the master is another one, connections to the old one are left by
 * hf__server_reset(), and the inbox subscribes anew, which moves every
 * counter. Whoever cannot reach a master, or met a replica, has the sentinels
 * asked and tries again until its deadline: a failover takes seconds. What was
 * sent and not answered follows the rules of retry.c; a promoted replica may
 * lack what the old master had acknowledged (docs/guide/stores.md).
 */
#include <stdio.h>
#include <string.h>

#include "store/redis/events/listen.h"
#include "store/redis/examine/examine.h"
#include "store/redis/server/route.h"
#include "store/redis/server/server.h"
#include "store/redis/topology/sentinel_watch.h"
#include "store/redis/wire/info.h"
#include "store/redis/wire/tls.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

/* Between two tries on a master that is being replaced, at most. */
#define TRIES_APART 3 /* of hf__retry_delay_ms(): 80 to 160 ms */

#define OPEN_AGAIN_MS 50

typedef struct sentinel_store {
    hf__store base;
    hf__router router;
    hf__fleet fleet;
    hf__sentinel_place place;
    hf__sentinel_watch watch;
    hf__server *server;
    hf__inbox inbox;
} sentinel_store;

static sentinel_store *of(hf__store *store)
{
    return (sentinel_store *)store;
}

static void on_moved(void *user)
{
    sentinel_store *self = user;

    hf__server_reset(self->server);
    hf__inbox_poke(&self->inbox);
}

static bool on_redirect(hf__router *router, hf__server *from,
                        const hf__request *request,
                        const hf__attempts *attempts, const hf__redirect *why,
                        hf__route *route)
{
    sentinel_store *self =
        (sentinel_store *)(void *)((char *)router -
                                   offsetof(sentinel_store, router));
    unsigned tries = attempts->waits;

    (void)request;
    if (why->kind != HF__REDIRECT_REPLICA &&
        why->kind != HF__REDIRECT_UNREACHABLE)
        return false;
    hf__resolver_refresh(&self->watch.resolver);
    hf__server_hold(from);
    route->server = from;
    route->at_ms =
        hf__clock_boot_ms() +
        hf__retry_delay_ms(tries < TRIES_APART ? tries : TRIES_APART);
    return true;
}

/* ---------------------------------------------------------- open and close */

/* One attempt until `until_ms`, which is not the limit of later ones: nobody
 * else connects yet. */
static hf_status try_master(sentinel_store *self, int64_t until_ms,
                            hf_error *err)
{
    int64_t connect_ms = self->fleet.connect_ms;
    int64_t left_ms = until_ms - hf__clock_boot_ms();
    hf_status status;

    self->fleet.connect_ms = left_ms > 1 ? left_ms : 1;
    status = hf__server_open(self->server, err);
    self->fleet.connect_ms = connect_ms;
    return status;
}

/* Try until the master that the sentinels name lets us in: a promotion may be
 * under way. A last attempt that runs out of time says less than those before
 * it about why. */
static hf_status reach_master(sentinel_store *self, hf_error *err)
{
    int64_t until_ms =
        hf__clock_after(hf__clock_boot_ms(), self->fleet.connect_ms);
    hf_status status = hf__sentinel_watch_wait(&self->watch, until_ms, err);
    hf_error why = HF_ERROR_INIT;
    hf_error last = HF_ERROR_INIT;

    if (status != HF_OK)
        return status;
    for (;;) {
        status = try_master(self, until_ms, &last);
        if (status == HF_OK)
            return HF_OK;
        if (why.status == HF_OK || hf__clock_boot_ms() < until_ms)
            why = last;
        if (hf_status_kind(status) != HF_KIND_RETRY ||
            hf__clock_boot_ms() + OPEN_AGAIN_MS >= until_ms)
            return hf__fail_copy(err, &why);
        hf__clock_sleep_until(hf__clock_boot_ms() + OPEN_AGAIN_MS);
    }
}

static hf_status begin(sentinel_store *self, const hf__store_config *config,
                       hf_error *err)
{
    hf_status status;

    self->base.ops = &hf__sentinel_store_ops;
    self->base.capabilities = HF__CAP_EVENTS;
    self->router.redirect = on_redirect;
    hf__fleet_init(&self->fleet, config, &self->router);
    hf__sentinel_watch_init(&self->watch, &self->place, config, on_moved, self);
    status = hf__server_new(&self->fleet, &self->place.account,
                            &self->watch.resolver, &self->server, err);
    if (status != HF_OK) {
        hf__sentinel_watch_done(&self->watch);
        hf__sentinel_place_done(&self->place);
        hf__free(self);
        return status;
    }
    hf__inbox_init(&self->inbox, &self->server->node);
    return HF_OK;
}

static void end(sentinel_store *self)
{
    hf__sentinel_watch_close(&self->watch);
    hf__inbox_close(&self->inbox);
    hf__server_close(self->server);
    hf__sentinel_watch_done(&self->watch);
    hf__sentinel_place_done(&self->place);
    hf__free(self);
}

static hf_status sentinel_open(const hf__store_config *config,
                               hf__store **store, hf_error *err)
{
    sentinel_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__sentinel_place_init(&self->place, config, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    status = begin(self, config, err);
    if (status != HF_OK)
        return status;
    status = hf__sentinel_watch_start(&self->watch, err);
    if (status == HF_OK && !config->lazy)
        status = reach_master(self, err);
    if (status != HF_OK) {
        end(self);
        return status;
    }
    *store = &self->base;
    return HF_OK;
}

static void sentinel_close(hf__store *store)
{
    sentinel_store *self = of(store);

    if (!hf__fleet_is_forked(&self->fleet)) {
        end(self);
        return;
    }
    hf__sentinel_watch_abandon(&self->watch);
    hf__inbox_abandon(&self->inbox);
    hf__server_abandon(self->server);
    hf__sentinel_place_done(&self->place);
    hf__free(self);
}

/* ---------------------------------------------------------------- requests */

static void sentinel_perform(hf__store *store, hf__request *request)
{
    sentinel_store *self = of(store);

    if (!hf__fleet_refuse(&self->fleet, request))
        hf__server_perform(self->server, request);
}

static void sentinel_submit(hf__store *store, hf__request *const *requests,
                            size_t count)
{
    sentinel_store *self = of(store);
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

static uint32_t sentinel_generation(hf__store *store)
{
    return atomic_load(&of(store)->server->mux.generation);
}

static void sentinel_cancel(hf__store *store, hf__request *request)
{
    (void)store;
    hf__mux_cancel(request);
}

/* ------------------------------------------------------------------ events */

static const char *sentinel_inbox(hf__store *store)
{
    return of(store)->inbox.id;
}

static uint32_t sentinel_event_seq(hf__store *store, hf_bytes topic,
                                   int64_t deadline_ms)
{
    return hf__listen_seq(&of(store)->inbox, topic, deadline_ms);
}

static bool sentinel_event_wait(hf__store *store, hf_bytes topic, uint32_t seq,
                                int64_t until_ms)
{
    return hf__listen_wait(&of(store)->inbox, topic, seq, until_ms);
}

static hf_status sentinel_event_watch(hf__store *store, hf_bytes topic,
                                      hf__watch *watch, hf_error *err)
{
    return hf__listen_watch(&of(store)->inbox, topic, watch, err);
}

static void sentinel_event_unwatch(hf__store *store, hf__watch *watch)
{
    hf__listen_unwatch(&of(store)->fleet, of(store)->inbox.events, watch);
}

static uint32_t sentinel_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    (void)key;
    return 0;
}

/* ---------------------------------------------------------------- describe */

static void describe_info(hf_bytes info, hf__describe_fn line, void *user)
{
    static const char *const names[] = {"valkey_version",
                                        "redis_version",
                                        "role",
                                        "run_id",
                                        "connected_slaves",
                                        "min_slaves_good_slaves",
                                        "uptime_in_seconds",
                                        "maxmemory_policy",
                                        "maxmemory",
                                        "aof_enabled",
                                        "loading",
                                        "connected_clients"};
    char value[128];
    size_t at;

    for (at = 0; at < sizeof(names) / sizeof(names[0]); at++) {
        if (hf__info_find(info, names[at], value, sizeof(value)))
            line(user, names[at], value);
    }
}

static void sentinel_describe(hf__store *store, hf__describe_fn line,
                              void *user)
{
    sentinel_store *self = of(store);
    hf_bytes word = hf_str("INFO");
    hf__request request;
    char db[24];

    line(user, "store", "master behind sentinels");
    if (!hf__fleet_is_forked(&self->fleet))
        hf__sentinel_watch_describe(&self->watch, line, user);
    snprintf(db, sizeof(db), "%lld", (long long)self->place.account.db);
    line(user, "database", db);
    if (self->place.account.tls != NULL)
        line(user, "tls", hf__tls_describe(self->place.account.tls));
    line(user, "inbox", self->inbox.id);
    hf__request_command(&request, &word, 1, true);
    request.deadline_ms =
        hf__clock_after(hf__clock_boot_ms(), self->fleet.connect_ms);
    sentinel_perform(store, &request);
    if (request.status != HF_OK)
        line(user, "error", request.error.message);
    else if (request.reply.kind == HF_REPLY_STRING)
        describe_info(
            hf_view(request.reply.bytes.data, request.reply.bytes.size), line,
            user);
    hf__request_done(&request);
}

typedef struct examined_line {
    const hf__examination *examination;
    char master[HF__WHERE_SIZE]; /* "": not known */
} examined_line;

/* A line of hf__sentinel_watch_describe(). */
static void examine_line(void *user, const char *name, const char *value)
{
    examined_line *self = user;
    hf__examination to = *self->examination;
    const char *state = strstr(value, ": ");
    char node[HF__WHERE_SIZE];

    if (strcmp(name, "address") == 0)
        snprintf(self->master, sizeof(self->master), "%s", value);
    if (strcmp(name, "sentinels") == 0)
        hf__remark_error(&to, HF_UNAVAILABLE, "sentinels",
                         "see why most of them do not agree on a master", "%s",
                         value);
    if (strcmp(name, "sentinel") != 0 || state == NULL)
        return;
    snprintf(node, sizeof(node), "%.*s", (int)(state - value), value);
    to.node = node;
    if (strcmp(state + 2, "answers") == 0)
        hf__remark(&to, HF_LEVEL_OK, "sentinel", "", "answers");
    else
        hf__remark(&to, HF_LEVEL_WARNING, "sentinel",
                   "bring it back: without a majority of them there is no "
                   "failover",
                   "%s", state + 2);
}

static void sentinel_examine(hf__store *store,
                             const hf__examination *examination)
{
    sentinel_store *self = of(store);
    examined_line examined = {.examination = examination};

    hf__sentinel_watch_describe(&self->watch, examine_line, &examined);
    if (examined.master[0] != '\0' &&
        hf__server_examine(self->server, examined.master, examination))
        hf__inbox_examine(&self->inbox, examined.master, examination);
}

const hf__store_ops hf__sentinel_store_ops = {
    .open = sentinel_open,
    .perform = sentinel_perform,
    .submit = sentinel_submit,
    .inbox = sentinel_inbox,
    .event_seq = sentinel_event_seq,
    .event_wait = sentinel_event_wait,
    .event_watch = sentinel_event_watch,
    .event_unwatch = sentinel_event_unwatch,
    .shard = sentinel_shard,
    .describe = sentinel_describe,
    .close = sentinel_close,
    .cancel = sentinel_cancel,
    .generation = sentinel_generation,
    .examine = sentinel_examine,
};
