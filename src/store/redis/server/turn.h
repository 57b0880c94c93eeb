/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turn.h - what makes a shared connection one whose writes are counted on the
 * replicas: it is used in turns, of a batch of requests and the WAIT that
 * counts for all of them. flight.c calls these where a mux has a turn.
 */
#ifndef HF__STORE_REDIS_TURN_H
#define HF__STORE_REDIS_TURN_H

#include "store/redis/server/entry.h"

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

/* All on the loop thread. */

/* Is a turn under way? Then nothing else is written. */
bool hf__turn_is_open(const struct hf__mux *mux);

/* A batch has been formatted, and not sent yet. */
void hf__turn_written(struct hf__mux *mux);

/* An entry that is in no list has its reply. true: it is dealt with. */
bool hf__turn_answered(struct hf__mux *mux, hf__entry *entry);

/* Write the WAIT if that is what is missing. */
void hf__turn_go_on(struct hf__mux *mux);

/* The deadline of a held entry has come. */
void hf__turn_expire(struct hf__mux *mux, hf__entry *entry);

/* Before new entries are taken: give those a moment who are about to come. */
void hf__turn_gather(struct hf__mux *mux);

/* Do what is due: leases do not queue for long. */
void hf__turn_tick(struct hf__mux *mux, int64_t now_ms);
/* When that is to be called next; INT64_MAX: never. */
int64_t hf__turn_next(const struct hf__mux *mux);

/* Since when the server owes an answer, if it was since_ms without WAIT. */
int64_t hf__turn_owes_since(const struct hf__mux *mux, int64_t since_ms);

/* The connection is gone: nobody can count any more what it wrote. */
void hf__turn_down(struct hf__mux *mux);

#endif
