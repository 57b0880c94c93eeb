/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_refresh.c - CLUSTER SLOTS, one question at a time.
 *
 * 1. A caller that finds the map wrong calls want(). That starts a round if the
 *    last one is long enough ago; after MOVED the slot is right already, so
 *    it is not urgent, but a blocked caller waits for it.
 * 2. A round asks one node, and the next one if it fails: those with slots
 *    first, starting with another one each time, then those of the URL; last
 *    those that recently did not answer. Each has TRY_MS.
 * 3. The first map is installed. An outdated one does no harm: a node that has
 *    lost a slot replies MOVED, which starts the next round.
 *
 * Locks: `mutex` guards which thread runs a round; the round's own data needs
 * none. A round runs on the loop thread, except for its start.
 */
#include "store/redis/topology/cluster_refresh.h"

#include <string.h>

#include "store/redis/server/silence_limit.h"
#include "store/redis/topology/cluster_view.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/rand.h"

#define MOVED_MS 1000
#define BLOCKED_MS 200

/* For one node to reply, connecting included; a slow one gets more. */
#define TRY_MS 1000

/* Nodes that are asked in a round. */
#define TRIES_MAX 16

static void on_done(hf__request *request);

void hf__cluster_refresh_init(hf__cluster_refresh *refresh,
                              hf__cluster_map *map)
{
    memset(refresh, 0, offsetof(hf__cluster_refresh, request));
    hf__request_init(&refresh->request);
    refresh->map = map;
    refresh->done_ms = INT64_MIN / 2;
    refresh->failed_ms = INT64_MIN / 2;
    refresh->before_ms = INT64_MIN / 2;
    pthread_mutex_init(&refresh->mutex, NULL);
}

void hf__cluster_refresh_done(hf__cluster_refresh *refresh)
{
    hf__request_done(&refresh->request);
    pthread_mutex_destroy(&refresh->mutex);
}

/* ----------------------------------------------------------------- a round */

static void fill_request(hf__cluster_refresh *refresh, int64_t until_ms)
{
    hf__request *request = &refresh->request;

    hf__request_done(request);
    refresh->words[0] = hf_str("CLUSTER");
    refresh->words[1] = hf_str("SLOTS");
    hf__request_command(request, refresh->words, 2, true);
    request->lane = HF__LANE_LEASE;
    request->began_ms = hf__clock_boot_ms();
    request->deadline_ms = until_ms;
    request->on_done = on_done;
    request->user = refresh;
}

/* Does this round ask it last? */
static bool is_late(const hf__cluster_refresh *refresh,
                    const hf__server *server)
{
    bool late = false;

    for (size_t i = 0; i < HF__REFRESH_DOUBTED; i++)
        late = late || refresh->late[i] == server;
    return late;
}

void hf__cluster_refresh_doubt(hf__cluster_refresh *refresh,
                               const hf__server *server)
{
    const hf__server **list = refresh->doubted;
    size_t at = 0;

    pthread_mutex_lock(&refresh->mutex);
    while (at < HF__REFRESH_DOUBTED - 1 && list[at] != server)
        at++;
    memmove(list + 1, list, at * sizeof(*list));
    list[0] = server;
    pthread_mutex_unlock(&refresh->mutex);
}

/* It has replied. */
static void trust_server(hf__cluster_refresh *refresh, const hf__server *server)
{
    pthread_mutex_lock(&refresh->mutex);
    for (size_t i = 0; i < HF__REFRESH_DOUBTED; i++) {
        if (refresh->doubted[i] == server)
            refresh->doubted[i] = NULL;
    }
    pthread_mutex_unlock(&refresh->mutex);
}

/* The next one of the table, first of those that are not doubted. */
static hf__server *next_of_turn(hf__cluster_refresh *refresh)
{
    hf__server *server;

    for (;;) {
        server =
            hf__cluster_map_nth(refresh->map, refresh->from, refresh->at++);
        if (server == NULL && refresh->last)
            return NULL;
        if (server == NULL) {
            refresh->last = true;
            refresh->at = 0;
        } else if (is_late(refresh, server) == refresh->last) {
            return server;
        } else {
            hf__server_release(server);
        }
    }
}

