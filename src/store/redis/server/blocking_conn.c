/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking_conn.c - one request and its reply take one send() and one recv(),
 * with no other thread involved.
 *
 * The socket blocks, with SO_RCVTIMEO of WAIT_MS; for a nearer deadline poll()
 * is called first. So the common exchange, with seconds left, needs no third
 * system call. The thread that has locked its slot (conn_pool.c) owns it.
 */
#include "store/redis/server/blocking_conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "store/redis/server/login.h"
#include "store/redis/server/silence_limit.h"
#include "store/redis/wire/socket.h"
#include "util/clock.h"
#include "util/error.h"

/* How much to read at once; most replies are a few dozen bytes. */
#define READ_SIZE 16384

/* An incomplete line and one read. */
#define IN_LIMIT (HF__RESP_LINE_MAX + 2 * READ_SIZE)

/* How long a reply shows that the connection is open. */
#define FRESH_US 2000

/* How long recv() may block before the clock is read again. */
#define WAIT_MS 250

void hf__blocking_conn_init(hf__blocking_conn *conn, hf__redis_node *node)
{
    memset(conn, 0, sizeof(*conn));
    conn->node = node;
    hf__channel_init(&conn->channel);
    hf__buf_init(&conn->in, IN_LIMIT);
    hf__outgoing_init(&conn->out, HF__RESP_REQUEST_MAX);
}

void hf__blocking_conn_close(hf__blocking_conn *conn)
{
    hf__channel_close(&conn->channel);
    hf__buf_clear(&conn->in);
    hf__outgoing_clear(&conn->out);
}

void hf__blocking_conn_done(hf__blocking_conn *conn)
{
    hf__blocking_conn_close(conn);
    hf__buf_done(&conn->in);
    hf__outgoing_done(&conn->out);
}

void hf__blocking_conn_close_forked(hf__blocking_conn *conn, bool busy)
{
    hf__channel_close_forked(&conn->channel);
    if (!busy)
        hf__blocking_conn_done(conn);
}

/* Servers close connections that are idle for seconds. One that closes it
 * within this time could as well have done so while the request was under way.
 */
static bool is_fresh(const hf__blocking_conn *conn, const hf__request *request)
{
    return hf__retry_is_safe(request) &&
           hf__clock_boot_us() - conn->heard_us < FRESH_US;
}

bool hf__blocking_conn_is_stale(hf__blocking_conn *conn,
                                const hf__request *request)
{
    return conn->epoch != hf__redis_node_epoch(conn->node) ||
           (!conn->is_local && !is_fresh(conn, request) &&
            hf__channel_is_stale(&conn->channel));
}

/* Send what `out` holds. UNSENT: no byte was sent. */
static hf__blocking_conn_result send_all(hf__blocking_conn *conn,
                                         int64_t until_ms, hf_error *err)
{
    hf__blocking_conn_result unsent = HF__CONN_UNSENT;
    hf__channel *channel = &conn->channel;
    struct iovec pieces[HF__OUTGOING_PIECES];
    size_t count;
    ssize_t sent;

    while (hf__outgoing_size(&conn->out) > 0) {
        count = hf__outgoing_pieces(&conn->out, pieces, SIZE_MAX);
        sent = hf__channel_send_pieces(channel, pieces, count);
        if (sent >= 0) {
            hf__outgoing_consume(&conn->out, (size_t)sent);
            unsent = HF__CONN_LOST;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (hf__socket_wait(channel->fd, channel->write_wants, until_ms) !=
                0)
                continue;
            hf__fail(err, HF_UNAVAILABLE, "%s accepts no more data",
                     conn->peer);
            return unsent == HF__CONN_LOST ? HF__CONN_LATE : unsent;
        } else if (errno != EINTR) {
            hf__channel_fail(channel, err, HF_UNAVAILABLE, errno,
                             "cannot write to", conn->peer);
            return unsent;
        }
    }
    return HF__CONN_OK;
}

