/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_internal.h - the parts of the shared connection: what can happen to
 * an entry (pipeline_entry.c), reading and writing (pipeline_io.c), requeuing
 * entries when it breaks (pipeline_requeue.c), a second connection to a silent
 * server (pipeline_probe.c), and counting replicas of its writes
 * (pipeline_wait.c), and ending waits (pipeline_unblock.c). All on the loop
 * thread, except that a caller sends on an idle connection (pipeline_direct.c),
 * and one that waits may read (pipeline_reader.c).
 */
#ifndef HF__STORE_REDIS_PIPELINE_INTERNAL_H
#define HF__STORE_REDIS_PIPELINE_INTERNAL_H

#include "store/redis/server/pipeline.h"

/* ------------------------------------------------------------------ entries */

/* Append entries to inbound and have the loop thread take them. Any thread. */
void hf__pipeline_enter(hf__pipeline *pipe, hf__pipeline_list *entries);

/* Move an entry to another server, as the router decided; releases
 * route->server. false: it cannot, and its outcome is set; only of one that
 * waits. */
bool hf__pipeline_move(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf__route *route);

/* Complete and free an entry that is in no list: its outcome is set, or it is
 * `err`. */
void hf__pipeline_complete(hf__pipeline *pipe, hf__pipeline_entry *entry);
void hf__pipeline_fail(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf_error *err);

/* Complete the request with an error; the entry stays in its list without
 * it. */
void hf__pipeline_expire(hf__pipeline *pipe, hf__pipeline_entry *entry,
                         const hf_error *err);

/* Put it back at the front of its lane; or call the router: true: it has
 * moved. */
void hf__pipeline_put_back(hf__pipeline *pipe, hf__pipeline_entry *entry);
bool hf__pipeline_hand_on(hf__pipeline *pipe, hf__pipeline_entry *entry,
                          const hf__redirect *why);

static inline hf__pipeline_list *
hf__pipeline_lane(hf__pipeline *pipe, const hf__pipeline_entry *entry)
{
    return &pipe->lanes[entry->request->lane == HF__LANE_LEASE];
}

/* ------------------------------------------------------- reading and writing
 */

/* The callbacks of a pipeline's connection. */
extern const hf__async_conn_ops hf__pipeline_conn_ops;

