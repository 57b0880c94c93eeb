/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_load.h - threads that count on a cluster, or on whatever has masters
 * that can fail, and the audit of what they were told.
 *
 * A counter belongs to one thread, which adds 1 to a field of its own at each
 * call, by a script that may not run twice. So in the end one can see of every
 * call what became of it: what was acknowledged is there once, what is called
 * "not applied" is not there, what is unknown is there once or not at all.
 */
#ifndef FAULT_CLUSTER_LOAD_H
#define FAULT_CLUSTER_LOAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast.h"
#include "support/redis_cluster.h"

#define LOAD_THREADS_MAX 64
#define LOAD_COUNTERS_MAX 8
#define LOAD_NAME_SIZE 32

/* What a call was told. */
typedef enum load_kind {
    LOAD_ACKNOWLEDGED,
    LOAD_NOT_APPLIED,
    LOAD_UNKNOWN,
    LOAD_OTHER,
    LOAD_KINDS
} load_kind;

typedef struct load_counter {
    char name[LOAD_NAME_SIZE];
    int server; /* that has it at first */
    unsigned char *told;
    size_t count, room; /* calls */
    int64_t back_us;    /* first value after `broken_us` */
} load_counter;

typedef struct load_thread {
    struct load_run *load;
    pthread_t thread;
    load_counter counters[LOAD_COUNTERS_MAX];
    int64_t step; /* of this thread's value, if `steps` */
    int64_t calls[LOAD_KINDS];
    int64_t longest_us;
    hf_error errors[LOAD_KINDS]; /* the latest of each kind */
} load_thread;

/* What an audit has found. */
typedef struct load_verdict {
    int64_t missing;  /* acknowledged, and not there */
    int64_t doubled;  /* there more than once */
    int64_t false_no; /* "not applied", and there */
    int64_t applied;  /* unknown, and there */
    int64_t unread;   /* counters that could not be read */
} load_verdict;

typedef struct load_run {
    hf_client *client;
    hf_script *script;
    load_thread threads[LOAD_THREADS_MAX];
    int thread_count;
    int counter_count; /* of each thread */
    bool pairs;        /* count on two at once, which have one tag */
    bool steps;        /* replace a value by compare-and-set, too */
    bool rests;        /* a little between calls: keys stay small */
    atomic_bool stop;
    atomic_llong broken_us; /* when the fault was made; 0: not yet */
    pthread_t napper;
    int64_t oversleep_us; /* what the machine makes a thread late by */
} load_run;

int64_t load_now_us(void);

/* Names come from the caller; then begin. */
bool load_start(load_run *load);
/* End the threads. */
void load_stop(load_run *load);
void load_free(load_run *load);

/*
 * Compare what is there with what was told, of the counters that a server had
 * at first (-1: of all). `reader` reads what is there now; `witness`, unless
 * NULL, what a dead master had: there, too, all that was acknowledged must be,
 * unless it is there now, and nothing twice.
 */
load_verdict load_audit(load_run *load, int server, hf_client *reader,
                        hf_client *witness);

/* From the fault until every counter of a server was told a value again, us;
 * -1: not yet. */
int64_t load_recovery_us(const load_run *load, int server);
int64_t load_longest_us(const load_run *load);
int64_t load_calls(const load_run *load, load_kind kind);

/* A line about the calls, and what one of each kind that failed was told. */
void load_print(const load_run *load, int64_t request_ms);

#endif
