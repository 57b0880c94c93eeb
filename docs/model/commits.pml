/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commits.pml - a commit on a store of records: what it does is done once, by
 * requests that are run again, replies that are lost, and commits that arrive
 * after their client has stopped waiting.
 *
 * Two clients add to one record, as a counter does, or the last token. Each runs
 * a request on the record that it keeps, and draws a version for what it writes;
 * the store does it if the record has the version that was kept, else it returns
 * the newer one. Client 0 has two requests in one commit. A commit without an
 * answer is resolved by a read: a record with its version says that it was done;
 * any other says nothing, as it may have been overwritten, or be done yet, and
 * then the outcome is unknown. Client 1 also reads.
 *
 * Not in this model: time (records.pml); requests that may be repeated, which
 * are run again.
 */
#ifndef COMMITS
#define COMMITS 2 /* of each client */
#endif
#ifndef LOSSES
#define LOSSES 2 /* replies, or commits that are not waited for */
#endif

mtype = { SENT, DONE, CONFLICT, DOUBT }; /* else idle: 0 */

typedef commit {
    bool sent;
    byte on;        /* the version that it expects */
    byte version;   /* of what it writes */
    byte value;
    byte size;      /* how many requests; 0: it only checks */
    byte second;    /* ... of which the first is this one */
};

typedef side {
    mtype state;
    byte value, version;  /* that it keeps */
    byte mine;            /* drawn for the last commit */
    byte commits;
    byte size, second;
    byte least;           /* of a read: what was there when it began */
    byte applied[2];      /* how often each request was */
    commit at[2];         /* the newest, and one that is late */
};
side client[2];
byte value, version, drawn, losses;

inline clear(k) {
    k.sent = false;
    k.on = 0;
    k.version = 0;
    k.value = 0;
    k.size = 0;
    k.second = 0
}

inline end_requests(c) {
    client[c].state = 0;
    client[c].mine = 0;
    client[c].size = 0;
    client[c].second = 0;
    client[c].least = 0;
    client[c].applied[0] = 0;
    client[c].applied[1] = 0;
    clear(client[c].at[1]) /* what it does later concerns no one */
}

inline run_requests(c) {
    drawn++;
    client[c].mine = drawn;
    client[c].at[0].sent = true;
    client[c].at[0].on = client[c].version;
    client[c].at[0].version = drawn;
    client[c].at[0].value = client[c].value + client[c].size;
    client[c].at[0].size = client[c].size;
    client[c].at[0].second = client[c].second;
    client[c].state = SENT;
    printf("client %d adds %d to %d\n", c, client[c].size, client[c].value)
}

inline acknowledge(c) {
    if
    :: client[c].size == 0 -> assert(client[c].value >= client[c].least)
    :: client[c].size == 1 -> assert(client[c].applied[client[c].second] == 1)
    :: client[c].size == 2 ->
        assert(client[c].applied[0] == 1);
        assert(client[c].applied[1] == 1)
    fi;
    printf("client %d: done\n", c);
    end_requests(c)
}

#ifdef NO_VERSIONS
#define HOLDS(k) true
#else
#define HOLDS(k) (k.on == version)
#endif

inline do_commit(c, k, waits) {
    if
    :: HOLDS(k) ->
        if
        :: k.size > 0 ->
            assert(k.value > value); /* counts and tokens only grow */
            value = k.value;
            version = k.version;
            client[c].applied[k.second]++;
            if
            :: k.size == 2 -> client[c].applied[1]++
            :: else
            fi
        :: else
        fi;
        if
        :: waits -> client[c].state = DONE; client[c].value = k.value;
            if
            :: k.size > 0 -> client[c].version = k.version
            :: else
            fi
        :: else
        fi
    :: else ->
        if
        :: waits ->
            client[c].state = CONFLICT;
            client[c].value = value;
            client[c].version = version
        :: else
        fi
    fi;
    clear(k)
}

/* The record that a read found says whether the last commit was done. */
inline resolve(c) {
    client[c].value = value;
    client[c].version = version;
    if
#ifndef REPEAT_BLINDLY
    :: client[c].mine == version ->
#ifdef FORGET_GROUP
        if
        :: client[c].size == 2 -> /* the second is run again */
            client[c].size = 1;
            client[c].second = 1;
            run_requests(c)
        :: else -> acknowledge(c)
        fi
#else
        acknowledge(c)
#endif
    :: else ->
#if defined(REPEAT_UNSEEN)
        run_requests(c)
#else
        printf("client %d: unknown\n", c);
        end_requests(c)
#endif
#else
    :: true -> run_requests(c)
#endif
    fi
}

proctype run_client(byte c) {
    do
    :: d_step {
        client[c].state == 0 && client[c].commits < COMMITS ->
        client[c].commits++;
        client[c].size = 2 - c;
        run_requests(c)
    }
    :: d_step { /* a read */
        c == 1 && client[c].state == 0 && client[c].commits < COMMITS ->
        client[c].commits++;
        client[c].least = value;
#ifdef UNCHECKED
        acknowledge(c)
#else
        run_requests(c)
#endif
    }
    :: d_step {
        client[c].state == SENT && client[c].at[0].sent ->
        do_commit(c, client[c].at[0], true)
    }
    :: d_step { client[c].at[1].sent -> do_commit(c, client[c].at[1], false) }
    :: d_step { client[c].state == DONE -> acknowledge(c) }
    :: d_step { client[c].state == CONFLICT -> run_requests(c) }
    :: d_step { /* the answer is lost */
        losses < LOSSES && (client[c].state == DONE ||
                            client[c].state == CONFLICT) ->
        losses++;
        client[c].state = DOUBT;
        printf("client %d has no answer\n", c)
    }
    :: d_step { /* it is late */
        losses < LOSSES && client[c].state == SENT && !client[c].at[1].sent ->
        losses++;
        client[c].at[1].sent = true;
        client[c].at[1].on = client[c].at[0].on;
        client[c].at[1].version = client[c].at[0].version;
        client[c].at[1].value = client[c].at[0].value;
        client[c].at[1].size = client[c].at[0].size;
        client[c].at[1].second = client[c].at[0].second;
        clear(client[c].at[0]);
        client[c].state = DOUBT;
        printf("client %d does not wait for its commit\n", c)
    }
    :: d_step { client[c].state == DOUBT -> resolve(c) }
    :: client[c].state == 0 && client[c].commits == COMMITS -> break
    od
}

init { atomic { run run_client(0); run run_client(1) } }