/* Queue an entry from inbound. hf__async_conn_update() must follow. */
void hf__pipeline_accept(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Format what is queued, until there are `most` bytes to be sent. */
void hf__pipeline_format(hf__pipeline *pipe, size_t most);

/* Complete everything that is not in flight, as the client is closed. */
void hf__pipeline_fail_all(hf__pipeline *pipe);

/* Bytes formatted per write. */
#define HF__PIPELINE_BATCH_SIZE 65536

/* Silence that is reported to the topology, which can ask other servers. */
#define HF__PIPELINE_SUSPECT_MS 500

/* ------------------------------------------------------------------- direct */

/* Around what the loop thread does with the pipeline; they may be nested. */
void hf__pipeline_begin(hf__pipeline *pipe);
void hf__pipeline_end(hf__pipeline *pipe);
/* By a caller, if it is idle; until it gives it back. */
bool hf__pipeline_take(hf__pipeline *pipe);
/* By a reader, if it is open, or idle though it is lent. */
bool hf__pipeline_take_open(hf__pipeline *pipe);
void hf__pipeline_give_back(hf__pipeline *pipe);

/* Send entries on the calling thread, if nothing is under way. false: they are
 * unchanged. */
bool hf__pipeline_send(hf__pipeline *pipe, hf__pipeline_list *entries);

/* The owner: have the loop thread watch the socket again; `wake`: wake the
 * reader. */
void hf__pipeline_reclaim(hf__pipeline *pipe, bool wake);

/* A reader, being the owner: read once, and complete the request if its reply
 * is there and is no error. All else is left to the loop thread. */
void hf__pipeline_read(hf__pipeline *pipe);

/* So many entries were taken together: the mean moves by an eighth of that. */
static inline void hf__pipeline_note_crowd(hf__pipeline *pipe, size_t taken)
{
    size_t crowd = atomic_load_explicit(&pipe->crowd, memory_order_relaxed);

    atomic_store_explicit(&pipe->crowd, crowd - crowd / 8 + taken * 16 / 8,
                          memory_order_relaxed);
}

/* ------------------------------------------------------------------ requeue */

/* hf__async_conn_ops.down of a pipeline. */
void hf__requeue_down(hf__async_conn *conn, bool was_up);

/* No connection can be made: redirect or fail requests that were not
 * written. */
void hf__requeue_unsent(hf__pipeline *pipe);

/*
 * Ends each callback on a pipeline: redirect the requests of a retired one,
 * wake the callers whose requests have completed, and release the server once
 * it is retired and idle.
 */
void hf__pipeline_end_callback(hf__pipeline *pipe);

/* -------------------------------------------------------------------- probe */

/* The connection is silent: start a second one, unless there is one. up(): it
 * has logged in and was closed again; failed(): it cannot be made,
 * pipeline->conn.error says why. false: out of memory. */
bool hf__probe_begin(hf__pipeline *pipe, void (*up)(hf__pipeline *pipe),
                     void (*failed)(hf__pipeline *pipe));

/* The first one has received something, or is closed. */
void hf__probe_end(hf__pipeline *pipe);

/* Is there one? */
bool hf__probe_is_on(const hf__pipeline *pipe);

/* Close for good and free, if there is one; then pipeline->closed(). */
void hf__probe_close(hf__pipeline *pipe);

/* In a forked child. */
void hf__probe_close_forked(hf__pipeline *pipe);

/* --------------------------------------------------------------------- WAIT */

/*
 * A pipeline with a hf__wait_batch alternates between a batch of requests and
 * the WAIT that counts for all of them; pipeline_io.c calls these.
 */

/* Bytes of one batch: more than otherwise, as each waits for the previous
 * one. */
#define HF__WAIT_BATCH_SIZE ((size_t)1 << 20)

typedef struct hf__wait_batch {
    uint32_t replicas;        /* how many WAIT asks for */
    hf__pipeline_list held;   /* written and answered, to be counted */
    hf__pipeline_entry *wait; /* the WAIT in flight; NULL: none */
    int64_t ends_ms;          /* when WAIT times out at the server */
    bool keeps_up;            /* the last count was enough */
    bool resting;             /* over; its callers may call again */
    size_t expected;          /* entries there will be when all have */
    hf__request request;      /* the WAIT */
    hf_bytes words[3];
    char count_text[16];
    char time_text[24];
} hf__wait_batch;

void hf__wait_batch_init(hf__wait_batch *batch, uint32_t replicas);

/* Is a batch open? Then nothing else is written. */
bool hf__wait_batch_is_open(const hf__pipeline *pipe);

/* A batch has been formatted but not sent. */
void hf__wait_batch_written(hf__pipeline *pipe);

/* An entry that is in no list has its reply. true: it was handled. */
bool hf__wait_batch_answered(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Write WAIT if only that is missing. */
void hf__wait_batch_continue(hf__pipeline *pipe);

/* The deadline of a held entry has come. */
void hf__wait_batch_expire(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Before new entries are taken: give callers a moment to enter. */
void hf__wait_batch_gather(hf__pipeline *pipe);

/* Do what is due: lease requests do not queue for long. */
void hf__wait_batch_tick(hf__pipeline *pipe, int64_t now_ms);
/* When to call that next; INT64_MAX: never. */
int64_t hf__wait_batch_next(const hf__pipeline *pipe);

/* Since when the server owes a reply, if it is since_ms without WAIT. */
int64_t hf__wait_batch_owes_since(const hf__pipeline *pipe, int64_t since_ms);

/* The connection is closed: its writes cannot be counted any more. */
void hf__wait_batch_down(hf__pipeline *pipe);

/* ------------------------------------------------------------------ unblock */

/*
 * A pipeline with a hf__unblock has one entry at a time, of a command that
 * waits for an element; pipeline_unblock.c. On the loop thread.
 */
typedef struct hf__unblock {
    bool asked;         /* its wait is to end */
    bool cancelled;     /* by its caller */
    bool missed;        /* sent again, it would miss what came in between */
    bool under_way;     /* CLIENT UNBLOCK is */
    int64_t give_up_ms; /* once it is asked */
    int64_t written_ms; /* when the entry was */
    unsigned losses;    /* of the shared connection then */
    /* Its wait is to end, or should have ended. */
    void (*due)(hf__pipeline *pipe, hf__pipeline_entry *entry);
    void (*left)(hf__pipeline *pipe); /* it can be used again */
    hf__request request;
    hf_bytes words[4];
    char id[24];
} hf__unblock;

/* An entry has completed or moved, or could not enter. Any pipeline. */
void hf__unblock_left(hf__pipeline *pipe);

/* Is its wait cancelled? Any pipeline. */
bool hf__unblock_is_cancelled(const hf__pipeline *pipe);
/* Is it not to be sent again after the last reply? Any pipeline. */
bool hf__unblock_is_last(const hf__pipeline *pipe);
/* The outcome of a request is set: of a cancelled one that took nothing it is
 * HF_CANCELLED, of one that missed something HF_UNAVAILABLE. Any pipeline. */
void hf__unblock_judge(const hf__pipeline *pipe, hf__request *request);

/* The entry was formatted; the connection broke before any of it was sent;
 * there is a reply to it. */
void hf__unblock_written(hf__pipeline *pipe, hf__pipeline_entry *entry);
void hf__unblock_unsent(hf__pipeline *pipe, hf__pipeline_entry *entry);
void hf__unblock_answered(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Its caller wants it to end; hf__pipeline_wake() must follow. */
void hf__unblock_cancel(hf__pipeline *pipe, hf__pipeline_entry *entry);
/* Drop the connection: a command on it is in doubt. */
void hf__unblock_drop(hf__pipeline *pipe, const char *why);

/* Close an unused connection; returns when to call it next. */
int64_t hf__unblock_tick(hf__pipeline *pipe, int64_t now_ms);

/* How often the shared connection has broken. */
unsigned hf__unblock_losses(hf__pipeline *pipe);

/* The server is retired. Any pipeline. */
void hf__unblock_retired(hf__pipeline *pipe);

#endif
