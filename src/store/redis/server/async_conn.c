/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_conn.c - connecting, logging in, reading, writing and reconnecting
 * without ever blocking the loop thread.
 *
 * DOWN -> RESOLVING -> CONNECTING -> HANDSHAKE -> LOGIN -> UP, and from each of
 * these back to DOWN. RESOLVING waits for the first lookup of a name. The first
 * attempt after a connection that worked is immediate; later ones follow after
 * 20 to 500 ms (decorrelated jitter). A connection has worked once a byte was
 * received after its login, or when its owner says so: one that breaks on its
 * first request is not remade without a pause.
 *
 * There are no locks. Everything runs on the loop thread, but for
 * hf__async_conn_send(), receive(), lend() and reclaim() of a pipeline's
 * connection, which run on the thread that owns the pipeline
 * (pipeline_owner.c). One timer serves the connection and its owner.
 */
#include "store/redis/server/async_conn.h"

#include <errno.h>
#include <poll.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include "store/redis/server/conn_log.h"
#include "store/redis/server/silence_limit.h"
#include "store/redis/wire/socket.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/rand.h"

#define READ_SIZE 65536
#define IN_LIMIT (HF__RESP_LINE_MAX + 2 * READ_SIZE)

/* The same within a long string. */
#define BODY_READ_SIZE ((size_t)256 * 1024)

/* Reads per readiness event, so that others on the loop are served. */
#define READS_MAX 16

#define DELAY_MIN_MS 20
#define DELAY_MAX_MS 500

/* Most that one send() takes: a socket buffer holds less. */
#define WRITE_MAX ((size_t)1 << 20)

static void next_address(hf__async_conn *conn);
static void on_poll(hf__poll *poll, int events);
static void on_timer(hf__tick *timer);

void hf__async_conn_init(hf__async_conn *conn, const hf__async_conn_ops *ops,
                         hf__redis_node *node, size_t out_limit)
{
    memset(conn, 0, sizeof(*conn));
    conn->ops = ops;
    conn->node = node;
    conn->state = HF__ASYNC_DOWN;
    hf__channel_init(&conn->channel);
    conn->timer_ms = INT64_MAX;
    conn->poll.ready = on_poll;
    conn->poll.user = conn;
    conn->timer.ring = on_timer;
    conn->timer.user = conn;
    conn->error = (hf_error)HF_ERROR_INIT;
    hf__buf_init(&conn->in, IN_LIMIT);
    hf__outgoing_init(&conn->out, out_limit);
    hf__arena_init(&conn->arena);
}

static hf__poller *poller_of(const hf__async_conn *conn)
{
    return hf__loop_poller(conn->node->context->loop);
}

static void close_socket(hf__async_conn *conn)
{
    if (conn->channel.fd >= 0)
        hf__poll_stop(poller_of(conn), &conn->poll);
    conn->sockets++;
    hf__channel_close(&conn->channel);
    conn->poll_events = 0;
    conn->unread = false;
    hf__buf_clear(&conn->in);
    hf__outgoing_clear(&conn->out);
}

static void pick_delay(hf__async_conn *conn, bool was_up, int64_t now_ms)
{
    int64_t high = conn->delay_ms * 3;

    if (!was_up && conn->delay_ms == 0)
        conn->delay_ms = DELAY_MIN_MS;
    conn->retry_ms = now_ms + conn->delay_ms;
    if (high > DELAY_MAX_MS)
        high = DELAY_MAX_MS;
    if (high < DELAY_MIN_MS)
        high = DELAY_MIN_MS;
    conn->delay_ms = hf__rand_between(DELAY_MIN_MS, high);
}

void hf__async_conn_drop(hf__async_conn *conn)
{
    bool was_up = conn->state == HF__ASYNC_UP;

    if (conn->state == HF__ASYNC_DOWN || conn->state == HF__ASYNC_CLOSED)
        return;
    if (conn->state == HF__ASYNC_LOGIN && conn->resolved.host[0] != '\0' &&
        hf__clock_boot_ms() < conn->until_ms)
        hf__login_hint(&conn->login, &conn->error);
    conn->state = HF__ASYNC_DOWN;
    close_socket(conn);
    hf__arena_free(&conn->arena);
    hf__resolver_refresh(conn->node->resolver);
    pick_delay(conn, was_up, hf__clock_boot_ms());
    hf__conn_log_down(conn, was_up);
    conn->ops->down(conn, was_up);
}

