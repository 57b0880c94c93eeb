/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.pml - the wait queue, and a release that gives the lock to its head.
 *
 * A release sets the lock to the first waiter for a SHORT lease, and sends it a
 * message, which may be late or lost. The waiter counts its lease from when the
 * store granted it: the message says how long that was after the store's last
 * refusal, and the waiter knows when it sent the request that was refused.
 * Waiters also poll. Client 2 may die at any instant, unnoticed by the store.
 *
 * All times are relative, so runs have no end: ages grow and leases shrink with
 * each tick. A client that is due to renew, release or poll does so before
 * the next tick; requests may be under way for DELAY ticks. Drift, and requests
 * that are repeated, are in lease.pml.
 *
 * With LTL=, a formula of the end of this file, it is about what must
 * happen: each process that can always move does so in the end, and a message is
 * in time unless it is one of the LOSSES that are lost.
 */
#define CLIENTS 3
#define SHORT 2 /* of a grant */
#define LONG 2
#define POLL 2
#ifndef DELAY
#define DELAY 1
#endif
#ifndef LOSSES
#define LOSSES 1 /* messages */
#endif

mtype = { SENT, WAITING, HELD, DEAD }; /* else idle: 0 */

/* ----------------------------------------------------------------- the store */

byte owner;       /* client and one; 0: free */
byte left;        /* of its lease */
byte queue[CLIENTS], queued; /* clients, the first to come at 0 */

/* --------------------------------------------------------------- the clients */

typedef side {
    mtype state;
    byte valid;     /* how long it believes yet */
    byte sent;      /* age of the request under way */
    byte asked;     /* age of the request that was refused last */
    byte refused;   /* age of that refusal, by the store's clock */
    byte poll;      /* ticks until it polls */
    bool came;      /* has been at the head: queues there again */
    bool renewed;
    byte message;   /* under way: 1 and `refused` when it was granted; 0: none */
    bool old;       /* it was sent before the last refusal */
};
side client[CLIENTS];
byte losses;
byte i;             /* of loops */

#define BELIEVES(c) (client[c].state == HELD && client[c].valid > 0)
#define ONE_HOLDER assert(BELIEVES(0) + BELIEVES(1) + BELIEVES(2) <= 1)

inline leave_queue(c) {
    i = 0;
    do
    :: i < queued && queue[i] != c -> i++
    :: else -> break
    od;
    if
    :: i < queued ->
        queued--;
        do
        :: i < queued -> queue[i] = queue[i + 1]; i++
        :: else -> break
        od;
        queue[queued] = 0
    :: else
    fi;
    i = 0
}

/* The score is when the call began to wait, so it keeps its place. */
inline join_queue(c) {
    i = 0;
    do
    :: i < queued && queue[i] != c -> i++
    :: else -> break
    od;
    if
    :: i < queued -> skip /* it is there */
    :: i == queued && client[c].came ->
        do
        :: i > 0 -> queue[i] = queue[i - 1]; i--
        :: else -> break
        od;
        queue[0] = c;
        queued++
    :: else -> queue[queued] = c; queued++
    fi;
    i = 0
}

inline end_call(c) {
    client[c].state = 0;
    client[c].valid = 0;
    client[c].sent = 0;
    client[c].asked = 0;
    client[c].refused = 0;
    client[c].poll = 0;
    client[c].came = false;
    client[c].renewed = false;
    client[c].message = 0; /* the next call has another owner id */
    client[c].old = false
}

inline hold(c, ticks) {
    end_call(c);
    client[c].state = HELD;
    client[c].valid = ticks;
    ONE_HOLDER
}

inline send(c) {
    client[c].state = SENT;
    client[c].sent = 0;
    printf("client %d asks\n", c)
}

inline run_acquire(c) {
    if
    :: left == 0 || owner == c + 1 ->
        owner = c + 1;
        left = LONG;
        leave_queue(c);
        printf("store: granted to client %d, asked %d ago\n", c,
               client[c].sent);
        if
        :: client[c].sent < LONG -> hold(c, LONG - client[c].sent)
        :: else -> send(c) /* over already: ask again */
        fi
    :: else ->
        join_queue(c);
        printf("store: client %d is refused, asked %d ago\n", c,
               client[c].sent);
        client[c].asked = client[c].sent;
        client[c].sent = 0;
        client[c].refused = 0;
        client[c].old = client[c].message != 0;
        client[c].poll = POLL;
        client[c].state = WAITING
    fi
}

