/* SPDX-License-Identifier: Apache-2.0 */
/*
 * busy.h - a script that runs long: meanwhile the server answers.
 *
 * A script holds up the round that it is part of, and with it the loop. Once it
 * has run for longer than the threshold (busy-reply-threshold), the machine
 * calls back now and then, within the script:
 *
 *  1. New connections are accepted, and those without units in the round are
 *     read.
 *  2. What they ask is answered with BUSY, but for the few commands that do not
 *     need the store and those that stop the script.
 *
 * Nothing of this touches the store, its transaction, or a connection with
 * units in the round: what it has asked waits for the commit.
 */
#ifndef HF__SERVE_BUSY_H
#define HF__SERVE_BUSY_H

#include "serve/commands/served.h"

struct hf__tx;

#define HF__BUSY_MS_DEFAULT 5000

typedef struct hf__busy {
    int64_t threshold_ms;  /* 0: never */
    int64_t next_ms;       /* when to look at the connections */
    const hf_bytes *words; /* of the command */
    size_t count;
    int64_t began_ms;
    bool on;    /* the script has exceeded the threshold */
    bool wrote; /* so it cannot be stopped */
    bool killed;
    /* Answer what the connection has asked, and write. */
    void (*answer)(hf__conn *conn);
} hf__busy;

/* A command begins that may be a script, and ends. */
void hf__busy_begin(struct hf_server *server, const hf_bytes *words,
                    size_t count);
void hf__busy_end(struct hf_server *server);

/* For hf__tx::attend. */
bool hf__busy_attend(struct hf__tx *tx, bool wrote, int64_t *spent_us);

/* While a script is busy: is the command one that the server still runs?
 * `served` may be NULL. */
bool hf__busy_allows(const hf__served *served);
/* Answer the request, which is no such command. */
void hf__busy_refuse(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
