/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.h - one request inside an open transaction.
 */
#ifndef HF__EMBEDDED_EXECUTE_H
#define HF__EMBEDDED_EXECUTE_H

#include "store/embedded/commands/command.h"
#include "store/store.h"

/* A request and what the store's handle adds to it. */
typedef struct hf__job {
    hf__request *request;
    const hf__command *command; /* NULL: the request is a script */
    int64_t budget_ms;          /* of a script */
} hf__job;

/* Make what running the job as a writer needs; with NULL, what every job does.
 * The writer lock is held. false: no memory. */
bool hf__execute_prepare(hf__env *env, const hf__job *job);

/*
 * Run the job in `tx`. Its status and answer are in the request, unless
 * tx->fatal is set: then the transaction must be undone, and what the request
 * holds means nothing.
 */
void hf__execute(hf__tx *tx, const hf__job *job);

/* Drop the answer of a try that was undone. */
void hf__execute_forget(hf__request *request);

#endif
