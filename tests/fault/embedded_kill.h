/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_kill.h - what the parts of embedded_kill share: the options, and the
 * journal in which writers record what was acknowledged to them.
 *
 * The journal is memory shared with the writers (a memfd), so what a writer
 * recorded before SIGKILL is there afterwards. All of its words are read and
 * written with the __atomic builtins.
 */
#ifndef EMBEDDED_KILL_H
#define EMBEDDED_KILL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/slowness.h"

#define WRITER_MAX 8
#define LOCK_COUNT 3
/* Members of the board: it has counts (engine/keys/counts.c). */
#define BOARD_SIZE 1500
#define ACCOUNT_COUNT 100
#define ACCOUNT_START 1000
/* Replies whose instant is kept: more than a second's worth. */
#define RING_SIZE 16384u
#define TEXT_SIZE 400

/* What counts as a pause. A kill starts the next process, which takes much
 * longer with a sanitizer. */
#define PAUSE_LIMIT_US (SLOWER > 1 ? 200000 : 20000)

/* A lease is long enough to be kept on a busy machine, short enough to wait
 * for. */
#define LEASE_MS 150

/*
 * The kinds of work. Each writer counts its operations of each kind from 1; the
 * state of its own keys after operation n is a function of n, so one number
 * determines what must be in the store.
 */
typedef enum work {
    WORK_COUNT,      /* a script that counts */
    WORK_VALUE,      /* a value set, the previous one returned */
    WORK_CAS,        /* a chain of compare-and-set */
    WORK_BIG,        /* a value on many pages */
    WORK_PART,       /* a part of a string in chunks */
    WORK_HASH,       /* fields and their expiry in one step */
    WORK_COLLECTION, /* a large collection, created and deleted in turn */
    WORK_LIST,       /* a list and its length in a counter */
    WORK_TRANSFER,   /* between accounts of all: the sum is constant */
    WORK_AGREE,      /* a shared sorted set and hash that must agree */
    WORK_BRIEF,      /* keys that expire soon */
    WORK_LOCK,       /* acquire, fenced write, release */
    WORK_KINDS
} work;

/* What the program does wrong on purpose, to show that it is detected. */
typedef enum fault {
    FAULT_NONE,
    FAULT_EARLY, /* acknowledge before the write */
    FAULT_TORN,  /* a transfer in two steps */
    FAULT_STALL, /* survivors pause after a kill */
    FAULT_TOKEN  /* fencing tokens start over */
} fault;

/* When an operation was completed, and how long this process had been runnable
 * but not running until then, since it began. */
typedef struct stamp {
    int64_t at_us;
    int64_t waited_us;
} stamp;

typedef struct slot {
    uint64_t acked[WORK_KINDS]; /* operations acknowledged, of each kind */
    uint32_t in_flight;         /* 1 + the kind; 0: none */
    uint32_t failed;            /* `failure` is set */
    uint64_t answers; /* of all kinds; stamps[answers % size] is next */
    uint64_t births;
    int64_t lease_until_ms[LOCK_COUNT]; /* validity of a held lock, else 0 */
    char failure[TEXT_SIZE];
    stamp stamps[RING_SIZE];
} slot;

typedef struct journal {
    uint64_t seed;
    uint32_t fault;
    uint32_t storm;             /* writers fork often while it is set */
    uint32_t kills;             /* processes killed */
    uint64_t token[LOCK_COUNT]; /* highest fencing token acknowledged */
    char url[1024];
    slot slots[WRITER_MAX];
} journal;

typedef struct options {
    uint32_t kills;
    uint32_t writers;
    uint32_t check_every;
    uint64_t seed;
    fault fault;
    bool json;
    bool forget;    /* the violation */
    char store[16]; /* volatile, commit, flush */
    char dir[512];
} options;

/* us of CLOCK_MONOTONIC; ms of CLOCK_BOOTTIME, the clock of leases. */
int64_t now_us(void);
int64_t boot_ms(void);
void rest_us(int64_t us);

/* A random sequence determined by a seed (splitmix64). */
typedef struct dice {
    uint64_t state;
} dice;
uint64_t dice_roll(dice *die, uint64_t below);

