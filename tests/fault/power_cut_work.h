/* SPDX-License-Identifier: Apache-2.0 */
/*
 * power_cut_work.h - the workload: programs that write to a store under the
 * recorder.
 */
#ifndef TESTS_FAULT_POWER_CUT_WORK_H
#define TESTS_FAULT_POWER_CUT_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/client.h"

/* Kinds of marks. Who: the thread; number: the operation; value: the token of
 * an acquired lock. */
enum { MARK_BEGUN = 1, MARK_DONE = 2 };

typedef struct work {
    uint64_t seed;
    uint64_t ops;     /* for each thread */
    uint64_t pace_us; /* between two of them */
    unsigned processes;
    unsigned threads; /* of each process */
    const char *url;
    const char *program; /* this program, to be run again */
    const char *recorder;
    const char *log;
    const char *root;
    const char *boot; /* file read in place of the boot id */
} work;

/* Run it all: three rounds of processes; after the second the store is
 * compacted, the third has another boot id. false: something failed, see
 * stderr. */
bool work_run(const work *self);

/* One thread's operations first..last, by the caller and without marks. Its
 * lock is free afterwards, whatever the model says. */
bool work_here(hf_client *client, uint64_t seed, unsigned thread,
               uint64_t first, uint64_t last);

/* The main program of the started processes; returns an exit status. */
int work_main(int argc, char **argv);

#endif
