/* SPDX-License-Identifier: Apache-2.0 */
/*
 * machine.h - a Lua state in which scripts run.
 *
 * An environment has one in each process for users' scripts and one for the
 * store's functions (functions.h), made when first needed and guarded by the
 * writer lock. The library's own scripts are C: see
 * engine/native/native.h.
 */
#ifndef HF__ENGINE_MACHINE_H
#define HF__ENGINE_MACHINE_H

#include "engine/commands/command_row.h"
#include "store/store.h"
#include "util/sha1.h"

#define HF__NO_FUNCTION (-2) /* LUA_NOREF */
#define HF__ERROR_SCRIPT_WRITES                                                \
    "ERR Can not execute a script with write flag using *_ro command."

#define HF__MACHINE_SHA1_SIZE HF__SHA1_HEX_SIZE

typedef struct hf__machine hf__machine;

/* NULL: no memory. */
hf__machine *hf__machine_new(hf__command_finder *find);
void hf__machine_free(hf__machine *machine);
/* After a script: does it hold memory that cannot be collected? Then free it.
 */
bool hf__machine_is_spoilt(const hf__machine *machine);

/*
 * Run the request's script in `tx`. HF_OK: request->reply is set. Otherwise the
 * script's own error is in request->error, and its writes are kept; or
 * tx->fatal is set, which undoes them: LMDB failed, or the script exceeded
 * budget_ms or the memory limit. `read_only`: refuse writing commands.
 */
hf_status hf__machine_run(hf__machine *machine, hf__tx *tx,
                          hf__request *request, bool read_only,
                          int64_t budget_ms);
/* The same, running a function of a library in place of a script, unless it is
 * HF__NO_FUNCTION; the name is the sha1 of the request's script. */
hf_status hf__machine_run_function(hf__machine *machine, hf__tx *tx,
                                   hf__request *request, int function,
                                   bool read_only, int64_t budget_ms);

/* Has this thread the stack that Lua needs? If not, the transaction fails. */
hf_status hf__machine_check_stack(hf__tx *tx);

/* Compile and keep a user's script; false: see `error`, "" for out of
 * memory. */
bool hf__machine_load(hf__machine *machine, hf_bytes source,
                      char sha1[HF__MACHINE_SHA1_SIZE], char *error,
                      size_t error_size);
/* Is there a script of this SHA-1, ignoring case? Then sets `lower`, which
 * hf__machine_run() needs. */
bool hf__machine_has(hf__machine *machine, hf_bytes sha1,
                     char lower[HF__MACHINE_SHA1_SIZE]);
/* And has it the flag no-writes? */
bool hf__machine_only_reads(hf__machine *machine, hf_bytes sha1,
                            char lower[HF__MACHINE_SHA1_SIZE]);
void hf__machine_flush(hf__machine *machine);
/* How many scripts are kept. */
size_t hf__machine_count(const hf__machine *machine);

#endif
