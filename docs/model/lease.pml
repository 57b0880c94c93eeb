/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease.pml - a lease on one store: at most one client believes that it holds
 * it, by requests and replies that are delayed, lost, repeated and reordered.
 *
 * The store runs a request in one step, as a script. Time passes between any
 * two steps. The clock of client 0 may stand still for one tick in LEASE.
 * Client 0 may also repeat its requests; as it may be first or second to hold
 * the lease, client 1 need not.
 *
 * Not in this model: the wait queue (handover.pml), several masters
 * (quorum.pml), tokens and writes (token.pml).
 */
#define LEASE 3 /* ticks */
#define CLIENTS 2
#ifndef HORIZON
#define HORIZON 4 /* the run ends here */
#endif
#ifndef CALLS
#define CALLS 3 /* owner ids, one for each call */
#endif
#define SLOTS 2      /* requests and replies in flight, of a client */

#ifdef NO_MARGIN
#define MARGIN 0
#else
#define MARGIN 1 /* of a lease, for clocks that run differently */
#endif

mtype = { ACQUIRE, RENEW, RELEASE, ASKING, HELD };
#define NONE 0 /* no request */
#define FREE 0 /* neither ASKING nor HELD */

/* ----------------------------------------------------------------- the store */

byte now = LEASE; /* its clock; a clock may stand still in the first tick */
byte owner;       /* 0: free; else the owner id */
byte expires;     /* the end of the lease */
byte replica_owner, replica_expires;
bool replaced;    /* by its replica, or by an empty store */

/* --------------------------------------------------------------- the clients */

typedef slot {
    mtype kind;   /* NONE: empty */
    byte id;      /* owner id */
    byte sent;    /* when, by the client's clock */
    bool done;    /* it is a reply now */
    bool yes;
};

typedef side {
    mtype state;
    byte id;      /* owner id of the current call */
    byte until;   /* validity, by its own clock */
    byte behind;  /* of its clock, ticks */
    byte stood;   /* when its clock last stood still */
    bool renewed;
    slot at[SLOTS];
};
side client[CLIENTS];
byte calls;

#define CLOCK(c) (now - client[c].behind)
#define BELIEVES(c) (client[c].state == HELD && client[c].until > CLOCK(c))
#define ONE_HOLDER assert(!(BELIEVES(0) && BELIEVES(1)))

/* ----------------------------------------------------------------- the scripts */

inline run_acquire(r) {
    if
    :: owner == 0 || expires <= now ->
        owner = r.id; expires = now + LEASE; r.yes = true
    :: else ->
        if
        :: owner == r.id ->
#ifndef KEEP_LEASE_ON_REENTRY
            expires = now + LEASE;
#endif
            r.yes = true
        :: else
        fi
    fi
}

inline run_renew(r) {
    if
#ifdef RENEW_ANY_OWNER
    :: owner != 0 && expires > now ->
#else
    :: owner == r.id && expires > now ->
#endif
        expires = now + LEASE; r.yes = true
    :: else
    fi
}

inline run_release(r) {
    if
#ifdef RELEASE_ANY_OWNER
    :: owner != 0 -> owner = 0
#else
    :: owner == r.id -> owner = 0
#endif
    :: else
    fi;
    r.yes = true
}

inline clear(c, i) {
    client[c].at[i].kind = NONE;
    client[c].at[i].id = 0;
    client[c].at[i].sent = 0;
    client[c].at[i].done = false;
    client[c].at[i].yes = false
}

/* Replies that no one reads are not kept. */
inline serve(c, i) {
    d_step {
        client[c].at[i].kind != NONE && !client[c].at[i].done ->
        printf("%d: store runs %e of %d for client %d\n", now,
               client[c].at[i].kind, client[c].at[i].id, c);
        client[c].at[i].done = true;
        if
        :: client[c].at[i].kind == ACQUIRE -> run_acquire(client[c].at[i])
        :: client[c].at[i].kind == RENEW -> run_renew(client[c].at[i])
        :: client[c].at[i].kind == RELEASE -> run_release(client[c].at[i])
        fi;
        if
        :: client[c].at[i].kind == RELEASE ||
           client[c].at[i].id != client[c].id -> clear(c, i)
        :: else
        fi
    }
}

inline lose(c, i) {
    d_step {
        client[c].at[i].kind != NONE ->
        printf("%d: %e of %d is lost\n", now, client[c].at[i].kind,
               client[c].at[i].id);
        clear(c, i)
    }
}

