/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_steps.h - the steps of asking a store for a lock, whoever takes them:
 * the calling thread (acquire_blocking.c) or the loop (acquire_async.c).
 *
 * 1. Draw a new owner id. It stays the same for every try of this call, so
 *    that a try whose answer was lost is resolved by the next one; after one
 *    that was refused for certain there is a new one, which tells since when
 *    the lock is held. (Not on a
 *    store that itself takes back what it did not grant: HF__CAP_UNDOES.)
 * 2. Try once without queueing. Most calls end here.
 * 3. To wait, pass the gate: one waiter of this client waits at the store.
 * 4. Note the lock's event counter, then try again and queue: the script does
 *    both in one step. A release from then on moves the counter.
 * 5. Sleep until the counter moves, the holder's lease ends, or a backstop of
 *    1 s that grows to 5 s passes (a waiter that was told of nothing, because
 *    the message or its sender died, finds out by itself; those that have
 *    others before them leave it to these for longer). Go to 4. If the
 *    votes of a quorum were split, everybody who took part is woken at once
 *    and would split them again: sleep for a random time instead.
 *    Another library's release moves no counter. The store is asked to tell of
 *    the key's next change, and as it may be unable to, the waiter polls: every
 *    20 to 100 ms, the first in the queue (docs/adr/0039).
 * 6. On giving up, leave the queue and hand on a wake-up that came too late.
 *    If a try may have been applied, send a release after it: the name should
 *    not be blocked, for as long as the lease, by a holder that does not know
 *    of it.
 *
 * A grant that too few replicas have acknowledged, where the lock asks for
 * some, is given back before anything else, and the try counts as one at a
 * store out of reach. Should that release not be answered another follows as in
 * step 6, which may come late: so the next try has an owner id of its own.
 */
#ifndef HF__LEASE_ACQUIRE_STEPS_H
#define HF__LEASE_ACQUIRE_STEPS_H

#include "lease/handle.h"
#include "lease/lease.h"
#include "script/script_words.h"

/* How long step 4 may wait to hear events at all. */
#define HF__STEPS_LISTEN_MS 1000

typedef struct hf__steps {
    hf_lock *lock;
    hf__interrupt_mark mark; /* of a blocking call */
    hf__grant grant;
    int64_t wait_ms;
    int64_t until_ms; /* wait_ms behind the call; 0: try once */
    int64_t limit_ms; /* request_ms behind it: all is over by then */
    int64_t since_us; /* store's clock; place in the queue; 0: none yet */
    int64_t pttl_ms;  /* of the holder, from the last refusal; -1: no end */
    int64_t position; /* waiters before us then */
    bool foreign;     /* the holder then was no client of ours ... */
    uint64_t holder;  /* ... and which, as a hash of its owner id ... */
    int sightings;    /* ... that was refused to us so often in a row */
    bool tried;
    bool split;      /* the last refusal: there is no holder */
    int splits;      /* in a row */
    bool queued;     /* the store may have our inbox in the queue */
    bool unanswered; /* a try may have been applied, or still be */
    bool unresolved; /* ... and no later one was answered */
    bool refused;    /* the last try was, and none is on its way */
    bool returning;  /* it was granted, and too few replicas know */
    int64_t return_by_ms;

    hf__request request;                        /* of the present try */
    hf_bytes words[HF__LOCK_ACQUIRE_WORDS + 1]; /* its kind's argument too */
    char since_text[HF__NUMBER_SIZE];
} hf__steps;

/* Step 1. */
void hf__steps_init(hf__steps *steps, hf_lock *lock, int64_t wait_ms,
                    int64_t until_ms);

/* Fill the request of a try. `inbox` "": do not queue. */
void hf__steps_fill(hf__steps *steps, const char *inbox);
/* What a try came to, of which `status` and `err` say how the request ended:
 * HF_OK, the lock is granted; HF_HELD; others. The request is ended. */
hf_status hf__steps_read(hf__steps *steps, hf_status status, hf_error *err);

/*
 * If steps->returning is set then: fill the request that gives the lock back,
 * run it by steps->return_by_ms, and say what it came to. The request is
 * ended.
 */
void hf__steps_fill_return(hf__steps *steps);
void hf__steps_read_return(hf__steps *steps, hf_status status);

/* Was the blocking call interrupted? A grant is to be given back then: `status`
 * becomes HF_CANCELLED and steps->returning is set. */
hf_status hf__steps_check_interrupt(hf__steps *steps, hf_status status,
                                    hf_error *err);

/* Is another try worth its while, as long as there is time? */
bool hf__steps_may_retry(hf_status status);
/* After a refusal, before the sleep: a holder of another library is watched. */
void hf__steps_watch_holder(const hf__steps *steps, hf_status status,
                            int round);
/* Does an event mean that the next try may succeed? */
bool hf__steps_use_events(const hf__steps *steps, hf_status status);
/* How long to wait after an event that it heeds, before the next try. */
int64_t hf__steps_event_delay(const hf__steps *steps);
/* When to try again at the latest, whether or not an event comes; `round`
 * counts the tries without an event. */
int64_t hf__steps_next_try(const hf__steps *steps, hf_status status, int round);

/* Step 6: fill the request that leaves the queue. A failure of it costs the
 * others one wake-up at most, which their backstop makes good. */
void hf__steps_fill_leave(hf__steps *steps);
/* Step 6, at the end of everything: what the call came to. */
hf_status hf__steps_end(hf__steps *steps, hf_status status,
                        const hf_error *detail, hf_error *err);

#endif
