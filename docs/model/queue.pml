/* SPDX-License-Identifier: Apache-2.0 */
/*
 * queue.pml - a work queue: a job is never lost, and no two workers believe at
 * a time that they have it.
 *
 * A producer puts JOBS jobs, one by one, at any time. Each worker takes a job,
 * works for any time, ends it, and takes the next; while there is none it waits
 * to be asked, or polls. Worker 0 may die at any instant, which the store does
 * not notice. Replies may be late, or lost, and then the request is sent again;
 * a request may also be sent again before its first copy has come, which then
 * runs at any later time. The message by which a waiter is asked may be lost.
 *
 * The store runs a request in one step, as queue_put.lua, queue_take.lua and
 * queue_release.lua do; the names of their pieces are those of the inlines.
 * With NEXT a worker may end a job and take the next one in one request. If a
 * resend is refused, it counts the end as applied while the lease that it had
 * is valid: no other worker can have got the job.
 *
 * Time is relative, so runs have no end. Not in this model: renewal, which is
 * that of lease.pml; delays, priorities, groups, dead letters.
 */
#ifndef JOBS
#define JOBS 2
#endif
#ifndef WORKERS
#define WORKERS 2
#endif
#ifndef LEASE
#define LEASE 2
#endif
#ifndef KEPT
#define KEPT 1 /* how long a job is kept for a waiter that has not asked */
#endif
#ifndef LOSSES
#define LOSSES 1 /* replies and messages */
#endif
#ifndef COPIES
#define COPIES 1 /* requests that are sent again before they have come */
#endif
#define NONE 0
#define NO_JOB JOBS

#if COPIES > 0
#define IDS 2 /* owner ids of a worker, which then stops */
#else
#define IDS 1 /* without copies none is seen again */
#endif
#define LINE (WORKERS + COPIES)
#define OWNER(c) (1 + c * IDS + worker[c].id)

mtype = { READY, TAKEN, DONE };                       /* else not put: 0 */
mtype = { TAKING, WAITING, WORKING, ENDING, NEXTING, ANSWERED }; /* else idle: 0 */

/* ----------------------------------------------------------------- the store */

typedef job_state {
    mtype state;
    byte owner; /* an owner id */
    byte left;  /* of the lease */
    bool kept;  /* for the owner, who has not asked yet */
    bool finished; /* by a worker; nothing that the store knows */
};
job_state job[JOBS];
byte line[LINE]; /* owner ids that wait, the first one first; else NONE */

/* --------------------------------------------------------------- the workers */

typedef worker_state {
    mtype state;
    bool dead, asked, stopped;
    bool rested; /* has waited for a tick, so that it polls */
    byte id;
    byte has;   /* the job; in ANSWERED that of the reply */
    bool ended; /* what was answered is the end */
    byte age;   /* of its request, or of what was answered */
    byte valid; /* for how long it still believes that it has the job */
    byte copy;  /* owner id of a copy under way; NONE: none */
    bool copy_ends;
    byte copy_job;
    bool copy_next;
    bool nexts;  /* its request, or what was answered, is an end and a take */
    byte old;    /* ... of this job */
    byte judge;  /* for how long the lease on that is valid */
    bool resent;
    bool late;   /* the answer: that end was refused, and nothing taken */
};
worker_state worker[WORKERS];
byte losses, copies;
byte i, j, k; /* of one step */
bool late;

/* ----------------------------------------------------------------- the scripts */

inline queue_due() {
    for (i : 0 .. JOBS - 1) {
        if
        :: job[i].state == TAKEN && job[i].left == 0 ->
            job[i].state = READY;
            job[i].owner = NONE;
            job[i].kept = false;
            printf("store: job %d is back\n", i)
        :: else
        fi
    };
    i = 0
}

/* j: the first that is ready. */
inline first_ready() {
    j = 0;
    do
    :: j < JOBS && job[j].state != READY -> j++
    :: else -> break
    od
}

inline leave_line(who) {
    k = 0;
    for (i : 0 .. LINE - 1) {
        if
        :: line[i] != who -> line[k] = line[i]; k = k + (line[i] != NONE)
        :: else
        fi
    };
    for (i : 0 .. LINE - 1) {
        if
        :: i >= k -> line[i] = NONE
        :: else
        fi
    };
    i = 0;
    k = 0
}

/* A message to one that has died, or asks with another id by now, has no
 * effect. */
inline tell(who, own) {
    for (i : 0 .. WORKERS - 1) {
        if
        :: who != own && OWNER(i) == who && worker[i].state == WAITING ->
            if
            :: worker[i].asked = true
            :: losses < LOSSES -> losses++; printf("a message is lost\n")
            fi
        :: else
        fi
    };
    i = 0
}

inline queue_hand(own) {
    first_ready();
    do
    :: j < JOBS && line[0] != NONE ->
        job[j].state = TAKEN;
        job[j].owner = line[0];
        job[j].left = KEPT;
        job[j].kept = true;
        printf("store: job %d is kept for owner %d\n", j, line[0]);
        tell(line[0], own);
        leave_line(job[j].owner);
        first_ready()
    :: else -> break
    od
}

