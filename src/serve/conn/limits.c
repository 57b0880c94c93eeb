/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.c - bounds on memory and time that connections may take.
 *
 * The buffers of all connections together have a limit: beyond it those that
 * have most are closed. Once a second connections are looked at: idle ones lose
 * their buffers, those that are late are closed. Much that became free is given
 * back to the system.
 */
#include <malloc.h>

#include "serve/conn/peer.h"
#include "serve/log.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"

#define LOOK_MS 1000

/* A TLS handshake takes at most so long, ms. */
#define HANDSHAKE_MS 10000

/* While a request is incomplete, at least so much of it must arrive in
 * options.request_ms. */
#define PROGRESS_SIZE (1024u * 1024)

/* Buffers that became free, before the heap is trimmed. */
#define TRIM_SIZE (16u * 1024 * 1024)

/* ------------------------------------------------------------------- memory */

static void close_worst(hf_server *server)
{
    hf__conn *worst = server->conns;
    char peer[HF__PEER_SIZE];

    for (hf__conn *conn = worst; conn != NULL; conn = conn->next) {
        if (conn->counted > worst->counted)
            worst = conn;
    }
    hf__log(server, "buffers have %zu bytes: closed %s, which had %zu",
            server->buffered, hf__peer_address(worst, false, peer),
            worst->counted);
    hf__conn_close(worst);
}

static void make_room(hf_server *server)
{
    while (server->buffered > (size_t)server->options.buffers_max &&
           server->conns != NULL)
        close_worst(server);
}

static void uncount_conn(hf__conn *conn)
{
    conn->server->buffered -= conn->counted;
    conn->counted = 0;
}

/* --------------------------------------------------------------------- time */

static bool is_subscribed(const hf__conn *conn)
{
    return conn->followed != NULL;
}

static bool is_idle(const hf__conn *conn, int64_t now_ms)
{
    const hf_server *server = conn->server;

    return server->options.idle_ms > 0 && conn->waiter == NULL &&
           !is_subscribed(conn) && hf__buf_size(&conn->out) == 0 &&
           now_ms - conn->active_ms > server->options.idle_ms;
}

/* Since when has the same request been incomplete? */
static bool is_slow(hf__conn *conn, int64_t now_ms)
{
    if (hf__buf_size(&conn->in) == 0 || conn->paused || conn->held ||
        conn->ready) {
        conn->partial_ms = 0;
        return false;
    }
    if (conn->partial_ms != 0 &&
        now_ms - conn->partial_ms < conn->server->options.request_ms)
        return false;
    if (conn->partial_ms != 0 &&
        conn->received - conn->partial_size < PROGRESS_SIZE)
        return true;
    conn->partial_ms = now_ms;
    conn->partial_size = conn->received;
    return false;
}

static void trim_conn(hf__conn *conn, int64_t now_ms)
{
    if (conn->counted == 0 || conn->ready || now_ms - conn->active_ms < LOOK_MS)
        return;
    if (hf__buf_size(&conn->out) == 0)
        hf__buf_done(&conn->out);
    if (hf__buf_size(&conn->in) == 0) {
        hf__buf_done(&conn->in);
        hf__parser_done(&conn->parser);
    }
    hf__conn_count(conn);
}

static void look_at(hf__conn *conn, int64_t now_ms)
{
    if ((conn->in_handshake && now_ms - conn->since_ms > HANDSHAKE_MS) ||
        is_idle(conn, now_ms) || is_slow(conn, now_ms))
        hf__conn_close(conn);
    else
        trim_conn(conn, now_ms);
}

/* free() returns to the system only what is at the end of the heap, and large
 * blocks, of a size that glibc raises meanwhile. */
static void give_back(hf_server *server)
{
    if (server->buffered_most - server->buffered < TRIM_SIZE)
        return;
    server->buffered_most = server->buffered;
#ifdef __GLIBC__
    (void)malloc_trim(0);
#endif
}

static void arm_tick(hf_server *server, int64_t now_ms)
{
    hf__tick_set(hf__loop_poller(server->loop), &server->limits_tick,
                 now_ms + LOOK_MS);
}

static void look_at_all(hf__tick *tick)
{
    hf_server *server = tick->user;
    int64_t now_ms = hf__clock_boot_ms();
    hf__conn *next;

    for (hf__conn *conn = server->conns; conn != NULL; conn = next) {
        next = conn->next;
        look_at(conn, now_ms);
    }
    give_back(server);
    if (server->conns != NULL)
        arm_tick(server, now_ms);
}

static void watch_limits(hf__conn *conn)
{
    hf_server *server = conn->server;

    server->crowded = make_room;
    if (server->limits_tick.link != NULL)
        return;
    server->limits_tick.ring = look_at_all;
    server->limits_tick.user = server;
    arm_tick(server, conn->since_ms);
}

const hf__part hf__limits_part = {.opened = watch_limits,
                                  .closed = uncount_conn};
