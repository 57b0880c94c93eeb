/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.c - see noscript.h. As in Redis 7.0, the number of words is checked
 * first.
 */
#include "engine/lua/noscript.h"

#include <string.h>

#include "store/known_commands.h"

const char *hf__noscript_error(const hf_bytes *words, size_t count)
{
    const hf__known_command *known = hf__known_find(words[0]);

    if (known != NULL && count > 1 && hf__known_has_subs(known))
        known = hf__known_find_sub(words[0], words[1]);
    if (known == NULL || (known->flags & HF__KNOWN_NOSCRIPT) == 0)
        return "ERR Unknown Redis command called from script";
    if (!hf__known_arity_fits(known->arity, count))
        return "ERR Wrong number of args calling Redis command from script";
    return "ERR This Redis command is not allowed from script";
}

/* XREAD may not wait. */
static const char *wait_refusal(const hf__command *command,
                                const hf_bytes *words, size_t count)
{
    bool grouped = strcmp(command->name, "xreadgroup") == 0;

    if (!grouped && strcmp(command->name, "xread") != 0)
        return NULL;
    for (size_t i = grouped ? 4 : 1; i < count; i++) {
        if (hf__arg_is(words[i], "streams"))
            return NULL;
        if (hf__arg_is(words[i], "block"))
            return grouped ? "ERR xreadgroup command is not allowed with BLOCK "
                             "option from scripts"
                           : "ERR xread command is not allowed with BLOCK "
                             "option from scripts";
    }
    return NULL;
}

const char *hf__script_refusal_of(const hf__request *request, bool reads,
                                  const hf__command *command,
                                  const hf_bytes *words, size_t count)
{
    const char *error = NULL;

    if (command == NULL || (command->flags & HF__COMMAND_NO_SCRIPT) != 0)
        return hf__noscript_error(words, count);
    if ((command->flags & HF__COMMAND_GROUP) != 0 && count > 1)
        command = hf__subcommand_find(command, words[1]);
    if (command == NULL)
        return "ERR Unknown Redis command called from script";
    if (!hf__command_arity_fits(command, count))
        return "ERR Wrong number of args calling Redis command from script";
    if ((command->flags & HF__COMMAND_BLOCKS) != 0)
        error = wait_refusal(command, words, count);
    if (error != NULL)
        return error;
    if (request->refuse != NULL)
        error = request->refuse(request->refuse_user, words, count);
    if (error != NULL)
        return error;
    if (reads && (command->flags & HF__COMMAND_WRITES) != 0)
        return "ERR Write commands are not allowed from read-only scripts.";
    return NULL;
}
