/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_end.h - how scripts end that do not succeed, in Lua and in C, and
 * their limit of time.
 */
#ifndef HF__ENGINE_SCRIPT_END_H
#define HF__ENGINE_SCRIPT_END_H

#include "engine/commit/tx.h"
#include "store/request.h"
#include "util/clock.h"

/* Memory of a script, in addition to its arguments and what it reads. */
#define HF__SCRIPT_MEMORY_MAX (size_t)(64u << 20)

/* When a script has to end. */
typedef struct hf__script_time {
    int64_t budget_us;   /* of processor time */
    int64_t began_us;    /* of processor time */
    int64_t check_us;    /* before this the budget cannot be used up */
    int64_t deadline_us; /* the request's; INT64_MAX: already past */
    bool late;           /* at the deadline, not because of the budget */
} hf__script_time;

/* From now on, without a deadline. */
void hf__script_time_begin(hf__script_time *time, int64_t budget_ms);
/* The request's deadline, and its budget for all tries. */
void hf__script_time_join(hf__script_time *time, const hf__request *request);
bool hf__script_time_is_up(hf__script_time *time);
static inline int64_t hf__script_time_used_us(const hf__script_time *time)
{
    return hf__clock_thread_us() - time->began_us;
}

/* The request's script has failed: so has the request, or the transaction, if
 * that undoes what the script wrote. */
void hf__script_fail(hf__tx *tx, hf__request *request, const char *text);

/* Undo the transaction. Each returns tx->fatal. */
hf_status hf__script_undo(hf__tx *tx, hf_status status, const char *text);
/* The time is up. */
hf_status hf__script_undo_time(hf__tx *tx, const hf__request *request,
                               const hf__script_time *time);
hf_status hf__script_undo_memory(hf__tx *tx, size_t limit_size);

/* It has used so much processor time, all tries together: its budget is for all
 * of them. */
void hf__script_note_try(hf__tx *tx, hf__request *request, int64_t used_us);

#endif
