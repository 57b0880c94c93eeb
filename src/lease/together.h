/* SPDX-License-Identifier: Apache-2.0 */
/*
 * together.h - acquiring several locks, all or none.
 *
 * 1. The locks are sorted by shard and key. All programs have this order, and
 *    wait only for a lock that comes after all that they hold, so none waits
 *    for itself through others.
 * 2. Exclusive locks of one shard that follow one another are taken by one
 *    script, up to the first that is not free.
 * 3. That one, and any lock which the script cannot take, is acquired by
 *    itself (acquire.h), with a place in its queue. Then go to 2.
 * 4. When all are held, some may have been lost meanwhile: release the others
 *    and begin again.
 * 5. After a failure, those that were acquired are released, and the call ends
 *    when the replies have arrived. What a step without a reply may have
 *    acquired is released without waiting; a cancelled call then says so.
 *
 * A blocking call runs the first script on its own thread. From then on
 * everything happens on the loop thread.
 */
#ifndef HF__LEASE_TOGETHER_H
#define HF__LEASE_TOGETHER_H

#include "holdfast/lock.h"
#include "lease/acquire_begin.h"

/* One of the locks. */
typedef struct hf__together_member {
    hf_lock *lock;
    uint32_t shard;
    bool taken; /* by this call: to be released if it fails */
    hf__interrupt_mark mark;
    hf__grant grant; /* of the script; then its owner is that to release */
    hf__request release;
    hf_bytes words[HF__LOCK_RELEASE_WORDS];
    char lease_text[HF__NUMBER_SIZE];
    struct hf__together *all;
} hf__together_member;

typedef struct hf__together {
    hf_client *client;
    int64_t wait_ms;
    int64_t until_ms; /* 0: try once */
    size_t count;
    size_t at;      /* those before it are held */
    size_t run;     /* those from there on that the script is to take */
    size_t culprit; /* because of it the call fails */
    bool single;    /* the next one is not free: no script */
    bool again;     /* one was lost: begin again when all are released */
    bool silent;    /* a step had no reply, and neither had a later one */
    atomic_bool cancelled;
    hf_status status; /* of the last step; `detail` with it */
    hf_error detail;
    hf__request request; /* of the script */
    hf_bytes *words;
    bool asking; /* the request is at the store */
    hf__acquiring *acquiring;
    hf__task task;
    atomic_size_t releasing; /* requests without a reply, and 1 */
    void (*done)(struct hf__together *self); /* with the outcome in `status` */
    void *user;
    hf__together_member members[];
} hf__together;

/* HF_INVALID; free it with hf__free(). */
hf_status hf__together_new(hf_lock *const *locks, size_t count, int64_t wait_ms,
                           hf__together **made, hf_error *err);

/* Step 2: fill the request; false: there is no script to run. read() ends it,
 * given its status. */
bool hf__together_ask(hf__together *self);
void hf__together_read(hf__together *self, hf_status status);

/* Has the call ended, without anything to release? After read(). */
bool hf__together_over(hf__together *self);

/* Continue on the loop thread, which was started; done() will be called. With
 * `asks` the request is submitted first. */
void hf__together_start(hf__together *self, bool asks);

/* Was a handle interrupted since the call began? */
bool hf__together_interrupted(const hf__together *self);

/* Give up; on the loop thread. */
void hf__together_cancel(hf__together *self);

#endif