bool hf__blocking_conn_elder_spoke(hf__blocking_conn *conn)
{
    hf__blocking_conn *elder = conn->elder;
    char byte;

    if (elder == NULL)
        return false;
    if (elder->channel.secure == NULL
            ? recv(elder->channel.fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) > 0
            : hf__channel_is_stale(&elder->channel))
        return true;
    if (elder->epoch != hf__redis_node_epoch(elder->node) ||
        hf__channel_is_stale(&elder->channel)) {
        hf__blocking_conn_close(elder);
        conn->elder = NULL;
    }
    return false;
}

/* Wait for an event of a socket; 0: too late, or check the elder. */
static int wait_for(const hf__blocking_conn *conn, int fd, short events,
                    int64_t until_ms)
{
    int other = conn->elder != NULL ? conn->elder->channel.fd : -1;

    return hf__socket_wait_or(fd, events, other, until_ms);
}

/* Wait for what reading needs. A blocking read has waited already, unless TLS
 * had to write. */
static void wait_readable(hf__blocking_conn *conn, int64_t left_ms)
{
    hf__channel *channel = &conn->channel;
    int64_t now_ms = hf__clock_boot_ms();

    if (conn->elder != NULL)
        (void)wait_for(conn, channel->fd, channel->read_wants,
                       now_ms + (left_ms < WAIT_MS ? left_ms : WAIT_MS));
    else if (left_ms < WAIT_MS)
        (void)hf__socket_wait(channel->fd, channel->read_wants,
                              now_ms + left_ms);
    else if (channel->read_wants == POLLOUT)
        (void)hf__socket_wait(channel->fd, POLLOUT, now_ms + WAIT_MS);
}

static hf__blocking_conn_result end_of(hf__blocking_conn *conn, ssize_t got,
                                       hf_error *err)
{
    if (got == 0)
        hf__fail(err, HF_INDETERMINATE, "%s closed the connection", conn->peer);
    else
        hf__channel_fail(&conn->channel, err, HF_INDETERMINATE, errno,
                         "cannot read from", conn->peer);
    return HF__CONN_LOST;
}

static hf__blocking_conn_result is_late(const hf__blocking_conn *conn,
                                        hf_error *err)
{
    hf__fail(err, HF_INDETERMINATE, "no reply from %s in time", conn->peer);
    return HF__CONN_LATE;
}

/* The silence starts here. A short remaining time is not divided, and no server
 * gets less than its silence limit. */
static void be_patient(hf__blocking_conn *conn, int64_t until_ms,
                       int64_t now_ms)
{
    int64_t half_ms = (until_ms - now_ms) / 2;

    if (conn->patience_ms == 0) {
        if (half_ms > HF__RETRY_SILENCE_MS)
            half_ms = HF__RETRY_SILENCE_MS;
        conn->patience_ms = hf__silence_limit(conn->node, half_ms);
        if (half_ms < WAIT_MS || conn->request == NULL)
            conn->patience_ms = INT64_MAX;
    }
    conn->given_up_ms = hf__clock_after(now_ms, conn->patience_ms);
}

/* How long to wait for the next byte; 0: it is too late. Sets *result. */
static int64_t left_of(hf__blocking_conn *conn, int64_t until_ms,
                       int64_t now_ms, hf__blocking_conn_result *result,
                       hf_error *err)
{
    if (now_ms >= until_ms) {
        *result = is_late(conn, err);
        return 0;
    }
    if (now_ms >= conn->given_up_ms && !hf__retry_is_safe(conn->request))
        conn->patience_ms = conn->given_up_ms = INT64_MAX;
    if (now_ms >= conn->given_up_ms) {
        hf__fail(err, HF_INDETERMINATE, "%s was silent for %lld ms", conn->peer,
                 (long long)conn->patience_ms);
        hf__silence_learn(conn->node, conn->patience_ms);
        *result = HF__CONN_SILENT;
        return 0;
    }
    if (conn->given_up_ms < until_ms)
        until_ms = conn->given_up_ms;
    return until_ms - now_ms;
}

