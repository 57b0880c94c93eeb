/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_steps.h - the requests and decisions of an acquire; acquire.c has
 * their order.
 *
 * 1. Draw a new owner id. All tries of a call use the same one, so that the
 *    next try resolves one whose reply was lost. After a definite refusal a new
 *    one is drawn until the call is queued, because an owner id also says since
 *    when the lease is held; likewise on a store that undoes an acquire it did
 *    not grant (HF__CAP_UNDOES).
 * 2. Try once without joining the wait queue. Most calls end here. A call that
 *    may wait leaves this out if its client is subscribed already.
 * 3. To wait, join the local wait queue: only its head waits at the store.
 * 4. Read the lock's event counter, then try again. The script refuses and
 *    queues in one step, so any later release moves the counter.
 * 5. Sleep until the counter moves, the holder's lease ends, or it is time to
 *    poll: after 1 s, growing to 5 s, and later for a waiter that is not at the
 *    head of the queue. The poll recovers a notification that was lost with its
 *    message or its sender.
 *    A release gives the lock to the head of the queue for a short lease, and
 *    its message says so: the call ends without another request. If an embedded
 *    store has lost the message, the value of the lock says it. The call
 *    counts the lease from when the store granted it. That instant is known by
 *    the store's clock; the last refusal, sent at a known instant here, told
 *    the store's instant at which it was answered, not earlier. On a store
 *    whose clock may be set meanwhile (HF__CAP_GUARDED), the call counts the
 *    lease from that refusal. If the lease may be over by then, or if nothing
 *    is known, go to 4: the same owner gets it again.
 *    On a quorum the next try awaits messages of a majority (docs/adr/0085).
 *    If the votes were split, all waiters would wake at once and split them
 *    again: sleep for a random time instead.
 *    A foreign holder notifies no one. The store is asked to track the key, and
 *    as it may be unable to, the waiter at the head polls every 20 to 100 ms
 *    (docs/adr/0039).
 *    A release that leaves a gap for other libraries asks the head of the queue
 *    to try later. It does so as soon as the key changes (docs/adr/0086).
 * 6. To give up, leave the queue, which passes on a wake-up that came too late.
 *    If a try may have been applied, release it: otherwise a holder that does
 *    not know of its lease would block the name until the lease ends.
 *
 * An acquire may first end what the handle has (hf__end_first), in the same
 * request: that one is sent at once, also if others of the client wait, and
 * before the call waits for anything. It is sent again, with the same owner
 * ids, until it is known how the end went.
 *
 * A grant that too few replicas acknowledged is released before anything else,
 * and the try counts as if the store were unavailable. If that release gets no
 * reply, step 6 sends another, perhaps late, so the next try draws a new owner
 * id.
 */
#ifndef HF__LEASE_ACQUIRE_STEPS_H
#define HF__LEASE_ACQUIRE_STEPS_H

#include "holdfast/lock.h"
#include "lease/handle.h"
#include "lease/lease.h"
#include "script/script_words.h"

/* Words of an end, behind those of the acquire: owner, what, delay, id. */
#define HF__END_WORDS 4

/* What the first request ends. */
typedef struct hf__end_first {
    hf__outcome outcome;
    char owner[HF_OWNER_SIZE]; /* "": there is nothing, or it was ended */
    int64_t valid_ms;          /* the lease was, until then; 0: it had ended */
    bool again;                /* a call before this one may have ended it */
    bool answered;             /* or a job was taken: it is not sent any more */
} hf__end_first;

typedef struct hf__steps {
    hf_lock *lock;
    hf__interrupt_mark mark; /* when the call began */
    hf__grant grant;
    int64_t wait_ms;
    int64_t until_ms; /* wait_ms after the call; 0: try once */
    int64_t limit_ms; /* request_ms later: the call ends by then */
    int64_t since_us; /* began to wait, store's clock; 0: not yet */
    int64_t pttl_ms;  /* left to the holder, last refusal; -1: no end */
    int64_t position; /* in the queue, last refusal */
    bool foreign;     /* the holder then was a foreign one */
    uint64_t holder;  /* hash of its owner id */
    int refusals;     /* in a row by the same holder */
    bool tried;
    bool split;        /* last refusal: votes split, no holder */
    int splits;        /* in a row */
    bool queued;       /* our inbox may be in the wait queue */
    bool unanswered;   /* a try may have been, or may yet be, applied */
    bool unresolved;   /* ... and no later try was answered */
    bool refused;      /* by the last try, and no other is in flight */
    bool turn;         /* a release has asked it to try ... */
    int64_t gap_ms;    /* ... after so long, if it is left to others; 0: now */
    int64_t left_ms;   /* since when it is left to others; 0: it is not */
    int64_t looked_ms; /* when its key was last tracked again meanwhile */
    int64_t gather_ms; /* when it stops to await more; 0: none came */
    uint32_t votes[HF__VOTES_MAX]; /* of a quorum, before the last try */
    int64_t entered_ms;            /* the local queue */
    int64_t asked_ms;              /* when the last refusal was asked for ... */
    int64_t clock_us;      /* ... and answered, store's clock; 0: never */
    hf__wait_queue *queue; /* of which it is the head; NULL: none */
    char *entry;           /* in the store's queue; NULL: not made */
    hf__pass pass;         /* its entry is NULL if it offers nothing */
    bool returning;        /* the grant is to be released */
    int64_t return_by_ms;

    hf__request request; /* of the current try */
    /* Its kind's argument and key too. */
    hf_bytes words[HF__LOCK_ACQUIRE_WORDS + 2 + HF__END_WORDS];
    hf__end_first end;
    char delay_text[HF__NUMBER_SIZE];
    char since_text[HF__NUMBER_SIZE];
    char rank_text[HF__NUMBER_SIZE];
    char lease_text[HF__NUMBER_SIZE];
} hf__steps;

