/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server.c - commands that are about no key: time, events, scripts.
 */
#include <string.h>

#include "store/embedded/commands/command.h"
#include "store/embedded/keys/number.h"
#include "store/embedded/lua/machine.h"
#include "store/embedded/wake/wake.h"

static void run_time(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__say_instant(tx, hf__tx_unix_us(tx));
}

static void run_publish(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)count;
    hf__say_integer(tx, hf__wake_publish(tx, words[1], words[2]));
}

static void run_ping(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (count > 2)
        hf__say_arity(tx, "ping");
    else if (count == 2)
        hf__say_bytes(tx, words[1].data, words[1].size);
    else
        hf__say_line(tx, "PONG");
}

static void run_echo(hf__tx *tx, const hf_bytes *words, size_t count)
{
    (void)count;
    hf__say_bytes(tx, words[1].data, words[1].size);
}

/* There is one database. */
static void run_select(hf__tx *tx, const hf_bytes *words, size_t count)
{
    int64_t number;

    (void)count;
    if (!hf__word_integer(tx, words[1], &number))
        return;
    if (number < INT32_MIN || number > INT32_MAX)
        hf__say_error(tx, "ERR value is out of range, value must between "
                          "-2147483648 and 2147483647");
    else if (number != 0)
        hf__say_error(tx, "ERR DB index is out of range");
    else
        hf__say_line(tx, "OK");
}

/* ------------------------------------------------------------------ SCRIPT */

static void script_load(hf__tx *tx, hf_bytes source)
{
    char sha1[HF__MACHINE_SHA1_SIZE];
    char error[HF__OUT_ERROR_SIZE];

    if (hf__machine_load(tx->env->machine, source, sha1, error, sizeof(error)))
        hf__say_bytes(tx, sha1, strlen(sha1));
    else if (error[0] == '\0')
        hf__tx_no_memory(tx);
    else
        hf__say_error(tx, "%s", error);
}

static void script_exists(hf__tx *tx, const hf_bytes *words, size_t count)
{
    char lower[HF__MACHINE_SHA1_SIZE];

    hf__say_array(tx, count - 2);
    for (size_t i = 2; i < count; i++)
        hf__say_integer(tx, hf__machine_has(tx->env->machine, words[i], lower));
}

static void script_flush(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (count > 3 || (count == 3 && !hf__word_is(words[2], "sync") &&
                      !hf__word_is(words[2], "async"))) {
        hf__say_error(tx, "ERR SCRIPT FLUSH only support SYNC|ASYNC option");
        return;
    }
    hf__machine_flush(tx->env->machine);
    hf__say_line(tx, "OK");
}

static void run_script(hf__tx *tx, const hf_bytes *words, size_t count)
{
    if (hf__word_is(words[1], "load")) {
        if (count == 3)
            script_load(tx, words[2]);
        else
            hf__say_arity(tx, "script|load");
    } else if (hf__word_is(words[1], "exists")) {
        if (count >= 3)
            script_exists(tx, words, count);
        else
            hf__say_arity(tx, "script|exists");
    } else if (hf__word_is(words[1], "flush")) {
        script_flush(tx, words, count);
    } else {
        hf__say_error(tx, "ERR unknown subcommand '%.*s'. Try SCRIPT HELP.",
                      words[1].size > 128 ? 128 : (int)words[1].size,
                      (const char *)words[1].data);
    }
}

/* Scripts get the writer's transaction, whether they write or not. */
#define EVAL                                                                   \
    (HF__COMMAND_WRITES | HF__COMMAND_NO_SCRIPT | HF__COMMAND_MACHINE |        \
     HF__COMMAND_EVAL)

const hf__command hf__commands_server[] = {
    {"time", 1, 0, run_time},
    /* Events are told after a commit, which only a write transaction has. */
    {"publish", 3, HF__COMMAND_WRITES, run_publish},
    {"ping", -1, 0, run_ping},
    {"echo", 2, 0, run_echo},
    {"select", 2, 0, run_select},
    {"eval", -3, EVAL, NULL},
    {"evalsha", -3, EVAL, NULL},
    {"eval_ro", -3, EVAL, NULL},
    {"evalsha_ro", -3, EVAL, NULL},
    {"script", -2,
     HF__COMMAND_WRITES | HF__COMMAND_NO_SCRIPT | HF__COMMAND_MACHINE,
     run_script},
    {NULL, 0, 0, NULL}};
