/* SPDX-License-Identifier: Apache-2.0 */
/*
 * state.h - what the parts of a server share. It belongs to the loop thread.
 */
#ifndef HF__SERVE_STATE_H
#define HF__SERVE_STATE_H

#include "engine/engine.h"
#include "holdfast/serve.h"
#include "serve/commands/blocking.h"
#include "serve/commands/busy.h"
#include "serve/commands/info_command.h"
#include "serve/commands/pause.h"
#include "serve/commands/slowlog.h"
#include "serve/commands/sync.h"
#include "serve/commands/usage.h"
#include "serve/conn/conn.h"
#include "serve/messages/monitor.h"
#include "serve/messages/subscribe.h"
#include "serve/messages/tracked.h"
#include "serve/users/acl_log.h"
#include "serve/users/guesses.h"
#include "serve/users/users.h"
#include "store/store.h"

struct hf__listener;

/* The version of Redis whose commands and texts these are. */
#define HF__SERVE_REDIS_VERSION "7.0.15"

/* What many clients may cause is reported as a number. */
typedef struct hf__log_burst {
    uint64_t count;      /* not reported yet */
    int64_t reported_ms; /* 0: never */
} hf__log_burst;

struct hf_server {
    hf__loop *loop;
    hf__store *store;
    uint32_t fork_generation;
    hf_server_options options; /* defaults filled in; file names are copies */

    struct hf__listener *listeners;
    size_t listener_count;
    hf__tls *tls; /* NULL: none */

    hf__conn *conns; /* newest first */
    hf__conn *dead;
    size_t conn_count;
    uint64_t last_id;
    size_t buffered;      /* bytes of the connections' buffers: limits.c */
    size_t buffered_most; /* since the heap was last trimmed */
    void (*crowded)(hf_server *server); /* they exceed the limit */
    hf__tick limits_tick;
    bool stopping; /* no new connections or requests */

    const hf__part *const *parts;
    hf__users users;
    uint64_t user_changes; /* how often they changed */
    /* May these be its users? HF_INVALID. */
    hf_status (*check_users)(const hf_server *server, const hf__users *users,
                             hf_error *err);
    hf__acl_log acl_log;
    hf__guesses guesses;
    hf__log_burst refused_logins, failed_handshakes, web_requests;

    /* Rounds: rounds.c. */
    hf__tick tick;
    hf__conn *ready;
    hf__conn **ready_end;
    hf__command_round round;
    size_t unit_count; /* of the round */
    size_t unit_limit;
    int64_t deadline_ms; /* for the writer lock */
    bool hasty;          /* the last turn waited in vain: this one does not */
    hf_error broken;     /* not HF_OK: the round is to be undone */
    bool in_exec;        /* commands belong to its unit */
    hf__conn *unit_conn; /* of the last unit; NULL: of none */
    hf_error failure;    /* not HF_OK: its unit fails like this */
    hf_bytes *words;     /* of the request that runs */
    size_t word_capacity;

    /* multi.c */
    const uint32_t *stamps; /* of keys; NULL: not joined */
    size_t watching;        /* connections with watched keys */
    hf__tick watch_tick;    /* to leave */

    hf__tick sweep; /* sweep.c */
    hf__pubsub pubsub;
    hf__trackers trackers;
    hf__monitors monitors;
    hf__conn *pushed; /* to be written: push.c */
    hf__answer push;

    hf__blocking blocking;
    void (*made)(hf__tx *tx, hf_bytes key); /* of each transaction */
    hf__busy busy;
    bool ending; /* SHUTDOWN was accepted */

    hf_server_stats stats;
    hf__info info;
    hf__usage usage;
    hf__slowlog slowlog;
    hf__pause pause;
    hf__sync sync;
};

#endif
