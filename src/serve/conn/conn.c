/* SPDX-License-Identifier: Apache-2.0 */
/* conn.c - see conn.h. */
#include "serve/conn/conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "serve/commands/multi.h"
#include "serve/log.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/mem.h"

/* Read at once, bytes; more if a long word is coming. */
#define READ_SIZE (16u * 1024)
#define READ_MAX (1024u * 1024)

/* How often unwanted input is read before a connection is closed. */
#define DRAIN_COUNT 64

/* With more to be written, no further requests of a connection run. */
#define OUT_PAUSE (16u * 1024 * 1024)

/* A connection with requests that have to wait is read from up to this size: a
 * client may send all of a pipeline before it reads a reply. */
#define IN_PAUSE (64u * 1024 * 1024)
/* Of a client that has not logged in: its requests are small. */
#define STRANGER_IN_PAUSE (64u * 1024)

/* Replies that wait to be written; a client that leaves more is closed. */
#define OUT_MAX (1024u * 1024 * 1024)

/* Larger buffers are freed when they are empty. */
#define KEEP_SIZE (16u * 1024)

#define CALL_PARTS(member, conn)                                               \
    do {                                                                       \
        for (const hf__part *const *part = (conn)->server->parts;              \
             *part != NULL; part++) {                                          \
            if ((*part)->member != NULL)                                       \
                (*part)->member(conn);                                         \
        }                                                                      \
    } while (0)

/* ------------------------------------------------------------------ waiting */

/* TLS may have to write before it can read. */
static int event_of(short wants)
{
    return wants == POLLIN ? HF__POLL_IN : HF__POLL_OUT;
}

/* Watch what it waits for. */
static void watch_conn(hf__conn *conn)
{
    int events = 0;

    if (conn->listening)
        events |= event_of(conn->channel.read_wants);
    if (conn->writing)
        events |= event_of(conn->channel.write_wants);
    if (hf__poll_watch(hf__loop_poller(conn->server->loop), &conn->poll,
                       events) != 0)
        hf__conn_close(conn);
}

void hf__conn_wake(hf__conn *conn)
{
    hf_server *server = conn->server;

    conn->again = true;
    if (conn->ready || conn->dead)
        return;
    conn->ready = true;
    conn->ready_next = NULL;
    *server->ready_end = conn;
    server->ready_end = &conn->ready_next;
    hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

static void watch_next(hf__conn *conn);

static size_t memory_of(const hf__conn *conn)
{
    size_t size = conn->in.capacity + conn->out.capacity +
                  conn->parser.capacity * sizeof(hf__span);

    if (conn->multi != NULL)
        size += conn->multi->queue.capacity + conn->multi->watches.capacity;
    return size;
}

void hf__conn_count(hf__conn *conn)
{
    hf_server *server = conn->server;
    size_t size = memory_of(conn);

    if (conn->dead || size == conn->counted)
        return;
    server->buffered += size - conn->counted;
    conn->counted = size;
    if (server->buffered > server->buffered_most)
        server->buffered_most = server->buffered;
    if (server->buffered > (size_t)server->options.buffers_max)
        server->crowded(server);
}

/* ------------------------------------------------------------------ reading */

static size_t wanted_size(const hf__conn *conn)
{
    size_t size =
        hf__parser_missing(&conn->parser, hf__buf_size(&conn->in) - conn->used);

    if (size < READ_SIZE)
        return READ_SIZE;
    return size < READ_MAX ? size : READ_MAX;
}

static void read_once(hf__conn *conn)
{
    size_t size = wanted_size(conn);
    unsigned char *room = hf__buf_reserve(&conn->in, size);
    ssize_t got;

    if (room == NULL) {
        hf__conn_close(conn);
        return;
    }
    got = hf__channel_recv(&conn->channel, room, size, false);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
        if (conn->channel.secure != NULL)
            watch_conn(conn);
        return;
    }
    if (got < 0 || (got == 0 && (conn->waiter != NULL || conn->held ||
                                 conn->guess_ms != 0))) {
        hf__conn_close(conn);
        return;
    }
    if (got == 0) {
        conn->ended = true;
        hf__conn_wake(conn);
        return;
    }
    hf__buf_added(&conn->in, (size_t)got);
    conn->active_ms = hf__clock_boot_ms();
    conn->server->stats.bytes_in += (uint64_t)got;
    conn->received += (size_t)got;
    hf__conn_count(conn);
    if (conn->dead)
        return;
    if (conn->paused)
        watch_next(conn);
    else
        hf__conn_wake(conn);
}

/* What TLS has read already makes no descriptor readable. */
static bool has_pending(const hf__conn *conn)
{
    return !conn->dead && conn->listening &&
           hf__channel_has_pending(&conn->channel) &&
           hf__buf_size(&conn->in) < IN_PAUSE;
}

