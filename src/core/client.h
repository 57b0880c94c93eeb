/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client.h - the client: one store, one background thread, and who uses it:
 * calls under way, which closing waits for, and handles, which keep its memory.
 * src/client opens and closes it.
 *
 * 1. A call enters before it uses the store and leaves as the last thing it
 *    does. In between it may enter again.
 * 2. Closing refuses later calls, wakes sleepers, waits until all calls have
 *    left, and takes the client apart.
 * 3. The client's own reference and one of each handle keep the memory, and
 *    the mutex of the handles' state; the last one frees it.
 *
 * Calls are counted in slots, a thread always in the same one, so that threads
 * seldom share a cache line.
 */
#ifndef HF__CORE_CLIENT_H
#define HF__CORE_CLIENT_H

#include <pthread.h>
#include <stdatomic.h>

#include "core/aside.h"
#include "core/cas_session.h"
#include "core/check.h"
#include "core/completion.h"
#include "core/feeds.h"
#include "core/interrupt.h"
#include "core/layout.h"
#include "core/pending.h"
#include "core/repeat.h"
#include "core/replicas.h"
#include "core/run.h"
#include "core/store_clock.h"
#include "core/timers.h"
#include "store/store.h"

#define HF__LIFE_SLOTS 8

typedef struct hf__life {
    struct {
        uint32_t word; /* calls under way, and whether more are refused */
        char apart[60];
    } slots[HF__LIFE_SLOTS];
    atomic_uint references;
    atomic_bool over; /* there is no store any more */
} hf__life;

/* A call whose callbacks must not close the client; the caller's memory. */
typedef struct hf__visit {
    const hf__life *life;
    struct hf__visit *outer;
} hf__visit;

void hf__life_init(hf__life *life);

/* false: the client is being closed. */
bool hf__life_enter(hf__life *life);
/* Nothing of the client may be used afterwards. */
void hf__life_leave(hf__life *life);

/* Refuse calls from now on; false: another close does already. */
bool hf__life_close(hf__life *life);
bool hf__life_is_closing(const hf__life *life);
/* Until all calls have left. */
void hf__life_await(hf__life *life);

/* Note on this thread that a call of this life runs callbacks. */
void hf__visit_begin(hf__visit *visit, const hf__life *life);
void hf__visit_end(const hf__visit *visit);
bool hf__is_visited(const hf__life *life);

struct hf_client {
    hf__life life;
    hf__store *store;
    hf__loop *loop;
    char *prefix;
    size_t prefix_size;
    char *password_file; /* the options'; NULL: not given */
    int64_t request_ms;
    hf__replicas replicas; /* for every write */
    hf__layout layout;     /* of locks */
    uint32_t fork_generation;
    struct hf__leases *leases; /* of src/lease */
    hf__log_hook *log;         /* NULL: no one listens */
    hf__cas_sessions cas_sessions;
    hf__cas_sessions txn_sessions; /* of transactions: records with results */
    hf__completions completions;
    hf__interrupts interrupts;
    hf__client_feeds feeds;
    hf__store_clock store_clock;
    hf__timers timers;    /* of asynchronous waits, of the registration */
    hf__repeats repeats;  /* of fills */
    hf__pending *pending; /* the first; the loop thread's */
    hf__asides asides;    /* threads of calls that walk the store */
    void (*free)(hf_client *client);
};

/* Was it opened before a fork() that made this process? */
bool hf__client_forked(const hf_client *client);

/* HF_INVALID in a process that forked after the client was opened, and once
 * its store is closed. */
hf_status hf__client_check(const hf_client *client, hf_error *err);

/* The same, and HF_INVALID on the client's own thread, which must not wait for
 * itself, and renews the locks. */
hf_status hf__client_may_block(const hf_client *client, hf_error *err);

/* The same, and count a call that begins, unless the client is being closed:
 * on HF_OK end it with hf__life_leave(). `_blocking`: one that may block. */
hf_status hf__client_enter(hf_client *client, hf_error *err);
hf_status hf__client_enter_blocking(hf_client *client, hf_error *err);

/* Enter for a call that blocks and runs callbacks, in which the client cannot
 * be closed. */
hf_status hf__client_visit(hf_client *client, hf__visit *visit, hf_error *err);
void hf__client_visit_end(hf_client *client, const hf__visit *visit);

/* For each handle, and for the open client; the last frees the memory. */
void hf__client_ref(hf_client *client);
void hf__client_unref(hf_client *client);

#endif
