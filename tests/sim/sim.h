/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sim.h - the client's code of locks, jobs, barriers and latches against a
 * virtual clock, threads that take turns, and a scripted store.
 *
 * The program replaces util's clock, random numbers, condition variables, loop
 * and alarm, and the table of drivers; the rest of the library is the real one.
 * It has one thread. What would be a thread of a program is a coroutine
 * (threads.c), a client's background thread is a queue that the world empties
 * (loop.c). The scripts run in the embedded store, which stands for a server
 * (server.c); requests, replies and messages are packets that the world
 * delivers, delays, repeats or loses (net.c). With --records the store is one
 * of records, behind the driver of these (records.c).
 *
 * A run is a list of moves (moves.c). Move 0 of each step is what happens when
 * nothing goes wrong; any other is a deviation. So a run is described by its
 * deviations, and explore.c enumerates them.
 */
#ifndef TESTS_SIM_SIM_H
#define TESTS_SIM_SIM_H

#include "holdfast/lock.h"
#include "lease/handle.h"
#include "util/mem.h"

#define CLIENTS 3
#define HANDLES 4
#define ACTORS 4
#define PACKETS 64
#define GENERATIONS 16
#define PERMITS 2
#define JOBS 2
#define NAME "L"

/* ------------------------------------------------------------------- clock */

/* us; one for all clients. At the store it may run at another rate. */
extern int64_t sim_now_us;
extern int64_t sim_began_us; /* the run */
extern uint64_t sim_seed;    /* --seed */
extern bool sim_at_store;
extern int64_t sim_drift_ppm; /* of the store's clock */

void sim_clock_begin(void);
int64_t sim_now_ms(void);
/* The client's instant at which the store's clock shows `store_ms`. */
int64_t sim_from_store(int64_t store_ms);

/* ------------------------------------------------------------------- loops */

struct client;
/* Whose clock is read, and whose background thread it is; NULL: none. */
extern struct client *sim_client;

bool sim_loop_due(const hf__loop *loop);
void sim_loop_run(hf__loop *loop);
int64_t sim_loop_next(const hf__loop *loop);
/* Run `what` as on the thread of the loop. */
void sim_loop_inside(hf__loop *loop, void (*what)(void *), void *user);

/* ----------------------------------------------------------------- threads */

typedef struct actor actor;
struct cond_wait;

/* On a coroutine: give up the turn until it is woken or until_ms. */
void sim_wait(int64_t until_ms);
/* NULL: not on a coroutine. */
extern actor *sim_actor;
actor *sim_actor_new(struct client *client, void (*run)(void *user),
                     void *user);
void sim_actor_free(actor *self);
void sim_actor_run(actor *self);
void sim_actor_wake(actor *self);
bool sim_actor_due(const actor *self);
bool sim_actor_ended(const actor *self);
int64_t sim_actor_until(const actor *self);
struct client *sim_actor_client(const actor *self);

/* ------------------------------------------------------------------ server */

void server_open(void);
void server_close(void);
/* Empty it, as when it restarts without its data. */
void server_clear(void);
/* End the lease. */
void server_free(void);
void server_run(hf__request *request);
/* Who holds the lock: the owner id, "" if there is none, and how long, ms. */
void server_holder(char owner[HF_OWNER_SIZE], int64_t *pttl_ms);
int64_t server_waiters(void);
/* Remember its data, or go back to what was remembered: a replica that had not
 * received what was written since. */
void server_save(void);
void server_restore(void);

/* ----------------------------------------------------------------- records */

/* With --records; by how much the store's clock was set forward. */
extern bool sim_records;
extern int64_t sim_step_us;
typedef struct fake_call fake_call;
struct hf__backend;
struct hf__record_store;
struct hf__backend *records_open(struct client *of);
void records_clear(void);
void records_close(void);
/* A command on one key. */
void records_run(hf__request *request);
void records_at_store(fake_call *self);
void records_free(fake_call *self);
/* Those that are kept for later runs. */
void scratches_close(void);
/* What a message carries: the records that its commit has written. */
typedef struct learned learned;
void records_learn(learned *all, struct hf__record_store *store);
void records_unlearn(learned *all);
void records_forget(const struct client *of);

/* --------------------------------------------------------------------- net */