/* Read once more. */
static hf__blocking_conn_result receive_bytes(hf__blocking_conn *conn,
                                              int64_t until_ms, hf_error *err)
{
    size_t size = READ_SIZE;
    void *room = hf__resp_room(&conn->resp, &conn->in, &size);
    int64_t now_ms = hf__clock_boot_ms();
    hf__blocking_conn_result result = HF__CONN_OK;
    int64_t left_ms;
    ssize_t got;

    if (room == NULL)
        return HF__CONN_NO_MEMORY;
    be_patient(conn, until_ms, now_ms);
    for (;; now_ms = hf__clock_boot_ms()) {
        left_ms = left_of(conn, until_ms, now_ms, &result, err);
        if (left_ms <= 0)
            return result;
        if (conn->epoch != hf__redis_node_epoch(conn->node)) {
            hf__fail(err, HF_INDETERMINATE,
                     "%s was dropped: the server has another address",
                     conn->peer);
            return HF__CONN_LOST;
        }
        if (hf__blocking_conn_elder_spoke(conn)) {
            hf__fail(err, HF_UNAVAILABLE, "%s was not needed", conn->peer);
            return HF__CONN_LOST;
        }
        got = hf__channel_recv(&conn->channel, room, size,
                               left_ms >= WAIT_MS && conn->elder == NULL);
        if (got > 0) {
            hf__resp_received(&conn->resp, &conn->in, (size_t)got);
            return HF__CONN_OK;
        }
        if (got == 0 || (errno != EAGAIN && errno != EINTR))
            return end_of(conn, got, err);
        if (errno == EAGAIN)
            wait_readable(conn, left_ms);
    }
}

static void begin_reply(hf__blocking_conn *conn, hf__arena *arena,
                        hf_reply *reply)
{
    conn->arena = arena;
    conn->reply = reply;
    hf__resp_begin_bounded(&conn->resp, arena, reply,
                           conn->request == NULL ? HF__LOGIN_REPLY_MAX
                                                 : SIZE_MAX);
}

/* Read one reply, perhaps partly read already. Nothing may follow it: no other
 * request was sent. */
static hf__blocking_conn_result read_reply(hf__blocking_conn *conn,
                                           int64_t until_ms, hf_error *err)
{
    hf__resp_result parsed = HF__RESP_MORE;
    hf__blocking_conn_result result;

    for (;;) {
        if (hf__buf_size(&conn->in) > 0)
            parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_DONE && !conn->resp.push)
            return HF__CONN_OK;
        if (parsed == HF__RESP_DONE) {
            if (conn->arena != NULL)
                hf__arena_free(conn->arena);
            begin_reply(conn, conn->arena, conn->reply);
            parsed = HF__RESP_MORE;
            continue;
        }
        if (parsed == HF__RESP_BROKEN) {
            hf__fail(err, HF_CORRUPT, "%s sent a malformed reply", conn->peer);
            return HF__CONN_BROKEN;
        }
        if (parsed == HF__RESP_NO_MEMORY)
            return HF__CONN_NO_MEMORY;
        result = receive_bytes(conn, until_ms, err);
        if (result != HF__CONN_OK)
            return result;
    }
}

/* Connect to the first address that accepts; each gets its share of the
 * remaining time. 0 or an errno. */
static int connect_any(hf__blocking_conn *conn, const hf__resolved *resolved,
                       int64_t until_ms, int *fd)
{
    int64_t now_ms;
    int64_t share_ms;
    int rc = ETIMEDOUT;
    size_t at;

    for (at = 0; at < resolved->count && !hf__blocking_conn_elder_spoke(conn);
         at++) {
        now_ms = hf__clock_boot_ms();
        share_ms = (until_ms - now_ms) / (int64_t)(resolved->count - at);
        if (share_ms <= 0)
            break;
        conn->is_local = resolved->items[at].ss_family == AF_UNIX;
        rc = hf__socket_connect(&resolved->items[at], resolved->sizes[at], fd);
        if (rc != 0)
            continue;
        rc = ETIMEDOUT;
        if (wait_for(conn, *fd, POLLOUT, now_ms + share_ms) != 0)
            rc = hf__socket_connected(*fd);
        if (rc == 0)
            return 0;
        close(*fd);
    }
    return rc;
}

