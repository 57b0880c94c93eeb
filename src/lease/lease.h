/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.h - the leases that a client holds: until when, what each needs next,
 * and which were lost.
 *
 * Owns the states of handles (handle.h). The mutex guards them and the heap. It
 * is not held during a request: the states ACQUIRING and RELEASING make other
 * callers wait for `changed`.
 */
#ifndef HF__LEASE_LEASE_H
#define HF__LEASE_LEASE_H

#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/lock.h"
#include "util/heap.h"
#include "util/loop.h"

/* Since the client was opened. */
typedef struct hf__lease_counts {
    uint64_t granted;
    uint64_t renewed;
    uint64_t unrenewed; /* renewals to be repeated */
    uint64_t lost;
} hf__lease_counts;

typedef struct hf__watchdog {
    hf_client *client;
    pthread_mutex_t mutex; /* also guards the state of the client's locks */
    hf__heap heap;         /* one node for each watched lock that is held */
    hf__lease_counts counts;
    size_t handles; /* room in the heap reserved by handles */
    hf_lock *lost;  /* losses to be reported, oldest first */
    hf_lock **lost_end;
    int64_t armed_ms; /* what the alarm is set to; INT64_MAX: nothing */
    hf__alarm *alarm;
    struct hf__renewals *renewals; /* to be sent, by the background thread */
    pthread_mutex_t start_mutex;
    atomic_bool started;
} hf__watchdog;

void hf__watchdog_init(hf__watchdog *watchdog, hf_client *client);

/* Have its thread renew held leases in time and report those that were lost,
 * unless it does (watchdog.c). HF_SYSTEM. */
hf_status hf__watchdog_start_now(hf__watchdog *watchdog, hf_error *err);
static inline hf_status hf__watchdog_start(hf__watchdog *watchdog,
                                           hf_error *err)
{
    return atomic_load(&watchdog->started)
               ? HF_OK
               : hf__watchdog_start_now(watchdog, err);
}
/* The alarm rings no more. In a forked child only memory is freed. */
void hf__watchdog_stop(hf__watchdog *watchdog);

/* Watch and report nothing any more; no effect in a forked child. */
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

/* The lock is about to be released or was lost: no one believes in it or
 * watches it any more. The mutex is held. */
void hf__lease_unwatch_locked(hf__watchdog *watchdog, hf_lock *lock);

/* The lock is held but its validity is over, or the store says that it is gone:
 * lose it and have that reported. The mutex is held. */
void hf__lease_lose_locked(hf__watchdog *watchdog, hf_lock *lock,
                           hf_status reason);

/* Lose a lock of the heap if its validity ends at now_ms, or so soon after that
 * it would be reported too late. */
bool hf__lease_lose_due_locked(hf__watchdog *watchdog, hf_lock *lock,
                               int64_t now_ms);

/* A handle that is being freed does not release what its key shows to have
 * ended, or what may have been completed (kinds.h, `outlives`). */
void hf__lease_leave_locked(hf__watchdog *watchdog, hf_lock *lock);

/* If the lock is held and its validity is over, it is lost. */
void hf__lease_check_locked(hf__watchdog *watchdog, hf_lock *lock);

/* The same; HF_OK: it is held. */
hf_status hf__lease_held_locked(hf_lock *lock, hf_error *err);

/* The outcome of a renewal at the store. */
typedef enum hf__renewal_answer {
    HF__RENEWED,
    HF__GONE,     /* not held by anyone */
    HF__TAKEN,    /* held by another owner */
    HF__UNDECIDED /* no majority of a quorum either way */
} hf__renewal_answer;

/* The lock is held, and the store has answered a renewal of lease_ms that was
 * sent at sent_ms; retry: it has not, or may not within after_ms. The mutex is
 * held. */
void hf__lease_answer_locked(hf__watchdog *watchdog, hf_lock *lock,
                             hf__renewal_answer answer, int64_t sent_ms,
                             int64_t lease_ms);
void hf__lease_retry_locked(hf__watchdog *watchdog, hf_lock *lock,
                            int64_t after_ms);

/* Does the watchdog renew it? Also a lock that is not to be renewed, once, if
 * it was handed over for less than its lease. */
bool hf__lock_renews(const hf_lock *lock);

/* The lock of a node in the heap. */
hf_lock *hf__lease_of(hf__heap_node *node);

/* When the lock needs attention next. The mutex is held. */
int64_t hf__lease_next_event(const hf_lock *lock);

/* Set the alarm for the first in the heap. The mutex is held. */
void hf__watchdog_arm_locked(hf__watchdog *watchdog);

/* Local end of validity of a lease that began after sent_ms. */
int64_t hf__lock_validity(const hf_lock *lock, int64_t sent_ms,
                          int64_t lease_ms);

/* wanted_ms, or what is left of a longer lease that the store granted: a
 * renewal must not have it end there before it does here. The mutex is held. */
int64_t hf__lease_kept_locked(const hf_lock *lock, int64_t wanted_ms,
                              int64_t now_ms);

/* The lease that a renewal asks for now: of a lock that is not renewed, what is
 * left of its own. The mutex is held. */
int64_t hf__lease_wanted_locked(const hf_lock *lock, int64_t now_ms);

/* What a granted acquire yields. */
typedef struct hf__grant {
    char owner[HF_OWNER_SIZE];
    uint64_t token;
    int32_t acked;   /* replicas; -1: they were not counted */
    int64_t sent_ms; /* before it was granted */
    int64_t lease_ms;
    int64_t asked_ms; /* see hf__steps */
    int64_t clock_us;
} hf__grant;

/* Will an acquire with that lease, 0: of the handle, be renewed? Then the
 * watchdog must have been started before hf__lock_begin_locked(). */
bool hf__lease_wants_renewal(const hf_lock *lock, int64_t lease_ms);
/*
 * Begin an acquire; lease_ms 0: of the handle. HF_OK and state ACQUIRING: the
 * caller asks the store and ends that state. HF_OK and state HELD: a re-entry.
 * HF_LOST. HF_HELD with
 * `*busy`: another call is using the handle. The mutex is held.
 */
hf_status hf__lock_begin_locked(hf_lock *lock, int64_t lease_ms, bool *busy,
                                hf_error *err);

/* From ACQUIRING to HELD. The mutex is held. */
void hf__lock_hold_locked(hf_lock *lock, const hf__grant *grant);

#endif