static void drop_errno(hf__async_conn *conn, int sys_errno, const char *what)
{
    hf__channel_fail(&conn->channel, &conn->error, HF_UNAVAILABLE, sys_errno,
                     what, conn->peer);
    hf__async_conn_drop(conn);
}

static void want_events(hf__async_conn *conn, int events)
{
    int rc;

    if (events == conn->poll_events)
        return;
    rc = hf__poll_watch(poller_of(conn), &conn->poll, events);
    if (rc == 0)
        conn->poll_events = events;
    else
        drop_errno(conn, rc, "cannot watch");
}

/* Watch for reading and, if writing was stopped, for writing. */
static void want_more(hf__async_conn *conn, bool stopped)
{
    int events = HF__POLL_IN;

    if (conn->channel.read_wants == POLLOUT ||
        (stopped && conn->channel.write_wants == POLLOUT))
        events |= HF__POLL_OUT;
    want_events(conn, events);
}

void hf__async_conn_flush(hf__async_conn *conn)
{
    struct iovec pieces[HF__OUTGOING_PIECES];
    size_t count;
    ssize_t sent;

    while (hf__outgoing_size(&conn->out) > 0) {
        if (conn->out.damaged) {
            hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
            hf__async_conn_drop(conn);
            return;
        }
        count = hf__outgoing_pieces(&conn->out, pieces, WRITE_MAX);
        sent = hf__channel_send_pieces(&conn->channel, pieces, count);
        if (sent >= 0) {
            hf__outgoing_consume(&conn->out, (size_t)sent);
            conn->sent += (uint64_t)sent;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            want_more(conn, true);
            return;
        } else if (errno != EINTR) {
            drop_errno(conn, errno, "cannot write to");
            return;
        }
    }
    want_more(conn, false);
}

void hf__async_conn_send(hf__async_conn *conn)
{
    struct iovec pieces[HF__OUTGOING_PIECES];
    size_t count = hf__outgoing_pieces(&conn->out, pieces, WRITE_MAX);
    ssize_t sent = hf__channel_send_pieces(&conn->channel, pieces, count);

    if (sent <= 0)
        return;
    hf__outgoing_consume(&conn->out, (size_t)sent);
    conn->sent += (uint64_t)sent;
}

ssize_t hf__async_conn_receive(hf__async_conn *conn)
{
    size_t size = READ_SIZE;
    void *room = hf__resp_room(&conn->resp, &conn->in, &size);
    ssize_t got = -1;

    if (room != NULL)
        got = hf__channel_recv(&conn->channel, room, size, false);
    if (got > 0) {
        hf__resp_received(&conn->resp, &conn->in, (size_t)got);
        conn->alive_ms = hf__clock_boot_ms();
        return got;
    }
    return room != NULL && got < 0 && (errno == EAGAIN || errno == EINTR) ? 0
                                                                          : -1;
}

void hf__async_conn_lend(hf__async_conn *conn)
{
    hf__poll_change(poller_of(conn), &conn->poll, 0);
}

void hf__async_conn_reclaim(hf__async_conn *conn)
{
    if (conn->channel.fd >= 0 && conn->poll_events != 0)
        hf__poll_change(poller_of(conn), &conn->poll, conn->poll_events);
}

void hf__async_conn_pause(hf__async_conn *conn)
{
    want_more(conn, true);
}

static void begin_login_reply(hf__async_conn *conn)
{
    hf__resp_begin_bounded(&conn->resp, &conn->arena, &conn->reply,
                           HF__LOGIN_REPLY_MAX);
}

static void begin_login(hf__async_conn *conn)
{
    conn->state = HF__ASYNC_LOGIN;
    conn->login_ms = hf__clock_boot_ms();
    begin_login_reply(conn);
    if (!hf__login_begin(&conn->login, conn->node->account, conn->resp3,
                         &conn->out.text) ||
        (conn->waits && !hf__login_add_wait(&conn->login, &conn->out.text))) {
        hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
        hf__async_conn_drop(conn);
        return;
    }
    hf__async_conn_flush(conn);
}

