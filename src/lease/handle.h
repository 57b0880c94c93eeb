/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handle.h - a handle of any kind, and its states.
 *
 * States, each change under the client's watchdog mutex:
 *
 *   FREE -> ACQUIRING -> HELD -> RELEASING -> FREE
 *               |          |                    ^
 *               v          v                    |
 *             FREE       LOST ------------------+
 *
 * `acquisition` counts the times HELD was entered, so that an answer to a
 * renewal of an earlier acquisition is recognised and ignored.
 *
 * Blocking acquires of one lock can be interrupted as those of a client are
 * (core/interrupt.h): it has a counter of its own, and is what its sleepers
 * are about.
 */
#ifndef HF__LEASE_HANDLE_H
#define HF__LEASE_HANDLE_H

#include <stdatomic.h>

#include "core/client.h"
#include "core/many.h"
#include "holdfast/lock.h"
#include "lease/kinds.h"
#include "lease/leases.h"
#include "util/heap.h"
#include "util/probe.h"

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
    hf_bytes channel; /* of Redisson; empty: none */
    hf_bytes publish; /* how a release publishes on it */
    hf_bytes topic; /* of the events that waiters wait for: main, or its own */
    char *storage;
} hf__lock_keys;

struct hf_lock {
    hf_client *client;
    const hf__lease_kind *kind;
    hf__lock_keys keys;
    hf_bytes own_key; /* of its kind, owned; empty: none */
    void *kept;       /* of the grant, by its kind; freed by hf__free() */
    hf_lock_options options;       /* defaults filled in */
    hf__replicas replicas;         /* of an acquire ... */
    hf__replicas renewal_replicas; /* ... and of a renewal */
    char argument_text[2 * HF__NUMBER_SIZE];
    hf_bytes argument; /* of its kind, to acquire; empty: none */
    char *text;        /* owned: its bytes; NULL: they are no text */
    uint64_t hash;     /* of its key; not 0 */
    hf_buffer result;  /* of work that is done (once.c) ... */
    int32_t result_status;
    bool unstored; /* ... or was done, and its result got no answer */

    /* 0: not held. Read without the mutex. */
    _Atomic int64_t valid_until_ms;
    _Atomic uint64_t token;
    atomic_uint interruptions;
    atomic_int acked;        /* replicas; -1: not counted */
    atomic_int ended;        /* as of hf_queue_ended() */
    _Atomic int64_t rest_ms; /* left to other libraries until then */

    /* Guarded by client->leases->watchdog.mutex. */
    hf__lock_state state;
    int64_t listen_ms;   /* when to ask for its channel; in ACQUIRING */
    uint32_t holds;      /* re-entries, the first acquire included */
    uint32_t references; /* the caller's and those of renewals in flight */
    uint64_t acquisition;
    char owner[HF_OWNER_SIZE];
    char value[HF_OWNER_SIZE + HF__NUMBER_SIZE]; /* see release.c */
    bool renews;        /* this acquisition is renewed until it is released */
    int64_t lease_ms;   /* of this acquisition */
    int64_t granted_ms; /* at first, if it was handed over, less than that */
    int64_t held_ms;    /* before it was acquired */
    int64_t asked_ms;   /* as of hf__steps ... */
    int64_t clock_us;   /* 0: unknown */
    int64_t hold_until_ms; /* INT64_MAX: no max_hold_ms */
    int64_t renew_at_ms;
    bool renewing;  /* a renewal is under way on a local store */
    int64_t gap_ms; /* for which the release leaves it free; in RELEASING */
    char turns_text[HF__HANDED_TURNS_SIZE]; /* the same: what it tells */
    bool watched;                           /* it is in the heap while held */
    bool reporting;                         /* on_lost runs */
    bool unreported;    /* it is in the watchdog's list of losses */
    bool freed;         /* hf_lock_free() was called: no on_lost */
    bool waits;         /* the call that acquires waits for the lock */
    bool downgrading;   /* a downgrade is under way, or got no reply */
    bool unended;       /* FREE: the end of what it had got no reply ... */
    bool unended_sent;  /* ... but may have arrived ... */
    int64_t unended_ms; /* ... and that was valid until then; 0: it had ended */
    bool free_deferred; /* when the calls on it have ended */
    hf_call *acquiring; /* asynchronous; NULL: none, or a thread */
    hf_status lost_reason;
    int lost_fd;            /* -1: not asked for */
    pthread_cond_t changed; /* state or reporting */
    hf__heap_node node;
    hf_lock *next_lost;
    hf_lock *pair; /* the other handle of a read-write lock; or NULL */
    bool first;    /* it waits in front of others; set when it is made */
};

