/* SPDX-License-Identifier: Apache-2.0 */
/*
 * contended.h - the parts of bench_contended: a board in shared memory, on
 * which the workers of all libraries count, and the workers themselves.
 *
 * The board is a file of native 64-bit words and, from CONTENDED_LOG_AT, of
 * 32-bit numbers. The programs in tests/interop/contend use it as well.
 *
 *   word 0   when the workers stop, ns of CLOCK_MONOTONIC; 0: not yet started
 *        1   when the last holder began to release
 *        2   which worker that was, from 1; 0: none
 *        3   which worker holds the lock now, from 1; 0: none
 *        4   how often two held it at once
 *        5   acquisitions, all workers
 *   8 + 4w   1: worker w is ready; then its acquisitions; how long it held
 *            them in all, ns
 *   log[i]   of acquisition i: how long after word 1, ns; 0: the worker of
 *            word 2 has acquired it again
 *
 * Words 1 to 5 and the log are written only by the holder of the lock.
 */
#ifndef BENCH_CONTENDED_H
#define BENCH_CONTENDED_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bench.h"
#include "peers/peer_locks.h"
#include "support/redis_server.h"

#define CONTENDED_WORKERS_MAX 64
#define CONTENDED_WORDS 512
#define CONTENDED_LOG_AT 4096
#define CONTENDED_LOG_MAX 1000000
#define CONTENDED_HOLD_US 1000
#define CONTENDED_LATE_NS 2500000

typedef struct contended_board {
    _Atomic uint64_t stop_ns;
    _Atomic uint64_t released_ns;
    _Atomic uint64_t released_by;
    _Atomic uint64_t inside;
    _Atomic uint64_t overlaps;
    _Atomic uint64_t acquired;
    _Atomic uint64_t unused[2];
    struct {
        _Atomic uint64_t ready;
        _Atomic uint64_t acquired;
        _Atomic uint64_t held_ns;
        _Atomic uint64_t unused;
    } workers[(CONTENDED_WORDS - 8) / 4];
    _Atomic uint32_t log[CONTENDED_LOG_MAX];
} contended_board;

/* What the workers of one run do. */
typedef struct contended_task {
    contended_board *board;
    const char *board_path;
    peer_place place;
    int workers;
    int pause_us; /* between two acquisitions */
    int hold_us;  /* of workers in C */
    bool apart;   /* each worker is a client of its own */
} contended_task;

/* The processes of a run. */
typedef struct contended_crew {
    pid_t pids[CONTENDED_WORKERS_MAX];
    int count;
    bool foreign; /* programs of another library */
} contended_crew;

/* Start the workers, each in a process of its own or all in one, and wait until
 * they are ready. `program`: one that does the same, with its first arguments;
 * NULL: `library`. */
bool contended_start(contended_crew *crew, const contended_task *task,
                     const peer_library *library, const char *const *program);
/* Wait so long for their end, then kill them. false: one failed, or, if it is
 * not a program of another library, had to be killed. */
bool contended_end(contended_crew *crew, int wait_s);
/* Processor time that they have used. */
double contended_crew_cpu_s(const contended_crew *crew);

/* ------------------------------------------------------------------- results
 */

#define CONTENDED_WAYS 15
#define CONTENDED_CELLS 5

typedef enum contended_store {
    CONTENDED_TCP,
    CONTENDED_EMBEDDED,
    CONTENDED_FILE /* embedded, on disk */
} contended_store;

/* A library, how its workers are spread over clients, and a store. */
typedef struct contended_way {
    const char *name;
    bool apart;
    contended_store store;
    const peer_library *library;
    const char *program; /* or this, of tools/peers.sh */
    bool named;          /* takes part only if it is named */
} contended_way;

typedef struct contended_cell {
    int workers;
    int pause_us;
    int hold_us;
} contended_cell;

typedef struct contended_figures {
    bool measured;
    double pairs_per_s;
    uint64_t least; /* acquisitions of one worker */
    uint64_t most;
    double requests; /* per pair */
    double changed;  /* share of acquisitions by another than the last holder */
    double p50_us;   /* of those, from before the release */
    double p99_us;
    double late;      /* share of those above CONTENDED_LATE_NS */
    double server_us; /* processor time, per pair */
    double client_us;
    double held_us;
    uint64_t overlaps; /* two held it at once */
} contended_figures;

typedef struct contended_results {
    contended_figures of[CONTENDED_WAYS][CONTENDED_CELLS];
} contended_results;

/* The worst of all runs, of each target. */
#define CONTENDED_TARGETS_MAX 64

typedef struct contended_verdict {
    struct {
        const char *way;
        contended_cell cell;
        const char *what;
        double worst;
        double best;
        double limit;
    } targets[CONTENDED_TARGETS_MAX];
    int count;
} contended_verdict;

void contended_judge(contended_verdict *verdict, const contended_way *ways,
                     const contended_cell *cells,
                     const contended_results *results);
void contended_print_verdict(const contended_verdict *verdict,
                             const bench_run *run, int runs);

/* ------------------------------------------------------------------- helpers
 */

contended_board *contended_board_new(const char *path);
uint64_t contended_now_ns(void);

/* Read by MONITOR how many requests clients send within a time; -1: failed. */
long contended_count_requests(int port, int for_ms);

#endif
