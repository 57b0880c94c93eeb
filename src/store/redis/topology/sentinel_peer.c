/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_peer.c - the connection to one sentinel.
 *
 * The connection is made once and kept. It uses RESP3, in which queries and a
 * subscription share a connection; a sentinel with RESP2 only, or without
 * permission to subscribe, is still queried periodically.
 *
 * A query's result is used when its last reply has been received. A sentinel
 * that does not reply within ANSWER_MS, or twice the time it took before, is
 * reconnected.
 */
#include "store/redis/topology/sentinel_peer.h"

#include <string.h>

#include "store/redis/server/silence_limit.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

/* One query, a subscription and the login. */
#define OUT_LIMIT 16384

#define ANSWER_MS 2000

static void give_up(hf__sentinel_peer *peer, hf_status status, const char *why)
{
    hf__fail(&peer->conn.error, status, "%s: %s", peer->conn.peer, why);
    hf__async_conn_drop(&peer->conn);
}

static void begin_reply(hf__sentinel_peer *peer)
{
    hf__arena_free(&peer->arena);
    hf__resp_begin(&peer->conn.resp, &peer->arena, &peer->reply);
}

void hf__sentinel_peer_ask(hf__sentinel_peer *peer)
{
    hf__async_conn *conn = &peer->conn;

    /* An earlier query may have been answered earlier, too. */
    peer->again = peer->asked_ms != 0;
    if (conn->state != HF__ASYNC_UP || peer->again)
        return;
    peer->state = HF__SENTINEL_ASKED;
    peer->asked_ms = hf__clock_boot_ms();
    peer->step = HF__SENTINEL_MYID;
    memset(&peer->reading, 0, sizeof(peer->reading));
    if (hf__sentinel_put_question(&conn->out.text, peer->name))
        hf__async_conn_flush(conn);
    else
        give_up(peer, HF_NO_MEMORY, "out of memory");
}

static void on_up(hf__async_conn *conn)
{
    hf__sentinel_peer *peer = hf__container_of(conn, hf__sentinel_peer, conn);
    hf__redis_mode mode = (hf__redis_mode)conn->login.traits.mode;

    peer->asked_ms = 0;
    peer->subscribing = false;
    peer->answers = false;
    begin_reply(peer);
    if (mode != HF__REDIS_SENTINEL && mode != HF__REDIS_UNKNOWN) {
        give_up(peer, HF_INVALID, "it is a server, not a sentinel");
        return;
    }
    if (conn->login.traits.resp3) {
        peer->subscribing = true;
        if (!hf__sentinel_put_subscribe(&conn->out.text)) {
            give_up(peer, HF_NO_MEMORY, "out of memory");
            return;
        }
    }
    hf__sentinel_peer_ask(peer);
}

static void list_others(hf__sentinel_peer *peer)
{
    size_t count = hf__sentinel_other_count(&peer->reply);
    hf__sentinel_answer other;
    size_t at;

    for (at = 0; at < count; at++) {
        if (hf__sentinel_read_other(&peer->reply, at, &other))
            peer->ops->listed(peer, &other);
    }
}

static void finish_question(hf__sentinel_peer *peer)
{
    hf__silence_learn(&peer->node, hf__clock_boot_ms() - peer->asked_ms);
    peer->asked_ms = 0;
    peer->answers = true;
    if (peer->again) {
        hf__sentinel_peer_ask(peer);
        return;
    }
    peer->answer = peer->reading;
    peer->state = HF__SENTINEL_ANSWERED;
    peer->ops->heard(peer);
}

static void take_reply(hf__sentinel_peer *peer)
{
    hf__async_conn *conn = &peer->conn;
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    if (peer->subscribing) { /* refused: not by a push */
        peer->subscribing = false;
        return;
    }
    if (peer->asked_ms == 0) {
        give_up(peer, HF_CORRUPT, "it sent an unexpected reply");
        return;
    }
    if (peer->step == HF__SENTINEL_OTHERS) {
        list_others(peer);
        finish_question(peer);
        return;
    }
    status = hf__sentinel_read(peer->step, &peer->reply, &peer->reading, &err);
    if (status == HF_OK) {
        peer->step++;
        return;
    }
    hf__fail(&conn->error, status, "%s: %s", conn->peer, err.message);
    hf__async_conn_drop(conn);
}

static void take_push(hf__sentinel_peer *peer)
{
    peer->subscribing = false;
    if (hf__sentinel_is_hint(&peer->reply, peer->name))
        peer->ops->hinted(peer);
}