#define load(word) __atomic_load_n(&(word), __ATOMIC_ACQUIRE)
#define store(word, value) __atomic_store_n(&(word), value, __ATOMIC_RELEASE)

/* --------------------------------------------------------- embedded_kill_work
 */

/* One writer's state. */
typedef struct worker {
    hf_client *client;
    journal *journal;
    slot *own;
    uint32_t index;
    dice die;
    uint32_t kills_seen;
    hf_script *scripts[WORK_KINDS];
    hf_lock *locks[LOCK_COUNT];
} worker;

bool worker_begin(worker *self, hf_error *err);
/* Do operation n of a kind. false: `say` has the reason. */
bool worker_do(worker *self, work kind, uint64_t n, char say[TEXT_SIZE]);

/* Names of keys: of the worker's own, and of shared ones. */
void own_key(char key[64], uint32_t index, const char *name);
/* What is in the store after operation n. */
size_t value_text(char text[4096], uint64_t n);
size_t big_size(uint64_t n);
void big_fill(unsigned char *data, size_t size, uint64_t n);
/* The string's size; what parts 1 to n have left in it, at most PART_MAX. */
#define PART_MAX 220000u
size_t part_fill(unsigned char data[PART_MAX], uint64_t n);
uint32_t hash_count(uint64_t n);
uint32_t collection_count(uint64_t n);

/* Run a script once. */
hf_status run_once(hf_client *client, const char *source, const char *key,
                   hf_reply **reply, hf_error *err);

/* ------------------------------------------------------- embedded_kill_writer
 */

/* The main loop of a writer process; returns its exit status. */
int writer_main(journal *all, uint32_t index);

/* -------------------------------------------------------- embedded_kill_check
 */

/* Create what the invariants start from. */
bool check_begin(hf_client *client, char say[TEXT_SIZE]);
/* What a dead writer left: nothing acknowledged may be missing. If its
 * operation in flight was applied, the journal is updated. */
bool check_own(hf_client *client, journal *all, uint32_t index,
               char say[TEXT_SIZE]);
/* Invariants that hold at any time. */
bool check_shared(hf_client *client, char say[TEXT_SIZE]);
/* Every expired key is gone a while after all writers were killed. */
bool check_expired(hf_client *client, char say[TEXT_SIZE]);
/* hf_store_check() finds nothing. */
bool check_file(const char *url, char say[TEXT_SIZE]);
/* Each lock can be acquired, with a higher token, within its lease. */
bool check_locks(hf_client *client, journal *all, char say[TEXT_SIZE]);

/* --------------------------------------------------------- embedded_kill_gaps
 */

/* Pauses of the survivors, us. */
typedef struct gaps {
    int64_t *us;
    size_t count;
    size_t room;
} gaps;

/* The time from a slot's last reply before `at_us`, but not from before
 * `floor_us`, to its next one: by the clock, and without the time spent waiting
 * for a processor. false: there is no next one yet. */
bool gap_around(const slot *from, int64_t at_us, int64_t floor_us,
                int64_t *gross_us, int64_t *net_us);
bool gaps_add(gaps *all, int64_t us);
/* Percentile: the value that `percent` of them do not exceed; 0 if there is
 * none. */
int64_t gaps_percentile(gaps *all, double percent);
/* How many are longer. */
size_t gaps_above(const gaps *all, int64_t us);
void gaps_free(gaps *all);

/* ------------------------------------------------------- embedded_kill_rounds
 */

typedef struct tally {
    uint64_t killed; /* processes */
    uint64_t acknowledged;
    uint64_t checks; /* of the whole file */
    uint64_t rounds;
    uint64_t in_flight; /* killed inside an operation */
    uint64_t applied;   /* of those, applied */
    gaps after_kill_net, after_kill_gross;
    gaps without_net, without_gross; /* the same at instants without a kill */
    char violation[2 * TEXT_SIZE];   /* "" if there is none */
} tally;

/* All rounds. false: tally->violation says what was found. */
bool rounds_run(const options *opts, journal *all, int journal_fd,
                tally *result);

#endif