typedef struct packet packet;
struct packet {
    bool used;
    uint64_t number; /* in the order of sending */
    struct client *client;
    bool message;
    bool answered;        /* the server has run it */
    bool doubtful;        /* sent before, without an answer */
    bool missed;          /* no replica has acknowledged it */
    hf__request *request; /* NULL: no one waits for it any more */
    actor *performer;     /* of perform(); NULL: submitted */
    const hf__script *script;
    hf_bytes *words; /* copies */
    size_t word_count;
    size_t key_count;
    hf__request answer;
    learned *learned; /* with --records, of a message; NULL: nothing */
    fake_call *fake;  /* with --records: what it is; NULL: a message */
    char *text;       /* of a message, and its topic */
    char *topic;
};

extern packet net_packets[PACKETS];
/* The run is over: requests fail at once, and nothing is checked. */
extern bool net_draining;

void net_begin(void);
void net_end(void);
void net_deliver(packet *self);
void net_lose(packet *self);
void net_refuse(packet *self);
/* For the fake backend: send a packet; fail all of a client. */
void net_send(struct client *of, hf__request *request, fake_call *fake);
void net_refuse_all(const struct client *of);
/* The connection breaks, and the request arrives later. */
void net_float(packet *self);
void net_miss(packet *self);
void net_expire(packet *self);
/* The client's connection has broken and is there again: every counter moves.
 */
void net_reconnect(struct client *client);
/* For the server: the number of receivers. */
int64_t net_publish(hf_bytes channel, hf_bytes text, hf_bytes topic);
/* The message that was published last has this, which it frees. */
void net_attach(learned *all);
bool net_listens(hf_bytes channel);

/* ------------------------------------------------------------------- world */

enum {
    OP_END,
    OP_ACQUIRE,     /* arg: wait_ms */
    OP_ACQUIRE_FOR, /* arg: lease_ms; waits for 20 s */
    OP_START,       /* arg: wait_ms */
    OP_CANCEL,      /* the call that OP_START began */
    OP_AWAIT,       /* its end */
    OP_RELEASE,
    OP_RELEASE_START,
    OP_RENEW,
    OP_RENEW_START,
    OP_SLEEP,     /* while it is held; arg: ms */
    OP_WAIT,      /* the same in any case */
    OP_INTERRUPT, /* those who wait with the handle */
    OP_FOREIGN,   /* another library takes the lock; arg: its lease, ms */
    OP_FOREIGN_RELEASE,
    OP_LOST_FD,
    OP_DOWNGRADE,
    OP_RENEW_MANY, /* of all handles of the client */
    OP_RELEASE_MANY,
    OP_TRY,
    OP_BARRIER, /* of two parties; arg: wait_ms */
    OP_LATCH,   /* make one of two arrivals */
    OP_ARRIVE,
    OP_AWAIT_OPEN, /* arg: wait_ms */
    OP_PUT,        /* a job; arg: its number */
    OP_DONE,       /* with the job of the handle */
    OP_NEXT,       /* the same, and take the next; arg: wait_ms */
    OP_NEXT_START,
    OP_FORGET,   /* with --records: as if a new process had opened the client */
    OP_SET_CLOCK /* with --records: the store's, by arg ms */
};

typedef struct op {
    int what;
    int handle;
    int64_t arg;
} op;

enum { KIND_LOCK, KIND_READ, KIND_WRITE, KIND_SEMAPHORE, KIND_QUEUE };

typedef struct handle_case {
    int client;
    int kind;
    int64_t ttl_ms; /* 0: there is no such handle */
    hf_lock_options options;
    bool quiet;     /* without on_lost */
    bool frees;     /* on_lost frees it */
    int64_t weight; /* permits; 0: one */
} handle_case;

/* Faults that a case has. */
enum {
    FAULT_LOSE = 1u << 0,
    FAULT_STALL = 1u << 1,
    FAULT_KILL = 1u << 2,
    FAULT_RESTART = 1u << 3,
    FAULT_FAILOVER = 1u << 4,
    FAULT_TIME = 1u << 5, /* packets are delayed */
    FAULT_ORDER = 1u << 6,
    FAULT_MEMORY = 1u << 7, /* an allocation fails */
    FAULT_STEP = 1u << 8    /* with --records: of the store's clock */
};

typedef struct sim_case {
    const char *name;
    int64_t drift_ppm;
    uint32_t faults;
    uint32_t capabilities; /* of the store, beyond events */
    handle_case handles[HANDLES];
    struct {
        int client;
        op ops[12];
    } actors[ACTORS];
} sim_case;

extern const sim_case sim_cases[];
extern const size_t sim_case_count;

typedef struct client {
    int index;
    hf_client *client;
    bool dead;
    int64_t stalled_until_ms; /* 0: it runs */
    int64_t slept_us;         /* with --cheat sleepy */
    bool subscribed;
    uint32_t seq; /* of every topic */
    hf__watch *watches;
    char inbox[HF__CHANNEL_SIZE];
    hf__store_config config;
    struct hf__record_store *records; /* with --records */
} client;

