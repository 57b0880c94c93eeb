/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_internal.h - the parts of the shared connection: what can happen
 * to an entry (pipeline_entry.c), reading and writing
 * (pipeline_io.c), what becomes of entries when it breaks
 * (pipeline_requeue.c), a second connection to a silent server
 * (pipeline_probe.c), and what makes it one whose writes are counted on the
 * replicas (pipeline_wait.c). All on the loop thread.
 */
#ifndef HF__STORE_REDIS_PIPELINE_INTERNAL_H
#define HF__STORE_REDIS_PIPELINE_INTERNAL_H

#include "store/redis/server/pipeline.h"

/* ------------------------------------------------------------------ entries */

/* Put entries into inbound and see to it that they are taken. Any thread. */
void hf__pipeline_enter(hf__pipeline *pipe, hf__pipeline_list *entries);

/* An entry goes on elsewhere, as the router said; releases route->server. */
void hf__pipeline_move(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf__route *route);

/* Of an entry that is in no list: its outcome is set, complete it; or complete
 * it with an error. Both free it. */
void hf__pipeline_complete(hf__pipeline *pipe, hf__pipeline_entry *entry);
void hf__pipeline_fail(hf__pipeline *pipe, hf__pipeline_entry *entry,
                       const hf_error *err);

/* Complete the request with an error; the entry, without one now, stays where
 * it is. */
void hf__pipeline_expire(hf__pipeline *pipe, hf__pipeline_entry *entry,
                         const hf_error *err);

/* Put it in front of its lane, or let the topology decide; true: it is gone. */
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

/* What the conn of a pipeline does. */
extern const hf__async_conn_ops hf__pipeline_conn_ops;

/* Take an entry over: it will complete. hf__async_conn_update() must follow. */
void hf__pipeline_accept(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Complete everything that is not in flight, as the client is closed. */
void hf__pipeline_fail_all(hf__pipeline *pipe);

/* ------------------------------------------------------------------ requeue */

/* hf__async_conn_ops.down of a pipeline. */
void hf__requeue_down(hf__async_conn *conn, bool was_up);

/* No connection can be made: what is done with requests that were not written.
 */
void hf__requeue_unsent(hf__pipeline *pipe);

/*
 * What ends each batch of the loop thread on a pipeline: hand on what a retired
 * one must not keep, wake the callers whose requests have completed since the
 * last time, and let the server go if it is retired and idle.
 */
void hf__pipeline_settle(hf__pipeline *pipe);

/* -------------------------------------------------------------------- probe */

/* The shared connection is silent: connect beside it. Nothing if that is under
 * way. up(): it is there, and no probe any more; failed(): it cannot be made,
 * pipeline->conn.error says why. false: there is no memory. */
bool hf__probe_begin(hf__pipeline *pipe, void (*up)(hf__pipeline *pipe),
                     void (*failed)(hf__pipeline *pipe));

/* It has been heard, or is gone. */
void hf__probe_end(hf__pipeline *pipe);

/* Is there one under way? */
bool hf__probe_is_on(const hf__pipeline *pipe);

/* Close for good and free, if there is one; then pipeline->closed(). */
void hf__probe_close(hf__pipeline *pipe);

/* In a forked child. */
void hf__probe_abandon(hf__pipeline *pipe);

/* --------------------------------------------------------------------- WAIT */

/*
 * A pipeline with a batch is used in turns, of a batch of requests and the WAIT
 * that counts for all of them. pipeline_io.c calls these where a pipeline has
 * one.
 */

/* What is formatted for one batch: more than otherwise, as each has to wait for
 * the one before. */
#define HF__WAIT_BATCH_SIZE ((size_t)1 << 20)

typedef struct hf__wait_batch {
    uint32_t replicas;        /* how many WAIT asks for */
    hf__pipeline_list held;   /* written and answered, to be counted */
    hf__pipeline_entry *wait; /* the WAIT in flight; NULL: none */
    int64_t ends_ms;          /* when the server gives the WAIT up */
    bool keeps_up;            /* the last count was enough */
    bool resting;             /* over; whom it served may come again */
    size_t expected;          /* entries that there are when they all have */
    hf__request request;      /* the WAIT */
    hf_bytes words[3];
    char count_text[16];
    char time_text[24];
} hf__wait_batch;

void hf__wait_batch_init(hf__wait_batch *batch, uint32_t replicas);

/* Is a batch under way? Then nothing else is written. */
bool hf__wait_batch_is_open(const hf__pipeline *pipe);

/* A batch has been formatted, and not sent yet. */
void hf__wait_batch_written(hf__pipeline *pipe);

/* An entry that is in no list has its reply. true: it is dealt with. */
bool hf__wait_batch_answered(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Write the WAIT if that is what is missing. */
void hf__wait_batch_go_on(hf__pipeline *pipe);

/* The deadline of a held entry has come. */
void hf__wait_batch_expire(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* Before new entries are taken: give those a moment who are about to come. */
void hf__wait_batch_gather(hf__pipeline *pipe);

/* Do what is due: leases do not queue for long. */
void hf__wait_batch_tick(hf__pipeline *pipe, int64_t now_ms);
/* When that is to be called next; INT64_MAX: never. */
int64_t hf__wait_batch_next(const hf__pipeline *pipe);

/* Since when the server owes an answer, if it was since_ms without WAIT. */
int64_t hf__wait_batch_owes_since(const hf__pipeline *pipe, int64_t since_ms);

/* The connection is gone: nobody can count any more what it wrote. */
void hf__wait_batch_down(hf__pipeline *pipe);

#endif
