/* SPDX-License-Identifier: Apache-2.0 */
/*
 * eval.h - the commands EVAL, EVALSHA, EVAL_RO and EVALSHA_RO, a script in the
 * arguments of a command, and FCALL and FCALL_RO, a function named there.
 */
#ifndef HF__ENGINE_EVAL_H
#define HF__ENGINE_EVAL_H

#include "engine/commands/command_row.h"
#include "engine/lua/machine.h"

/* Run the request's arguments, whose number fits the command, as a script. The
 * result is in the request, as with hf__machine_run(). */
void hf__eval_run(hf__machine *machine, hf__tx *tx, const hf__command *command,
                  hf__request *request, int64_t budget_ms);

/* Has the script of this SHA-1, or the function of this name, the flag
 * no-writes? false: no, or there is none. */
bool hf__eval_only_reads(hf__machine *machine, hf__tx *tx,
                         const hf__command *command, hf_bytes name);

#endif
