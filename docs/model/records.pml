/* SPDX-License-Identifier: Apache-2.0 */
/*
 * records.pml - a lock on a store of records: requests run at the client, and
 * are committed if no version has changed; what is over is decided there too.
 *
 * The store has a clock, which may be set at any instant, forward or back: by
 * who operates it, or as a standby with another clock is promoted. A client
 * knows a lower bound of it from a sample, which each answer renews. It runs a
 * request with that as TIME, and sends a commit, which the store refuses if a
 * version has changed, if TIME is ahead of its clock or too old, or if the
 * waiter to whom it hands the lock over does not listen.
 *
 * The guard: a lease counts as over only if TIME says so and the client has
 * seen the same version for as long as it was, by its own clock; after the
 * store's was set back, by its own alone. Who is first to wait writes the
 * lock's record again, so that its release looks at the queue.
 *
 * Two clients acquire and release endlessly; client 1 may die at any instant.
 * A waiter polls in time; the message of a hand-over may be late until then, or
 * be lost, with the connection, which the waiter notices, or without.
 * A release that hands over to no one can be seen before it is on the disk, and is
 * answered once it is: a crash until then undoes it, unless another commit, which
 * waits for its own flush, has followed. With EARLY_TAKE a grant is seen and
 * answered so.
 * Times are relative, so runs have no end; the oldest count as OLDEST.
 * Not in this model: renewal (lease.pml), the order of waiters (handover.pml),
 * what became of a commit without an answer, and groups (commits.pml), marks,
 * with which a process believes what another one on its machine has seen.
 */
#ifndef LEASE
#define LEASE 2
#endif
#define POLL LEASE
#ifndef DELAY
#define DELAY 0 /* of a request, and of its reply */
#endif
#define LATE 2 /* how old TIME may be */
#ifndef AHEAD
#define AHEAD 0 /* how far the store's clock is set forward, once */
#endif
#ifndef BACK
#define BACK 0
#endif
#ifndef LOSSES
#define LOSSES 1 /* replies and messages, unnoticed */
#endif
#ifndef BREAKS
#define BREAKS 1 /* connections */
#endif
#ifndef CRASHES
#define CRASHES 1 /* of the store, while a commit is not on the disk */
#endif
#if defined(DRIFT) && !defined(NO_MARGIN)
#define MARGIN 1
#else
#define MARGIN 0
#endif
#define OLDEST (2 * LEASE + 2 * DELAY + AHEAD + BACK + 1)

mtype = { SENT, ANSWERED, WAITING, HELD, DEAD };    /* else idle: 0 */
mtype = { LOOK, TAKE, JOIN, HAND, FREE };           /* what a commit does */

/* ----------------------------------------------------------------- the store */

byte owner;      /* client and one; 0: free */
short age;       /* of the record: its clock less TIME of who wrote it */
byte length;     /* of the lease, from then */
bool marked;     /* someone waits */

/* The same before the last commit, if that is not on the disk. */
byte loose;      /* its client and one; 0: it is */
byte was_owner;
short was_age;
byte was_length;
bool was_marked, was_queued; /* the other one */

/* --------------------------------------------------------------- the clients */

typedef side {
    mtype state;
    mtype what;
    bool gives;     /* it wants to release, else to acquire */
    bool queued;    /* at the store */
    bool same;      /* what it knows is the newest version of all records */
    bool known;     /* ... of the lock's record */
    byte watched;   /* for how long it has known that */
    short behind;   /* the store's clock less the bound, or TIME of a commit */
    byte skew;      /* how much less it may be */
    byte trip;      /* age of the request under way */
    byte end;       /* length of the lease that it writes */
    bool absent;    /* the other one does not listen */
    byte valid;     /* how long it believes yet */
    byte poll;      /* time until it polls */
    byte asked;     /* since what its last refusal counts */
    short refused;  /* the store's clock less TIME of that */
    bool message;   /* a hand-over, under way */
    short handed;   /* the store's clock less TIME of that */
};
side client[2];
byte losses, breaks, crashes;
byte stood;         /* time until the clock of client 0 may stand still */

#define OTHER(c) client[1 - (c)]
#define BELIEVES(c) (client[c].state == HELD && client[c].valid > 0)
#define ONE_HOLDER assert(!(BELIEVES(0) && BELIEVES(1)))