/* The counters of interruptions as a call found them. */
typedef struct hf__interrupt_mark {
    unsigned client;
    unsigned lock;
} hf__interrupt_mark;

static inline hf__interrupt_mark hf__interrupt_mark_of(const hf_lock *lock)
{
    return (hf__interrupt_mark){atomic_load(&lock->client->interrupts.count),
                                atomic_load(&lock->interruptions)};
}

static inline bool hf__interrupted(const hf_lock *lock, hf__interrupt_mark mark)
{
    return hf__client_interrupted(lock->client, mark.client) ||
           atomic_load(&lock->interruptions) != mark.lock;
}

/* How a release ends what was done under the lease, in the words of a kind
 * whose release script has these behind `leave`. */
typedef struct hf__outcome {
    const char *what; /* static; NULL: there is none */
    int64_t delay_ms;
} hf__outcome;

/* By how much each class of priority moves an entry of the queue forward, us:
 * further than any two began apart. */
#define HF__RANK_OF_CLASS INT64_C(2000000000000000)

/* A probe about a lock: itself, its name, and a number. */
#define HF__LOCK_PROBE(name, lock, number)                                     \
    HF__PROBE(4, name, (lock), hf_lock_name(lock).data,                        \
              hf_lock_name(lock).size, (int64_t)(number))

/* Make a handle of a kind; `argument` 0: it has none. */
hf_status hf__lock_make(hf_client *client, const hf__lease_kind *kind,
                        hf_bytes name, int64_t argument,
                        const hf_lock_options *opts, hf_lock **lock,
                        hf_error *err);

/* HF_INVALID: the other keys could not be in the slot of the name. `redisson`
 * NULL: in our layout. */
hf_status hf__lock_keys_init(const hf_client *client,
                             const struct hf__redisson *redisson, hf_bytes name,
                             hf__lock_keys *keys, hf_error *err);
void hf__lock_keys_done(hf__lock_keys *keys);

/* A fencing token in decimal. Other programs may have written it: 0, if it is
 * none. */
uint64_t hf__token_read(const hf_reply *reply);

/* {owner, remaining ms, permits, token} of scripts/lock_holders.lua. */
hf_lock_info hf__holder_read(const hf_reply *items);

/* For scripts that look at locks: "1" if the URL says that all are Redisson's,
 * else "". */
static inline hf_bytes hf__layout_flag(const hf_client *client)
{
    return hf_str(client != NULL && client->layout.redisson ? "1" : "");
}

/* HF_INVALID: no handle, or one from before fork(). */
hf_status hf__lock_check(const hf_lock *lock, hf_error *err);

/* How far its entry goes forward in the queue, us. One that goes first has at
 * least the first class of priority. */
static inline int64_t hf__lock_rank(const hf_lock *lock)
{
    int64_t level = lock->options.priority;

    return (level == 0 && lock->first ? 1 : level) * HF__RANK_OF_CLASS;
}

/* The same for many handles, which must be of one client. */
hf_status hf__locks_check(hf_lock *const *locks, size_t count, hf_error *err);
/* hf__many_start() for locks, of which one must be there: it has the client. */
void hf__locks_start(hf__many *many, hf__gathering *started, bool leases,
                     hf_lock *const *locks, size_t count, hf_status *statuses,
                     const hf_async *async, hf_error *err);

/* HF_INVALID: neither 0 nor a lease. */
hf_status hf__lock_check_lease(int64_t lease_ms, hf_error *err);

/* Drop a reference; frees at the last. The mutex is held. */
void hf__lock_unref_locked(hf_lock *lock);
/* Free a handle that nothing uses. */
void hf__lock_destroy(hf_lock *lock);

#endif
