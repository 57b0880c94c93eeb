/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.h - why a script may not run a command.
 */
#ifndef HF__ENGINE_NOSCRIPT_H
#define HF__ENGINE_NOSCRIPT_H

#include "engine/commands/command_row.h"
#include "store/known_commands.h"
#include "store/request.h"

#define HF__ERROR_SCRIPT_WORDS                                                 \
    "ERR Lua redis lib command arguments must be strings or integers"

/* Of a command that is forbidden or unknown. */
const char *hf__noscript_error(const hf_bytes *words, size_t count);

/* Most commands may be run wherever their words fit. */
static inline bool hf__script_may_plainly(const hf__request *request,
                                          bool reads,
                                          const hf__command *command,
                                          size_t count)
{
    unsigned others = HF__COMMAND_NO_SCRIPT | HF__COMMAND_GROUP |
                      HF__COMMAND_BLOCKS | (reads ? HF__COMMAND_WRITES : 0);

    return command != NULL && (command->flags & others) == 0 &&
           request->refuse == NULL &&
           hf__known_arity_fits(command->arity, count);
}

/* The error's text; NULL: it may. `command` is that of words[0], NULL: there is
 * none; `count` is 1 at least. `reads`: it may write nothing. */
const char *hf__script_refusal_of(const hf__request *request, bool reads,
                                  const hf__command *command,
                                  const hf_bytes *words, size_t count);
static inline const char *hf__script_refusal(const hf__request *request,
                                             bool reads,
                                             const hf__command *command,
                                             const hf_bytes *words,
                                             size_t count)
{
    if (hf__script_may_plainly(request, reads, command, count))
        return NULL;
    return hf__script_refusal_of(request, reads, command, words, count);
}

#endif
