/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.c - see noscript.h. As in Redis 7.0, the number of words is checked
 * first.
 */
#include "engine/lua/noscript.h"

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
