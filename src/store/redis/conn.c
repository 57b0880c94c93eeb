/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.c - the inline connection: one request and its reply take one send()
 * and one recv(), with no other thread involved.
 *
 * The socket blocks, with SO_RCVTIMEO of WAIT_MS; a deadline nearer than that
 * is waited for with poll(). So the common exchange, which has seconds to go,
 * needs no third call. It is kept by whoever has locked its slot (inline.c).
 */
#include "store/redis/conn.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "store/redis/login.h"
#include "store/redis/socket.h"
#include "util/clock.h"
#include "util/error.h"

/* How much to read at once; most replies are a few dozen bytes. */
#define READ_SIZE 16384

/* A line that has no end yet and one read. */
#define IN_LIMIT (HF__RESP_LINE_MAX + 2 * READ_SIZE)

/* After so long in recv() the clock is looked at again. */
#define WAIT_MS 250

void hf__conn_init(hf__conn *conn, const hf__redis_node *node)
{
    memset(conn, 0, sizeof(*conn));
    conn->node = node;
    conn->fd = -1;
    hf__buf_init(&conn->in, IN_LIMIT);
    hf__buf_init(&conn->out, HF__RESP_REQUEST_MAX);
}

void hf__conn_close(hf__conn *conn)
{
    if (conn->fd >= 0)
        close(conn->fd);
    conn->fd = -1;
    hf__buf_clear(&conn->in);
    hf__buf_clear(&conn->out);
}

void hf__conn_done(hf__conn *conn)
{
    hf__conn_close(conn);
    hf__buf_done(&conn->in);
    hf__buf_done(&conn->out);
}

/* Send what `out` holds. UNSENT: not a byte went. */
static hf__conn_result send_all(hf__conn *conn, int64_t until_ms, hf_error *err)
{
    hf__conn_result unsent = HF__CONN_UNSENT;
    ssize_t sent;

    while (hf__buf_size(&conn->out) > 0) {
        sent = send(conn->fd, hf__buf_front(&conn->out),
                    hf__buf_size(&conn->out), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            hf__buf_consume(&conn->out, (size_t)sent);
            unsent = HF__CONN_LOST;
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            if (hf__socket_wait(conn->fd, POLLOUT, until_ms) != 0)
                continue;
            hf__fail(err, HF_UNAVAILABLE, "%s accepts no more data",
                     conn->node->address.text);
            return unsent == HF__CONN_LOST ? HF__CONN_LATE : unsent;
        } else if (errno != EINTR) {
            hf__fail_errno(err, HF_UNAVAILABLE, errno, "cannot write to %s",
                           conn->node->address.text);
            return unsent;
        }
    }
    return HF__CONN_OK;
}

/* Read once more. */
static hf__conn_result receive(hf__conn *conn, int64_t until_ms, hf_error *err)
{
    unsigned char *room = hf__buf_reserve(&conn->in, READ_SIZE);
    int64_t left_ms;
    ssize_t got;

    if (room == NULL)
        return HF__CONN_NO_MEMORY;
    for (;;) {
        left_ms = until_ms - hf__clock_boot_ms();
        if (left_ms <= 0 ||
            (left_ms < WAIT_MS &&
             hf__socket_wait(conn->fd, POLLIN, until_ms) == 0)) {
            hf__fail(err, HF_INDETERMINATE, "no answer from %s in time",
                     conn->node->address.text);
            return HF__CONN_LATE;
        }
        got = recv(conn->fd, room, READ_SIZE, 0);
        if (got > 0) {
            hf__buf_added(&conn->in, (size_t)got);
            return HF__CONN_OK;
        }
        if (got < 0 && (errno == EAGAIN || errno == EINTR))
            continue;
        if (got == 0)
            hf__fail(err, HF_INDETERMINATE, "%s closed the connection",
                     conn->node->address.text);
        else
            hf__fail_errno(err, HF_INDETERMINATE, errno, "cannot read from %s",
                           conn->node->address.text);
        return HF__CONN_LOST;
    }
}

