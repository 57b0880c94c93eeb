/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - a lock's handle, shared by the files that own its life: lock.c
 * (acquiring, state), acquire_steps.c, acquire_blocking.c and acquire_async.c
 * (asking the store), release.c, renewal.c, watchdog.c (renewal and loss).
 *
 * States, each change under the client's watchdog mutex:
 *
 *   FREE -> ACQUIRING -> HELD -> RELEASING -> FREE
 *               |          |                    ^
 *               v          v                    |
 *             FREE       LOST ------------------+
 *
 * `acquisition` counts the times HELD was entered, so that an answer to a
 * renewal of an earlier acquisition is recognised and dropped.
 */
#ifndef HF__LEASE_HANDLE_H
#define HF__LEASE_HANDLE_H

#include <stdatomic.h>

#include "core/client.h"
#include "lease/kinds.h"
#include "lease/leases.h"
#include "util/heap.h"

typedef enum hf__lock_state {
    HF__LOCK_FREE,
    HF__LOCK_ACQUIRING,
    HF__LOCK_HELD,
    HF__LOCK_LOST,
    HF__LOCK_RELEASING
} hf__lock_state;

/* The keys of one lock, in the order in which scripts take them. */
typedef struct hf__lock_keys {
    hf_bytes main;    /* prefix + name: the owner id */
    hf_bytes token;   /* hf:token, of the store or of the slot */
    hf_bytes waiters; /* hf:wait:{...} */
    char *storage;
} hf__lock_keys;

struct hf_lock {
    hf_client *client;
    const hf__lease_kind *kind;
    hf__lock_keys keys;
    hf_lock_options options;       /* defaults filled in */
    hf__replicas replicas;         /* of an acquire ... */
    hf__replicas renewal_replicas; /* ... and of a renewal */
    char ttl_text[HF__NUMBER_SIZE];
    hf_bytes ttl_word;
    char argument_text[HF__NUMBER_SIZE];
    hf_bytes argument; /* of its kind, to acquire; empty: none */

    /* 0: not held. Read without the mutex. */
    _Atomic int64_t valid_until_ms;
    _Atomic uint64_t token;
    atomic_uint interruptions;
    atomic_int acked; /* replicas; -1: nobody has counted them */

    /* Guarded by client->leases->watchdog.mutex. */
    hf__lock_state state;
    uint32_t holds;      /* re-entries, the first acquire included */
    uint32_t references; /* the caller's and those of renewals in flight */
    uint64_t acquisition;
    char owner[HF_OWNER_SIZE];
    int64_t hold_until_ms; /* INT64_MAX: no max_hold_ms */
    int64_t renew_at_ms;
    bool renewing;      /* a renewal is in flight */
    bool watched;       /* it is in the heap while held */
    bool telling;       /* on_lost runs */
    bool untold;        /* it is in the watchdog's list of losses */
    bool freed;         /* hf_lock_free() was called: tell no more */
    bool waits;         /* the call that acquires may take long */
    bool orphan;        /* freed while calls on it were under way */
    hf_call *acquiring; /* asynchronously; NULL: nobody, or a thread */
    hf_status lost_reason;
    int lost_fd;            /* -1: not asked for */
    pthread_cond_t changed; /* state or telling */
    hf__heap_node node;
    hf_lock *next_lost;
};

/* Make a handle of a kind; `argument` 0: it has none. */
hf_status hf__lock_make(hf_client *client, const hf__lease_kind *kind,
                        hf_bytes name, int64_t argument,
                        const hf_lock_options *opts, hf_lock **lock,
                        hf_error *err);

/* HF_INVALID: a name whose other keys could not share its slot. */
hf_status hf__lock_keys_init(const hf_client *client, hf_bytes name,
                             hf__lock_keys *keys, hf_error *err);
void hf__lock_keys_done(hf__lock_keys *keys);

/* A call that acquires on this thread: where it is interrupted. */
typedef struct hf__attempt {
    hf__interrupt_mark mark;
    hf__sleeper sleeper;
} hf__attempt;

/* What acquire_blocking.c found out when the store granted the lock. */
typedef struct hf__grant {
    char owner[HF_OWNER_SIZE];
    uint64_t token;
    int32_t acked;   /* replicas; -1: they were not counted */
    int64_t sent_ms; /* before the request that was granted */
} hf__grant;

/*
 * Ask the store for the lock: once if wait_ms is 0, else until it is granted
 * or until_ms, which lies wait_ms behind the call, has passed. The handle is in
 * state ACQUIRING; nothing of it is changed. HF_CANCELLED: interrupted.
 */
hf_status hf__lock_ask(hf_lock *lock, int64_t wait_ms, int64_t until_ms,
                       hf__attempt *attempt, hf__grant *grant, hf_error *err);

/*
 * May the handle ask the store? HF_OK and state ACQUIRING: it may, and the
 * caller must end that state. HF_OK and state HELD: it holds the lock, once
 * more. HF_LOST; HF_HELD with `*busy`: another call is using the handle. The
 * mutex is held.
 */
hf_status hf__lock_begin_locked(hf_lock *lock, bool *busy, hf_error *err);

/* From ACQUIRING to HELD. The mutex is held. */
void hf__lock_hold_locked(hf_lock *lock, const hf__grant *grant);

/* HF_INVALID: no handle, or one from before fork(). */
hf_status hf__lock_check(const hf_lock *lock, hf_error *err);

/* The same for many handles, which must be of one client. */
hf_status hf__locks_check(hf_lock *const *locks, size_t count, hf_error *err);

/* Local end of a lease that was asked for at sent_ms, the margin included. */
int64_t hf__lock_validity(const hf_lock *lock, int64_t sent_ms);

/* A call on the handle has ended: if it was freed on the client's own thread
 * meanwhile, let it go. */
void hf__lock_end_orphan(hf_lock *lock);
/* A release of an acquisition that nobody waits for. */
void hf__lock_undo(const hf_lock *lock, const char owner[HF_OWNER_SIZE]);

/* Drop a reference; frees at the last. The mutex is held. */
void hf__lock_unref_locked(hf_lock *lock);

#endif
