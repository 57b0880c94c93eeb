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
void hf__mux_enter(hf__mux *mux, hf__entry_list *entries);

/* An entry goes on elsewhere, as the router said; releases route->server. */
void hf__mux_move(hf__mux *mux, hf__entry *entry, const hf__route *route);

/* Of an entry that is in no list: its outcome is set, complete it; or complete
 * it with an error. Both free it. */
void hf__flight_complete(hf__mux *mux, hf__entry *entry);
void hf__flight_fail(hf__mux *mux, hf__entry *entry, const hf_error *err);

/* Complete the request with an error; the entry, without one now, stays where
 * it is. */
void hf__flight_expire(hf__mux *mux, hf__entry *entry, const hf_error *err);

/* Put it in front of its lane, or let the topology decide; true: it is gone. */
void hf__flight_put_back(hf__mux *mux, hf__entry *entry);
bool hf__flight_hand_on(hf__mux *mux, hf__entry *entry,
                        const hf__redirect *why);

static inline hf__entry_list *hf__mux_lane(hf__mux *mux, const hf__entry *entry)
{
    return &mux->lanes[entry->request->lane == HF__LANE_LEASE];
}

/* ------------------------------------------------------- reading and writing
 */

/* What the link of a mux does. */
extern const hf__link_ops hf__flight_link_ops;

/* Take an entry over: it will complete. hf__link_update() must follow. */
void hf__flight_accept(hf__mux *mux, hf__entry *entry);

/* Complete everything that is not in flight, as the client is closed. */
void hf__flight_fail_all(hf__mux *mux);

/* ------------------------------------------------------------------ requeue */

/* hf__link_ops.down of a mux. */
void hf__salvage_down(hf__link *link, bool was_up);

/* No connection can be made: what is done with requests that were not written.
 */
void hf__salvage_unsent(hf__mux *mux);

/*
 * What ends each turn of the loop thread on a mux: hand on what a retired one
 * must not keep, wake the callers whose requests have completed since the last
 * time, and let the server go if it is retired and idle.
 */
void hf__flight_settle(hf__mux *mux);

/* -------------------------------------------------------------------- probe */

/* The shared connection is silent: connect beside it. Nothing if that is under
 * way. up(): it is there, and no probe any more; failed(): it cannot be made,
 * mux->link.error says why. false: there is no memory. */
bool hf__probe_begin(hf__mux *mux, void (*up)(hf__mux *mux),
                     void (*failed)(hf__mux *mux));

/* It has been heard, or is gone. */
void hf__probe_end(hf__mux *mux);

/* Is there one under way? */
bool hf__probe_is_on(const hf__mux *mux);

/* Close for good and free, if there is one; then mux->closed(). */
void hf__probe_close(hf__mux *mux);

/* In a forked child. */
void hf__probe_abandon(hf__mux *mux);

/* --------------------------------------------------------------------- WAIT */

/*
 * A mux with a turn is used in turns, of a batch of requests and the WAIT that
 * counts for all of them. pipeline_io.c calls these where a mux has one.
 */

/* What is formatted for one turn: more than otherwise, as each has to wait for
 * the one before. */
#define HF__TURN_SIZE ((size_t)1 << 20)

typedef struct hf__turn {
    uint32_t replicas;   /* how many WAIT asks for */
    hf__entry_list held; /* written and answered, to be counted */
    hf__entry *wait;     /* the WAIT in flight; NULL: none */
    int64_t ends_ms;     /* when the server gives the WAIT up */
    bool keeps_up;       /* the last count was enough */
    bool resting;        /* over; whom it served may come again */
    size_t expected;     /* entries that there are when they all have */
    hf__request request; /* the WAIT */
    hf_bytes words[3];
    char count_text[16];
    char time_text[24];
} hf__turn;

void hf__turn_init(hf__turn *turn, uint32_t replicas);

/* Is a turn under way? Then nothing else is written. */
bool hf__turn_is_open(const hf__mux *mux);

/* A batch has been formatted, and not sent yet. */
void hf__turn_written(hf__mux *mux);

/* An entry that is in no list has its reply. true: it is dealt with. */
bool hf__turn_answered(hf__mux *mux, hf__entry *entry);

/* Write the WAIT if that is what is missing. */
void hf__turn_go_on(hf__mux *mux);

/* The deadline of a held entry has come. */
void hf__turn_expire(hf__mux *mux, hf__entry *entry);

/* Before new entries are taken: give those a moment who are about to come. */
void hf__turn_gather(hf__mux *mux);

/* Do what is due: leases do not queue for long. */
void hf__turn_tick(hf__mux *mux, int64_t now_ms);
/* When that is to be called next; INT64_MAX: never. */
int64_t hf__turn_next(const hf__mux *mux);

/* Since when the server owes an answer, if it was since_ms without WAIT. */
int64_t hf__turn_owes_since(const hf__mux *mux, int64_t since_ms);

/* The connection is gone: nobody can count any more what it wrote. */
void hf__turn_down(hf__mux *mux);

#endif
