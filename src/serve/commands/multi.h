/* SPDX-License-Identifier: Apache-2.0 */
/*
 * multi.h - MULTI, EXEC, DISCARD, WATCH, UNWATCH: transactions of a connection.
 */
#ifndef HF__SERVE_MULTI_H
#define HF__SERVE_MULTI_H

#include "engine/engine.h"
#include "serve/commands/served.h"
#include "util/buf.h"

/* What an undone round must restore. */
typedef struct hf__multi_state {
    bool open;    /* after MULTI */
    bool aborted; /* a request was refused since */
    bool writes;  /* one of the commands does */
    bool changes; /* one of them may: unit.h */
    bool spent;   /* the watches are over */
    size_t from;  /* in `queue`: where its commands begin */
    size_t size;  /* of `queue` */
    size_t count; /* of its commands */
} hf__multi_state;

typedef struct hf__multi {
    hf__multi_state now;
    hf__multi_state mark; /* as of conn->mark_used */
    hf__buf queue;
    hf__buf watches;
    size_t watch_count;
} hf__multi;

/* May the next command be queued? Then the request is to be checked, and either
 * put or refused. */
static inline bool hf__multi_is_open(const hf__conn *conn)
{
    return conn->multi != NULL && conn->multi->now.open;
}
/* Queue a request of either kind, and reply. */
void hf__multi_put(hf__conn *conn, const hf__served *served,
                   const hf__command *command, const hf_bytes *words,
                   size_t count);
/* A request was refused: EXEC will fail. */
void hf__multi_abort(hf__conn *conn);
/* The same, with the error as the answer; an EXEC that was refused itself ends
 * the transaction. `served` NULL: a command of the store, or unknown. */
void hf__multi_refused(hf__conn *conn, const hf__served *served);

/* DISCARD and UNWATCH, if there is anything. */
void hf__multi_reset(hf__conn *conn);

/* Before the first connection; after the last. */
void hf__multi_open_server(struct hf_server *server);
void hf__multi_close_server(struct hf_server *server);

#endif
