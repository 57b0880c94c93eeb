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
 * Libraries are told apart by the length of their owner ids. Where those are
 * UUIDs of version 1, as of redis-py, their last half says who made them, a
 * process or at least a machine: then each of these shall hold it as often as
 * each client of ours. Thread-safe.
 */
#ifndef HF_LEASE_TURNS_H
#define HF_LEASE_TURNS_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"

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

typedef struct hf__turns {
    uint64_t lock;                         /* hash of its key; 0: none */
    int64_t seen_ms;                       /* a foreign holder, last */
    unsigned char counts[HF__TURNS_FORMS]; /* [0]: of ours; 0: no such one */
    unsigned char last;                    /* the form of the last holder */
    unsigned char missed;                  /* gaps that no one took, in a row */
    int64_t spare_ms; /* how much longer it may be left free; negative: not */
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
/* Ours is about to release it after so long. The result: for how long it is to
 * be left free; `always`: as if others were known to wait. */
int64_t hf__turns_release(hf__turns_table *table, uint64_t lock,
                          int64_t held_ms, bool always);
/* The last foreign holder has released it: how long to leave it free. */
int64_t hf__turns_delay(hf__turns_table *table, uint64_t lock);
/* It was left free for so long; then someone had taken it, or not. */
void hf__turns_note_gap(hf__turns_table *table, uint64_t lock, int64_t ms,
                        bool taken);

#endif