/* Connected: advance the handshake as far as possible without waiting. */
static void continue_handshake(hf__async_conn *conn)
{
    int rc = hf__channel_handshake(&conn->channel);

    if (rc == 0)
        begin_login(conn);
    else if (rc != EAGAIN)
        drop_errno(conn, rc, "no TLS handshake with");
    else if (conn->channel.read_wants == POLLOUT)
        want_events(conn, HF__POLL_OUT);
    else
        want_events(conn, HF__POLL_IN);
}

static void begin_handshake(hf__async_conn *conn)
{
    conn->state = HF__ASYNC_HANDSHAKE;
    conn->until_ms = conn->connect_until_ms;
    continue_handshake(conn);
}

static void connect_failed(hf__async_conn *conn, int sys_errno)
{
    close_socket(conn);
    hf__fail_errno(&conn->error, HF_UNAVAILABLE, sys_errno,
                   "cannot connect to %s", conn->peer);
    next_address(conn);
}

static int watch_socket(hf__async_conn *conn)
{
    conn->poll.fd = conn->channel.fd;
    conn->poll_events = HF__POLL_OUT;
    return hf__poll_watch(poller_of(conn), &conn->poll, HF__POLL_OUT);
}

/* Start to connect to one address: 0 or an errno. */
static int try_address(hf__async_conn *conn, size_t at)
{
    const hf__resolved *resolved = &conn->resolved;
    int fd;
    int rc = hf__socket_connect(&resolved->items[at], resolved->sizes[at], &fd);

    if (rc != 0)
        return rc;
    if (!hf__channel_open(&conn->channel, fd, conn->node->account->tls,
                          resolved->host)) {
        close(fd);
        return ENOMEM;
    }
    return watch_socket(conn);
}

/* Start to connect to the next usable address, with its share of the remaining
 * time; down if there is none. */
static void next_address(hf__async_conn *conn)
{
    int64_t now_ms = hf__clock_boot_ms();
    size_t at;
    int rc;

    while (conn->resolved_at < conn->resolved.count) {
        at = conn->resolved_at++;
        conn->until_ms = now_ms + (conn->connect_until_ms - now_ms) /
                                      (int64_t)(conn->resolved.count - at);
        rc = try_address(conn, at);
        if (rc == 0)
            return;
        close_socket(conn);
        hf__fail_errno(&conn->error, HF_UNAVAILABLE, rc, "cannot connect to %s",
                       conn->peer);
    }
    hf__async_conn_drop(conn);
}

/* Connect once an address is known; fail once it is clear that none will be. */
static void try_to_connect(hf__async_conn *conn)
{
    /* In this order: the answer may arrive in between. */
    bool asks = hf__resolver_asks(conn->node->resolver);

    conn->epoch = hf__redis_node_epoch(conn->node);
    hf__resolver_get(conn->node->resolver, &conn->resolved);
    memcpy(conn->peer, conn->resolved.text, sizeof(conn->peer));
    if (conn->resolved.count == 0)
        hf__fail(&conn->error, HF_UNAVAILABLE, "host %s is not resolved yet",
                 conn->peer);
    if (conn->resolved.count == 0 && asks)
        return;
    conn->state = HF__ASYNC_CONNECTING;
    conn->resolved_at = 0;
    next_address(conn);
}

static void start_connect(hf__async_conn *conn, int64_t now_ms)
{
    conn->state = HF__ASYNC_RESOLVING;
    conn->sent = 0;
    conn->login.busy = false;
    conn->resolving_ms = now_ms;
    conn->connect_until_ms =
        hf__clock_after(now_ms, conn->node->context->connect_ms);
    conn->until_ms = conn->connect_until_ms;
    try_to_connect(conn);
}

/* Evaluate the login's replies received so far. */
static void read_login(hf__async_conn *conn)
{
    hf__resp_result parsed;
    hf_status status;

    while (conn->state == HF__ASYNC_LOGIN && hf__buf_size(&conn->in) > 0) {
        parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_MORE)
            return;
        if (parsed == HF__RESP_DONE)
            status = hf__login_answer(&conn->login, &conn->reply, &conn->error);
        else if (parsed == HF__RESP_NO_MEMORY)
            status = hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
        else
            status = hf__fail(&conn->error, HF_CORRUPT,
                              "%s sent a malformed reply", conn->peer);
        hf__arena_free(&conn->arena);
        if (status != HF_OK) {
            hf__async_conn_drop(conn);
            return;
        }
        begin_login_reply(conn);
        if (hf__login_done(&conn->login)) {
            conn->state = HF__ASYNC_UP;
            hf__redis_node_learn(conn->node, &conn->login.traits);
            hf__silence_learn(conn->node, hf__clock_boot_ms() - conn->login_ms);
            conn->ops->up(conn);
        }
    }
}

