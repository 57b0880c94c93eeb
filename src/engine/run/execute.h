/* SPDX-License-Identifier: Apache-2.0 */
/*
 * execute.h - one request within an open transaction.
 */
#ifndef HF__ENGINE_EXECUTE_H
#define HF__ENGINE_EXECUTE_H

#include "engine/commands/command_row.h"
#include "store/store.h"

/* Each retry of what did not fit extends the store by a quarter or 16 MiB at
 * least, or follows the end of a dead reader. */
#define HF__WRITE_RETRY_MAX 64

/* A request with the parameters of its store handle. */
typedef struct hf__job {
    hf__request *request;
    const hf__command *command; /* NULL: the request is a script */
    int64_t budget_ms;          /* of a script */
    uint8_t database;
    hf__block *block; /* of a command that waits: for what; NULL: not wanted */
} hf__job;

/* Create what running the job as a writer needs; with NULL, what any job needs.
 * The writer lock is held. false: no memory. */
bool hf__execute_prepare(hf__env *env, const hf__job *job);

/* The same for a reader of our own scripts. */
bool hf__execute_prepare_native(hf__tx *tx);

/*
 * Run the job in `tx`. Its status and reply are in the request; if tx->fatal is
 * set these are invalid, and the transaction must be undone.
 */
void hf__execute(hf__tx *tx, const hf__job *job);

/* Copy what a block points at into an arena. false: no memory. */
bool hf__block_keep(hf__block *block, hf__arena *arena);

/* Fail: there is no such command. */
void hf__execute_unknown(const hf__env *env, hf__request *request);

/* Drop the reply of a try that was undone. */
void hf__execute_drop_reply(hf__request *request);

#endif
