/* SPDX-License-Identifier: Apache-2.0 */
/*
 * blocked.h - requests of commands that wait for an element: BLPOP and others.
 * They wait on the loop thread, until a key of theirs changes.
 */
#ifndef HF__ENGINE_BLOCKED_H
#define HF__ENGINE_BLOCKED_H

#include <stdatomic.h>

#include "engine/commit/tx.h"
#include "engine/wake/change_reader.h"
#include "util/poll.h"

typedef struct hf__blocked_request hf__blocked_request;

typedef struct hf__blocked {
    hf__loop *loop;
    hf__store *store;
    hf__change_reader *changes;
    /* Run a request to its end. `block`: what it waits for, if it found
     * nothing; NULL: it is no such command. */
    void (*run)(hf__store *store, hf__request *request, hf__block *block);
    atomic_bool joined; /* writers note their changes, until the close */

    /* The loop thread's. */
    uint32_t database;
    hf__blocked_request *first; /* in the order in which they came */
    hf__blocked_request **end;
    hf__tick look;
} hf__blocked;

void hf__blocked_init(hf__blocked *all, hf__loop *loop, hf__store *store,
                      hf__change_reader *changes,
                      void (*run)(hf__store *store, hf__request *request,
                                  hf__block *block));

/* store.h's submit(), of a request with wait_ms. `here`: it may run on this
 * thread first. */
void hf__blocked_submit(hf__blocked *all, hf__request *request, bool here);

/* store.h's cancel(). */
void hf__blocked_cancel(hf__request *request);

/* Cancel all; no more come. Not on the loop thread. */
void hf__blocked_close(hf__blocked *all);

#endif