/* k: the one that the owner has. */
inline find_held(who) {
    k = 0;
    do
    :: k < JOBS && !(job[k].state == TAKEN && job[k].owner == who) -> k++
    :: else -> break
    od
}

inline put(which) {
    job[which].state = READY;
    queue_due();
    queue_hand(NONE);
    j = 0
}

/* k: the job that it has got, or JOBS. */
inline take(who) {
    queue_due();
    queue_hand(who);
    find_held(who);
    if
    :: k == JOBS && j < JOBS -> k = j
    :: else
    fi;
    if
    :: k < JOBS ->
        job[k].state = TAKEN;
        job[k].owner = who;
        job[k].left = LEASE;
        job[k].kept = false;
        printf("store: owner %d has job %d\n", who, k)
    :: else ->
        i = 0;
        do
        :: line[i] == who -> break
        :: line[i] == NONE -> line[i] = who; break
        :: else -> i++
        od;
        i = 0
    fi;
    j = 0
}

/* k: the job that is ended, or JOBS. */
inline settle(who, what) {
#ifdef END_BY_JOB
    k = (job[what].state == TAKEN -> what : JOBS);
#else
    find_held(who);
#ifndef END_BY_OWNER
    k = (k == what -> k : JOBS);
#endif
#endif
    if
    :: k < JOBS ->
        printf("store: owner %d ends job %d\n", who, k);
        assert(job[k].finished);
        for (i : 0 .. WORKERS - 1) {
            assert(OWNER(i) == who || worker[i].has != k ||
                   worker[i].valid == 0)
        };
        job[k].state = DONE;
        job[k].owner = NONE;
        job[k].left = 0
    :: else
    fi
}

inline end(who, what) {
    settle(who, what);
    k = 0;
    leave_line(who);
    queue_due();
    queue_hand(NONE);
    j = 0
}

/* k: the job that it has got, or JOBS. */
inline end_and_take(before, what, who) {
    find_held(who);
    if
    :: k == JOBS -> settle(before, what); late = (k == JOBS)
    :: else
    fi;
    queue_due();
    queue_hand(who);
    find_held(who);
    j = 0;
    if
    :: late && k == JOBS
    :: else -> late = false; take(who)
    fi
}

/* ------------------------------------------------------------------- a worker */

inline forget_end(c) {
    worker[c].nexts = false;
    worker[c].old = 0;
    worker[c].judge = 0;
    worker[c].resent = false;
    worker[c].late = false
}

inline forget(c) {
    worker[c].state = 0;
    worker[c].has = NO_JOB;
    worker[c].age = 0;
    worker[c].valid = 0;
    worker[c].ended = false;
    worker[c].asked = false;
    forget_end(c)
}

inline next_id(c) {
    if
    :: worker[c].id + 1 < IDS -> worker[c].id++
    :: IDS > 1 && worker[c].id + 1 >= IDS -> worker[c].stopped = true
    :: else
    fi
}

inline begin_work(c) {
#ifdef VALID_FROM_REPLY
    worker[c].valid = LEASE;
#else
    worker[c].valid = (worker[c].age < LEASE -> LEASE - worker[c].age : 0);
#endif
    worker[c].age = 0;
    worker[c].state = WORKING;
    printf("worker %d has job %d for %d\n", c, worker[c].has, worker[c].valid);
    for (i : 0 .. WORKERS - 1) {
        assert(i == c || worker[i].has != worker[c].has ||
               worker[i].valid == 0 || worker[c].valid == 0)
    };
    i = 0
}