static void take_input(hf__async_conn *conn)
{
    bool logs_in = conn->state == HF__ASYNC_LOGIN;

    if (logs_in)
        read_login(conn);
    if (conn->state != HF__ASYNC_UP ||
        (logs_in && hf__buf_size(&conn->in) == 0))
        return;
    conn->ops->input(conn);
    /* A reply that made the owner drop the connection does not count: a server
     * that refuses every time is not retried without a pause. */
    if (conn->state == HF__ASYNC_UP &&
        (conn->ops->worked == NULL || conn->ops->worked(conn)))
        conn->delay_ms = 0;
}

/* true: there may be more. */
static bool read_once(hf__async_conn *conn)
{
    size_t size = READ_SIZE;
    void *room = hf__resp_room(&conn->resp, &conn->in, &size);
    ssize_t got;

    if (room == NULL) {
        hf__fail(&conn->error, HF_NO_MEMORY, "out of memory");
        hf__async_conn_drop(conn);
        return false;
    }
    if (size > BODY_READ_SIZE)
        size = BODY_READ_SIZE;
    got = hf__channel_recv(&conn->channel, room, size, false);
    if (got > 0) {
        hf__resp_received(&conn->resp, &conn->in, (size_t)got);
        conn->alive_ms = hf__clock_boot_ms();
        take_input(conn);
        /* TLS returns one record at a time and may have buffered the next. */
        return (size_t)got == size || conn->channel.secure != NULL;
    }
    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return false;
    if (got < 0) {
        drop_errno(conn, errno, "cannot read from");
        return false;
    }
    hf__fail(&conn->error, HF_UNAVAILABLE, "%s closed the connection",
             conn->peer);
    hf__async_conn_drop(conn);
    return false;
}

static void on_ready(hf__async_conn *conn, bool writable)
{
    uint32_t sockets = conn->sockets;
    int reads = 0;

    while (reads++ < READS_MAX && read_once(conn) && conn->sockets == sockets)
        continue;
    if (conn->sockets != sockets || conn->channel.fd < 0)
        return;
    conn->unread = reads > READS_MAX && hf__channel_has_pending(&conn->channel);
    if (!writable) {
        if (conn->channel.read_wants == POLLOUT)
            want_more(conn, hf__outgoing_size(&conn->out) > 0);
        return;
    }
    conn->alive_ms = hf__clock_boot_ms();
    hf__async_conn_flush(conn);
    if (conn->sockets == sockets && conn->state == HF__ASYNC_UP &&
        hf__outgoing_size(&conn->out) == 0 && conn->ops->drained != NULL)
        conn->ops->drained(conn);
}

static void enter_conn(hf__async_conn *conn)
{
    if (conn->ops->enter != NULL)
        conn->ops->enter(conn);
}

static void leave_conn(hf__async_conn *conn)
{
    if (conn->ops->leave != NULL)
        conn->ops->leave(conn);
}

static void on_poll(hf__poll *poll, int events)
{
    hf__async_conn *conn = poll->user;
    int rc;

    enter_conn(conn);
    if ((events & HF__POLL_ERROR) != 0)
        conn->poll_events = 0;
    if (conn->state == HF__ASYNC_CONNECTING) {
        rc = hf__socket_connected(conn->channel.fd);
        if (rc == 0)
            begin_handshake(conn);
        else
            connect_failed(conn, rc);
    } else if (conn->state == HF__ASYNC_HANDSHAKE) {
        continue_handshake(conn);
    } else {
        on_ready(conn, (events & HF__POLL_OUT) != 0);
    }
    hf__async_conn_update(conn);
    leave_conn(conn);
}

static void on_timer(hf__tick *timer)
{
    hf__async_conn *conn = timer->user;

    enter_conn(conn);
    conn->timer_ms = INT64_MAX;
    if (conn->unread)
        on_ready(conn, false);
    hf__async_conn_update(conn);
    leave_conn(conn);
}

