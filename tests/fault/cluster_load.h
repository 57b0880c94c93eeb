/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_load.h - threads that count on a cluster, and the audit of what they
 * were told.
 *
 * Each counter belongs to one thread, which adds 1 by a script that may not
 * run twice. The answer is the new value, so every answer shows what became of
 * all calls before it: nothing that was acknowledged may be missing, and
 * nothing but calls with an unknown outcome may have counted beside it.
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

typedef struct load_counter {
    char name[LOAD_NAME_SIZE];
    int server;      /* that has it at first */
    int64_t value;   /* as last told */
    int64_t unknown; /* calls since then whose outcome is unknown */
    int64_t lost;    /* acknowledged and gone */
    int64_t doubled; /* counted and never asked for */
    int64_t good_us; /* when it was last told a value */
    int64_t back_us; /* first value after `broken_us` */
} load_counter;

typedef struct load_thread {
    struct load_run *load;
    pthread_t thread;
    load_counter counters[LOAD_COUNTERS_MAX];
    int64_t calls[4]; /* ok, not applied, unknown, other */
    int64_t longest_us;
    hf_error other; /* the latest of the last kind */
} load_thread;

typedef struct load_run {
    hf_client *client;
    hf_script *script;
    load_thread threads[LOAD_THREADS_MAX];
    int thread_count;
    int counter_count; /* of each thread */
    bool pairs;        /* count on two at once, which have one tag */
    atomic_bool stop;
    atomic_llong broken_us; /* when the fault was made; 0: not yet */
    pthread_t napper;
    int64_t oversleep_us; /* what the machine makes a thread late by */
} load_run;

int64_t load_now_us(void);

/* Names come from the caller; then begin. */
bool load_start(load_run *load);
/* End the threads, and read every counter once more. */
void load_stop(load_run *load);

/* Sums over all. `server`: of those it had, or -1. */
int64_t load_lost(const load_run *load, int server);
int64_t load_doubled(const load_run *load);
/* From the fault until every counter of a server was told a value again, us;
 * -1: not yet. */
int64_t load_recovery_us(const load_run *load, int server);
int64_t load_longest_us(const load_run *load);
void load_print(const load_run *load, int64_t request_ms);

#endif
