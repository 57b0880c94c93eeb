/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barrier.pml - a barrier: no generation is passed by more than its parties.
 *
 * Each client is one call, which arrives once. A call that waits has a lease in
 * the store, which each of its requests renews. It may be stopped between any
 * two steps, for any time: no step ever has to be made. Replies may be late, or
 * lost, and then the request is sent again. A call may give up, and the barrier
 * may be reset once.
 *
 * The store runs a request in one step, as barrier_arrive.lua and
 * barrier_leave.lua; the comments name their variables. Leases shrink with each
 * tick, so runs have no end. Not in this model: that a barrier is forgotten
 * after a week, and the first copy of a request that is run after the second.
 */
#define PARTIES 2
#define CLIENTS 4
#define LEASE 2
#define LOSSES 1 /* replies */
#define GENERATIONS 8

mtype = { SENT, ANSWERED, WAITING, PASSED, LOST }; /* else not called: 0 */

/* ----------------------------------------------------------------- the store */

byte generation;        /* 0: the barrier has no state */
byte passed, failed;    /* the last generations that did */
bool waits[CLIENTS];    /* `parties`: is among those that wait ... */
byte left[CLIENTS];     /* ... and how much of its lease is left */
bool counted[CLIENTS];  /* `passed`: of the last generation that ended */
bool reset;

/* --------------------------------------------------------------- the clients */

typedef side {
    mtype state;
    byte known;   /* the generation that it waits in; 0: it does not know */
    bool leaves;  /* its request is to leave */
    mtype reply;
    byte about;   /* the generation that the reply names */
};
side client[CLIENTS];
byte passes[GENERATIONS]; /* by calls that returned */
byte losses;
byte i, mine, waiting;    /* of one step */
bool expired;

#define EACH i = 0; do :: i < CLIENTS ->
#define NEXT i++ :: else -> i = 0; break od

/* ----------------------------------------------------------------- the scripts */

inline answer(c, what, which) {
    client[c].reply = what;
    client[c].about = which;
    printf("store: client %d is answered %e, generation %d\n", c, what, which)
}

/* barrier_ended.lua; client[c].reply is 0 if neither. */
inline look(c) {
    client[c].reply = 0;
    mine = client[c].known;
    if
    :: mine == 0 && counted[c] -> mine = generation - 1
    :: else
    fi;
    if
#ifdef UNCOUNTED
    :: mine > 0 && mine == passed -> answer(c, PASSED, mine)
#else
    :: mine > 0 && mine == passed && counted[c] -> answer(c, PASSED, mine)
#endif
    :: else ->
        if
        :: mine > 0 && (mine != generation || !waits[c] || mine <= failed) ->
            answer(c, LOST, mine)
        :: else
        fi
    fi
}

/* Those that wait are those of the generation that ends. */
inline end_generation() {
    EACH
        counted[i] = waits[i];
        waits[i] = false;
        left[i] = 0;
    NEXT;
    generation++
}

inline arrive(c) {
    if
    :: generation == 0 -> generation = 1
    :: else
    fi;
    expired = false;
    EACH
        expired = expired || (waits[i] && left[i] == 0);
    NEXT;
    if
    :: expired -> failed = generation
    :: else
    fi;
    if
    :: failed == generation -> answer(c, LOST, generation)
    :: else ->
        waits[c] = true;
        left[c] = LEASE;
        waiting = 0;
        EACH
            waiting = waiting + waits[i];
        NEXT;
        if
        :: waiting < PARTIES -> answer(c, WAITING, generation)
        :: else ->
            passed = generation;
            end_generation();
            answer(c, PASSED, passed)
        fi
    fi;
    waiting = 0;
    expired = false
}

inline leave(c) {
    if
    :: waits[c] -> waits[c] = false; left[c] = 0; failed = generation
    :: else
    fi;
    answer(c, LOST, generation)
}

/* ------------------------------------------------------------------- a client */

proctype run_client(byte c) {
    do
    :: d_step {
        client[c].state == 0 -> client[c].state = SENT;
        printf("client %d arrives\n", c)
    }
    :: d_step {
        client[c].state == SENT ->
        look(c);
        if
        :: client[c].reply == 0 && !client[c].leaves -> arrive(c)
        :: client[c].reply == 0 && client[c].leaves -> leave(c)
        :: else
        fi;
        mine = 0;
        client[c].state = ANSWERED
    }
    :: d_step { /* the reply is lost */
        losses < LOSSES && client[c].state == ANSWERED ->
        losses++;
        client[c].state = SENT;
        client[c].reply = 0;
        client[c].about = 0
    }
    :: d_step {
        client[c].state == ANSWERED ->
        client[c].state = client[c].reply;
        if
        :: client[c].reply == WAITING -> client[c].known = client[c].about
        :: client[c].reply == PASSED ->
            passes[client[c].about]++;
            printf("client %d has passed %d\n", c, client[c].about);
            assert(passes[client[c].about] <= PARTIES)
        :: else
        fi;
        client[c].reply = 0;
        client[c].about = 0
    }
    :: d_step { client[c].state == WAITING -> client[c].state = SENT }
    :: d_step { /* it gives up */
        c == 0 && client[c].state == WAITING ->
        client[c].leaves = true;
        client[c].state = SENT
    }
    od
}

/* --------------------------------------------------------- time, and a reset */

/* When all leases have ended the key is gone. */
active proctype clock() {
    do
    :: d_step {
        expired = true;
        EACH
            if
            :: left[i] > 0 -> left[i]--
            :: else
            fi;
            expired = expired && left[i] == 0;
        NEXT;
        if
        :: expired ->
            EACH
                waits[i] = false;
            NEXT
        :: else
        fi;
        expired = false;
        printf("a tick\n")
    }
    :: d_step {
        !reset && generation > 0 ->
        reset = true;
        failed = generation;
        end_generation();
        printf("store: reset\n")
    }
    od
}

init {
    atomic {
        run run_client(0); run run_client(1); run run_client(2);
        run run_client(3)
    }
}