static void read_some(hf__conn *conn)
{
    do
        read_once(conn);
    while (has_pending(conn));
}

static void continue_handshake(hf__conn *conn)
{
    int rc = hf__channel_handshake(&conn->channel);

    if (rc == EAGAIN) {
        watch_conn(conn);
    } else if (rc != 0) {
        hf__log_refused_tls(conn, rc);
        hf__conn_close(conn);
    } else {
        conn->in_handshake = false;
        watch_conn(conn);
        if (!conn->dead)
            read_some(conn);
    }
}

static void on_ready(hf__poll *poll, int events)
{
    hf__conn *conn = poll->user;

    if ((events & HF__POLL_ERROR) != 0) {
        hf__conn_close(conn);
        return;
    }
    /* Which of them TLS waited for does not matter: it tries both. */
    if (conn->channel.secure != NULL)
        events = HF__POLL_IN | HF__POLL_OUT;
    if (conn->in_handshake) {
        continue_handshake(conn);
        return;
    }
    if ((events & HF__POLL_OUT) != 0 && conn->supplied &&
        hf__buf_size(&conn->out) == 0)
        CALL_PARTS(supply, conn);
    if (!conn->dead && (events & HF__POLL_OUT) != 0 && conn->writing)
        hf__conn_write(conn);
    if (!conn->dead && (events & HF__POLL_IN) != 0 && conn->listening)
        read_some(conn);
}

/* ------------------------------------------------------------------ writing */

static void trim_buf(hf__buf *buf)
{
    if (hf__buf_size(buf) == 0 && buf->capacity > KEEP_SIZE)
        hf__buf_done(buf);
}

/* What was written decides what it waits for. */
static void watch_next(hf__conn *conn)
{
    size_t left = hf__buf_size(&conn->out);
    bool running = conn->waiter == NULL && left < OUT_PAUSE;
    bool behind = !running || conn->held || conn->again;
    bool writing = left > 0 || conn->supplied;
    size_t most = conn->user == NULL ? STRANGER_IN_PAUSE : IN_PAUSE;
    bool listening = !conn->closing && !conn->ended &&
                     !conn->server->stopping &&
                     (!behind || hf__buf_size(&conn->in) < most);

    trim_buf(&conn->out);
    trim_buf(&conn->in);
    if (left == 0 && conn->closing && !conn->copies) {
        hf__conn_close(conn);
        return;
    }
    if (conn->paused && running)
        hf__conn_wake(conn);
    conn->paused = !running;
    if (conn->writing != writing || conn->listening != listening) {
        conn->writing = writing;
        conn->listening = listening;
        watch_conn(conn);
    }
}

void hf__conn_write(hf__conn *conn)
{
    while (hf__buf_size(&conn->out) > 0) {
        ssize_t sent =
            hf__channel_send(&conn->channel, hf__buf_front(&conn->out),
                             hf__buf_size(&conn->out));

        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && errno == EAGAIN)
            break;
        if (sent < 0) {
            hf__conn_close(conn);
            return;
        }
        hf__buf_consume(&conn->out, (size_t)sent);
        conn->server->stats.bytes_out += (uint64_t)sent;
    }
    watch_next(conn);
}

/* CLIENT REPLY SKIP runs outside of rounds: the next request is the first of a
 * round, which may have to run again, or not part of one. */
static bool is_muted(hf__conn *conn)
{
    bool next = conn->mute == HF__MUTE_NEXT && conn->used == conn->mark_used;

    if (conn->mute == HF__MUTE_SOON)
        conn->mute = HF__MUTE_NEXT;
    else if (next && conn->units == 0)
        conn->mute = HF__MUTE_NONE;
    return next || conn->mute == HF__MUTE_ALL;
}

void hf__conn_count_error(hf__conn *conn, const char *error)
{
    conn->server->stats.failed++;
    hf__usage_failed(&conn->server->usage, error);
}

void hf__conn_answered(hf__conn *conn)
{
    conn->server->stats.commands++;
    if (conn->answer.out.failed)
        hf__conn_count_error(conn, conn->answer.out.error);
    if (!hf__answer_end(&conn->answer))
        hf__conn_close(conn);
    else if (is_muted(conn) && !conn->answer.is_push)
        hf__buf_truncate(&conn->out, conn->answer.from);
    hf__conn_count(conn);
}

bool hf__conn_may_run(const hf__conn *conn)
{
    return !conn->dead && !conn->closing && !conn->held &&
           conn->waiter == NULL && hf__buf_size(&conn->out) < OUT_PAUSE;
}

/* -------------------------------------------------------------------- rounds
 */

void hf__conn_mark(hf__conn *conn)
{
    conn->mark_used = conn->used;
    conn->mark_out = hf__buf_size(&conn->out);
    conn->mark_closing = conn->closing;
    conn->mark_database = conn->database;
    CALL_PARTS(mark, conn);
}