static hf_status await_handshake(hf__blocking_conn *conn, int64_t until_ms,
                                 hf_error *err)
{
    hf__channel *channel = &conn->channel;
    int rc;

    while ((rc = hf__channel_handshake(channel)) == EAGAIN) {
        if (wait_for(conn, channel->fd, channel->read_wants, until_ms) == 0 &&
            (conn->elder == NULL || hf__blocking_conn_elder_spoke(conn) ||
             hf__clock_boot_ms() >= until_ms))
            return hf__channel_late(channel, err, conn->peer);
    }
    if (rc == 0)
        return HF_OK;
    return hf__channel_fail(channel, err, HF_UNAVAILABLE, rc,
                            "no TLS handshake with", conn->peer);
}

/* The server's addresses. Waits for the first lookup of a name. */
static void find_peer(hf__blocking_conn *conn, int64_t until_ms,
                      hf__resolved *resolved)
{
    hf__resolver *resolver = conn->node->resolver;
    int64_t since_ms = hf__clock_boot_ms();
    int64_t now_ms = since_ms;
    bool asks = true;

    for (;;) {
        conn->epoch = hf__redis_node_epoch(conn->node);
        hf__resolver_get(resolver, resolved);
        if (resolved->count > 0 || !asks || now_ms >= until_ms ||
            hf__blocking_conn_elder_spoke(conn))
            return;
        /* If it does not, the answer may have arrived after get(). */
        asks = hf__resolver_asks(resolver);
        if (asks)
            hf__clock_sleep_until(now_ms +
                                  hf__resolver_pause_ms(since_ms, now_ms));
        now_ms = hf__clock_boot_ms();
    }
}

static hf_status connect_peer(hf__blocking_conn *conn, int64_t until_ms,
                              hf_error *err)
{
    hf__resolved resolved;
    int fd;
    int rc;

    find_peer(conn, until_ms, &resolved);
    memcpy(conn->peer, resolved.text, sizeof(conn->peer));
    if (resolved.count == 0)
        return hf__fail(err, HF_UNAVAILABLE, "host %s is not resolved yet",
                        conn->peer);
    rc = connect_any(conn, &resolved, until_ms, &fd);
    if (rc != 0)
        return hf__fail_errno(err, hf__socket_status(rc), rc,
                              "cannot connect to %s", conn->peer);
    if (!hf__channel_open(&conn->channel, fd, conn->node->account->tls,
                          resolved.host)) {
        close(fd);
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    }
    return await_handshake(conn, until_ms, err);
}

static hf_status as_status(hf__blocking_conn_result result, hf_error *err)
{
    switch (result) {
    case HF__CONN_OK:
        return HF_OK;
    case HF__CONN_NO_MEMORY:
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    case HF__CONN_BROKEN:
        return HF_CORRUPT;
    default:
        hf__fail_prefix(err, "no login");
        if (err != NULL && err->status == HF_DENIED)
            return HF_DENIED; /* which a TLS alert may say only now */
        if (err != NULL)
            err->status = HF_UNAVAILABLE;
        return HF_UNAVAILABLE;
    }
}

static hf_status log_in(hf__blocking_conn *conn, int64_t until_ms,
                        hf_error *err)
{
    int64_t began_ms = hf__clock_boot_ms();
    hf__blocking_conn_result result;
    hf__arena arena;
    hf_reply reply;
    hf__login login;
    hf_status status = HF_OK;

    conn->request = NULL;
    conn->patience_ms = 0;
    if (!hf__login_begin(&login, conn->node->account, false, &conn->out.text))
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    result = send_all(conn, until_ms, err);
    /* A server that closed immediately may have said why. */
    if (result == HF__CONN_UNSENT || result == HF__CONN_LOST)
        result = HF__CONN_OK;
    while (result == HF__CONN_OK && status == HF_OK &&
           !hf__login_done(&login)) {
        hf__arena_init(&arena);
        begin_reply(conn, &arena, &reply);
        result = read_reply(conn, until_ms, err);
        if (result == HF__CONN_OK)
            status = hf__login_answer(&login, &reply, err);
        hf__arena_free(&arena);
    }
    conn->busy = login.busy;
    if ((result == HF__CONN_LOST || result == HF__CONN_BROKEN) &&
        !conn->is_local)
        hf__login_hint(&login, err);
    if (status == HF_OK && result == HF__CONN_OK) {
        hf__redis_node_learn(conn->node, &login.traits);
        hf__silence_learn(conn->node, hf__clock_boot_ms() - began_ms);
    }
    return status != HF_OK ? status : as_status(result, err);
}