inline end_call(c) {
    client[c].state = 0;
    client[c].gives = false;
    client[c].absent = false;
    client[c].valid = 0;
    client[c].poll = 0;
    client[c].asked = 0;
    client[c].refused = 0;
    client[c].message = false; /* the next call has another owner id */
    client[c].handed = 0
}

inline send(c, kind) {
    client[c].asked = 0;
    client[c].refused = 0;
    client[c].poll = 0;
    client[c].trip = 0;
    client[c].state = SENT;
    client[c].what = kind;
    if
    :: kind == LOOK -> client[c].skew = 0; client[c].behind = 0
    :: else
    fi
}

/* ------------------------------------------------- a run, on what it knows */

#define TIME_SAYS(c) (age - client[c].behind >= length)
#ifdef NO_GUARD
#define OVER(c) TIME_SAYS(c)
#else
#define OVER(c) (client[c].watched >= length + MARGIN && \
    (TIME_SAYS(c) || before))
#endif
#ifdef NO_PRESENCE
#define LISTENS(c) (OTHER(c).state != DEAD)
#else
#define LISTENS(c) (!client[c].absent)
#endif

/* The lease that is written again: its end stays, or is what this client has
 * seen of it, the later of the two; with SHORTER_AGAIN its end stays. */
inline write_again(c) {
    client[c].end = 0;
    if
    :: !TIME_SAYS(c) -> client[c].end = length - (age - client[c].behind)
    :: else
    fi;
    if
#ifndef SHORTER_AGAIN
    :: client[c].end + client[c].watched < length ->
#else
    :: TIME_SAYS(c) && client[c].watched < length ->
#endif
        client[c].end = length - client[c].watched
    :: else
    fi
}

inline run_request(c) {
    before = false;
    if
    :: !client[c].same -> send(c, LOOK)
    :: client[c].same && client[c].gives && owner != c + 1 -> end_call(c)
    :: else ->
        before = client[c].behind > age;
#ifndef TIME_GOES_BACK
        if
        :: before -> client[c].behind = age
        :: else
        fi;
#endif
        if
        :: client[c].gives && owner == c + 1 && OTHER(c).queued &&
           LISTENS(c) -> send(c, HAND)
        :: client[c].gives && owner == c + 1 &&
           !(OTHER(c).queued && LISTENS(c)) -> send(c, FREE)
        :: !client[c].gives && (owner == 0 || owner == c + 1 || OVER(c)) ->
            send(c, TAKE)
        :: !client[c].gives && owner == 2 - c && !OVER(c) ->
            write_again(c);
            send(c, JOIN)
        fi
    fi;
    before = false
}

/* ------------------------------------------------------------------ a commit */

inline write_lock(c, who, lasts) {
    owner = who;
    length = lasts;
    age = client[c].behind;
    OTHER(c).known = false;
    OTHER(c).watched = 0;
    client[c].watched = 0
}

inline flush() {
    loose = 0;
    was_owner = 0;
    was_age = 0;
    was_length = 0;
    was_marked = false;
    was_queued = false
}

inline see_early(c) {
    loose = c + 1;
    was_owner = owner;
    was_age = age;
    was_length = length;
    was_marked = marked;
    was_queued = OTHER(c).queued
}

/* Who freed a lease does not believe in it, so what was watched of it may begin
 * again. */
inline crash(c) {
    owner = was_owner;
    age = was_age;
    length = was_length;
    marked = was_marked;
    OTHER(c).queued = was_queued;
    client[0].same = false; client[1].same = false;
    client[0].known = false; client[1].known = false;
    client[0].watched = 0; client[1].watched = 0;
    flush()
}

#ifdef NO_VERSIONS
#define CHANGED(c) false
#else
#define CHANGED(c) (!client[c].same)
#endif
#define TIMING(c) (client[c].behind > LATE || \
    client[c].behind < 0 && client[c].behind < age)

