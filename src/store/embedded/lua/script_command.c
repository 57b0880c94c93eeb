/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_command.c - SCRIPT, and the rows of EVAL and its variants.
 */
#include <string.h>

#include "store/embedded/commands/command.h"
#include "store/embedded/lua/machine.h"

static void script_load(hf__tx *tx, hf_bytes source)
{
    char sha1[HF__MACHINE_SHA1_SIZE];
    char error[HF__OUT_ERROR_SIZE];

    if (hf__machine_load(tx->env->machine, source, sha1, error, sizeof(error)))
        hf__reply_bytes(tx, sha1, strlen(sha1));
    else if (error[0] == '\0')
        hf__tx_no_memory(tx);
    else
        hf__reply_error(tx, "%s", error);
}

static void script_exists(hf__tx *tx, const hf_bytes *words, size_t count)
{
    char lower[HF__MACHINE_SHA1_SIZE];

    hf__reply_array(tx, count - 2);
    for (size_t i = 2; i < count; i++)
        hf__reply_integer(tx,
                          hf__machine_has(tx->env->machine, words[i], lower));
}

static void script_flush(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (count > 3 || (count == 3 && !hf__arg_is(words[2], "sync") &&
                      !hf__arg_is(words[2], "async"))) {
        hf__reply_error(tx, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    hf__machine_flush(tx->env->machine);
    hf__reply_line(tx, "OK");
}

static void run_script(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (hf__arg_is(words[1], "load")) {
        if (count == 3)
            script_load(tx, words[2]);
        else
            hf__reply_arity(tx, "script|load");
    } else if (hf__arg_is(words[1], "exists")) {
        if (count >= 3)
            script_exists(tx, words, count);
        else
            hf__reply_arity(tx, "script|exists");
    } else if (hf__arg_is(words[1], "flush")) {
        script_flush(tx, words, count);
    } else {
        hf__reply_error(tx, "ERR unknown subcommand '%.*s'. Try SCRIPT HELP.",
                        words[1].size > 128 ? 128 : (int)words[1].size,
                        (const char *)words[1].data);
    }
}

/* Scripts always run in a write transaction. */
#define EVAL                                                                   \
    (HF__COMMAND_WRITES | HF__COMMAND_NO_SCRIPT | HF__COMMAND_MACHINE |        \
     HF__COMMAND_EVAL)

const hf__command hf__commands_script[] = {
    {"eval", -3, EVAL, NULL},
    {"evalsha", -3, EVAL, NULL},
    {"eval_ro", -3, EVAL, NULL},
    {"evalsha_ro", -3, EVAL, NULL},
    {"script", -2,
     HF__COMMAND_WRITES | HF__COMMAND_NO_SCRIPT | HF__COMMAND_MACHINE,
     run_script},
    {NULL, 0, 0, NULL}};
