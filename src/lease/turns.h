/* SPDX-License-Identifier: Apache-2.0 */
/*
 * turns.h - which locks other libraries use as well, and how often each library
 * has held one lately, as this client saw it; from that, when to leave a lock
 * to them and for how long.
 *
 * Other libraries poll for a free key. Of those that use a lock at the same
 * time each shall hold it as often as ours. So if one has held it less often, a
 * release leaves it free until one takes it, and so does a waiter after the
 * release of another library. In that time no one holds the lock: it takes at
 * most two thirds of all time, and a fifth if no one takes the lock then.
 *
 * A client meets only some of the others' turns. So a release sends its counts
 * to the client that has the lock next, which continues them: the counts travel
 * with the lock. If no one waits they do not, and each client continues its
 * own.
 *
 * Libraries are told apart by the length of their owner ids. Where those are
 * UUIDs of version 1, as of redis-py, their last half says who made them, a
 * process or at least a machine: then each of these shall hold it as often as
 * each client of ours: of those that hold it in turn there are as many as turns
 * from one of this client to the next. Thread-safe.
 */
#ifndef HF_LEASE_TURNS_H
#define HF_LEASE_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"
#include "util/hash_bytes.h"

#define HF__TURNS_FORMS 16
#define HF__TURNS_USERS 16
#define HF__TURNS_LOCKS 64

/* How long a release leaves a lock free: longer than the 100 ms that redis-py
 * sleeps between two polls. */
#define HF__TURNS_GAP_MS 110

/* One who has held it, of a library whose processes are told apart. */
typedef struct hf__turns_user {
    uint64_t who; /* 0: none */
    int64_t seen_ms;
    unsigned char form; /* 0: another client of ours */
} hf__turns_user;

/* What one client sends the next. */
typedef struct hf__turns_told {
    int64_t turn;     /* number of ours, from any one; 0: nothing was sent */
    int64_t ours;     /* counts */
    int64_t theirs;   /* of `form` */
    int64_t form;     /* of the last holder */
    int64_t spare_ms; /* and HF__TURNS_SPARE_LEAST, so that it is >= 0 */
    int64_t missed;
    int64_t age_ms; /* since a foreign holder was seen */
} hf__turns_told;

#define HF__TURNS_SPARE_LEAST 1000

/* By which a lock is known, of its key. */
static inline uint64_t hf__turns_lock(hf_bytes key)
{
    return hf__hash(key, 0) | 1;
}

typedef struct hf__turns {
    uint64_t lock;                         /* hash of its key; 0: none */
    int64_t seen_ms;                       /* a foreign holder, last */
    unsigned char counts[HF__TURNS_FORMS]; /* [0]: of ours; 0: no such one */
    unsigned char last;                    /* the form of the last holder */
    unsigned char missed;                  /* gaps that no one took, in a row */
    int64_t spare_ms;  /* how much longer it may be left free; negative: not */
    int64_t turn;      /* number of the last of ours that is known */
    int64_t own_turn;  /* of this client; 0: none */
    int64_t shared_ms; /* when counts of another client came; 0: never */
    int64_t clients;   /* of ours, in TURNS_PART parts, a moving average */
    hf__turns_user users[HF__TURNS_USERS];
} hf__turns;

/* Of a client. */
typedef struct hf__turns_table {
    atomic_bool used;
    pthread_mutex_t mutex; /* guards the rest */
    hf__turns locks[HF__TURNS_LOCKS];
} hf__turns_table;

void hf__turns_init(hf__turns_table *table);
void hf__turns_done(hf__turns_table *table);

/* A foreign holder was found, or another client of ours, by its id. */
void hf__turns_note_foreign(hf__turns_table *table, uint64_t lock,
                            hf_bytes owner);
void hf__turns_note_ours(hf__turns_table *table, uint64_t lock,
                         hf_bytes client);
/* Has another library been seen to use it lately? */
bool hf__turns_is_shared(hf__turns_table *table, uint64_t lock);
/* Ours is about to release it after so long. The result: for how long it is to
 * be left free; `always`: as if others were known to wait. */
int64_t hf__turns_release(hf__turns_table *table, uint64_t lock,
                          int64_t held_ms, bool always);
/* After that: what to send to the client that has it next; false: nothing, as
 * no other library was seen lately. */
bool hf__turns_tell(hf__turns_table *table, uint64_t lock,
                    hf__turns_told *told);
/* Another client of ours has sent this. Untrusted. */
void hf__turns_learn(hf__turns_table *table, uint64_t lock,
                     const hf__turns_told *told);
/* The last foreign holder has released it: how long to leave it free. */
int64_t hf__turns_delay(hf__turns_table *table, uint64_t lock);
/* It was left free for so long; then someone had taken it, or not. */
void hf__turns_note_gap(hf__turns_table *table, uint64_t lock, int64_t ms,
                        bool taken);

#endif
