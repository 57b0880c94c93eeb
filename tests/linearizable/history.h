/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - recording what concurrent clients asked a store and what they
 * were answered, for a checker of linearizability.
 *
 * A call is recorded before it is made and after it returned, in memory that
 * outlives a kill -9. One without a return, or with HF_INDETERMINATE, may have
 * had its effect or not, at any time since; one that was not applied is left
 * out.
 */
#ifndef HISTORY_H
#define HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "holdfast/client.h"
#include "support/prng.h"

#define NUMBERS 4 /* most arguments, and most results, of a call */

/* Calls on one key; the checker's work grows with the calls that did not
 * return. */
#define CALLS_PER_KEY 60

typedef struct record {
    uint32_t begun;
    uint32_t ended;
    uint32_t client; /* a thread of a process */
    uint32_t key;
    const char *model, *call; /* literals: the same address in all processes */
    hf_status status;
    bool resends; /* the store may be sent it twice */
    uint32_t in_count, out_count;
    int64_t in[NUMBERS], out[NUMBERS];
    int64_t began_ns, ended_ns;
} record;

/* A thread of a process. */
typedef struct session {
    hf_client *client;
    const char *model;
    const char *cheat; /* "" if it does nothing wrong on purpose */
    bool resends;      /* a request whose reply was lost is sent again */
    prng random;
    uint32_t key;
    char name[2][32];      /* of the key, or of those of a transaction */
    int64_t seen[2];       /* the last numbers read from these keys */
    uint32_t number;       /* of the client */
    uint32_t written;      /* numbers written so far */
    struct hf_lock *claim; /* that is held since an earlier call; or NULL */
    uint32_t claimed;      /* its key */
    record *now;
    struct hf_lock *worker; /* of a queue; NULL: none yet */
    uint32_t worker_key;    /* which */
    int64_t hold;           /* of the job that it has; 0: none */
} session;

/* A number that no other call writes. */
int64_t unique(session *self);

/* Around a call: what is asked, and what was answered. */
void call_begin(session *self, const char *call, uint32_t in_count,
                const int64_t *in);
void call_end(session *self, hf_status status);
void call_out(session *self, int64_t number);

/* CLOCK_BOOTTIME */
int64_t history_now_ns(void);

/* As a line for the checker; nothing if it was not begun, or not applied. */
void record_print(const record *r, FILE *to);

typedef struct model {
    const char *name;
    void (*act)(session *self); /* one random call */
    uint32_t calls;             /* on one key */
} model;

void act_queue(session *self); /* jobs.c */

extern const model models[];
extern const size_t model_count;
/* The first ones, which have no leases. */
extern const size_t data_model_count;

#endif
