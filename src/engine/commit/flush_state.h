/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_state.h - what flush.c and flush_thread.c share.
 */
#ifndef HF__ENGINE_FLUSH_STATE_H
#define HF__ENGINE_FLUSH_STATE_H

#include <pthread.h>

#include "engine/commit/checkpoint.h"
#include "engine/commit/flush.h"
#include "engine/commit/flush_map.h"

/* A read transaction that only pins its snapshot. */
typedef struct hf__pin {
    MDB_txn *txn; /* NULL: never begun */
    bool set;
    uint64_t snapshot;
} hf__pin;

typedef struct hf__flush {
    pthread_mutex_t mutex;
    hf__checkpoint_file file; /* guarded by mutex */

    /* Guarded by the writer lock. */
    hf__pin pins[2];
    uint32_t current; /* index of the pin; the other is `next` */
    bool pinless;     /* this process can have none */
    bool wrote;       /* since the last tick */
    uint32_t epoch;   /* of the writer's context, when last seen */
    /* The oldest snapshot that was waited for in vain, and when to wait for it
     * again. */
    uint64_t awaited;
    int64_t await_again_ms;

    bool stop; /* touched with __atomic builtins */
    pthread_t thread;
} hf__flush;

/* Pin the last snapshot, as the first process that opens the store. false: no
 * reader's slot is free. */
bool hf__flush_pin_locked(hf__env *env);

/* Advance the pins to the checkpoint. */
void hf__flush_follow_locked(hf__env *env);

/* Drop the pins if nothing was written since the last call. */
void hf__flush_drop_idle_locked(hf__env *env);
bool hf__flush_is_pinned(const hf__env *env);

/* Has a commit waited soon_ms for a checkpoint, or are there many? The writer
 * lock is held. */
bool hf__flush_is_due(const hf__env *env, int64_t now_ms, int64_t soon_ms);

/* How long the thread waits for the writer lock before it checks for its
 * stop. */
#define HF__FLUSH_LOCK_MS 1000

/*
 * Make a checkpoint, unless one newer than `seen` exists. The writer lock is
 * not held; with `keep` it is held from the first step on and after HF_OK.
 */
hf_status hf__flush_checkpoint(hf__env *env, uint64_t seen, bool keep,
                               int64_t deadline_ms, hf_error *err);

#endif
