/* SPDX-License-Identifier: Apache-2.0 */
/*
 * every_call.h - each function of holdfast.h that asks a store, in each of its
 * forms, as a table: for tests that expect the same of all of them. It sees
 * only holdfast.h.
 */
#ifndef TESTS_SUPPORT_EVERY_CALL_H
#define TESTS_SUPPORT_EVERY_CALL_H

#include "holdfast/barrier.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/limiter.h"
#include "holdfast/once.h"
#include "holdfast/queue.h"
#include "holdfast/rank.h"
#include "holdfast/redisson.h"
#include "holdfast/script.h"
#include "holdfast/semaphore.h"
#include "holdfast/set.h"
#include "holdfast/timeline.h"

/* Where the results go. */
typedef struct every_result {
    hf_buffer buffer;
    hf_buffer version;
    hf_fields fields;
    hf_timeline_items items;
    hf_timeline_trimmed trimmed;
    hf_set_members members;
    hf_rank_members ranked;
    hf_value_changes changed;
    hf_rank_place place;
    hf_rank_trimmed rank_trimmed;
    hf_limiter_state limiter;
    hf_barrier_pass pass;
    size_t removed;
    size_t count;
    int64_t ttl_ms;
    int64_t member_ttl_ms;
    int64_t number;
    uint64_t token;
    hf_script *script;
    hf_reply *reply;
    hf_lock_info info;
    hf_semaphore_info permits;
    hf_queue_info queue;
    hf_queue_jobs jobs;
    hf_holder holder;
    hf_leader leader;
    hf_once_info once;
    hf_status status; /* of the one item of a batch */
} every_result;

/* What the calls are made with. */
typedef struct every_place {
    hf_client *client;
    hf_bytes key;      /* the lock's name as well */
    hf_lock *lock;     /* held, for a call that needs it; else free */
    hf_lock *second;   /* free, for calls that take several; NULL: not made */
    hf_script *script; /* loaded */
    char dir[64];
    char url[96];    /* of an embedded store in it */
    char dump[4096]; /* some keys ... */
    size_t dump_size;
    size_t dump_at; /* ... of which so many bytes were read */
    every_result result;
} every_place;

typedef struct every_call {
    const char *name;
    /* Script or command whose answer matters. */
    const char *target;
    /* With `async` start it; NULL: run it. */
    hf_status (*run)(every_place *place, const hf_async *async, hf_error *err);
    bool starts;   /* there is a `_start` form */
    bool is_batch; /* of one item, whose status is result.status */
    bool needs_script;
    bool needs_lock;
    bool needs_held;  /* the lock must be held */
    bool is_election; /* the lock is a candidate */
    bool is_claim;    /* the lock is from hf_once_new() */
    bool is_job;      /* the lock is from hf_queue_new(), and a job is put */
    bool is_pair;     /* the lock is for writing, `second` for reading */
    bool takes_lock;  /* with HF_OK it is held afterwards */
    bool waits;       /* 50 ms, for a lock that is held */
    bool any_reply;   /* is right */
    bool keyless;     /* place->key is not asked for */
    bool is_raw;      /* the key is a word like any other */
    bool scans;       /* needs the rights of a dump */
    bool is_newer;    /* than Redis 7.0 and Valkey 8.0: HF_UNSUPPORTED there */
    bool transfers;   /* whole stores; the client must have no prefix */
    bool is_redisson; /* of Redisson's layout ... */
    hf_redisson_kind kind; /* ... and the kind of its lock */
} every_call;

extern const every_call every_calls[];
extern const size_t every_call_count;

/* Those of Redisson's layout, for a client whose URL has layout=redisson. */
extern const every_call every_redisson_calls[];
extern const size_t every_redisson_count;

/* For a place with a client and a key: make the lock or the script that the
 * call needs; store something that it finds; free what it needed and gave. */
hf_status every_call_prepare(every_place *place, const every_call *call,
                             hf_error *err);
hf_status every_call_fill(every_place *place, const every_call *call,
                          hf_error *err);
void every_call_done(every_place *place);

/* A folder, and the bytes that store_load reads: a string and a hash. false:
 * there is no store to dump. */
bool every_place_begin(every_place *place);
void every_place_end(every_place *place);

/* The answers that keep everything going, as RESP; NULL: any will do. */
const char *every_usual_answer(const char *target);

/* The new lock that the call needs; release and free it. */
bool every_lock_begin(every_place *place, const every_call *call);
void every_lock_end(every_place *place);

/* Run a call, or start it and await its end; its status, or that of the one
 * item of a batch. */
hf_status every_call_make(every_place *place, const every_call *call,
                          bool starts, hf_error *err);

/* Fill the results with what no call gives. */
void every_result_begin(every_result *result);

/*
 * After a call with that status: what it should have written is there, whole
 * and in its range, and the rest as it was. Returns what is wrong, or NULL.
 * Frees the results.
 */
const char *every_result_end(every_place *place, const every_call *call,
                             hf_status status);

#endif