/* The next node to ask; NULL: none is left. */
static hf__server *next_server(hf__cluster_refresh *refresh)
{
    hf__resolved resolved;
    hf__server *server;

    if (refresh->tries++ >= TRIES_MAX)
        return NULL;
    server = next_of_turn(refresh);
    if (server == NULL)
        return NULL;
    refresh->server = server;
    hf__resolver_get(server->node.resolver, &resolved);
    memcpy(refresh->asked, resolved.host, sizeof(refresh->asked));
    return server;
}

static void begin_refresh(hf__cluster_refresh *refresh)
{
    refresh->tries = refresh->at = 0;
    refresh->last = false;
    pthread_mutex_lock(&refresh->mutex);
    memcpy(refresh->late, refresh->doubted, sizeof(refresh->late));
    pthread_mutex_unlock(&refresh->mutex);
    refresh->from = (size_t)hf__rand_between(0, HF__CLUSTER_NODES_MAX);
}

/* Install the reply if it is a map. */
static hf_status take_answer(hf__cluster_refresh *refresh, bool *lost,
                             hf_error *err)
{
    const hf__request *request = &refresh->request;
    hf__cluster_view view;
    hf_status status = request->status;

    if (status != HF_OK)
        return hf__fail_copy(err, &request->error);
    status = hf__cluster_view_read(&view, &request->reply, refresh->asked, err);
    if (status != HF_OK)
        return status;
    status = hf__cluster_map_install(refresh->map, view.ranges, view.count,
                                     lost, err);
    hf__cluster_view_done(&view);
    return status;
}

static int64_t latest_ms(const hf__cluster_refresh *refresh)
{
    return refresh->done_ms > refresh->failed_ms ? refresh->done_ms
                                                 : refresh->failed_ms;
}

static void finish_refresh(hf__cluster_refresh *refresh, bool installed)
{
    pthread_mutex_lock(&refresh->mutex);
    refresh->running = false;
    refresh->before_ms = latest_ms(refresh);
    if (installed)
        refresh->done_ms = hf__clock_boot_ms();
    else
        refresh->failed_ms = hf__clock_boot_ms();
    pthread_mutex_unlock(&refresh->mutex);
}

static void ask_next(hf__cluster_refresh *refresh)
{
    hf__request *request = &refresh->request;
    hf__server *server = next_server(refresh);

    if (server == NULL) {
        HF__LOG(refresh->map->context->log, HF_LOG_WARNING,
                "cluster: no node says which has which slots");
        finish_refresh(refresh, false);
        return;
    }
    fill_request(refresh, hf__clock_boot_ms() +
                              hf__silence_limit(&server->node, TRY_MS));
    hf__server_submit(server, &request, 1);
    hf__server_release(server);
}

static void on_done(hf__request *request)
{
    hf__cluster_refresh *refresh = request->user;
    bool lost;

    if (take_answer(refresh, &lost, NULL) != HF_OK) {
        hf__cluster_refresh_doubt(refresh, refresh->server);
        ask_next(refresh);
        return;
    }
    trust_server(refresh, refresh->server);
    refresh->installed(refresh, lost);
    finish_refresh(refresh, true);
}

/* A caller blocked by a map that has just been installed starts one round
 * immediately, as the map may be outdated. */
static bool may_start(const hf__cluster_refresh *refresh, hf__refresh_need need)
{
    int64_t from_ms = need == HF__REFRESH_MOVED
                          ? latest_ms(refresh) + MOVED_MS
                          : refresh->before_ms + BLOCKED_MS;

    return !refresh->running && hf__clock_boot_ms() >= from_ms;
}

void hf__cluster_refresh_want(hf__cluster_refresh *refresh,
                              hf__refresh_need need)
{
    bool starts;

    pthread_mutex_lock(&refresh->mutex);
    starts = may_start(refresh, need);
    refresh->running = refresh->running || starts;
    pthread_mutex_unlock(&refresh->mutex);
    if (!starts)
        return;
    begin_refresh(refresh);
    ask_next(refresh);
}

