/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_load.h - threads that count on a cluster, or on any store whose
 * masters can fail, and the audit of their results.
 *
 * A counter belongs to one thread, which adds 1 to a new field at each call, by
 * a script that may not run twice. So in the end the effect of every call can
 * be seen: what was acknowledged is there once, what was reported as not
 * applied is not there, what is unknown is there once or not at all.
 */
#ifndef FAULT_CLUSTER_LOAD_H
#define FAULT_CLUSTER_LOAD_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/script.h"
#include "support/redis_cluster.h"

#define LOAD_THREADS_MAX 64
#define LOAD_COUNTERS_MAX 8
#define LOAD_NAME_SIZE 32

/* What a call returned. */
typedef enum load_kind {
    LOAD_ACKNOWLEDGED,
    LOAD_NOT_APPLIED,
    LOAD_UNKNOWN,
    LOAD_OTHER,
    LOAD_KINDS
} load_kind;

typedef struct load_counter {
    char name[LOAD_NAME_SIZE];
    int server; /* the first owner of its slot */
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

/* Result of an audit. */
typedef struct load_verdict {
    int64_t missing;  /* acknowledged, but missing */
    int64_t doubled;  /* applied more than once */
    int64_t false_no; /* "not applied", but there */
    int64_t applied;  /* unknown, and applied */
    int64_t unread;   /* counters that could not be read */
} load_verdict;

typedef struct load_run {
    hf_client *client;
    hf_script *script;
    load_thread threads[LOAD_THREADS_MAX];
    int thread_count;
    int counter_count; /* of each thread */
    bool pairs;        /* count on two at once, which share a tag */
    bool steps;        /* also replace a value by compare-and-set */
    bool rests;        /* a pause between calls, so that keys stay small */
    atomic_bool stop;
    atomic_llong broken_us; /* when the fault happened; 0: not yet */
    pthread_t napper;
    int64_t oversleep_us; /* how late the machine makes a thread */
} load_run;

int64_t load_now_us(void);

/* The caller sets the names, then begins. */
bool load_start(load_run *load);
/* End the threads. */
void load_stop(load_run *load);
void load_free(load_run *load);

/*
 * Compare what is there with what calls returned, for the counters that a
 * server had at first (-1: for all). `reader` reads what is there now;
 * `witness`, unless NULL, what a dead master had: all that was acknowledged
 * must be in one of the two, and nothing twice.
 */
load_verdict load_audit(load_run *load, int server, hf_client *reader,
                        hf_client *witness);

/* Time from the fault until every counter of a server got a value again, us;
 * -1: not yet. */
int64_t load_recovery_us(const load_run *load, int server);
int64_t load_longest_us(const load_run *load);
int64_t load_calls(const load_run *load, load_kind kind);

/* A line about the calls, with one failed call of each kind. */
void load_print(const load_run *load, int64_t request_ms);

#endif