static void on_input(hf__async_conn *conn)
{
    hf__sentinel_peer *peer = hf__container_of(conn, hf__sentinel_peer, conn);
    hf__resp_result parsed;

    while (conn->state == HF__ASYNC_UP && hf__buf_size(&conn->in) > 0) {
        parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed == HF__RESP_NO_MEMORY) {
            give_up(peer, HF_NO_MEMORY, "out of memory");
            return;
        }
        if (parsed != HF__RESP_DONE) {
            give_up(peer, HF_CORRUPT, "it sent a malformed reply");
            return;
        }
        if (conn->resp.push)
            take_push(peer);
        else
            take_reply(peer);
        if (conn->state == HF__ASYNC_UP)
            begin_reply(peer);
    }
}

/* The reply to SUBSCRIBE comes first, and may be all that a user is allowed. */
static bool has_answered(const hf__async_conn *conn)
{
    return hf__container_of(conn, const hf__sentinel_peer, conn)->answers;
}

/* A complete result stays valid. No address yet is no failure, as the next
 * attempt follows soon. */
static void on_down(hf__async_conn *conn, bool was_up)
{
    hf__sentinel_peer *peer = hf__container_of(conn, hf__sentinel_peer, conn);

    (void)was_up;
    peer->asked_ms = 0;
    peer->again = false;
    hf__arena_free(&peer->arena);
    if (peer->state == HF__SENTINEL_ANSWERED || conn->resolved.count == 0)
        return;
    peer->state = HF__SENTINEL_FAILED;
    peer->ops->heard(peer);
}

static bool is_wanted(hf__async_conn *conn)
{
    return !hf__container_of(conn, hf__sentinel_peer, conn)->closing;
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    hf__sentinel_peer *peer = hf__container_of(conn, hf__sentinel_peer, conn);
    int64_t until_ms =
        peer->asked_ms + hf__silence_limit(&peer->node, ANSWER_MS);

    if (conn->state != HF__ASYNC_UP || peer->asked_ms == 0)
        return INT64_MAX;
    if (now_ms < until_ms)
        return until_ms;
    hf__silence_learn(&peer->node, now_ms - peer->asked_ms);
    give_up(peer, HF_UNAVAILABLE, "it does not reply");
    return INT64_MAX;
}

static const hf__async_conn_ops peer_link_ops = {
    .up = on_up,
    .input = on_input,
    .worked = has_answered,
    .down = on_down,
    .wanted = is_wanted,
    .tick = on_tick,
};

/* -------------------------------------------------------------------- life */

static hf_status init_node(hf__sentinel_peer *peer, hf__store_context *context,
                           const hf__sentinel_url *place,
                           const hf__redis_where *where, hf_error *err)
{
    hf_status status =
        hf__redis_where_init(&peer->where, where->host, where->port, err);

    peer->node.context = context;
    peer->node.account = &place->watchers;
    if (status != HF_OK)
        return status;
    return hf__resolver_new(&peer->where, 0, &peer->node.resolver, err);
}

hf_status hf__sentinel_peer_new(hf__store_context *context,
                                const hf__sentinel_url *place,
                                const hf__redis_where *where,
                                const hf__sentinel_peer_ops *ops, void *user,
                                hf__sentinel_peer **peer, hf_error *err)
{
    hf__sentinel_peer *made = hf__calloc(1, sizeof(*made));
    hf_status status;

    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    made->ops = ops;
    made->user = user;
    made->name = place->name;
    hf__async_conn_init(&made->conn, &peer_link_ops, &made->node, OUT_LIMIT);
    made->conn.resp3 = true;
    hf__arena_init(&made->arena);
    status = init_node(made, context, place, where, err);
    if (status != HF_OK) {
        hf__sentinel_peer_free(made);
        return status;
    }
    *peer = made;
    return HF_OK;
}

static void on_closed(hf__async_conn *conn)
{
    hf__sentinel_peer *peer = hf__container_of(conn, hf__sentinel_peer, conn);

    peer->ops->closed(peer);
}

void hf__sentinel_peer_close(hf__sentinel_peer *peer)
{
    peer->closing = true;
    hf__async_conn_close(&peer->conn, on_closed);
}

void hf__sentinel_peer_free(hf__sentinel_peer *peer)
{
    hf__arena_free(&peer->arena);
    hf__async_conn_done(&peer->conn);
    hf__resolver_free(peer->node.resolver);
    hf__redis_where_done(&peer->where);
    hf__free(peer);
}