proctype work(byte c) {
    do
    :: d_step {
        worker[c].state == 0 && !worker[c].stopped && !worker[c].dead ->
        worker[c].state = TAKING
    }
    :: atomic {
        worker[c].state == TAKING ->
        take(OWNER(c));
        worker[c].has = k;
        k = 0;
        worker[c].state = ANSWERED
    }
    :: atomic {
        worker[c].state == ENDING ->
        end(OWNER(c), worker[c].has);
        worker[c].ended = true;
        worker[c].state = ANSWERED
    }
    :: atomic {
        worker[c].state == NEXTING ->
        end_and_take(OWNER(c) - 1, worker[c].old, OWNER(c));
        worker[c].has = k;
        worker[c].late = late;
        late = false;
        k = 0;
        worker[c].state = ANSWERED
    }
    :: d_step { /* the reply is lost */
        losses < LOSSES && worker[c].state == ANSWERED && !worker[c].dead ->
        losses++;
        printf("worker %d has no reply\n", c);
        worker[c].state = (worker[c].ended -> ENDING :
                           (worker[c].nexts -> NEXTING : TAKING));
        worker[c].resent = worker[c].nexts;
        worker[c].late = false;
        worker[c].ended = false;
        worker[c].age = 0
    }
    :: d_step { /* it is sent again too early */
        copies < COPIES && !worker[c].dead &&
        (worker[c].state == TAKING || worker[c].state == ENDING ||
         worker[c].state == NEXTING) ->
        copies++;
        printf("worker %d sends again\n", c);
        worker[c].copy = OWNER(c);
        worker[c].copy_ends = worker[c].state == ENDING;
        worker[c].copy_next = worker[c].nexts;
        worker[c].copy_job = (worker[c].nexts -> worker[c].old : worker[c].has);
        worker[c].resent = worker[c].nexts;
        worker[c].age = 0
    }
    :: atomic {
        worker[c].copy != NONE ->
        printf("a copy of worker %d comes\n", c);
        if
        :: worker[c].copy_ends -> end(worker[c].copy, worker[c].copy_job)
        :: worker[c].copy_next ->
            end_and_take(worker[c].copy - 1, worker[c].copy_job,
                         worker[c].copy);
            late = false;
            k = 0
        :: else -> take(worker[c].copy); k = 0
        fi;
        worker[c].copy = NONE;
        worker[c].copy_next = false;
        worker[c].copy_ends = false;
        worker[c].copy_job = 0
    }
    :: d_step { /* how did the end go? */
        worker[c].state == ANSWERED && !worker[c].dead && worker[c].nexts ->
        if
#ifdef SURE
        :: worker[c].late && !worker[c].resent ->
#else
        :: worker[c].late && !(worker[c].resent && worker[c].judge > 0) ->
#endif
            printf("worker %d ends too late, or does not know\n", c);
            forget(c);
            next_id(c)
        :: else ->
            assert(job[worker[c].old].state == DONE);
            forget_end(c)
        fi
    }
    :: d_step {
        worker[c].state == ANSWERED && !worker[c].dead && !worker[c].nexts ->
        if
        :: worker[c].ended -> forget(c); next_id(c)
        :: !worker[c].ended && worker[c].has == NO_JOB ->
            worker[c].state = WAITING;
            worker[c].age = 0
        :: else -> begin_work(c)
        fi
    }
    :: d_step {
        worker[c].state == WAITING && !worker[c].dead &&
        (worker[c].asked || worker[c].rested) ->
        worker[c].asked = false;
        worker[c].rested = false;
        worker[c].state = TAKING
    }
    :: d_step {
        worker[c].state == WORKING && !worker[c].dead ->
        printf("worker %d has finished job %d\n", c, worker[c].has);
        job[worker[c].has].finished = true;
        worker[c].valid = 0;
        worker[c].state = ENDING
    }
#ifdef NEXT
    :: d_step {
        worker[c].state == WORKING && !worker[c].dead &&
        worker[c].id + 1 < IDS ->
        printf("worker %d has finished job %d, and wants one\n", c,
               worker[c].has);
        job[worker[c].has].finished = true;
        worker[c].old = worker[c].has;
        worker[c].judge = worker[c].valid;
        worker[c].nexts = true;
        worker[c].has = NO_JOB;
        worker[c].valid = 0;
        worker[c].age = 0;
        worker[c].id++;
        worker[c].state = NEXTING
    }
#endif
    :: d_step { /* it dies; what it has sent may still come */
        c == 0 && !worker[c].dead ->
        worker[c].dead = true;
        worker[c].valid = 0;
        printf("worker %d dies\n", c);
        if
        :: worker[c].state == TAKING || worker[c].state == ENDING ||
           worker[c].state == NEXTING
        :: else -> forget(c)
        fi
    }
    :: d_step { worker[c].dead && worker[c].state == ANSWERED -> forget(c) }
    od
}

proctype produce() {
    byte next;

    do
    :: atomic { next < JOBS -> printf("job %d is put\n", next); put(next); next++ }
    :: else -> break
    od
}

/* ----------------------------------------------------------------------- time */

/* Is it alive, and does not just wait? */
#define BUSY(c) (!worker[c].dead && \
                 (worker[c].state != WAITING || worker[c].asked))
#ifdef IN_TIME /* the watchdog renews, and requests take less than a tick */
#define MAY_TICK (!BUSY(0) && !BUSY(1))
#else
#define MAY_TICK true
#endif

proctype clock() {
    do
    :: d_step {
        MAY_TICK ->
        for (i : 0 .. JOBS - 1) {
#ifdef KEPT_WITHOUT_END
            job[i].left = job[i].left - (job[i].left > 0 && !job[i].kept)
#else
            job[i].left = job[i].left - (job[i].left > 0)
#endif
        };
        for (i : 0 .. WORKERS - 1) {
            if
            :: worker[i].valid > 0 -> worker[i].valid--
            :: else
            fi;
            if
            :: worker[i].judge > 0 -> worker[i].judge--
            :: else
            fi;
            if
            :: (worker[i].state == TAKING || worker[i].state == NEXTING ||
                worker[i].state == ANSWERED) && worker[i].age < LEASE -> worker[i].age++
            :: else
            fi;
#ifndef NO_POLL
            worker[i].rested = worker[i].state == WAITING
#endif
        };
        i = 0;
        printf("a tick\n")
    }
    od
}

ltl all_jobs_are_done { <> (job[0].state == DONE && job[1].state == DONE) }

init {
    atomic {
        for (i : 0 .. WORKERS - 1) {
            worker[i].has = NO_JOB
        };
        i = 0;
        run produce(); run clock(); run work(0); run work(1)
    }
}
