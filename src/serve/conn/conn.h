/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conn.h - a client's connection: its buffers, reading and writing, its life.
 *
 * Requests wait in `in` until they have run; the replies of a round wait in
 * `out`, behind `mark_out`, until it is committed. All of it belongs to the
 * loop thread.
 */
#ifndef HF__SERVE_CONN_H
#define HF__SERVE_CONN_H

#include "serve/conn/parser.h"
#include "serve/conn/resp_writer.h"
#include "store/tls/channel.h"
#include "util/poll.h"

struct hf__multi;
struct hf__waiter;
struct hf_server;
struct hf__follower;
struct hf__user;

/* Replies that are dropped. */
typedef enum hf__mute {
    HF__MUTE_NONE = 0,
    HF__MUTE_SOON, /* to the request after the one that runs */
    HF__MUTE_NEXT, /* to the next request */
    HF__MUTE_ALL
} hf__mute;

typedef struct hf__conn {
    struct hf_server *server;
    struct hf__conn *previous, *next; /* of all connections */
    struct hf__conn *ready_next;
    hf__poll poll;
    hf__channel channel;
    bool in_handshake; /* the TLS handshake is not complete */
    uint64_t id;
    int64_t since_ms, active_ms; /* on hf__clock_boot_ms() */

    hf__buf in;
    hf__buf out;
    hf__parser parser;
    size_t received;     /* bytes in all */
    size_t counted;      /* bytes of memory: limits.c */
    int64_t partial_ms;  /* since when a request is incomplete; 0: none is */
    size_t partial_size; /* `received` then */
    size_t used;         /* bytes of `in` whose requests have run */

    /* Of the round: where it began, and how many of its units are ours. */
    size_t mark_used, mark_out;
    bool mark_closing;
    uint8_t mark_database;
    size_t units;
    size_t share; /* its units of the first try that are not committed yet */

    uint8_t database;            /* its number */
    const struct hf__user *user; /* NULL: not logged in */
    struct hf__multi *multi;     /* NULL: none yet */
    struct hf__waiter *waiter;   /* NULL: it does not wait for an element */
    /* Subscriptions: subscribe.c. */
    struct hf__follower *followed;
    size_t follows[4]; /* by hf__channel_kind */

    struct hf__tracker *tracker; /* NULL: it does not track; tracked.c */

    bool monitors, shown; /* monitor.c */

    /* What follows `out` before it is closed: sync.c. */
    bool copies;   /* something does */
    bool supplied; /* and may be put there */
    bool replica;  /* it says that it is one */

    /* What it was not asked: push.c. */
    struct hf__conn *pushed_next;
    bool pushed;
    int64_t behind_ms; /* since when too much is unread; 0: it is not */

    hf__answer answer; /* to the request that runs */
    bool resp3;
    bool no_evict, no_touch;
    hf__mute mute;
    const char *last; /* command; NULL: none yet */
    char *name;       /* these may be NULL; client_command.c */
    char *library;
    char *library_version;
    /* To log in: guesses.c. */
    struct hf__conn *guess_previous, *guess_next;
    int64_t guess_ms; /* it waits until then; 0: it does not */
    unsigned wrong;   /* passwords in a row */

    bool ready;     /* in the list of those with something to run */
    bool again;     /* to be put there again when the turn ends */
    bool early;     /* its next request is to run before the round */
    bool paused;    /* requests cannot run now */
    bool held;      /* until later: pause.h, guesses.h */
    bool listening; /* for input */
    bool writing;   /* waiting until more can be written */
    bool ended;     /* no more input: closing once all requests have run */
    bool closing;   /* once `out` is written */
    bool dead;      /* closed; freed when the turn ends */
} hf__conn;

/* What another file does with what it keeps of each connection. A member may be
 * NULL. */
typedef struct hf__part {
    void (*opened)(hf__conn *conn);
    void (*closed)(hf__conn *conn); /* it may be in a round */
    /* It is closed, and in no round. false: not yet; call hf__conn_free_dead().
     */
    bool (*may_free)(hf__conn *conn);
    void (*freed)(hf__conn *conn); /* perhaps more than once */
    /* As hf__conn_mark() and hf__conn_rewind(). */
    void (*mark)(hf__conn *conn);
    void (*rewind)(hf__conn *conn);
    /* `out` is empty, and conn->supplied: put more there. May close it. */
    void (*supply)(hf__conn *conn);
} hf__part;

/* Take over an accepted socket, which speaks TLS unless `tls` is NULL; false:
 * no memory or descriptor, and it is closed. */
bool hf__conn_open(struct hf_server *server, int fd, hf__tls *tls);
/* No more calls. Its memory is freed by hf__conn_free_dead(). */
void hf__conn_close(hf__conn *conn);
void hf__conn_free_dead(struct hf_server *server);
void hf__conn_close_all(struct hf_server *server);

/* Clear what the client said about itself. */
void hf__conn_reset(hf__conn *conn);

/* Its buffers may have grown or shrunk: count them. May close it, and others.
 */
void hf__conn_count(hf__conn *conn);

/* Have the loop look whether there is something to run. */
void hf__conn_wake(hf__conn *conn);

/* Write what it has to say, as far as that can be done now. */
void hf__conn_write(hf__conn *conn);

/* The reply to the request that runs. */
static inline hf__answer *hf__conn_answer(hf__conn *conn)
{
    hf__answer_begin(&conn->answer, &conn->out, conn->resp3);
    return &conn->answer;
}
/* A reply was this error: for INFO. */
void hf__conn_count_error(hf__conn *conn, const char *error);
/* After it; a connection that has no room for it is closed. */
void hf__conn_answered(hf__conn *conn);

/* May it run a request now? Not with much to be written. */
bool hf__conn_may_run(const hf__conn *conn);

/* A round begins, or the request that ran was not part of it. */
void hf__conn_mark(hf__conn *conn);
/* The round is committed: drop what has run, and write. */
void hf__conn_commit(hf__conn *conn);
/* It was undone. */
void hf__conn_rewind(hf__conn *conn);

#endif
