/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conns.c - see conns.h.
 *
 * A connection is cut by shutdown() of its socket: libmicrohttpd then finds it
 * closed by the client. It reports the end before it closes the socket, so that
 * under the mutex no number in the list is another file's.
 */
#include "http/conns.h"

#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "lease_clock.h"

/* For a client to send its request. */
#define REQUEST_MS 10000

/* From so many on, the oldest without a request is cut for a new one. */
#define CONNS_MANY 192

/* What the kernel keeps for a client that does not read. */
#define SEND_BUFFER_SIZE 65536

struct http_conn {
    struct http_conn *next;
    struct http_conn **link; /* what points to this one */
    int fd;
    bool has_request;
    int64_t until_ms;
};

void http_conns_init(struct http_conns *conns)
{
    pthread_mutex_init(&conns->mutex, NULL);
    conns->first = NULL;
    conns->count = 0;
    conns->opened = 0;
}

void http_conns_done(struct http_conns *conns)
{
    pthread_mutex_destroy(&conns->mutex);
}

static void insert_locked(struct http_conns *conns, struct http_conn *conn)
{
    conn->next = conns->first;
    conn->link = &conns->first;
    if (conn->next != NULL)
        conn->next->link = &conn->next;
    conns->first = conn;
    conns->count++;
    conns->opened++;
}

static void remove_locked(struct http_conns *conns, struct http_conn *conn)
{
    *conn->link = conn->next;
    if (conn->next != NULL)
        conn->next->link = conn->link;
    conns->count--;
}

/* New ones are in front. */
static void make_room_locked(struct http_conns *conns)
{
    struct http_conn *oldest = NULL;

    if (conns->count < CONNS_MANY)
        return;
    for (struct http_conn *conn = conns->first; conn != NULL;
         conn = conn->next) {
        if (!conn->has_request && conn->until_ms > 0)
            oldest = conn;
    }
    if (oldest == NULL)
        return;
    shutdown(oldest->fd, SHUT_RDWR);
    oldest->until_ms = 0;
}

/* NULL: out of memory. */
static struct http_conn *conn_new(struct MHD_Connection *connection)
{
    struct http_conn *conn = malloc(sizeof(*conn));
    int size = SEND_BUFFER_SIZE;

    if (conn == NULL)
        return NULL;
    conn->fd =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)
            ->connect_fd;
    conn->has_request = false;
    conn->until_ms = now_ms() + REQUEST_MS;
    setsockopt(conn->fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    return conn;
}

void http_conns_notify(void *user, struct MHD_Connection *connection,
                       void **context, enum MHD_ConnectionNotificationCode code)
{
    struct http_conns *conns = user;
    struct http_conn *conn = *context;

    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        conn = conn_new(connection);
        *context = conn;
        if (conn == NULL)
            return;
        pthread_mutex_lock(&conns->mutex);
        make_room_locked(conns);
        insert_locked(conns, conn);
        pthread_mutex_unlock(&conns->mutex);
    } else if (conn != NULL) {
        pthread_mutex_lock(&conns->mutex);
        remove_locked(conns, conn);
        pthread_mutex_unlock(&conns->mutex);
        free(conn);
        *context = NULL;
    }
}

void http_conns_limit(struct http_conns *conns,
                      struct MHD_Connection *connection, int64_t limit_ms)
{
    struct http_conn *conn =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)
            ->socket_context;

    if (conn == NULL)
        return;
    pthread_mutex_lock(&conns->mutex);
    conn->has_request = true;
    conn->until_ms = limit_ms < 0 ? INT64_MAX : now_ms() + limit_ms;
    pthread_mutex_unlock(&conns->mutex);
}

size_t http_conns_cut(struct http_conns *conns)
{
    int64_t now = now_ms();
    size_t count;

    pthread_mutex_lock(&conns->mutex);
    for (struct http_conn *conn = conns->first; conn != NULL;
         conn = conn->next) {
        if (conn->until_ms <= now)
            shutdown(conn->fd, SHUT_RDWR);
    }
    count = conns->count;
    pthread_mutex_unlock(&conns->mutex);
    return count;
}