active proctype store() {
    do
    :: serve(0, 0) :: serve(0, 1) :: serve(1, 0)
    :: lose(0, 0) :: lose(0, 1) :: lose(1, 0)
#ifdef RESTART_WITH_DATA
    :: d_step { /* requests under way are lost */
        !replaced -> replaced = true;
        printf("%d: store is restarted with its data\n", now);
        clear(0, 0); clear(0, 1); clear(1, 0)
    }
#endif
#ifdef RESTART_EMPTY
    :: d_step {
        !replaced -> replaced = true; owner = 0; expires = 0;
        now++; /* so long it is away, at least */
        printf("%d: store is restarted without its data\n", now)
    }
#endif
#ifdef FAILOVER
    :: d_step { /* replication is asynchronous */
        !replaced && (replica_owner != owner ||
                      replica_expires != expires) ->
        replica_owner = owner; replica_expires = expires;
        printf("%d: the replica is up to date\n", now)
    }
    :: d_step {
        !replaced -> replaced = true; now++;
        owner = replica_owner; expires = replica_expires;
        printf("%d: failover\n", now)
    }
#endif
    od
}

/* ------------------------------------------------------------------- a client */

inline send(c, i, what) {
    client[c].at[i].kind = what;
    client[c].at[i].id = client[c].id;
    client[c].at[i].sent = CLOCK(c);
    printf("%d: client %d sends %e of %d\n", now, c, what, client[c].id)
}

inline forget(c) {
    client[c].state = FREE;
    client[c].id = 0;
    client[c].until = 0;
    client[c].renewed = false;
    if
    :: client[c].at[0].done -> clear(c, 0)
    :: else
    fi;
    if
    :: client[c].at[1].done -> clear(c, 1)
    :: else
    fi
}

/* Validity counts from before the request was sent. */
inline believe(c, i) {
#ifdef VALID_FROM_REPLY
    if
    :: CLOCK(c) + LEASE - MARGIN > client[c].until ->
        client[c].until = CLOCK(c) + LEASE - MARGIN
#else
    if
    :: client[c].at[i].sent + LEASE - MARGIN > client[c].until ->
        client[c].until = client[c].at[i].sent + LEASE - MARGIN
#endif
    :: else
    fi;
    if
    :: client[c].until > CLOCK(c) ->
        client[c].state = HELD;
        printf("%d: client %d believes until its %d\n", now, c,
               client[c].until)
    :: else -> client[c].until = 0 /* ask again */
    fi
}

inline read_reply(c, i) {
    d_step {
        client[c].at[i].kind != NONE && client[c].at[i].done ->
        if
        :: client[c].at[i].kind == ACQUIRE && client[c].state == ASKING ->
            if
            :: client[c].at[i].yes -> believe(c, i)
            :: else -> forget(c)
            fi
        :: client[c].at[i].kind == RENEW && client[c].state == HELD ->
            if
            :: client[c].at[i].yes -> believe(c, i)
            :: else -> forget(c)
            fi
        :: else /* of an earlier call */
        fi;
        clear(c, i);
        ONE_HOLDER
    }
}

inline ask(c, i) {
    d_step {
        client[c].at[i].kind == NONE && client[c].state == FREE &&
        calls < CALLS ->
        calls++;
#ifdef REUSE_OWNER_ID
        client[c].id = c + 1;
#else
        client[c].id = calls;
#endif
        client[c].state = ASKING;
        send(c, i, ACQUIRE)
    }
}

inline request(c, i, when, what) {
    d_step { client[c].at[i].kind == NONE && when -> send(c, i, what) }
}

proctype run_client(byte c) {
    do
    :: ask(c, 0)
    /* A try that got no reply is repeated, by the same owner. */
    :: request(c, 0, client[c].state == ASKING, ACQUIRE)
    :: request(c, 1, client[c].state == ASKING && c == 0, ACQUIRE)
    :: d_step { /* the watchdog */
        client[c].at[0].kind == NONE && BELIEVES(c) && !client[c].renewed ->
        client[c].renewed = true; send(c, 0, RENEW)
    }
    :: read_reply(c, 0)
    :: read_reply(c, 1)
    :: d_step { /* a release whose reply is not awaited */
        client[c].state == HELD && client[c].at[0].kind == NONE ->
        send(c, 0, RELEASE); forget(c)
    }
    :: d_step { /* one that is sent twice */
        c == 0 && client[c].state == HELD &&
        client[c].at[0].kind == NONE && client[c].at[1].kind == NONE ->
        send(c, 0, RELEASE); send(c, 1, RELEASE); forget(c)
    }
    :: d_step {
        client[c].state == HELD && client[c].until <= CLOCK(c) ->
        printf("%d: client %d has lost it\n", now, c); forget(c)
    }
    od
}

/* ----------------------------------------------------------------------- time */

active proctype clock() {
    do
    :: d_step { now < LEASE + HORIZON -> now++ }
    :: d_step { /* once in LEASE ticks */
        now < LEASE + HORIZON && now - client[0].stood >= LEASE ->
        client[0].stood = now; client[0].behind++; now++;
        printf("%d: the clock of client 0 has stood still\n", now)
    }
    od
}

init {
    atomic { run run_client(0); run run_client(1) }
}
