/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_sample.h - all locks of a store at one time, and what has changed since
 * the sample before.
 *
 * A sample needs a SCAN over all keys with a script for each, as
 * hf_lock_list(); then a request for each lock, and one for each owner that the
 * sample before did not have, LOCK_SAMPLE_WINDOW of them at a time.
 *
 * A sample is not changed once it was taken, so threads may share it.
 */
#ifndef HOLDFAST_CLI_LOCK_SAMPLE_H
#define HOLDFAST_CLI_LOCK_SAMPLE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "holdfast/lock.h"
#include "json_line.h"

/* More locks are an error: a sample has about 1 KiB for each. */
#define LOCK_SAMPLE_MAX 100000

#define LOCK_SAMPLE_WINDOW 256

struct lock_row {
    char *name; /* without the client's prefix; may have any bytes */
    size_t name_size;
    hf_lock_info info;
    int64_t read_ms;  /* when `info` was asked for; now_ms() of lease_clock.h */
    int64_t seen_ms;  /* since when samples have this owner */
    int64_t held_ms;  /* how long it is held; -1: unknown */
    int64_t lease_ms; /* the most that samples have seen left of its lease */
    bool known;       /* `holder` is */
    hf_holder holder;
};

/* Only locks of one holder at a time are counted: of those that are shared,
 * one sees any one of the holders. */
struct lock_changes {
    uint64_t hand_overs; /* another owner than in the sample before */
    uint64_t losses;     /* the owner is gone, after its lease ran out */
};

/* Ranges of lock_waits. */
#define LOCK_WAIT_TIMES 11

/* How long holders had waited for their locks; of those that had to. */
struct lock_waits {
    uint64_t count;
    int64_t sum_ms;
    /* At most 4^i ms, but more than 4^(i-1); in the last one all others. */
    uint64_t times[LOCK_WAIT_TIMES];
};

struct lock_sample {
    struct lock_row *rows; /* by name */
    size_t count;
    int64_t waiters;     /* of all rows */
    uint64_t last_token; /* the greatest that was seen */
    int64_t began_ms;
    int64_t ended_ms;
    int64_t span_ms; /* since the sample before; 0: there was none */
    struct lock_changes changed; /* in this time */
    struct lock_changes total;   /* since the first sample */
    struct lock_waits waits;     /* the same */
};

/*
 * Read all locks that match `pattern` (empty: all). Blocks, and dispatches the
 * client's calls: no other thread may await them.
 *
 * `previous` is the sample before, NULL for the first one. `stop` may be NULL;
 * once it is set, the call ends with HF_CANCELLED after the requests under way.
 */
hf_status lock_sample_take(hf_client *client, hf_bytes pattern,
                           const struct lock_sample *previous,
                           const atomic_bool *stop, struct lock_sample **sample,
                           hf_error *err);

/* NULL does nothing. */
void lock_sample_free(struct lock_sample *sample);

/* The row of a lock; NULL: it is not held. */
const struct lock_row *lock_sample_find(const struct lock_sample *sample,
                                        hf_bytes name);

/* How long the lock is held; if that is unknown, how long samples have had this
 * owner. */
int64_t lock_row_held_ms(const struct lock_row *row);

/* Count what has changed since `previous`; lock_sample_take() has done so. */
void lock_sample_compare(struct lock_sample *sample,
                         const struct lock_sample *previous);

/* Changes in a second; 0 if there was no sample before. */
double lock_sample_rate(const struct lock_sample *sample, uint64_t changes);

/* Members of an object: totals, and the array "locks". */
void lock_sample_json(struct json *json, const struct lock_sample *sample);

/* Break a lock if `owner` is still among its holders. HF_CONFLICT: only others
 * hold it; HF_NOT_FOUND: it is free. */
hf_status lock_sample_break(hf_client *client, hf_bytes name, hf_bytes owner,
                            hf_error *err);

#define LOCK_STORE_TEXT_SIZE 256

/* What the store is and where, without a password; "" if that is unknown. */
void lock_sample_store(hf_client *client, char text[LOCK_STORE_TEXT_SIZE]);

#endif