typedef struct handle {
    hf_lock *lock; /* NULL: freed */
    client *of;
    int kind;
    int64_t weight;
    bool frees;
    bool believed;
    bool released; /* by the program, since it was acquired */
    bool noticed;
    bool stalled; /* its client, since it was last believed */
    int64_t deadline_ms;
    uint64_t acquisition;
    size_t ends; /* OP_NEXT: the number of the job and 1; 0: none */
} handle;

typedef struct program {
    const op *ops;
    client *of;
    actor *thread;
    int64_t waiting_since_ms; /* in an acquire; 0: it is not */
    int64_t latest_ms;        /* when that has to end */
    hf_call *call;
    bool called; /* an asynchronous call is under way ... */
    bool awaits; /* ... and is waited for */
    bool failed; /* the last acquire */
    hf_status status;
} program;

typedef struct world {
    const sim_case *of;
    client clients[CLIENTS];
    size_t client_count;
    handle handles[HANDLES];
    size_t handle_count;
    program programs[ACTORS];
    size_t program_count;
    int64_t lost_data_ms; /* when the store last lost data; -1: never */
    uint64_t max_token;
    int64_t busy_ms; /* when a waiter last had no reason to be granted */
    char truth[HF_OWNER_SIZE]; /* who holds it, at the store ... */
    int64_t truth_until_ms;    /* ... and until when, clients' clock */
    bool truth_stepped;        /* the store's clock was set */
    bool lossy; /* a request was lost, or took effect out of order */
    int passed[GENERATIONS]; /* parties, by generation of the barrier */
    int arrivals;            /* at the latch, that have begun */
    bool put[JOBS];          /* it was acknowledged */
    bool finished[JOBS];     /* by a worker, which then ends it */
    bool killed;
    bool out_of_memory;
    char violation[256];
} world;

extern world sim_world;
extern const char *sim_cheat; /* "": none */
bool sim_cheats(const char *name);

client *sim_opening(void); /* whose client is being opened */
void world_begin(const sim_case *of);
void world_end(void);
/* Let background threads do what is due. */
void world_run_due(void);
bool world_runs(const client *of); /* neither stalled nor dead */
bool world_over(void);
void world_refresh(void); /* the truth, after the server has run something */

/* ------------------------------------------------------------------ checks */

void check_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* After each move, and whenever time has passed. */
void check_now(void);
void check_acquired(handle *of);
void check_end(void);

/* --------------------------------------------------------- barriers, latches
 */

/* false: the step is of a lock. */
bool gather_step(program *of, const op *step);
/* Before and after the server has run a request: the cheats. */
void gather_send(const packet *self);
void gather_answer(packet *self);

/* ------------------------------------------------------------------- jobs */

/* false: the step is of something else. */
bool jobs_step(const program *of, const op *step);
/* OP_NEXT begins: the handle's job is finished. */
void jobs_finish(handle *of);
/* ... and ends. */
void jobs_ended(handle *of, hf_status status);
/* Do they have two jobs of a queue? */
bool jobs_differ(const handle *one, const handle *other);
/* Is there one to be done? */
bool jobs_wanted(void);
/* Before and after the server has run a request. */
void jobs_send(const packet *self);
void jobs_answer(packet *self);

/* ------------------------------------------------------------------- moves */

typedef enum move_kind {
    MOVE_RUN, /* a thread */
    MOVE_DELIVER,
    MOVE_EXPIRE, /* a request's deadline has come */
    MOVE_PASS,   /* time passes until `at_ms` */
    MOVE_LOSE,
    MOVE_REFUSE,
    MOVE_FLOAT,  /* a request arrives after its connection broke */
    MOVE_STEP,   /* the store's clock is set forward, or back */
    MOVE_MISS,   /* a reply: no replica has acknowledged the write */
    MOVE_REPEAT, /* a message arrives twice */
    MOVE_STALL,  /* a client does nothing until `at_ms` */
    MOVE_KILL,
    MOVE_RESTART,
    MOVE_FAILOVER,
    MOVE_RECONNECT,
    MOVE_NO_MEMORY
} move_kind;

typedef struct move {
    move_kind kind;
    int index; /* of the program, packet or client */
    int64_t at_ms;
} move;

#define MOVES 64
typedef struct moves {
    move at[MOVES];
    size_t count;
} moves;

void moves_list(moves *list);
/* With --records: the store's clock is set forward, or back. */
void moves_set_clock(int64_t by_us);
void moves_make(const move *one);
void moves_show(const move *one);

#endif
