/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster.c - the driver for a Redis or Valkey Cluster: the topology where the
 * slot of a request's keys says which server it goes to.
 *
 * Every request is sent immediately: a wrong server names the right one (MOVED,
 * ASK), or says that there is none at present (CLUSTERDOWN); or no connection
 * can be made. redirect() then sends it on, after a pause if the cluster needs
 * time, until its deadline at most; only requests that were not executed get
 * there. Meanwhile the map is refreshed.
 */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "store/redis/redis.h"
#include "store/redis/topology/change_feeds.h"
#include "store/redis/topology/cluster_describe.h"
#include "store/redis/topology/cluster_events.h"
#include "store/redis/topology/cluster_map.h"
#include "store/redis/topology/cluster_parts.h"
#include "store/redis/topology/cluster_refresh.h"
#include "store/redis/topology/slots.h"
#include "store/tls/tls.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/url.h"

#define PORT_DEFAULT 6379

/* Redirects without a pause in a stable cluster; more mean that it is
 * changing. */
#define QUICK_REDIRECTS 2

/* Longest pause between two attempts on a node that cannot serve. */
#define TRIES_APART 3 /* of hf__retry_delay_ms(): 80 to 160 ms */

/* Requests of one submit() that are grouped by server at a time. */
#define SORTED_MAX 64

typedef struct cluster_store {
    hf__cluster_events events; /* with the store's base */
    hf__store_context context;
    hf__router router;
    hf__redis_account account;
    hf__cluster_map map;
    hf__cluster_refresh refresh;
    hf__change_feeds feeds;
} cluster_store;

static cluster_store *cluster_of(hf__store *store)
{
    return (cluster_store *)store;
}

/* ------------------------------------------------------------------ routing */

/* The server of a request. NULL: none, and its outcome is set. */
static hf__server *find_server(cluster_store *self, hf__request *request)
{
    hf__server *server;
    uint32_t slot;

    if (request->part != 0) {
        server = hf__cluster_map_part(&self->map, request->part);
        if (server == NULL)
            hf__request_fail(request, HF_UNAVAILABLE,
                             "the cluster has changed: a master is gone");
        return server;
    }
    request->status = hf__slot_of_request(request, &slot, &request->error);
    if (request->status != HF_OK)
        return NULL;
    server = hf__cluster_map_take(&self->map, slot, NULL);
    if (server == NULL)
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
    return server;
}

/* A failover takes seconds: retry rarely enough to do no harm; each attempt
 * requests the map. */
static void pause_before(hf__route *route, const hf__attempts *attempts)
{
    unsigned tries = attempts->waits;

    route->at_ms =
        hf__clock_boot_ms() +
        hf__retry_delay_ms(tries < TRIES_APART ? tries : TRIES_APART);
}

/* MOVED and ASK: to the server that was named. */
static bool follow_redirect(cluster_store *self, const hf__server *from,
                            const hf__attempts *attempts,
                            const hf__redirect *why, hf__route *route)
{
    hf__resolved resolved;
    const char *host = why->host;

    if (host[0] == '\0') {
        hf__resolver_get(from->node.resolver, &resolved);
        host = resolved.host;
    }
    route->asking = why->kind == HF__REDIRECT_ASK;
    route->server = hf__cluster_map_find(&self->map, host, why->port,
                                         route->asking ? NULL : &why->slot);
    if (!route->asking)
        hf__cluster_refresh_want(&self->refresh, HF__REFRESH_MOVED);
    if (attempts->redirects > QUICK_REDIRECTS)
        pause_before(route, attempts);
    return route->server != NULL;
}

/* To the current owner of the slot: perhaps another server already, otherwise
 * the same one after a pause. */
static bool retry_elsewhere(cluster_store *self, const hf__server *from,
                            const hf__request *request,
                            const hf__attempts *attempts, hf__route *route)
{
    uint32_t slot;

    if (hf__slot_of_request(request, &slot, NULL) != HF_OK)
        return false;
    route->server = hf__cluster_map_take(&self->map, slot, NULL);
    if (route->server == from)
        pause_before(route, attempts);
    return route->server != NULL;
}

