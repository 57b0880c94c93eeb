/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h - which leases of a client are held, until when, what each needs
 * next, and which were lost.
 *
 * Owns the states of handles (handle.h). The mutex guards them and the heap; a
 * thread that asks the store leaves it meanwhile, and the states ACQUIRING and
 * RELEASING keep others out, who wait for `changed`.
 */
#ifndef HF__LEASE_LEASE_H
#define HF__LEASE_LEASE_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast.h"
#include "util/heap.h"
#include "util/loop.h"

typedef struct hf__watchdog {
    hf_client *client;
    pthread_mutex_t mutex; /* also guards the state of the client's locks */
    hf__heap heap;         /* one node for each watched lock that is held */
    size_t handles;        /* room in the heap that handles have asked for */
    hf_lock *lost;         /* losses not told yet, oldest first */
    hf_lock **lost_end;
    int64_t armed_ms; /* what the alarm is set to; INT64_MAX: nothing */
    hf__alarm *alarm;
    pthread_mutex_t start_mutex;
    atomic_bool started;
} hf__watchdog;

void hf__watchdog_init(hf__watchdog *watchdog, hf_client *client);
/* Nothing is watched or told any more; in a forked child nothing is done. */
void hf__watchdog_done(hf__watchdog *watchdog);
/* With the client's memory: handles use the mutex until then. */
void hf__watchdog_free(hf__watchdog *watchdog);

/* Room for one more handle's node; HF_NO_MEMORY. */
hf_status hf__watchdog_add_handle(hf__watchdog *watchdog, hf_error *err);
void hf__watchdog_drop_handle(hf__watchdog *watchdog);

/* The lock has become held by a request sent at sent_ms: watch it. Cannot
 * fail. The mutex is held. */
void hf__lease_watch_locked(hf__watchdog *watchdog, hf_lock *lock,
                            int64_t sent_ms);

/* The lock is about to be released or was lost. The mutex is held. */
void hf__lease_unwatch_locked(hf__watchdog *watchdog, hf_lock *lock);

/* The lock is held but its validity is over, or the store said that it is
 * gone: note the loss and have it told. The mutex is held. */
void hf__lease_lose_locked(hf__watchdog *watchdog, hf_lock *lock,
                           hf_status reason);

/* A lock of the heap: lose it if its validity is over at now_ms, or so nearly
 * that a thread on a busy machine would tell of it too late. */
bool hf__lease_lose_due_locked(hf__watchdog *watchdog, hf_lock *lock,
                               int64_t now_ms);

/* If the lock is held and its validity is over, it is lost. */
void hf__lease_check_locked(hf__watchdog *watchdog, hf_lock *lock);

/* What the store says of a lock that was to be renewed. */
typedef enum hf__renewal_answer {
    HF__RENEWED,
    HF__GONE,     /* nobody holds it */
    HF__TAKEN,    /* another owner does */
    HF__UNDECIDED /* too few servers of a quorum know */
} hf__renewal_answer;

/* The lock is held and the store has answered a renewal of it, which was sent
 * at sent_ms; or it has not. The mutex is held. */
void hf__lease_answer_locked(hf__watchdog *watchdog, hf_lock *lock,
                             hf__renewal_answer answer, int64_t sent_ms);
void hf__lease_retry_locked(hf__watchdog *watchdog, hf_lock *lock);

/* Is it to be renewed by the watchdog? */
bool hf__lock_renews(const hf_lock *lock);

/* The lock of a node in the heap. */
hf_lock *hf__lease_of(hf__heap_node *node);

/* When the lock needs attention next. The mutex is held. */
int64_t hf__lease_next_event(const hf_lock *lock);

/* Have the alarm ring for what is first now. The mutex is held. */
void hf__watchdog_arm_locked(hf__watchdog *watchdog);

/* Local end of a lease that was asked for at sent_ms, the margin included. */
int64_t hf__lock_validity(const hf_lock *lock, int64_t sent_ms);

/* What is known when the store granted the lock. */
typedef struct hf__grant {
    char owner[HF_OWNER_SIZE];
    uint64_t token;
    int32_t acked;   /* replicas; -1: they were not counted */
    int64_t sent_ms; /* before the request that was granted */
} hf__grant;

/*
 * May the handle ask the store? HF_OK and state ACQUIRING: it may, and the
 * caller must end that state. HF_OK and state HELD: it holds the lock, once
 * more. HF_LOST; HF_HELD with `*busy`: another call is using the handle. The
 * mutex is held.
 */
hf_status hf__lock_begin_locked(hf_lock *lock, bool *busy, hf_error *err);

/* From ACQUIRING to HELD. The mutex is held. */
void hf__lock_hold_locked(hf_lock *lock, const hf__grant *grant);

#endif
