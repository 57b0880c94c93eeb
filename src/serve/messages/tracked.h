/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracked.h - which keys clients have read with CLIENT TRACKING, and reporting
 * to them when those change.
 */
#ifndef HF__SERVE_TRACKED_H
#define HF__SERVE_TRACKED_H

#include "engine/engine.h"
#include "serve/conn/conn.h"
#include "serve/messages/channel_table.h"
#include "store/feed.h"

/* tracking-table-max-keys */
#define HF__TRACKED_MAX 1000000

enum {
    HF__TRACK_BCAST = 1u << 0,
    HF__TRACK_OPTIN = 1u << 1,
    HF__TRACK_OPTOUT = 1u << 2,
    HF__TRACK_NOLOOP = 1u << 3
};

/* A client that tracks. */
typedef struct hf__tracker {
    struct hf__tracker *next, **link; /* of the server */
    hf__conn *conn;
    unsigned flags;
    int64_t redirect; /* id of another connection; 0: none */
    bool broken;      /* that has gone */
    /* Keys that it has read; with BCAST, prefixes. */
    hf__follower *followed;
    /* CLIENT CACHING was given for the next request; was, for one of the round.
     */
    bool caching, spent;
} hf__tracker;

/* Of a server. */
typedef struct hf__trackers {
    hf__feed feed;
    bool open;
    hf__tracker *first;
    size_t count;
    /* HF__CHANNEL: keys, of all databases as one; HF__CHANNEL_PATTERN:
     * prefixes. Who follows them are trackers' connections. */
    hf__channel_table table;
    size_t items;    /* pairs of a key and a client */
    int64_t max;     /* keys; 0: no limit */
    size_t hand;     /* the chain of the next key to be dropped */
    hf__buf changed; /* for prefixes, when the turn ends */

    /* Of the round, in order: what was read and changed. */
    hf__buf log;
    bool log_lost;           /* and something that is missing */
    bool script_reads;       /* the script that runs has read */
    size_t seen;             /* bytes of the transaction's notes */
    bool seen_lost, flushed; /* as in hf__noted */
    /* Its own notes in the ring end there; a gap, there. */
    uint64_t own_from, own_to, own_gap;
} hf__trackers;

void hf__tracked_open_server(struct hf_server *server);
void hf__tracked_close_server(struct hf_server *server);

/* While a client tracks: a round begins; a command that a script calls is to
 * run; a unit, or a command of an EXEC, has run; the round is committed. */
void hf__tracked_begin(struct hf_server *server);
void hf__tracked_called(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__tracked_ran(hf__conn *conn, const hf__command *command,
                     const hf_bytes *words, size_t count);
void hf__tracked_commit(struct hf_server *server);

/* Open or close the feed, as needed; no transaction is open. */
void hf__tracked_prepare(struct hf_server *server);
/* A turn ends, and a client tracks: report changes by prefix, and drop keys
 * beyond the limit. */
void hf__tracked_look(struct hf_server *server);

/* The request after CLIENT CACHING has run. */
void hf__tracked_spend(hf__tracker *tracker);

/* Begin for a connection that does not track. NULL: no memory. */
hf__tracker *hf__tracked_join(hf__conn *conn);
/* Have it follow a prefix, unless it does. false: no memory. */
bool hf__tracked_prefix(hf__tracker *tracker, hf_bytes prefix);
/* End it. */
void hf__tracked_leave(hf__conn *conn);

#endif
