/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_chaos.h - processes that use every kind of lock, and values and
 * transactions, while everything around them fails; what they did is checked
 * for linearizability by tests/linearizable/checker.
 *
 * What is checked
 * ===============
 *
 * mutex, rwlock, semaphore, election: a hold begins in the acquire, and lasts
 * at least until its holder last found hf_lock_is_held() true: the clock is
 * read before that call, so a holder that was stopped in between claims
 * nothing. It ends in the release, or at any time after that. At no time do
 * holds exceed the capacity, and each grant has a larger token than all before.
 *
 * register: a resource in the memory of this program, which no fault of a store
 * reaches. A hold reads it, then writes it several times. It refuses a token
 * lower than it has seen. No hold's write replaces what another one wrote after
 * the first has read.
 *
 * fenced: the same in the store, by hf_hash_put_fenced().
 *
 * value, hash, counter, txn: the calls of tests/linearizable/models.c.
 *
 * What a fault may cost
 * =====================
 *
 * Nothing, with these exceptions, which lapses[] has. A lapse lasts from before
 * the fault until it is over.
 *
 * WIPED: the data of the store is gone (restart without a file, FLUSHALL): data
 * is empty at some instant of it; leases as with LAPSED.
 *
 * LAST_LOST: a replica without the last writes may have been promoted: nothing
 * is claimed any more on keys of data that were in use; leases as with LAPSED.
 *
 * LAPSED: leases ended in the store too early, as its clock was set forward.
 * Those held at that time, and those granted in the lapse, exclude no one.
 *
 * In each of these, tokens grow all the same, and so the register is not
 * affected at all. Not claimed, and not done here: tokens grow if the clock is
 * set back and their counter is lost.
 */
#ifndef FAULT_LOCK_CHAOS_H
#define FAULT_LOCK_CHAOS_H

#include <stdatomic.h>
#include <sys/types.h>

#include "holdfast/lock.h"
#include "linearizable/history.h"
#include "support/byte_proxy.h"
#include "support/redis_cluster.h"
#include "support/redis_sentinel.h"
#include "support/wall_clock.h"

#define WORKERS 4
#define THREADS 2
#define TTL_MS 600
#define REQUEST_MS 1000
#define RECORDS_MAX 400000u
#define LAPSES_MAX 256
#define FAULTS_MAX 1024
#define URL_SIZE 512

/* Names of a round: what several kinds of handle lock. */
enum { LOCK_NAMES = 3 };
typedef enum subject {
    LOCKS, /* LOCK_NAMES of them */
    RWLOCK = LOCKS + LOCK_NAMES,
    SEMAPHORE,
    ELECTION,
    SUBJECTS
} subject;

typedef enum lapse_kind { WIPED, LAST_LOST, LAPSED } lapse_kind;

typedef struct lapse {
    lapse_kind kind;
    int64_t from_ns, to_ns; /* to_ns 0: not over */
} lapse;

typedef struct fault {
    int64_t from_ns, to_ns;
    char text[64];
} fault;

/* The register of a lock. A version is written, then made current, in one step:
 * a process may be killed at any instant. */
typedef struct version {
    int64_t token, value;
} version;

/* What the processes of a round share. */
typedef struct round_memory {
    atomic_bool stop;
    atomic_uint used; /* records */
    atomic_uint clients;
    atomic_uint data_calls;
    atomic_uint epoch; /* of keys of data: a new one after each LAST_LOST */
    atomic_uint holds;
    atomic_uint versions;          /* used */
    atomic_uint current[SUBJECTS]; /* version of each register */
    atomic_uint odd;               /* statuses that no call may return */
    char odd_text[HF_ERROR_MESSAGE_SIZE + 64]; /* the first of them */
    pid_t pids[WORKERS];
    lapse lapses[LAPSES_MAX];
    size_t lapse_count;
    fault faults[FAULTS_MAX];
    size_t fault_count;
    version all_versions[RECORDS_MAX];
    record records[RECORDS_MAX];
} round_memory;

typedef struct chaos_options {
    uint64_t seed;
    double minutes; /* in all */
    int jobs;       /* stores at a time */
    int64_t round_ms;
    unsigned first_round, rounds; /* rounds 0: until the time is over */
    bool fence;
    const char *cheat; /* see lock_chaos.c */
    const char *stores;
    const char *checker; /* "": none */
} chaos_options;

extern chaos_options options;
extern round_memory *shared;

/* ------------------------------------------------------------------- places */