/* Read one reply. Nothing may follow it: nobody has asked for more. */
static hf__conn_result read_reply(hf__conn *conn, hf__arena *arena,
                                  hf_reply *reply, int64_t until_ms,
                                  hf_error *err)
{
    hf__resp_result parsed = HF__RESP_MORE;
    hf__conn_result result;

    hf__resp_begin(&conn->resp, arena, reply);
    for (;;) {
        if (hf__buf_size(&conn->in) > 0)
            parsed = hf__resp_feed(&conn->resp, &conn->in);
        if (parsed == HF__RESP_DONE && !conn->resp.push)
            return HF__CONN_OK;
        if (parsed == HF__RESP_DONE) {
            hf__resp_begin(&conn->resp, arena, reply);
            parsed = HF__RESP_MORE;
            continue;
        }
        if (parsed == HF__RESP_BROKEN) {
            hf__fail(err, HF_CORRUPT, "%s sent what is not a RESP reply",
                     conn->node->address.text);
            return HF__CONN_BROKEN;
        }
        if (parsed == HF__RESP_NO_MEMORY)
            return HF__CONN_NO_MEMORY;
        result = receive(conn, until_ms, err);
        if (result != HF__CONN_OK)
            return result;
    }
}

/* Connect to the first address that accepts; each gets its share of the time
 * that is left. */
static hf_status connect_any(hf__conn *conn, int64_t until_ms, hf_error *err)
{
    hf__resolved resolved;
    int64_t now_ms;
    int64_t share_ms;
    int rc = ETIMEDOUT;
    size_t at;

    hf__resolver_get(conn->node->resolver, &resolved);
    for (at = 0; at < resolved.count; at++) {
        now_ms = hf__clock_boot_ms();
        share_ms = (until_ms - now_ms) / (int64_t)(resolved.count - at);
        if (share_ms <= 0)
            break;
        rc = hf__socket_connect(&resolved.items[at], resolved.sizes[at],
                                &conn->fd);
        if (rc != 0)
            continue;
        rc = ETIMEDOUT;
        if (hf__socket_wait(conn->fd, POLLOUT, now_ms + share_ms) != 0)
            rc = hf__socket_connected(conn->fd);
        if (rc == 0)
            return HF_OK;
        hf__conn_close(conn);
    }
    return hf__fail_errno(err, hf__socket_status(rc), rc,
                          "cannot connect to %s", conn->node->address.text);
}

static hf_status as_status(hf__conn_result result, hf_error *err)
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
        if (err != NULL)
            err->status = HF_UNAVAILABLE;
        return HF_UNAVAILABLE;
    }
}

static hf_status log_in(hf__conn *conn, int64_t until_ms, hf_error *err)
{
    hf__conn_result result;
    hf__arena arena;
    hf_reply reply;
    hf__login login;
    hf_status status = HF_OK;

    if (!hf__login_begin(&login, &conn->node->address, &conn->out))
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    result = send_all(conn, until_ms, err);
    /* A server that closed at once may have said why. */
    if (result == HF__CONN_UNSENT || result == HF__CONN_LOST)
        result = HF__CONN_OK;
    while (result == HF__CONN_OK && status == HF_OK &&
           !hf__login_done(&login)) {
        hf__arena_init(&arena);
        result = read_reply(conn, &arena, &reply, until_ms, err);
        if (result == HF__CONN_OK)
            status = hf__login_answer(&login, &reply, err);
        hf__arena_free(&arena);
    }
    return status != HF_OK ? status : as_status(result, err);
}

hf_status hf__conn_open(hf__conn *conn, int64_t until_ms, hf_error *err)
{
    hf_status status = connect_any(conn, until_ms, err);

    if (status == HF_OK && !hf__socket_make_blocking(conn->fd, WAIT_MS))
        status =
            hf__fail_errno(err, HF_SYSTEM, errno, "cannot set up a socket");
    if (status == HF_OK)
        status = log_in(conn, until_ms, err);
    if (status != HF_OK) {
        hf__conn_close(conn);
        hf__resolver_refresh(conn->node->resolver);
    }
    return status;
}

hf__conn_result hf__conn_exchange(hf__conn *conn, hf__request *request,
                                  bool whole, hf_error *err)
{
    hf__conn_result result = HF__CONN_NO_MEMORY;

    hf__buf_clear(&conn->out);
    if (hf__resp_put_request(&conn->out, request, whole))
        result = send_all(conn, request->deadline_ms, err);
    if (result == HF__CONN_OK || result == HF__CONN_LOST ||
        result == HF__CONN_LATE)
        request->sends++;
    if (result == HF__CONN_OK)
        result = read_reply(conn, &request->arena, &request->reply,
                            request->deadline_ms, err);
    hf__buf_clear(&conn->out);
    if (result != HF__CONN_OK || hf__buf_size(&conn->in) > 0)
        hf__conn_close(conn);
    return result;
}
