/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_end.h - how scripts end that do not succeed, in Lua and in C.
 */
#ifndef HF__ENGINE_SCRIPT_END_H
#define HF__ENGINE_SCRIPT_END_H

#include "engine/commit/tx.h"
#include "store/request.h"

/* The request's script has failed: so has the request, or the transaction, if
 * that undoes what the script wrote. */
void hf__script_fail(hf__tx *tx, hf__request *request, const char *text);

/* Undo the transaction. Each returns tx->fatal. */
hf_status hf__script_undo(hf__tx *tx, hf_status status, const char *text);
/* At the limit of processor time or, if `late`, at the request's deadline. */
hf_status hf__script_undo_time(hf__tx *tx, const hf__request *request,
                               bool late, int64_t used_ms, int64_t budget_ms);
hf_status hf__script_undo_memory(hf__tx *tx, size_t limit_size);

/* It has used so much processor time, all tries together: its budget is for all
 * of them. */
void hf__script_note_try(hf__tx *tx, hf__request *request, int64_t used_us);

#endif
