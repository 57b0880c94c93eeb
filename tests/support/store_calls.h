/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_calls.h - every function of holdfast.h that uses the store, as a table,
 * for tests that expect the same of each: a key that is refused, a store that
 * does not reply, a process that was forked.
 */
#ifndef STORE_CALLS_H
#define STORE_CALLS_H

#include "holdfast.h"

/* The arguments of a call. */
typedef struct store_subject {
    hf_client *client;
    hf_bytes key;
    hf_lock *lock;     /* from store_call_prepare(), if the call needs it */
    hf_script *script; /* likewise */
} store_subject;

typedef enum store_call_need {
    CALL_NEEDS_NOTHING,
    CALL_NEEDS_LOCK,
    CALL_NEEDS_HELD_LOCK,
    CALL_NEEDS_SCRIPT
} store_call_need;

typedef struct store_call {
    const char *name;
    store_call_need need;
    bool writes; /* may fill the store up */
    hf_status (*run)(store_subject *subject, hf_error *err);
} store_call;

extern const store_call store_calls[];
extern const size_t store_call_count;

/* Create what the call needs while the store still works. */
hf_status store_call_prepare(const store_call *call, store_subject *subject,
                             hf_error *err);
void store_call_done(store_subject *subject);

#endif