/* Step 1. */
void hf__steps_init(hf__steps *steps, hf_lock *lock, int64_t wait_ms,
                    int64_t until_ms, hf__interrupt_mark mark);

/* The handle, if it has something and `end` has an outcome, lets go of it; the
 * first request is to end it. The watchdog's mutex is held. */
void hf__steps_let_go_locked(hf_lock *lock, hf__end_first *end);
/* Put its words behind `count` others; how many there are then. */
size_t hf__steps_add_end(hf__steps *steps, size_t count);
/* The status of a try that was answered with `status`: how did the end go,
 * which may have been sent before if `again`? If that stays unknown, there is
 * no other try. */
hf_status hf__steps_read_end(hf__steps *steps, hf_status status, bool again,
                             hf_error *err);
/* Is there something that was not ended, as far as is known? */
static inline bool hf__steps_ends(const hf__steps *steps)
{
    return steps->end.owner[0] != '\0';
}

/* Would a message of a release arrive? */
bool hf__steps_listens(const hf__steps *steps);
/* Fill the request of a try, which queues if `queue` is set. */
void hf__steps_fill(hf__steps *steps);
/* The outcome of a try whose request ended with `status` and `err`: HF_OK if
 * granted, HF_HELD, or a failure. Ends the request. */
hf_status hf__steps_read(hf__steps *steps, hf_status status, hf_error *err);

/*
 * If steps->returning is set afterwards: fill the request that releases the
 * grant, run it by steps->return_by_ms, and pass its status, which ends it.
 */
void hf__steps_fill_return(hf__steps *steps);
void hf__steps_read_return(hf__steps *steps, hf_status status);

/* If the blocking call was interrupted: HF_CANCELLED, and steps->returning is
 * set if there is a grant to release. Else `status`. */
hf_status hf__steps_check_interrupt(hf__steps *steps, hf_status status,
                                    hf_error *err);

/* Has a release given it to this call? Then the grant is as if by a try. */
bool hf__steps_take_grant(hf__steps *steps);

/* Before it joins the local queue: what it offers to a release by this client,
 * see hf__wait_place; NULL: nothing. */
hf__pass *hf__steps_offer(hf__steps *steps);
/* After it has awaited that: true: it was passed the lock, as if by a try. */
bool hf__steps_take_pass(hf__steps *steps);

/* May another try succeed, if there is time? */
bool hf__steps_may_retry(hf_status status);
/* After a refusal, before sleeping: track the key of a foreign holder. */
void hf__steps_watch_holder(const hf__steps *steps, hf_status status,
                            int round);
/* Is it worth trying again after an event? */
bool hf__steps_use_events(const hf__steps *steps, hf_status status);
/* How long to wait after such an event before the next try. If `left_ms` is set
 * afterwards, an event ends that: call left() then, or at its end. */
int64_t hf__steps_event_delay(hf__steps *steps);
/* Leave it to other libraries, after the store is asked to track the key. */
void hf__steps_leave(hf__steps *steps);
/* After an event: is it to be left for longer? Others of ours that try change
 * the key for an instant. */
bool hf__steps_leave_longer(hf__steps *steps);
/* That has ended; by an event, which says that one has taken it? */
void hf__steps_left(hf__steps *steps, bool by_event);
/* How long a lock of Redisson is left to other programs after a release of this
 * client: they would never get it if the next local call were always first. */
int64_t hf__steps_yield(const hf__steps *steps);
/* How long the last release of the handle, or the one that passed nothing on,
 * leaves it to others. */
int64_t hf__steps_rest(const hf__steps *steps);
/* When to try again if no event comes; `round` counts tries without an
 * event. */
int64_t hf__steps_next_try(const hf__steps *steps, hf_status status, int round);

/* Step 6: fill the request that leaves the queue, and gives back a grant. If it
 * fails, a grant costs the others its short lease. */
void hf__steps_fill_leave(hf__steps *steps);
/* Step 6, last: the status and message of the call. */
hf_status hf__steps_end(hf__steps *steps, hf_status status,
                        const hf_error *detail, hf_error *err);

#endif
