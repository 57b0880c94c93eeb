/* SPDX-License-Identifier: Apache-2.0 */
/*
 * script_command.c - SCRIPT, and the rows of EVAL, FCALL and their variants.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/lua/machine.h"

static void script_load(hf__tx *tx, const hf_bytes *words, size_t count)
{
    char sha1[HF__MACHINE_SHA1_SIZE];
    char error[HF__OUT_ERROR_SIZE];

    (void)count;
    if (hf__machine_load(tx->env->users, words[2], sha1, error, sizeof(error)))
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
        hf__reply_integer(tx, hf__machine_has(tx->env->users, words[i], lower));
}

static void script_flush(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (count > 3 || (count == 3 && !hf__arg_is(words[2], "sync") &&
                      !hf__arg_is(words[2], "async"))) {
        hf__reply_error(tx, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    hf__machine_flush(tx->env->users);
    hf__reply_line(tx, "OK");
}

/* A script that runs keeps the writer lock, which this needs too. */
static void script_kill(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__reply_error(tx, "NOTBUSY No scripts in execution right now.");
}

static void script_help(hf__tx *tx, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "EXISTS <sha1> [<sha1> ...]",
        "    Return information about the existence of the scripts in the "
        "script cache.",
        "FLUSH [ASYNC|SYNC]",
        "    Flush the Lua scripts cache.",
        "KILL",
        "    Kill the currently executing Lua script.",
        "LOAD <script>",
        "    Load a script into the scripts cache without executing it.",
        NULL};

    (void)words;
    (void)count;
    hf__reply_help(tx, lines);
}

/* Scripts always run in a write transaction. */
#define EVAL (HF__COMMAND_WRITES | HF__COMMAND_MACHINE | HF__COMMAND_EVAL)

const hf__command_entry hf__commands_script[] = {
    {"eval", EVAL, NULL},
    {"evalsha", EVAL, NULL},
    {"eval_ro", EVAL, NULL},
    {"evalsha_ro", EVAL, NULL},
    {"fcall", EVAL, NULL},
    {"fcall_ro", EVAL, NULL},
    {"script", HF__COMMAND_WRITES | HF__COMMAND_MACHINE | HF__COMMAND_GROUP,
     hf__subcommand_run},
    {"script|load", 0, script_load},
    {"script|exists", 0, script_exists},
    {"script|flush", 0, script_flush},
    {"script|kill", 0, script_kill},
    {"script|help", 0, script_help},
    {NULL, 0, NULL}};
