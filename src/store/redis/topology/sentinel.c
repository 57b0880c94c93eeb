/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel.c - the topology of one master whose address comes from sentinels:
 * every request goes to the same hf__server, whose address changes.
 *
 * When there is another master, hf__server_reset() drops the connections to the
 * old one, and the client subscribes again, which moves every counter. A
 * request that cannot reach the master, or was refused by a replica, has the
 * sentinels asked and is retried until its deadline: a failover takes seconds.
 * Requests sent but not answered follow the rules of retry.c; a promoted
 * replica may lack writes that the old master had acknowledged
 * (docs/reference/servers.md).
 */
#include <stdio.h>
#include <string.h>

#include "store/redis/diagnose/diagnose_server.h"
#include "store/redis/redis.h"
#include "store/redis/server/route.h"
#include "store/redis/topology/sentinel_watch.h"
#include "store/redis/topology/single_server.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* Longest pause between two attempts on a master that is being replaced. */
#define TRIES_APART 3 /* of hf__retry_delay_ms(): 80 to 160 ms */

#define OPEN_AGAIN_MS 50
#define LOOK_AGAIN_MS 20

typedef struct sentinel_store {
    hf__single_server single;
    hf__router router;
    hf__sentinel_url place;
    hf__sentinel_watch watch;
} sentinel_store;

static sentinel_store *sentinel_of(hf__store *store)
{
    return (sentinel_store *)store;
}

static void on_moved(void *user)
{
    sentinel_store *self = user;

    hf__server_reset(self->single.server);
    hf__store_context_change(&self->single.context);
    hf__event_conn_reset(&self->single.event_conn);
    hf__change_feeds_reset(&self->single.feeds);
}