void hf__conn_commit(hf__conn *conn)
{
    if (conn->units > 0 && conn->mute == HF__MUTE_NEXT)
        conn->mute = HF__MUTE_NONE;
    conn->share -= conn->units < conn->share ? conn->units : conn->share;
    conn->units = 0;
    if (conn->dead)
        return;
    if (conn->used > 0)
        conn->partial_ms = 0;
    hf__buf_consume(&conn->in, conn->used);
    conn->used = 0;
    /* It may have stopped before its last request. */
    if (hf__buf_size(&conn->out) >= OUT_PAUSE)
        conn->paused = true;
    hf__conn_write(conn);
    /* What was written is no part of `out` any more: after it. */
    if (!conn->dead)
        hf__conn_mark(conn);
    hf__conn_count(conn);
    if (has_pending(conn))
        read_some(conn);
}

void hf__conn_rewind(hf__conn *conn)
{
    conn->units = 0;
    conn->again = true; /* there may be no other try in this turn */
    conn->closing = conn->mark_closing;
    conn->database = conn->mark_database;
    conn->early = false;
    if (conn->guess_ms == 0) /* a pause, which will be asked again */
        conn->held = false;
    conn->used = conn->mark_used;
    hf__buf_truncate(&conn->out, conn->mark_out);
    hf__parser_next(&conn->parser);
    CALL_PARTS(rewind, conn);
}

/* --------------------------------------------------------------------- life */

bool hf__conn_open(hf_server *server, int fd, hf__tls *tls)
{
    hf__conn *conn = hf__calloc(1, sizeof(*conn));

    if (conn == NULL || !hf__channel_open(&conn->channel, fd, tls, "")) {
        hf__free(conn);
        close(fd);
        return false;
    }
    conn->server = server;
    conn->in_handshake = tls != NULL;
    conn->id = ++server->last_id;
    conn->since_ms = conn->active_ms = hf__clock_boot_ms();
    hf__buf_init(&conn->in, (size_t)server->options.request_max + READ_MAX);
    hf__buf_init(&conn->out, OUT_MAX);
    conn->poll.fd = fd;
    conn->poll.ready = on_ready;
    conn->poll.user = conn;
    conn->listening = true;
    CALL_PARTS(opened, conn);
    conn->next = server->conns;
    if (conn->next != NULL)
        conn->next->previous = conn;
    server->conns = conn;
    server->conn_count++;
    server->stats.connections_total++;
    watch_conn(conn);
    return !conn->dead;
}

/* Input that is not read has the kernel reset the connection, and the client
 * may lose its last replies. */
static void drain_input(const hf__conn *conn)
{
    char rest[READ_SIZE];

    for (int i = 0; i < DRAIN_COUNT; i++) {
        if (recv(conn->poll.fd, rest, sizeof(rest), MSG_DONTWAIT) <= 0)
            return;
    }
}

void hf__conn_close(hf__conn *conn)
{
    hf_server *server = conn->server;

    if (conn->dead)
        return;
    conn->dead = true;
    CALL_PARTS(closed, conn);
    hf__poll_stop(hf__loop_poller(server->loop), &conn->poll);
    if (server->stopping)
        drain_input(conn);
    hf__channel_close(&conn->channel);
    if (conn->previous != NULL)
        conn->previous->next = conn->next;
    else
        server->conns = conn->next;
    if (conn->next != NULL)
        conn->next->previous = conn->previous;
    server->conn_count--;
    conn->next = server->dead;
    server->dead = conn;
    /* It may be on the list, which the turn's end empties. */
    hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

void hf__conn_reset(hf__conn *conn)
{
    hf__free(conn->name);
    hf__free(conn->library);
    hf__free(conn->library_version);
    conn->name = conn->library = conn->library_version = NULL;
    conn->no_evict = conn->no_touch = false;
    conn->database = 0;
    conn->mute = HF__MUTE_NONE;
}

static bool may_free(hf__conn *conn)
{
    bool may = true;

    for (const hf__part *const *part = conn->server->parts;
         *part != NULL && may; part++)
        may = (*part)->may_free == NULL || (*part)->may_free(conn);
    return may;
}

void hf__conn_free_dead(hf_server *server)
{
    hf__conn **at = &server->dead;

    while (*at != NULL) {
        hf__conn *conn = *at;

        if (conn->ready || conn->pushed) {
            at = &conn->next;
            continue;
        }
        CALL_PARTS(freed, conn);
        hf__buf_done(&conn->in);
        hf__buf_done(&conn->out);
        hf__parser_done(&conn->parser);
        if (!may_free(conn)) {
            at = &conn->next;
            continue;
        }
        *at = conn->next;
        hf__conn_reset(conn);
        hf__free(conn);
    }
}

void hf__conn_close_all(hf_server *server)
{
    while (server->conns != NULL)
        hf__conn_close(server->conns);
}