typedef enum place_kind {
    VOLATILE,
    ON_DISK,
    SINGLE,
    SENTINEL,
    CLUSTER,
    QUORUM
} place_kind;

enum { QUORUM_SIZE = 5, PROXIES_MAX = QUORUM_SIZE };

/* A store, and what it takes to hurt it. */
typedef struct chaos_place {
    const char *name;
    place_kind kind;
    const char *program; /* NULL: redis-server */
    bool tcp;
    bool keeps; /* its data when it is killed: an append-only file */

    char folder[64]; /* "": none; of an embedded store */
    bool own_disk;   /* `folder` is a small file system */
    char urls[WORKERS][URL_SIZE];
    char direct_url[URL_SIZE]; /* without proxies */
    redis_server *servers[QUORUM_SIZE];
    size_t server_count;
    byte_proxy *proxies[PROXIES_MAX];
    size_t proxy_count;
    redis_sentinel *sentinel;
    int master; /* of the sentinel, that is expected */
    redis_cluster *cluster;
    wall_clock *clock; /* of the store */
} chaos_place;

extern const chaos_place places[];
extern const size_t place_count;

bool chaos_place_start(chaos_place *at);
void chaos_place_stop(chaos_place *at);
/* Does it have more than locks? */
bool chaos_place_has_data(const chaos_place *at);

/* ------------------------------------------------------------------ workers */

/* Fork worker i; it has no descriptors of this process. */
bool worker_start(const chaos_place *at, unsigned round, size_t i);
void worker_kill(size_t i);

/* One hold of some kind, or a try; a few calls on data. */
typedef struct worker_thread {
    session data; /* also has the random numbers, the client, its number */
    session lease;
    unsigned round;
    bool locks_only;
    hf_lock *locks[SUBJECTS], *read;
    int64_t weight; /* of the semaphore's handle */
} worker_thread;

bool handles_new(worker_thread *self);
void handles_free(worker_thread *self);
void hold_something(worker_thread *self);
void name_of(char name[32], unsigned round, subject of);

/* A new record; NULL: there are no more. */
record *record_new(void);

/* A call that returns none of what it may. */
void note_odd(const char *call, hf_status status, const hf_error *err);

/* Both record what they do. */
hf_status register_read(session *self, int64_t token, int64_t *value);
hf_status register_write(session *self, int64_t token, int64_t from,
                         int64_t to);

/* ------------------------------------------------------------------ nemesis */

/* Faults, until `until_ms`; then all is mended. false: the store replaced a
 * server by itself, so nothing can be said about this round. */
bool nemesis(chaos_place *at, unsigned round, int64_t until_ms);

/* What faults have at hand. */
typedef struct nemesis_state {
    chaos_place *at;
    prng random;
    unsigned round;
    bool sets_back; /* the clock, and wipes nothing in this round */
    int64_t offset_ms, highest_ms; /* of the clock, since the round began */
    bool skip;                     /* the store replaced a server by itself */
} nemesis_state;

typedef struct chaos_fault {
    unsigned kinds; /* of places, as bits */
    void (*inflict)(nemesis_state *self);
} chaos_fault;

/* A table of faults, of servers; the others are in lock_chaos_nemesis.c. */
extern const chaos_fault server_faults[];
extern const size_t server_fault_count;

/* Of a sentinel or a cluster: its master fails, or an operator replaces it or
 * moves a slot. */
void replace_master(nemesis_state *self);
void order_master(nemesis_state *self);
/* Are the masters those that they should be? */
bool masters_are_expected(const chaos_place *at);

/* Around what a fault does, with a text for the time line. */
size_t fault_begin(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
void fault_end(size_t i);
void lapse_begin(lapse_kind kind);
void lapse_end(void);
/* Wait for a random time up to this, in which a worker may be hurt, too. */
void meanwhile(nemesis_state *self, size_t most_ms);
void rest_ms(size_t ms);

/* ------------------------------------------------------------------ verdict */

typedef struct verdict {
    unsigned rounds, skipped; /* those that nothing can be said about */
    unsigned violations;      /* rounds with one */
    unsigned undecided;
    uint64_t holds, calls, faults;
} verdict;

/* Write the history of a round and have it checked. */
void judge(const chaos_place *at, unsigned round, verdict *so_far);

/* Rounds on one store, for so long; false: it could not be used. */
bool run_store(const chaos_place *which, int64_t for_ms, verdict *so_far);

#endif
