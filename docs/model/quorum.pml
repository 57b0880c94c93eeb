/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum.pml - a lock on a majority of three servers, one of which is started
 * again without its data.
 *
 * A call asks the servers, each of them or not, at any time: those of client 0
 * from the first server on, those of client 1 from the last. With the votes of
 * two it confirms the greatest token on two, in one step, and then believes in
 * what is left of the lease since it began. A restarted server is asked, but
 * its votes do not count for QUARANTINE ticks. Clocks of servers differ, and
 * stand still, so that the order of tokens is by counters alone, except of a
 * restarted server: its clock has passed all tokens, unless SET_BACK.
 */
#define SERVERS 3
#define LEASE 2 /* ticks */
#ifndef CALLS
#define CALLS 2
#endif
#ifndef QUARANTINE
#define QUARANTINE 2
#endif
#ifdef NO_RESTART
#define RESTARTS 0
#else
#define RESTARTS 1
#endif

mtype = { ASKING, HELD }; /* else idle: 0 */

typedef node {
    byte owner;      /* call; 0: free */
    byte left;       /* of its lease */
    byte last;       /* token */
    byte quarantine; /* ticks in which its votes do not count */
};
node server[SERVERS];
byte restarts;

typedef side {
    mtype state;
    byte call;
    byte age;        /* ticks since the call began */
    byte asked;      /* servers, or passed over */
    byte votes;
    byte token;
};
side client[2];
byte calls, highest;

#define BELIEVES(c) (client[c].state == HELD && client[c].age < LEASE)

inline end_call(c) {
    client[c].state = 0;
    client[c].call = 0;
    client[c].age = 0;
    client[c].asked = 0;
    client[c].votes = 0;
    client[c].token = 0
}

inline undo(c, s) {
    if
    :: server[s].owner == client[c].call ->
        server[s].owner = 0; server[s].left = 0
    :: else
    fi
}

#define TURN(c, s) (client[c].asked == (c == 0 -> s : SERVERS - 1 - s))

inline ask(c, s) {
    d_step {
        client[c].state == ASKING && TURN(c, s) -> client[c].asked++;
        if
        :: server[s].left == 0 ->
            server[s].owner = client[c].call;
            server[s].left = LEASE;
            server[s].last++;
            printf("server %d grants it to call %d, token %d\n", s,
                   client[c].call, server[s].last);
            if
            :: server[s].quarantine > 0 -> skip
            :: else ->
                client[c].votes++;
                if
                :: server[s].last > client[c].token ->
                    client[c].token = server[s].last
                :: else
                fi
            fi
        :: else
        fi
    }
}

inline raise(c, s) {
    if
    :: server[s].last < client[c].token -> server[s].last = client[c].token
    :: else
    fi
}

#define HAS(c, s) (server[s].owner == client[c].call && server[s].left > 0 && \
    server[s].quarantine == 0)

inline hold(c) {
    client[c].state = HELD;
    client[c].asked = 0;
    client[c].votes = 0;
    printf("call %d holds the lock, token %d\n", client[c].call,
           client[c].token);
    assert(!(BELIEVES(0) && BELIEVES(1)));
    assert(client[c].token > highest); /* tokens grow */
    highest = client[c].token
}

inline confirm(c, s, other) {
    d_step {
        client[c].state == ASKING && client[c].votes >= 2 &&
        client[c].age < LEASE && HAS(c, s) && HAS(c, other) ->
        raise(c, s);
        raise(c, other);
        hold(c)
    }
}

proctype run_client(byte c) {
    do
    :: d_step {
        client[c].state == 0 && calls < CALLS ->
        calls++; client[c].call = calls; client[c].state = ASKING
    }
    :: ask(c, 0) :: ask(c, 1) :: ask(c, 2)
    :: d_step { /* one that it does not reach */
        client[c].state == ASKING && client[c].asked < SERVERS ->
        client[c].asked++
    }
#ifdef NO_CONFIRM
    :: d_step {
        client[c].state == ASKING && client[c].votes >= 2 &&
        client[c].age < LEASE -> hold(c)
    }
#else
    :: confirm(c, 0, 1) :: confirm(c, 0, 2) :: confirm(c, 1, 2)
#endif
    :: d_step { /* a release, or a call that is given up; servers hear it */
        client[c].state != 0 ->
        printf("call %d ends\n", client[c].call);
        undo(c, 0); undo(c, 1); undo(c, 2);
        end_call(c)
    }
    :: d_step { client[c].state != 0 -> end_call(c) /* ... or do not */ }
    od
}

inline restart(s) {
    d_step {
        restarts < RESTARTS -> restarts++;
        server[s].owner = 0; server[s].left = 0;
#ifdef SET_BACK
        server[s].last = 0;
#else
        server[s].last = server[0].last + server[1].last + server[2].last;
#endif
        server[s].quarantine = QUARANTINE;
        printf("server %d is started again, empty\n", s)
    }
}

inline shorter(time) {
    if
    :: time > 0 -> time--
    :: else
    fi
}

inline pass(c) {
    if
    :: client[c].state != 0 && client[c].age < LEASE -> client[c].age++
    :: else
    fi
}

active proctype world() {
    do
    :: d_step {
        printf("a tick\n");
        shorter(server[0].left); shorter(server[1].left);
        shorter(server[2].left); shorter(server[0].quarantine);
        shorter(server[1].quarantine); shorter(server[2].quarantine);
        pass(0); pass(1)
    }
    :: restart(0)
#ifndef NO_RESTART
    :: restart(1) :: restart(2)
#endif
    od
}

init {
    atomic {
        server[1].last = 1; /* clocks differ */
        server[2].last = 2;
        run run_client(0);
        run run_client(1)
    }
}
