/* SPDX-License-Identifier: Apache-2.0 */
/* client_line.c - see client_line.h. */
#include "serve/commands/client_line.h"

#include "serve/commands/multi.h"
#include "serve/conn/peer.h"
#include "serve/messages/tracking.h"
#include "serve/state.h"
#include "util/clock.h"

static void put_flags(const hf__conn *conn, hf__buf *text, bool is_unix)
{
    size_t before = hf__buf_size(text);

    if (conn->waiter != NULL || conn->held)
        (void)hf__buf_append(text, "b", 1);
    if (conn->closing)
        (void)hf__buf_append(text, "c", 1);
    if (conn->monitors)
        (void)hf__buf_append(text, "O", 1);
    if (conn->followed != NULL)
        (void)hf__buf_append(text, "P", 1);
    if (hf__multi_is_open(conn))
        (void)hf__buf_append(text, "x", 1);
    if (conn->tracker != NULL)
        (void)hf__buf_append(text, "t", 1);
    if (conn->tracker != NULL && conn->tracker->broken)
        (void)hf__buf_append(text, "R", 1);
    if (conn->tracker != NULL && (conn->tracker->flags & HF__TRACK_BCAST))
        (void)hf__buf_append(text, "B", 1);
    if (is_unix)
        (void)hf__buf_append(text, "U", 1);
    if (conn->no_evict)
        (void)hf__buf_append(text, "e", 1);
    if (conn->no_touch)
        (void)hf__buf_append(text, "T", 1);
    if (hf__buf_size(text) == before)
        (void)hf__buf_append(text, "N", 1);
}

static const char *or_empty(const char *text)
{
    return text != NULL ? text : "";
}

/* Before a login Redis says this, too. */
static const char *user_of(const hf__conn *conn)
{
    return conn->user != NULL ? conn->user->name : "default";
}

void hf__client_describe(const hf__conn *conn, hf__buf *text)
{
    char peer[HF__PEER_SIZE], own[HF__PEER_SIZE];
    int64_t now_ms = hf__clock_boot_ms();
    size_t in = hf__buf_size(&conn->in);
    size_t out = hf__buf_size(&conn->out);
    size_t queued = conn->multi != NULL ? conn->multi->queue.capacity : 0;

    (void)hf__peer_address(conn, false, peer);
    (void)hf__peer_address(conn, true, own);
    (void)hf__buf_print(text,
                        "id=%llu addr=%s laddr=%s fd=%d name=%s age=%lld "
                        "idle=%lld flags=",
                        (unsigned long long)conn->id, peer, own, conn->poll.fd,
                        or_empty(conn->name),
                        (long long)(now_ms - conn->since_ms) / 1000,
                        (long long)(now_ms - conn->active_ms) / 1000);
    put_flags(conn, text, own[0] == '/');
    (void)hf__buf_print(
        text,
        " db=%u sub=%zu psub=%zu ssub=%zu multi=%lld qbuf=%zu qbuf-free=%zu "
        "argv-mem=0 multi-mem=%zu rbs=%zu rbp=%zu obl=%zu oll=0 omem=0 "
        "tot-mem=%zu events=%s%s cmd=%s user=%s redir=%lld resp=%d "
        "lib-name=%s lib-ver=%s\n",
        (unsigned)conn->database, conn->follows[HF__CHANNEL],
        conn->follows[HF__CHANNEL_PATTERN], conn->follows[HF__CHANNEL_SHARD],
        hf__multi_is_open(conn) ? (long long)conn->multi->now.count : -1LL, in,
        conn->in.capacity - in, queued, conn->out.capacity, conn->out.capacity,
        out, sizeof(*conn) + conn->in.capacity + conn->out.capacity + queued,
        conn->listening ? "r" : "", conn->writing ? "w" : "",
        conn->last != NULL ? conn->last : "NULL", user_of(conn),
        conn->tracker != NULL ? (long long)conn->tracker->redirect : -1LL,
        conn->resp3 ? 3 : 2, or_empty(conn->library),
        or_empty(conn->library_version));
}
