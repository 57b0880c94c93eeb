/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pg_backend.h - the parts of the backend for PostgreSQL. All but connecting is
 * the loop thread's.
 *
 * libpq resolves names and logs in within its call, so each connection is made
 * by a thread of its own (pg_connector.c), and given to the loop thread.
 */
#ifndef HF__RECORDS_PG_BACKEND_H
#define HF__RECORDS_PG_BACKEND_H

#include "records/backend.h"
#include "records/postgres/pg_calls.h"
#include "records/postgres/pg_session.h"
#include "util/poll.h"

/* Connections for calls: commits of requests that have nothing to do with one
 * another share a flush of the disk. */
#define HF__PG_CONNS 4

typedef struct hf__pg_connector hf__pg_connector;

typedef struct hf__pg_conn {
    struct hf__pg_backend *self;
    PGconn *pg; /* NULL: not connected */
    hf__poll poll;
    hf__tick tick;          /* the deadline of its call */
    uint64_t began;         /* hf__pg_received() when its query was sent */
    bool warned;            /* by the server, since its query was sent */
    bool busy;              /* a query is under way ... */
    hf__backend_call *call; /* ... for it; NULL: of our own */
} hf__pg_conn;

/* Of the reply to a call, bytes: what a request may read. */
#define HF__PG_REPLY_MAX ((size_t)256 << 20)

/* The text of a message to ourselves, each with another number. */
#define HF__PG_WORD "probe "
#define HF__PG_WORD_SIZE (sizeof(HF__PG_WORD) + 16)

typedef struct hf__pg_listener {
    PGconn *pg; /* NULL: not connected */
    hf__poll poll;
    hf__tick tick;
    bool wanted;
    bool listens; /* what was last reported */
    bool probed;  /* a message to ourselves is under way: */
    char word[HF__PG_WORD_SIZE];
    int64_t pause_ms;
    char channel[32];
} hf__pg_listener;

typedef struct hf__pg_backend {
    hf__backend base;
    hf__backend_config config;
    hf__pg_connector *connector;
    hf__pg_statements statements;
    hf__pg_conn conns[HF__PG_CONNS];
    size_t connecting;
    /* Calls that wait for a connection, the oldest first, linked by
     * call->backend. */
    hf__backend_call *first;
    hf__backend_call **end;
    hf__backend_call *refused; /* calls that are not sent; linked as these */
    hf__tick queue_tick;       /* completes those, or which are due */
    hf__pg_listener listener;
    bool probe; /* send a message to ourselves on the next free connection */
} hf__pg_backend;

/* pg_connector.c: connections that are being made outlive the backend. */
hf_status hf__pg_connector_new(hf__pg_backend *self, hf__pg_connector **made,
                               hf_error *err);
const hf__pg_account *hf__pg_connector_account(const hf__pg_connector *of);
/* Have the first connection made, and wait until the backend has it, by the
 * deadline of a session. */
hf_status hf__pg_connector_open(hf__pg_connector *of, hf_error *err);
/* Have a connection made; false: there is no memory or thread. */
bool hf__pg_connector_start(hf__pg_connector *of, bool listens);
/* End what the server does for a connection, and close it: otherwise its
 * session would wait on, for a lock or a standby. */
void hf__pg_connector_cancel(hf__pg_connector *of, PGconn *pg);
/* No more of them are given to the backend. Waits a little for what is being
 * cancelled. */
void hf__pg_connector_close(hf__pg_connector *of);

/* pg_pool.c */
void hf__pg_pool_init(hf__pg_backend *self);
void hf__pg_pool_add(hf__pg_backend *self, PGconn *pg);
/* A connection could not be made: the calls that wait for one fail. */
void hf__pg_pool_fail(hf__pg_backend *self, hf_status status,
                      const hf_error *error);
void hf__pg_pool_call(hf__backend *backend, hf__backend_call *call);
/* Send what can be. */
void hf__pg_pool_pump(hf__pg_backend *self);
void hf__pg_pool_close(hf__pg_backend *self);

/* pg_listener.c */
void hf__pg_listener_start(hf__backend *backend);
void hf__pg_listener_add(hf__pg_backend *self, PGconn *pg);
void hf__pg_listener_fail(hf__pg_backend *self);
void hf__pg_listener_close(hf__pg_backend *self);

#endif