bool hf__cluster_refresh_is_lost(hf__cluster_refresh *refresh, int64_t since_ms)
{
    bool lost;

    pthread_mutex_lock(&refresh->mutex);
    lost =
        refresh->failed_ms > since_ms && refresh->failed_ms > refresh->done_ms;
    pthread_mutex_unlock(&refresh->mutex);
    return lost;
}

/* Do not wait for a node that cannot be reached. While the store is opened, the
 * opening thread handles each failure itself. */
bool hf__cluster_refresh_hand_on(hf__cluster_refresh *refresh, hf__route *route)
{
    hf__cluster_refresh_doubt(refresh, refresh->server);
    route->server = refresh->opening ? NULL : next_server(refresh);
    return route->server != NULL;
}

/* ---------------------------------------------------------- the first time */

/* Not repeatable, to wait for the reply as long as there is time: asking the
 * same node again on a new connection would take time from it. */
static hf_status ask_once(hf__cluster_refresh *refresh, hf__server *server,
                          int64_t until_ms, hf_error *err)
{
    bool lost;
    hf_status status = hf__server_open(server, until_ms, err);

    if (status != HF_OK)
        return status;
    fill_request(refresh, until_ms);
    refresh->request.repeatable = false;
    hf__server_perform(server, &refresh->request);
    return take_answer(refresh, &lost, err);
}

static hf_status ask_server(hf__cluster_refresh *refresh, hf__server *server,
                            int64_t until_ms, hf_error *err)
{
    hf_status status = HF_INDETERMINATE;

    /* The connection broke. */
    for (int tries = 0;
         tries < HF__RETRY_LOSSES_MAX && status == HF_INDETERMINATE &&
         (tries == 0 || hf__clock_boot_ms() < until_ms);
         tries++)
        status = ask_once(refresh, server, until_ms, err);
    if (status == HF_INDETERMINATE)
        status = err->status = HF_UNAVAILABLE; /* a query has no effect */
    return status;
}

/* Deadline of one node: half of the time if others could be asked after it,
 * otherwise all. */
static int64_t share_of(hf__cluster_refresh *refresh, int64_t until_ms)
{
    hf__server *next =
        hf__cluster_map_nth(refresh->map, refresh->from, refresh->at);
    int64_t now_ms = hf__clock_boot_ms();

    if (next == NULL)
        return until_ms;
    hf__server_release(next);
    return now_ms + (until_ms - now_ms + 1) / 2;
}

/* Ask one after the other, in the order of the URL. */
static hf_status ask_all(hf__cluster_refresh *refresh, int64_t until_ms,
                         hf_error *err)
{
    hf_error first = HF_ERROR_INIT;
    hf__server *server;
    hf_status status;

    hf__fail(&first, HF_UNAVAILABLE, "no time to ask a node");
    refresh->from = 0;
    while ((server = next_server(refresh)) != NULL) {
        hf_error why = HF_ERROR_INIT;

        status = hf__clock_boot_ms() >= until_ms
                     ? HF_TIMEOUT
                     : ask_server(refresh, server, share_of(refresh, until_ms),
                                  &why);
        hf__server_release(server);
        if (status == HF_OK)
            return HF_OK;
        if (status == HF_TIMEOUT)
            break;
        if (refresh->tries == 1 ||
            (first.status == HF_UNAVAILABLE && status != HF_UNAVAILABLE))
            first = why;
    }
    return hf__fail_copy(err, &first);
}

/* Marked as a round: while it runs, a silent node does not start one in the
 * background with the same request. */
hf_status hf__cluster_refresh_first(hf__cluster_refresh *refresh,
                                    int64_t until_ms, hf_error *err)
{
    hf_status status;

    pthread_mutex_lock(&refresh->mutex);
    refresh->running = true;
    pthread_mutex_unlock(&refresh->mutex);
    refresh->opening = true;
    begin_refresh(refresh);
    status = ask_all(refresh, until_ms, err);
    refresh->opening = false;
    finish_refresh(refresh, status == HF_OK);
    return status;
}
