/* SPDX-License-Identifier: Apache-2.0 */
/*
 * token.pml - the order of fencing tokens, and of the writes that a resource
 * takes, when a store loses its counter, data or place, or its clock is set.
 *
 * A grant is one step: each is to another holder than the last. Two servers may
 * be the master, one at a time; the other one has a copy, of any age. A token
 * is issued in one of three ways:
 *
 *     CLOCK_OR_NEXT  the clock, or the last token and one (as the scripts do)
 *     CONNECTION     the last token and one, if this connection has had a token
 *                    by CLOCK_OR_NEXT; else so
 *     WINDOW         the last token and one, for WINDOW ticks after one by
 *                    CLOCK_OR_NEXT, while what was reserved then lasts
 *
 * Each event is a -D; check.py says which ones each way survives.
 */
#ifndef HORIZON
#define HORIZON 4
#endif
#ifndef OUTAGE
#define OUTAGE 1  /* ticks until a server or its replica is back */
#endif
#ifndef WINDOW_TICKS
#define WINDOW_TICKS 1
#endif
#define PER_TICK 3 /* what the clock counts in a tick; grants are fewer */
#define START 3    /* so that the clock may be set back */

byte now = START;
byte back[2];      /* ticks that the clock of a server is behind */
byte last[2];      /* the counter of each server; 0: lost */
byte reserved[2];  /* WINDOW: no larger token is issued before the next base */
byte base_ends[2]; /* WINDOW: by the server's clock, ticks */
byte saved;        /* the counter of the master's last snapshot */
byte saved_reserved, saved_ends;
bit master;
bool based[4];     /* CONNECTION: of client c to server s, at 2 c + s */
byte in_tick;      /* grants in this tick */
bool event;        /* has happened; there is one in a run, and its companions */
bool set_back;
bool failed_back;

byte grants, highest;
byte write, write_grant; /* token of a write under way; 0: none */
byte fence, fence_grant;

#ifdef PROXY /* has one connection to each client, whatever is behind it */
#define BASED(c, s) based[2 * (c)]
#else
#define BASED(c, s) based[2 * (c) + (s)]
#endif
#define TICKS (now - back[master])
#define CLOCK (TICKS * PER_TICK)
#define LARGER(a, b) ((a) > (b) -> (a) : (b))

/* ------------------------------------------------------------------- a token */

inline base() {
#ifdef NO_CLOCK
    last[master] = last[master] + 1;
#else
#ifdef NO_COUNTER
    last[master] = CLOCK;
#else
    last[master] = LARGER(last[master] + 1, CLOCK);
#endif
#endif
#ifdef WINDOW
    last[master] = LARGER(last[master], reserved[master] + 1);
    reserved[master] = last[master] + PER_TICK * WINDOW_TICKS - 1;
    base_ends[master] = TICKS + WINDOW_TICKS;
#endif
    printf("%d: server %d bases its counter: token %d\n", now, master,
           last[master])
}

inline next() {
    last[master] = last[master] + 1;
    printf("%d: server %d counts: token %d\n", now, master, last[master])
}

inline issue(c) {
    if
#ifdef CONNECTION
    :: BASED(c, master) && last[master] != 0 -> next()
#endif
#ifdef WINDOW
    :: base_ends[master] > TICKS && last[master] != 0 &&
       last[master] < reserved[master] -> next()
#endif
    :: else ->
        base();
#ifdef CONNECTION
        BASED(c, master) = true
#endif
    fi;
#ifndef ONLY_FENCE
    assert(last[master] > highest); /* tokens grow */
#endif
    highest = last[master];
    grants++
}

inline take(token, number) {
    if
#ifdef NO_FENCE
    :: true ->
#else
    :: token < fence
    :: else ->
#endif
        printf("%d: the resource takes the write with token %d\n", now, token);
        assert(number >= fence_grant); /* no older write */
        fence = token;
        fence_grant = number
    fi
}

inline give(c) {
    in_tick < PER_TICK - 1 ->
    in_tick++;
    printf("%d: client %d is granted the lock\n", now, c);
    issue(c)
}

/* It writes at once, or is paused: then its write arrives at any later time,
 * or never. */
active proctype clients() {
    do
    :: d_step { give(0); take(last[master], grants) }
    :: d_step { give(0); write = last[master]; write_grant = grants }
#ifdef CONNECTION
    :: d_step { give(1) }
#endif
    :: d_step {
        write != 0 -> take(write, write_grant);
        write = 0; write_grant = 0
    }
    od
}

/* --------------------------------------------------------------------- events */

/* A proxy keeps those to its clients. */
inline break_connections(s) {
#ifdef PROXY
    skip
#else
    BASED(0, s) = false;
    BASED(1, s) = false
#endif
}

inline lose_counter(s) {
    last[s] = 0;
    reserved[s] = 0;
    base_ends[s] = 0
}

inline wait_for_it() {
    now = now + OUTAGE;
    in_tick = 0
}

active proctype events() {
    do
    :: d_step { now < START + HORIZON -> now++; in_tick = 0 }
#if defined(FAILOVER) || defined(FAILBACK)
    :: d_step { /* replication */
        last[1 - master] != last[master] ->
        last[1 - master] = last[master];
        reserved[1 - master] = reserved[master];
        base_ends[1 - master] = base_ends[master];
        printf("%d: server %d is up to date\n", now, 1 - master)
    }
#endif
#ifdef COUNTER_DELETED
    :: d_step {
        !event && last[master] != 0 -> event = true;
        lose_counter(master);
        now++; in_tick = 0;
        printf("%d: the counter is lost\n", now)
    }
#endif
#ifdef RESTARTED_EMPTY
    :: d_step {
        !event -> event = true;
        lose_counter(master);
        break_connections(master);
        wait_for_it();
        printf("%d: restarted without its data\n", now)
    }
#endif
#ifdef RESTARTED_OLD
    :: d_step {
        !event && saved != last[master] ->
        saved = last[master];
        saved_reserved = reserved[master];
        saved_ends = base_ends[master];
        printf("%d: snapshot\n", now)
    }
    :: d_step {
        !event -> event = true;
        last[master] = saved;
        reserved[master] = saved_reserved;
        base_ends[master] = saved_ends;
        break_connections(master);
        wait_for_it();
        printf("%d: restarted with the snapshot\n", now)
    }
#endif
#ifdef RESTARTED_WITH_ALL
    :: d_step {
        !event -> event = true;
        break_connections(master);
        wait_for_it();
        printf("%d: restarted with all its data\n", now)
    }
#endif
#ifdef FAILOVER
    :: d_step { /* the master is dead */
        !event -> event = true;
        break_connections(master);
        master = 1 - master;
        wait_for_it();
#ifdef REPLICA_BEHIND
        back[master] = REPLICA_BEHIND;
#endif
        printf("%d: failover to server %d\n", now, master)
    }
#endif
#ifdef FAILBACK
    :: d_step { /* both live: connections to the other one stay open */
        !event || !failed_back ->
        failed_back = event;
        event = true;
        master = 1 - master;
        wait_for_it();
        printf("%d: failover to server %d, which was not killed\n", now, master)
    }
#endif
#ifdef SET_BACK
    :: d_step {
        !set_back -> set_back = true;
        back[0] = SET_BACK; back[1] = SET_BACK;
        printf("%d: clocks are set back by %d ticks\n", now, SET_BACK)
    }
#endif
    od
}