/* A timer that fires early does no harm, so it is only moved to earlier
 * instants. */
static void set_timer(hf__async_conn *conn, int64_t at_ms)
{
    if (at_ms >= conn->timer_ms)
        return;
    conn->timer_ms = at_ms;
    hf__tick_set(poller_of(conn), &conn->timer, at_ms);
}

static bool is_starting(const hf__async_conn *conn)
{
    return conn->state == HF__ASYNC_RESOLVING ||
           conn->state == HF__ASYNC_CONNECTING ||
           conn->state == HF__ASYNC_HANDSHAKE || conn->state == HF__ASYNC_LOGIN;
}

static void check_until(hf__async_conn *conn, int64_t now_ms)
{
    if (!is_starting(conn) || now_ms < conn->until_ms)
        return;
    if (conn->state == HF__ASYNC_CONNECTING) {
        connect_failed(conn, ETIMEDOUT);
        return;
    }
    if (conn->state == HF__ASYNC_RESOLVING)
        hf__fail(&conn->error, HF_UNAVAILABLE, "timed out resolving host %s",
                 conn->peer);
    else if (conn->state == HF__ASYNC_HANDSHAKE)
        hf__channel_late(&conn->channel, &conn->error, conn->peer);
    else
        hf__fail(&conn->error, HF_UNAVAILABLE, "%s did not answer the login",
                 conn->peer);
    hf__async_conn_drop(conn);
}

/* The server has moved to another address: drop what was connected before. The
 * next attempt is immediate, as the new server has not failed. */
static void check_epoch(hf__async_conn *conn)
{
    uint32_t epoch = hf__redis_node_epoch(conn->node);

    if (conn->epoch == epoch)
        return;
    conn->epoch = epoch;
    conn->delay_ms = 0;
    if (conn->state != HF__ASYNC_DOWN) {
        hf__fail(&conn->error, HF_UNAVAILABLE,
                 "%s was dropped: the server has another address", conn->peer);
        hf__async_conn_drop(conn);
    }
    conn->retry_ms = 0;
}

static bool is_wanted(hf__async_conn *conn)
{
    return conn->ops->wanted == NULL || conn->ops->wanted(conn);
}

void hf__async_conn_update(hf__async_conn *conn)
{
    int64_t now_ms = hf__clock_boot_ms();
    int64_t next_ms;

    if (conn->state == HF__ASYNC_CLOSED)
        return;
    check_epoch(conn);
    check_until(conn, now_ms);
    next_ms = conn->ops->tick(conn, now_ms);
    if (conn->state == HF__ASYNC_DOWN && now_ms >= conn->retry_ms &&
        is_wanted(conn))
        start_connect(conn, now_ms);
    else if (conn->state == HF__ASYNC_RESOLVING)
        try_to_connect(conn);
    if (conn->state == HF__ASYNC_RESOLVING)
        next_ms = hf__at_most(
            next_ms,
            now_ms + hf__resolver_pause_ms(conn->resolving_ms, now_ms));
    if (conn->state == HF__ASYNC_DOWN && conn->retry_ms < next_ms &&
        is_wanted(conn))
        next_ms = conn->retry_ms;
    if (is_starting(conn) && conn->until_ms < next_ms)
        next_ms = conn->until_ms;
    if (conn->unread)
        next_ms = now_ms;
    set_timer(conn, next_ms);
}

static void run_closed(hf__task *task)
{
    hf__async_conn *conn = hf__container_of(task, hf__async_conn, closing);

    conn->closed(conn);
}

void hf__async_conn_close(hf__async_conn *conn,
                          void (*closed)(hf__async_conn *conn))
{
    conn->state = HF__ASYNC_CLOSED;
    close_socket(conn);
    hf__tick_stop(&conn->timer);
    conn->closed = closed;
    conn->closing.run = run_closed;
    hf__loop_post(conn->node->context->loop, &conn->closing);
}

void hf__async_conn_close_forked(hf__async_conn *conn)
{
    hf__channel_close_forked(&conn->channel);
}

void hf__async_conn_done(hf__async_conn *conn)
{
    hf__buf_done(&conn->in);
    hf__outgoing_done(&conn->out);
    hf__arena_free(&conn->arena);
}