static bool cluster_redirect(hf__router *router, hf__server *from,
                             const hf__request *request,
                             const hf__attempts *attempts,
                             const hf__redirect *why, hf__route *route)
{
    cluster_store *self = hf__container_of(router, cluster_store, router);

    if (hf__cluster_refresh_owns(&self->refresh, request))
        return hf__cluster_refresh_hand_on(&self->refresh, route);
    if (request->part != 0)
        return false;
    switch (why->kind) {
    case HF__REDIRECT_NONE:
        return false;
    case HF__REDIRECT_MOVED:
    case HF__REDIRECT_ASK:
        if (strcmp(why->host, "?") != 0)
            return follow_redirect(self, from, attempts, why, route);
        break; /* the whole map may name it */
    case HF__REDIRECT_TRY_AGAIN:
        if (!retry_elsewhere(self, from, request, attempts, route))
            return false;
        pause_before(route, attempts); /* the one that was named by ASK */
        return true;
    case HF__REDIRECT_UNREACHABLE:
        hf__cluster_refresh_doubt(&self->refresh, from);
        if (hf__cluster_refresh_is_lost(&self->refresh, request->began_ms))
            return false;
        break;
    case HF__REDIRECT_CLUSTER_DOWN:
    case HF__REDIRECT_REPLICA:
        break;
    case HF__REDIRECT_GONE:
        return retry_elsewhere(self, from, request, attempts, route);
    }
    hf__cluster_refresh_want(&self->refresh, HF__REFRESH_BLOCKED);
    return retry_elsewhere(self, from, request, attempts, route);
}

static void cluster_suspect(hf__router *router, hf__server *from)
{
    cluster_store *self = hf__container_of(router, cluster_store, router);

    hf__cluster_refresh_doubt(&self->refresh, from);
    hf__cluster_refresh_want(&self->refresh, HF__REFRESH_BLOCKED);
}

/* On the loop thread. */
static void on_installed(hf__cluster_refresh *refresh, bool lost)
{
    cluster_store *self = hf__container_of(refresh, cluster_store, refresh);

    hf__store_context_change(&self->context);
    if (lost)
        hf__cluster_events_lost(&self->events);
    hf__change_feeds_sync(&self->feeds);
}

static void want_map(hf__change_feeds *feeds)
{
    cluster_store *self = hf__container_of(feeds, cluster_store, feeds);

    hf__cluster_refresh_want(&self->refresh, HF__REFRESH_MOVED);
}

/* ---------------------------------------------------------- open and close */

static hf_status check_url(const hf__url *url, hf_error *err)
{
    static const char *const plain[] = {HF__ACCOUNT_PARAMS, NULL};
    static const char *const secure[] = {HF__ACCOUNT_PARAMS, HF__TLS_PARAMS,
                                         NULL};
    hf_status status =
        hf__url_check_params(url, hf__tls_is_wanted(url) ? secure : plain, err);

    if (status != HF_OK)
        return status;
    if (url->host == NULL || url->host[0] == '\0')
        return hf__fail(err, HF_INVALID, "the URL has no host");
    if (url->path[0] != '\0' && strcmp(url->path, "/") != 0 &&
        strcmp(url->path, "/0") != 0)
        return hf__fail(err, HF_INVALID, "a cluster has database 0 only");
    return HF_OK;
}

/* Their names are looked up in parallel; the first request to a node waits for
 * its name. */
static hf_status add_seeds(cluster_store *self, const hf__url *url,
                           hf_error *err)
{
    char host[HF__URL_HOST_SIZE];
    hf_status status = HF_OK;
    int port;

    for (size_t at = 0; status == HF_OK && hf__url_host(url, at, host, &port);
         at++)
        status = hf__cluster_map_add_seed(&self->map, host,
                                          port != 0 ? port : PORT_DEFAULT, err);
    return status;
}

