/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocking.h - connections that wait until there is an element to take.
 */
#ifndef HF__SERVE_BLOCKING_H
#define HF__SERVE_BLOCKING_H

#include "serve/commands/key_waiters.h"
#include "store/feed.h"
#include "store/store.h"

typedef struct hf__blocking {
    hf__wait_table table;
    size_t count;        /* of waiters */
    hf__waiter *touched; /* in this round */
    hf__heap deadlines;
    hf__tick tick; /* the first one */

    hf__feed feed;
    bool open;      /* the feed is */
    bool wanted;    /* it is to be opened */
    hf_error error; /* not HF_OK: it could not be opened */
    hf__tick close_tick;
    hf__tick retry_tick;
    hf__tick expiry_tick; /* a stream expires that some wait for */
} hf__blocking;

/* Before the first connection; after the last. */
void hf__blocking_open_server(struct hf_server *server);
void hf__blocking_close_server(struct hf_server *server);

/* May a command that blocks run now? If not, its connection pauses, and before
 * the next round prepare() is called. */
bool hf__blocking_may_run(struct hf_server *server);
void hf__blocking_prepare(struct hf_server *server);

/* The command was the unit that ran. It waits, if it has found nothing. */
void hf__blocking_begin(hf__conn *conn, const hf__command *command,
                        const hf_bytes *words, size_t count);

/* After a unit: serve those that wait for keys that it has made. */
void hf__blocking_serve_made(struct hf_server *server);
static inline void hf__blocking_serve(struct hf_server *server,
                                      const hf__blocking *blocking)
{
    if (blocking->table.first[HF__WAIT_MADE] != NULL)
        hf__blocking_serve_made(server);
}
/* At the start of a round: serve those that wait for keys that other processes
 * have changed. It is a unit of the round. Not in a pause. */
void hf__blocking_look(struct hf_server *server);
/* Look at all of them soon, in another round: a pause has ended. */
void hf__blocking_retry(struct hf_server *server);

/* The round is committed, or was undone; after its connections. */
void hf__blocking_commit(struct hf_server *server);
void hf__blocking_rewind(struct hf_server *server);

/* Between rounds: end the wait, with nil or an error. false: it does not
 * wait. */
bool hf__blocking_end(hf__conn *conn, const char *error);

#endif