inline commit(c) {
    if
    :: client[c].what == LOOK || CHANGED(c) || TIMING(c) ->
        client[c].what = LOOK
#ifndef NO_PRESENCE
    :: client[c].what == HAND && !CHANGED(c) && !TIMING(c) &&
       OTHER(c).state == DEAD ->
        client[c].what = LOOK;
        client[c].absent = true
#endif
    :: else ->
        printf("client %d: %e is done, its TIME is %d old\n", c,
               client[c].what, client[c].behind);
        OTHER(c).same = false;
        flush();
        if
        :: client[c].what == TAKE ->
#ifdef EARLY_TAKE
            see_early(c);
#endif
            write_lock(c, c + 1, LEASE);
            client[c].queued = false;
            marked = OTHER(c).queued
        :: client[c].what == JOIN ->
            client[c].queued = true;
            client[c].asked = client[c].skew + client[c].trip;
            client[c].refused = client[c].behind;
            if
            :: !marked ->
                write_lock(c, owner, client[c].end);
                marked = true
            :: else
            fi
        :: client[c].what == HAND ->
            assert(OTHER(c).state != DEAD); /* no lease for the dead */
            write_lock(c, 2 - c, LEASE);
            OTHER(c).queued = false;
            OTHER(c).message = true;
            OTHER(c).handed = client[c].behind;
            marked = false
        :: client[c].what == FREE ->
            see_early(c);
            write_lock(c, 0, 0);
            OTHER(c).queued = false;
            marked = false
        fi
    fi;
    client[c].known = true;
    client[c].same = true;
    client[c].behind = 0; /* a sample */
    client[c].end = 0;
    client[c].state = ANSWERED
}

/* ---------------------------------------------------------- what a client does */

#ifdef FROM_REPLY
#define COUNTS_FROM(c) 0
#else
#ifdef FROM_RUN
#define COUNTS_FROM(c) client[c].trip
#else
#define COUNTS_FROM(c) (client[c].skew + client[c].trip)
#endif
#endif

inline hold(c, since) {
    if
    :: since + MARGIN < LEASE ->
        end_call(c);
        client[c].state = HELD;
        client[c].valid = LEASE - since - MARGIN;
        printf("client %d believes for %d\n", c, client[c].valid);
        ONE_HOLDER
    :: else -> send(c, LOOK) /* over already: ask again */
    fi
}

inline read_reply(c) {
    since = COUNTS_FROM(c);
    client[c].skew = client[c].trip;
    client[c].trip = 0;
    if
    :: client[c].what == LOOK -> run_request(c)
    :: client[c].what == TAKE -> hold(c, since)
    :: client[c].what == JOIN ->
        client[c].state = WAITING;
        client[c].poll = POLL
    :: client[c].what == HAND || client[c].what == FREE ->
        if
        :: loose == c + 1 -> flush()
        :: else
        fi;
        end_call(c)
    fi;
    if
    :: client[c].state != SENT -> client[c].what = 0
    :: else
    fi;
    since = 0
}

/* Not refused since it was granted. */
#define NOT_REFUSED(c) (client[c].handed <= client[c].refused)
#ifdef LATE_BELIEVED
#define IN_TIME(c) true
#define SENT_AGO(c) 0
#else
#ifndef FROM_GRANT
#define IN_TIME(c) NOT_REFUSED(c)
#define SENT_AGO(c) client[c].asked
#else /* from the grant, which was so long after it by the store's clock */
#define IN_TIME(c) (NOT_REFUSED(c) && \
    client[c].asked + client[c].handed >= client[c].refused)
#define SENT_AGO(c) (client[c].asked + client[c].handed - \
    client[c].refused + MARGIN)
#endif
#endif

inline read_message(c) {
    since = OLDEST;
    if
    :: IN_TIME(c) -> since = SENT_AGO(c)
    :: else
    fi;
    printf("client %d reads a grant\n", c);
    client[c].message = false;
    client[c].handed = 0;
    hold(c, since);
    since = 0
}

proctype run_client(byte c) {
    byte since;
    bool before;

    do
    :: d_step { client[c].state == 0 -> send(c, LOOK) }
    :: d_step { client[c].state == SENT -> commit(c) }
    :: d_step { client[c].state == ANSWERED -> read_reply(c) }
    :: d_step {
        crashes < CRASHES && loose == c + 1 ->
        crashes++;
        printf("the store crashes, and the commit of client %d is undone\n", c);
        crash(c);
        if
        :: client[c].state == ANSWERED -> send(c, LOOK)
        :: else
        fi
    }
    :: d_step {
        losses < LOSSES && client[c].state == ANSWERED -> /* the reply is lost */
        losses++;
        client[c].same = false;
        send(c, LOOK)
    }
#ifndef NO_POLL
    :: d_step {
        client[c].state == WAITING && client[c].poll == 0 -> run_request(c)
    }
#endif
    :: d_step { client[c].state == WAITING && client[c].message -> read_message(c) }
    :: d_step {
        losses < LOSSES && client[c].message ->
        losses++;
        client[c].message = false;
        client[c].handed = 0;
        printf("the message to client %d is lost\n", c)
    }
    :: d_step { /* what was under way is lost */
        breaks < BREAKS && client[c].state == WAITING ->
        breaks++;
        client[c].message = false;
        client[c].handed = 0;
        printf("the connection of client %d breaks\n", c);
#ifndef NO_GAP
        send(c, LOOK)
#endif
    }
    :: d_step {
        client[c].state == HELD ->
        printf("client %d releases\n", c);
        end_call(c);
        client[c].gives = true;
        run_request(c)
    }
#ifndef NO_DEATH
    :: d_step {
        c == 1 && (client[c].state == WAITING || client[c].state == HELD) ->
        printf("client %d dies\n", c);
        end_call(c);
        client[c].state = DEAD
    }
#endif
    od
}

