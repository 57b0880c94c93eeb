/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_round.h - the commands of many connections in one transaction.
 *
 * A round begins as a read transaction, and becomes a write transaction before
 * the first command that may write. Nothing of it may be acknowledged before
 * hf__command_round_end() has returned HF_OK; if it returns anything else,
 * nothing has happened. One thread uses a round, which does nothing else with
 * the store in the meantime.
 */
#ifndef HF__ENGINE_COMMAND_ROUND_H
#define HF__ENGINE_COMMAND_ROUND_H

#include "engine/run/execute.h"
#include "util/private_api.h"

/* What the last transaction of a round has put into the ring of changes. */
typedef struct hf__round_notes {
    uint64_t from;      /* where that begins */
    size_t size;        /* of its notes */
    bool lost, flushed; /* in place of them there is a gap: hf__noted */
} hf__round_notes;

/* What has been looked up and deleted since the store was opened; what was
 * undone counts, too. */
typedef struct hf__lookups {
    uint64_t hits, misses; /* by commands of the round that only read */
    uint64_t expired;      /* keys that the process found expired and deleted */
} hf__lookups;

typedef struct hf__command_round {
    hf__env *env;
    int64_t budget_ms;   /* of a script */
    hf__tx *reader;      /* kept for the next round */
    hf__tx *tx;          /* NULL: no transaction is open */
    int64_t now_ms;      /* of the commands, on hf__clock_boot_ms() */
    bool made_room;      /* by hf__command_round_end() */
    hf__request request; /* of a script */
    /* Of the scripts of the round, in order; those of units that were undone
     * with HF_FULL run again. */
    hf__script_tries *tries;
    size_t tries_capacity;
    size_t script_count; /* run in this transaction */
    hf__round_notes notes;
    /* In transactions that write and have ended, less what others had looked up
     * in the one that is open. */
    uint64_t hits, misses;
    /* When the last command about scripts or functions had run. */
    size_t cached_scripts;
    size_t library_count;
    size_t function_count;
} hf__command_round;

HF__PRIVATE_API void hf__command_round_init(hf__command_round *round,
                                            hf__env *env, int64_t budget_ms);
/* No transaction is open. */
HF__PRIVATE_API void hf__command_round_done(hf__command_round *round);

/*
 * Have a transaction, in which commands may write if `writes`. May wait for the
 * writer lock until deadline_ms. Not HF_OK: no transaction is open, and what
 * ran in the round before did not happen.
 */
HF__PRIVATE_API hf_status hf__command_round_enter(hf__command_round *round,
                                                  bool writes,
                                                  int64_t deadline_ms,
                                                  hf_error *err);

/* Scripts may not call the commands for which this returns an error; NULL: all.
 */
HF__PRIVATE_API void hf__command_round_limit(hf__command_round *round,
                                             hf__command_refuser *refuse,
                                             void *user);

/*
 * Run a command whose number of words fits. The reply goes to `out`, or, of a
 * script, is returned; it is valid until the next call. false: the transaction
 * must be undone; end it.
 */
HF__PRIVATE_API bool hf__command_round_run(hf__command_round *round,
                                           const hf__command *command,
                                           const hf_bytes *words, size_t count,
                                           hf__out *out,
                                           const hf_reply **reply);

/* In a round that writes: is the script or function that EVALSHA or FCALL calls
 * known, with the flag no-writes? */
HF__PRIVATE_API bool hf__command_round_only_reads(hf__command_round *round,
                                                  const hf__command *command,
                                                  const hf_bytes *words);

/* On the thread that runs the round. */
HF__PRIVATE_API void hf__command_round_lookups(const hf__command_round *round,
                                               hf__lookups *lookups);

/* Count the libraries of functions that this process has loaded, and their
 * functions. The writer lock is held. */
HF__PRIVATE_API void hf__command_round_functions(hf__command_round *round);

/* Commit, or undo what must be undone. With HF_FULL, round->made_room tells
 * whether the same round may fit now. */
HF__PRIVATE_API hf_status hf__command_round_end(hf__command_round *round,
                                                int64_t deadline_ms,
                                                hf_error *err);

#endif