static bool on_redirect(hf__router *router, hf__server *from,
                        const hf__request *request,
                        const hf__attempts *attempts, const hf__redirect *why,
                        hf__route *route)
{
    sentinel_store *self = hf__container_of(router, sentinel_store, router);
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

/* Retry until the master named by the sentinels accepts the login: a promotion
 * may be in progress. If the last attempt runs out of time, the error of an
 * earlier one says more. */
static hf_status reach_master(sentinel_store *self, hf_error *err)
{
    int64_t until_ms =
        hf__clock_after(hf__clock_boot_ms(), self->single.context.connect_ms);
    hf_status status = hf__sentinel_watch_wait(&self->watch, until_ms, err);
    hf_error why = HF_ERROR_INIT;
    hf_error last = HF_ERROR_INIT;

    if (status != HF_OK)
        return status;
    for (;;) {
        status = hf__server_open(self->single.server, until_ms, &last);
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

static hf_status begin_store(sentinel_store *self,
                             const hf__store_config *config, hf_error *err)
{
    hf_status status;

    self->single.base.ops = &hf__sentinel_store_ops;
    self->single.base.capabilities =
        HF__CAP_EVENTS | HF__CAP_REPLICAS | HF__CAP_WAITS;
    self->router.redirect = on_redirect;
    hf__store_context_init(&self->single.context, config, &self->router);
    hf__sentinel_watch_init(&self->watch, &self->place, config, on_moved, self);
    status = hf__server_new(&self->single.context, &self->place.account,
                            &self->watch.resolver, &self->single.server, err);
    if (status != HF_OK) {
        hf__sentinel_watch_done(&self->watch);
        hf__sentinel_url_done(&self->place);
        hf__free(self);
        return status;
    }
    hf__event_conn_init(&self->single.event_conn, &self->single.server->node);
    hf__change_feeds_init(&self->single.feeds, &self->single.context,
                          self->single.server, NULL);
    return HF_OK;
}

static void end_store(sentinel_store *self)
{
    hf__sentinel_watch_close(&self->watch);
    hf__event_conn_close(&self->single.event_conn);
    hf__change_feeds_drain(&self->single.feeds);
    hf__server_close(self->single.server);
    hf__sentinel_watch_done(&self->watch);
    hf__sentinel_url_done(&self->place);
    hf__free(self);
}

static hf_status sentinel_open(const hf__store_config *config,
                               hf__store **store, hf_error *err)
{
    sentinel_store *self = hf__calloc(1, sizeof(*self));
    hf_status status;

    if (self == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    status = hf__sentinel_url_init(&self->place, config, err);
    if (status != HF_OK) {
        hf__free(self);
        return status;
    }
    status = begin_store(self, config, err);
    if (status != HF_OK)
        return status;
    status = hf__sentinel_watch_start(&self->watch, err);
    if (status == HF_OK && !config->lazy)
        status = reach_master(self, err);
    if (status != HF_OK) {
        end_store(self);
        return status;
    }
    *store = &self->single.base;
    return HF_OK;
}

static void sentinel_close(hf__store *store)
{
    sentinel_store *self = sentinel_of(store);

    if (!hf__store_context_is_forked(&self->single.context)) {
        end_store(self);
        return;
    }
    hf__sentinel_watch_close_forked(&self->watch);
    hf__event_conn_close_forked(&self->single.event_conn);
    hf__change_feeds_close_forked(&self->single.feeds);
    hf__server_close_forked(self->single.server);
    hf__sentinel_url_done(&self->place);
    hf__free(self);
}

/* ---------------------------------------------------------------- describe */

static void sentinel_describe(hf__store *store, hf__describe_fn line,
                              void *user)
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
                                        "connected_clients",
                                        NULL};
    sentinel_store *self = sentinel_of(store);

    line(user, "store", "master behind sentinels");
    if (!hf__store_context_is_forked(&self->single.context))
        hf__sentinel_watch_describe(&self->watch, line, user);
    hf__single_server_describe(&self->single, &self->place.account, names, line,
                               user);
}

typedef struct examined_line {
    const hf__diagnosis *diagnosis;
    char master[HF__WHERE_SIZE]; /* "": not known */
} examined_line;

/* A line of hf__sentinel_watch_describe(). */
static void examine_line(void *user, const char *name, const char *value)
{
    examined_line *self = user;
    hf__diagnosis to = *self->diagnosis;
    const char *state = strstr(value, ": ");
    char node[HF__WHERE_SIZE];

    if (strcmp(name, "address") == 0)
        snprintf(self->master, sizeof(self->master), "%s", value);
    if (strcmp(name, "sentinels") == 0)
        hf__report_error(&to, HF_UNAVAILABLE, "sentinels",
                         "see why most of them do not agree on a master", "%s",
                         value);
    if (strcmp(name, "sentinel") != 0 || state == NULL)
        return;
    snprintf(node, sizeof(node), "%.*s", (int)(state - value), value);
    to.node = node;
    if (strcmp(state + 2, "answers") == 0)
        hf__report(&to, HF_LEVEL_OK, "sentinel", "", "answers");
    else
        hf__report(&to, HF_LEVEL_WARNING, "sentinel",
                   "bring it back: without a majority of them there is no "
                   "failover",
                   "%s", state + 2);
}

static void count_asked(void *user, const char *name, const char *value)
{
    unsigned *count = user;

    if (strcmp(name, "sentinel") == 0 &&
        strstr(value, ": is being asked") != NULL)
        ++*count;
}

/* A store is open when most sentinels have replied; wait for the others as long
 * as for a request. */
static void await_sentinels(sentinel_store *self,
                            const hf__diagnosis *diagnosis)
{
    int64_t until_ms = hf__diagnosis_until(diagnosis, hf__clock_boot_ms());
    int64_t now_ms;
    unsigned asked;

    for (;;) {
        asked = 0;
        hf__sentinel_watch_describe(&self->watch, count_asked, &asked);
        now_ms = hf__clock_boot_ms();
        if (asked == 0 || now_ms >= until_ms)
            return;
        hf__clock_sleep_until(now_ms + LOOK_AGAIN_MS);
    }
}

static void sentinel_diagnose(hf__store *store, const hf__diagnosis *diagnosis)
{
    sentinel_store *self = sentinel_of(store);
    examined_line examined = {.diagnosis = diagnosis};

    await_sentinels(self, diagnosis);
    hf__sentinel_watch_describe(&self->watch, examine_line, &examined);
    if (examined.master[0] != '\0')
        (void)hf__server_diagnose(self->single.server, examined.master,
                                  diagnosis);
}

static const char *const schemes[] = {"redis+sentinel", "rediss+sentinel",
                                      "valkey+sentinel", "valkeys+sentinel",
                                      NULL};

const hf__store_ops hf__sentinel_store_ops = {
    .schemes = schemes,
    .open = sentinel_open,
    .describe = sentinel_describe,
    .close = sentinel_close,
    .diagnose = sentinel_diagnose,
    HF__SINGLE_SERVER_OPS, /* all else */
};