static void free_store(cluster_store *self)
{
    hf__cluster_refresh_done(&self->refresh);
    hf__redis_account_done(&self->account);
    hf__free(self);
}

/* In this order: no server is handed out, none is held, none is left, not even
 * a retired one that could still install a map. */
static void close_all(cluster_store *self)
{
    hf__cluster_map_stop(&self->map);
    hf__change_feeds_drain(&self->feeds);
    hf__cluster_events_close(&self->events);
    hf__cluster_map_close(&self->map);
    hf__cluster_events_done(&self->events);
}

static hf_status discover_nodes(cluster_store *self,
                                const hf__store_config *config, hf_error *err)
{
    int64_t until_ms = hf__clock_after(hf__clock_boot_ms(), config->connect_ms);
    hf_status status = add_seeds(self, config->url, err);

    if (status == HF_OK && !config->lazy)
        status = hf__cluster_refresh_first(&self->refresh, until_ms, err);
    if (status == HF_OK)
        return HF_OK;
    close_all(self);
    return status;
}

static hf_status cluster_open(const hf__store_config *config, hf__store **store,
                              hf_error *err)
{
    hf_status status = check_url(config->url, err);
    cluster_store *self;

    if (status != HF_OK)
        return status;
    self = hf__calloc(1, sizeof(*self));
    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    self->events.base.ops = &hf__cluster_store_ops;
    self->events.base.capabilities =
        HF__CAP_EVENTS | HF__CAP_REPLICAS | HF__CAP_WAITS;
    self->events.base.shards = HF__SLOT_COUNT;
    self->router.redirect = cluster_redirect;
    self->router.suspect = cluster_suspect;
    self->router.of_slots = true;
    hf__store_context_init(&self->context, config, &self->router);
    status = hf__redis_account_init(&self->account, config, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    hf__cluster_map_init(&self->map, &self->context, &self->account);
    hf__cluster_refresh_init(&self->refresh, &self->map);
    self->refresh.installed = on_installed;
    hf__cluster_events_init(&self->events, &self->map);
    hf__change_feeds_init(&self->feeds, &self->context, NULL, &self->map);
    self->feeds.want_map = want_map;
    status = discover_nodes(self, config, err);
    if (status != HF_OK) {
        free_store(self);
        return status;
    }

    *store = &self->events.base;
    return HF_OK;
}

static void cluster_close(hf__store *store)
{
    cluster_store *self = cluster_of(store);

    if (hf__store_context_is_forked(&self->context)) {
        hf__cluster_events_close_forked(&self->events);
        hf__change_feeds_close_forked(&self->feeds);
        hf__cluster_map_close_forked(&self->map);
    } else {
        close_all(self);
    }
    free_store(self);
}

/* ---------------------------------------------------------------- requests */

static void cluster_perform(hf__store *store, hf__request *request)
{
    cluster_store *self = cluster_of(store);
    hf__server *server;

    if (hf__store_context_refuse(&self->context, request))
        return;
    server = find_server(self, request);
    if (server == NULL)
        return;
    hf__server_perform(server, request);
    hf__server_release(server);
}

/* Submit to `servers[at]` all requests from `at` on that belong to it. */
static void submit_alike(hf__request *const *requests, hf__server **servers,
                         size_t at, size_t count)
{
    hf__request *alike[SORTED_MAX];
    hf__server *server = servers[at];
    size_t found = 0;

    for (size_t i = at; i < count; i++) {
        if (servers[i] != server)
            continue;
        alike[found++] = requests[i];
        servers[i] = NULL;
        if (i > at)
            hf__server_release(server);
    }
    hf__server_submit(server, alike, found);
    hf__server_release(server);
}

static void submit_some(cluster_store *self, hf__request *const *requests,
                        size_t count)
{
    hf__server *servers[SORTED_MAX];

    for (size_t i = 0; i < count; i++) {
        servers[i] = NULL;
        if (!hf__store_context_refuse(&self->context, requests[i]))
            servers[i] = find_server(self, requests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (servers[i] == NULL)
            requests[i]->on_done(requests[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (servers[i] != NULL)
            submit_alike(requests, servers, i, count);
    }
}

static void cluster_submit(hf__store *store, hf__request *const *requests,
                           size_t count)
{
    size_t part;

    for (; count > 0; count -= part, requests += part) {
        part = count < SORTED_MAX ? count : SORTED_MAX;
        submit_some(cluster_of(store), requests, part);
    }
}

static void cluster_cancel(hf__store *store, hf__request *request)
{
    (void)store;
    hf__pipeline_cancel(request);
}

static uint32_t cluster_shard(const hf__store *store, hf_bytes key)
{
    (void)store;
    return hf__slot_of(key);
}

static hf_status cluster_parts(hf__store *store, hf__parts *parts,
                               int64_t deadline_ms, hf_error *err)
{
    return hf__cluster_find_parts(store, &cluster_of(store)->refresh, parts,
                                  deadline_ms, err);
}

/* ------------------------------------------------------------------ events */

static const char *cluster_inbox(hf__store *store)
{
    return cluster_of(store)->context.channel;
}

static hf_status cluster_feed_open(hf__store *store, hf__feed *feed,
                                   int64_t deadline_ms, hf_error *err)
{
    return hf__change_feeds_open(&cluster_of(store)->feeds, feed, deadline_ms,
                                 err);
}

static void cluster_feed_close(hf__store *store, hf__feed *feed)
{
    hf__change_feeds_close(&cluster_of(store)->feeds, feed);
}

/* ---------------------------------------------------------------- describe */

static void cluster_describe(hf__store *store, hf__describe_fn line, void *user)
{
    cluster_store *self = cluster_of(store);
    hf_bytes words[] = {hf_str("CLUSTER"), hf_str("INFO")};
    hf__request request;

    line(user, "store", "cluster of servers");
    if (self->account.tls != NULL)
        line(user, "tls", hf__tls_describe(self->account.tls));
    line(user, "inbox", self->context.channel);
    hf__cluster_describe(&self->map, line, user);
    hf__request_command(&request, words, 2, true);
    request.began_ms = hf__clock_boot_ms();
    request.deadline_ms =
        hf__clock_after(request.began_ms, self->context.connect_ms);
    cluster_perform(store, &request);
    if (request.status != HF_OK)
        line(user, "error", request.error.message);
    hf__request_done(&request);
}

static void cluster_diagnose(hf__store *store, const hf__diagnosis *diagnosis)
{
    hf__cluster_diagnose(&cluster_of(store)->map, diagnosis);
}

static const char *const schemes[] = {"redis+cluster", "rediss+cluster",
                                      "valkey+cluster", "valkeys+cluster",
                                      NULL};

const hf__store_ops hf__cluster_store_ops = {
    .schemes = schemes,
    .open = cluster_open,
    .perform = cluster_perform,
    .submit = cluster_submit,
    .inbox = cluster_inbox,
    .event_seq = hf__cluster_event_seq,
    .event_listens = hf__cluster_event_listens,
    .event_key = hf__cluster_event_key,
    .event_channel = hf__cluster_event_channel,
    .event_wait = hf__cluster_event_wait,
    .event_wake = hf__cluster_event_wake,
    .event_watch = hf__cluster_event_watch,
    .event_unwatch = hf__cluster_event_unwatch,
    .feed_open = cluster_feed_open,
    .feed_close = cluster_feed_close,
    .shard = cluster_shard,
    .describe = cluster_describe,
    .close = cluster_close,
    .cancel = cluster_cancel,
    .parts = cluster_parts,
    .diagnose = cluster_diagnose,
    .tag = hf__slot_tag,
};