/* ----------------------------------------------------------------------- time */

#ifdef NO_POLL
#define POLLS(c) false
#else
#define POLLS(c) (client[c].state == WAITING && client[c].poll == 0)
#endif
#ifdef LTL /* who holds releases, and a message that is not lost is in time */
#define ACTS(c) (client[c].state == 0 || client[c].message || \
    client[c].state == HELD && client[c].valid <= 1)
#else
#define ACTS(c) false
#endif
#define DUE(c) (POLLS(c) || ACTS(c) || \
    client[c].state == SENT && client[c].trip >= DELAY || \
    client[c].state == ANSWERED && client[c].trip >= 2 * DELAY)

inline older(time, by) {
    time = time + by;
    if
    :: time > OLDEST -> time = OLDEST
    :: time < -OLDEST -> time = -OLDEST
    :: else
    fi
}

inline shorter(time) {
    if
    :: time > 0 -> time--
    :: else
    fi
}

/* What was refused, and counts from then. */
#define REFUSED(c) (client[c].state == WAITING || \
    client[c].state == ANSWERED && client[c].what == JOIN)

inline pass_store(c, by) {
    if
    :: REFUSED(c) -> older(client[c].refused, by)
    :: else
    fi;
    if
    :: client[c].message -> older(client[c].handed, by)
    :: else
    fi
}

inline pass_client(c) {
    if
    :: REFUSED(c) -> older(client[c].asked, 1)
    :: else
    fi;
    if
    :: client[c].known && client[c].watched < LEASE + MARGIN &&
       (client[c].state != ANSWERED || client[c].watched > 0) ->
        client[c].watched++
    :: else
    fi;
    if
    :: client[c].state == SENT || client[c].state == ANSWERED ->
        client[c].trip++;
        if
        :: client[c].state == ANSWERED || client[c].what != LOOK ->
            older(client[c].behind, 1)
        :: else
        fi
    :: client[c].state == HELD -> shorter(client[c].valid)
    :: client[c].state == WAITING -> shorter(client[c].poll)
    :: else
    fi
}

inline pass_loose(by) {
    if
    :: loose != 0 -> older(was_age, by)
    :: else
    fi
}

inline set_clock(by) {
    older(age, by); pass_loose(by);
    pass_store(0, by); pass_store(1, by);
    older(client[0].behind, by); older(client[1].behind, by)
}

active proctype clock() {
    bool ahead, back;

    do
    :: d_step {
        !DUE(0) && !DUE(1) ->
        printf("a tick\n");
        older(age, 1); pass_loose(1);
        pass_store(0, 1); pass_store(1, 1);
        pass_client(0); pass_client(1);
        shorter(stood)
    }
#ifdef DRIFT
    :: d_step {
        !DUE(0) && !DUE(1) && stood == 0 ->
        printf("a tick, which the clock of client 0 has not\n");
        older(age, 1); pass_loose(1);
        pass_store(0, 1); pass_store(1, 1);
        older(client[0].behind, 1);
        pass_client(1);
        stood = LEASE
    }
#endif
#if AHEAD > 0
    :: d_step {
        !ahead -> ahead = true;
        printf("the store's clock is set forward\n");
        set_clock(AHEAD)
    }
#endif
#if BACK > 0
    :: d_step {
        !back -> back = true;
        printf("the store's clock is set back\n");
        set_clock(-BACK)
    }
#endif
    od
}

init { atomic { run run_client(0); run run_client(1) } }

#ifdef LTL
#define waits (client[0].state == WAITING)
#define held (client[0].state == HELD || client[1].state == HELD)
ltl it_is_granted { [] (waits -> <> held) }
#endif
