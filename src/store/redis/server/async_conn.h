/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_conn.h - a connection on the loop thread: made when its owner wants
 * one, logged in, and remade after it broke.
 */
#ifndef HF__STORE_REDIS_ASYNC_CONN_H
#define HF__STORE_REDIS_ASYNC_CONN_H

#include "store/redis/server/login.h"
#include "store/redis/server/node.h"
#include "store/redis/wire/resp.h"
#include "store/tls/channel.h"
#include "util/loop.h"
#include "util/poll.h"

typedef struct hf__async_conn hf__async_conn;

/* The owner's callbacks; all on the loop thread. */
typedef struct hf__async_conn_ops {
    /* Around each of the others, and all that the loop thread does with the
     * connection. NULL: nothing. */
    void (*enter)(hf__async_conn *conn);
    void (*leave)(hf__async_conn *conn);
    /* Logged in: conn->out may be filled and flushed. */
    void (*up)(hf__async_conn *conn);
    /* conn->in has received bytes. */
    void (*input)(hf__async_conn *conn);
    /* Has the server done, on this connection, what it is for? NULL: it has
     * once anything was received. If not, the next one is made after a pause.
     */
    bool (*worked)(const hf__async_conn *conn);
    /* `conn->out` was sent whole. NULL: of no interest. */
    void (*drained)(hf__async_conn *conn);
    /* The connection broke, or (was_up false) could not be made; conn->error
     * says why, and conn->sent still counts. */
    void (*down)(hf__async_conn *conn, bool was_up);
    /* Is a connection wanted now? NULL: always. */
    bool (*wanted)(hf__async_conn *conn);
    /* Do what is due by `now_ms`; returns when to be called next. */
    int64_t (*tick)(hf__async_conn *conn, int64_t now_ms);
} hf__async_conn_ops;

typedef enum hf__async_conn_state {
    HF__ASYNC_DOWN, /* until retry_ms at least */
    HF__ASYNC_RESOLVING,
    HF__ASYNC_CONNECTING,
    HF__ASYNC_HANDSHAKE, /* over at once without TLS */
    HF__ASYNC_LOGIN,
    HF__ASYNC_UP,
    HF__ASYNC_CLOSED
} hf__async_conn_state;

struct hf__async_conn {
    const hf__async_conn_ops *ops;
    hf__redis_node *node;
    hf__async_conn_state state;
    bool resp3; /* the owner's: pushes are wanted */
    bool waits; /* the owner's: fail without WAIT */
    /* The owner's, for messages; NULL: none. */
    const struct hf__conn_purpose *purpose;
    bool lost; /* and reported, but not that it is back */
    hf__channel channel;
    bool unread;    /* the channel has buffered input, poll() does not see it */
    uint32_t epoch; /* the node's when it was started */
    char peer[HF__WHERE_SIZE];
    hf__buf in;
    hf__outgoing out;
    uint64_t sent;    /* bytes given to the kernel on this connection */
    hf__resp resp;    /* the owner's once it is up */
    int64_t alive_ms; /* when the peer last sent, or read what had to wait */
    hf_error error;   /* why it is down */

    hf__poll poll;
    int poll_events;
    uint32_t sockets; /* how many were closed, to tell them apart */
    hf__tick timer;
    int64_t timer_ms; /* what it is set to; INT64_MAX: not at all */
    hf__task closing;
    void (*closed)(hf__async_conn *conn);

    hf__resolved resolved;
    int64_t resolving_ms; /* since when its name is waited for */
    size_t resolved_at;
    int64_t until_ms;         /* of this address, or of the rest */
    int64_t connect_until_ms; /* of the whole attempt */
    int64_t retry_ms;
    int64_t delay_ms; /* 0: the next attempt is immediate */
    hf__login login;
    int64_t login_ms; /* when it began */
    hf__arena arena;  /* of the login's answers */
    hf_reply reply;
};

void hf__async_conn_init(hf__async_conn *conn, const hf__async_conn_ops *ops,
                         hf__redis_node *node, size_t out_limit);

/* Connect if wanted and due, and set the timer. Called on the loop thread
 * whenever wanted() or the owner's instants may have changed. */
void hf__async_conn_update(hf__async_conn *conn);

/* Send as much of conn->out as possible without waiting. May call down(). */
void hf__async_conn_flush(hf__async_conn *conn);
/* Send once; what is left, and a failure, is for flush(). On another thread, if
 * the owner has the loop thread wait in enter() meanwhile. */
void hf__async_conn_send(hf__async_conn *conn);
/* Read once, if input has come: its size; 0: none has; negative: it failed,
 * which the loop thread will find. Of a channel without TLS. Where send() may
 * be called. */
ssize_t hf__async_conn_receive(hf__async_conn *conn);
/* Have the loop thread watch the socket for errors only, because another thread
 * waits for its input; or for all again. Where send() may be called. */
void hf__async_conn_lend(hf__async_conn *conn);
void hf__async_conn_reclaim(hf__async_conn *conn);
/* Call drained() in a later turn of the loop. */
void hf__async_conn_pause(hf__async_conn *conn);

/* Drop the connection; conn->error is the reason. */
void hf__async_conn_drop(hf__async_conn *conn);

/* Close for good; closed() runs on the loop thread once no function of the
 * connection is on its stack. */
void hf__async_conn_close(hf__async_conn *conn,
                          void (*closed)(hf__async_conn *conn));

/* Free. Only after closed(), or if it was never updated. */
void hf__async_conn_done(hf__async_conn *conn);

/* In a forked child: close the descriptor and nothing else. */
void hf__async_conn_close_forked(hf__async_conn *conn);

#endif