inline hand_over() {
    if
    :: queued > 0 ->
        first = queue[0];
        leave_queue(first);
        client[first].came = true;
#ifdef BARGE
        owner = 0; /* it is only woken */
        left = 0;
#else
        owner = first + 1;
        left = SHORT;
#endif
        printf("store: client %d is handed the lock, %d after its refusal\n",
               first, client[first].refused);
        if
        :: client[first].state == DEAD -> skip
        :: else ->
            client[first].message = client[first].refused + 1;
            client[first].old = false
        fi
    :: else -> owner = 0; left = 0
    fi;
    first = 0
}

/* Believe in the rest of the lease, or ask. */
inline read_message(c) {
#ifdef BARGE
    send(c)
#else
#ifdef GRANT_FROM_READ
    client[c].asked = 0; /* as if it were granted now */
    client[c].message = 1;
#endif
#ifdef IGNORE_REFUSAL
    client[c].old = false;
#endif
    if
    :: !client[c].old && client[c].asked + 1 < client[c].message + SHORT ->
        printf("client %d reads the grant, and believes for %d\n", c,
               client[c].message + SHORT - 1 - client[c].asked);
        assert(owner == c + 1); /* a late grant is not believed */
        hold(c, client[c].message + SHORT - 1 - client[c].asked);
        assert(client[c].valid <= left)
    :: else ->
        printf("client %d reads a grant that is late\n", c);
        client[c].message = 0;
        client[c].old = false;
        send(c)
    fi
#endif
}

proctype run_client(byte c) {
    byte first;

    do
    :: d_step { client[c].state == 0 -> send(c) }
    :: d_step { client[c].state == SENT -> run_acquire(c) }
#ifndef NO_POLL
    :: d_step { client[c].state == WAITING && client[c].poll == 0 -> send(c) }
#endif
    :: d_step {
        client[c].state == WAITING && client[c].message != 0 -> read_message(c)
    }
    :: d_step { /* the message is lost */
        losses < LOSSES && client[c].message != 0 ->
        losses++;
        client[c].message = 0;
        client[c].old = false;
        printf("the message to client %d is lost\n", c)
    }
    :: d_step {
        BELIEVES(c) && !client[c].renewed ->
        client[c].renewed = true;
        if
        :: owner == c + 1 && left > 0 -> left = LONG; client[c].valid = LONG
        :: else -> end_call(c)
        fi
    }
    :: d_step {
        client[c].state == HELD ->
        printf("client %d releases\n", c);
        end_call(c);
        if
        :: owner == c + 1 && left > 0 -> hand_over()
        :: else
        fi
    }
    :: d_step {
        c == 2 && (client[c].state == WAITING || client[c].state == HELD) ->
        printf("client %d dies\n", c);
        end_call(c);
        client[c].state = DEAD
    }
    od
}

/* ----------------------------------------------------------------------- time */

#ifdef NO_POLL
#define POLLS(c) false
#else
#define POLLS(c) (client[c].state == WAITING && client[c].poll == 0)
#endif
#ifdef LTL /* a message that is not lost is in time */
#define ARRIVES(c) (client[c].message != 0)
#else
#define ARRIVES(c) false
#endif
#define DUE(c) (POLLS(c) || ARRIVES(c) || \
    client[c].state == HELD && client[c].valid <= 1 || \
    client[c].state == SENT && client[c].sent == DELAY)
#define OLDEST (POLL + DELAY + 1)

inline older(age) {
    if
    :: age < OLDEST -> age++
    :: else
    fi
}

inline shorter(time) {
    if
    :: time > 0 -> time--
    :: else
    fi
}

inline pass(c) {
    if
    :: client[c].state == HELD -> client[c].valid--
    :: client[c].state == SENT || client[c].state == WAITING ->
        if
        :: client[c].state == SENT -> client[c].sent++
        :: else
        fi;
        older(client[c].asked);
        older(client[c].refused);
        shorter(client[c].poll)
    :: else
    fi
}

active proctype clock() {
    do
    :: d_step {
        !DUE(0) && !DUE(1) && !DUE(2) ->
        printf("a tick\n");
#ifdef GRANT_WITHOUT_END
        if
        :: owner == 3 && client[2].state == DEAD
        :: else -> shorter(left)
        fi;
#else
        shorter(left);
#endif
        pass(0); pass(1); pass(2)
    }
    od
}

init {
    atomic {
        run run_client(0);
#ifndef TWO_CLIENTS
        run run_client(1);
#endif
        run run_client(2)
    }
}

#ifdef LTL
#define waits (client[0].state == WAITING)
#define holds (client[0].state == HELD)
#define held (client[0].state == HELD || client[1].state == HELD)
#define dead_holds (client[2].state == DEAD && owner == 3 && left > 0)
ltl no_waiter_starves { [] (waits -> <> holds) }
ltl it_is_granted { [] (waits -> <> held) }
ltl a_dead_waiter_is_passed { [] (dead_holds -> <> !dead_holds) }
#endif