hf_status hf__blocking_conn_open(hf__blocking_conn *conn, int64_t until_ms,
                                 hf_error *err)
{
    hf_status status = connect_peer(conn, until_ms, err);

    conn->busy = false;
    if (status == HF_OK && !hf__socket_make_blocking(conn->channel.fd, WAIT_MS))
        status =
            hf__fail_errno(err, HF_SYSTEM, errno, "cannot set up a socket");
    if (status == HF_OK)
        status = log_in(conn, until_ms, err);
    conn->sent_us = conn->heard_us = hf__clock_boot_us();
    if (status != HF_OK) {
        hf__blocking_conn_close(conn);
        hf__resolver_refresh(conn->node->resolver);
    }
    return status;
}

static bool put_request(hf__blocking_conn *conn, const hf__request *request,
                        const hf__attempts *attempts)
{
    static const char *const asking[] = {"ASKING"};

    hf__outgoing_clear(&conn->out);
    if (attempts->asking && !hf__resp_put_words(&conn->out.text, asking, 1))
        return false;
    return hf__resp_lend_request(&conn->out, request, attempts->whole);
}

/* Read the outstanding replies. The one to ASKING adds nothing to the one after
 * it. */
static hf__blocking_conn_result
read_answers(hf__blocking_conn *conn, hf__request *request, hf_error *err)
{
    hf__blocking_conn_result result = HF__CONN_OK;

    while (result == HF__CONN_OK && conn->owed > 0) {
        result = read_reply(conn, request->deadline_ms, err);
        if (result == HF__CONN_OK && --conn->owed > 0)
            begin_reply(conn, &request->arena, &request->reply);
    }
    if (result == HF__CONN_SILENT)
        return result;
    conn->heard_us = hf__clock_boot_us();
    if (result == HF__CONN_OK && hf__retry_is_safe(request))
        hf__silence_learn(conn->node, (conn->heard_us - conn->sent_us) / 1000);
    if (result != HF__CONN_OK || hf__buf_size(&conn->in) > 0)
        hf__blocking_conn_close(conn);
    return result;
}

hf__blocking_conn_result hf__blocking_conn_exchange(hf__blocking_conn *conn,
                                                    hf__request *request,
                                                    hf__attempts *attempts,
                                                    hf_error *err)
{
    hf__blocking_conn_result result = HF__CONN_NO_MEMORY;

    conn->request = request;
    conn->patience_ms = 0;
    conn->owed = attempts->asking ? 2 : 1;
    if (put_request(conn, request, attempts))
        result = send_all(conn, request->deadline_ms, err);
    if (result != HF__CONN_UNSENT)
        attempts->asking = false;
    if (result == HF__CONN_OK || result == HF__CONN_LOST ||
        result == HF__CONN_LATE)
        request->sends++;
    hf__outgoing_clear(&conn->out);
    if (result != HF__CONN_OK) {
        hf__blocking_conn_close(conn);
        return result;
    }
    conn->sent_us = hf__clock_boot_us();
    if (conn->owed > 1)
        begin_reply(conn, NULL, NULL);
    else
        begin_reply(conn, &request->arena, &request->reply);
    return read_answers(conn, request, err);
}

hf__blocking_conn_result hf__blocking_conn_resume(hf__blocking_conn *conn,
                                                  hf__request *request,
                                                  hf_error *err)
{
    conn->patience_ms = 0;
    return read_answers(conn, request, err);
}
