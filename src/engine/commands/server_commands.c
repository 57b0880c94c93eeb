/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_commands.c - commands without keys.
 */
#include "engine/commands/command_row.h"

static void run_time(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)args;
    (void)count;
    hf__reply_instant(tx, hf__tx_unix_us(tx));
}

static void run_ping(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (count > 2)
        hf__reply_arity(tx, "ping");
    else if (count == 2)
        hf__reply_bytes(tx, args[1].data, args[1].size);
    else
        hf__reply_line(tx, "PONG");
}

static void run_echo(hf__tx *tx, const hf_bytes *args, size_t count)
{
    (void)count;
    hf__reply_bytes(tx, args[1].data, args[1].size);
}

/* The only database is number 0. */
static void run_select(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t number;

    (void)count;
    if (!hf__arg_integer(tx, args[1], &number))
        return;
    if (number < INT32_MIN || number > INT32_MAX)
        hf__reply_error(tx, "ERR value is out of range, value must between "
                            "-2147483648 and 2147483647");
    else if (number != 0)
        hf__reply_error(tx, "ERR DB index is out of range");
    else
        hf__reply_line(tx, "OK");
}

const hf__command_entry hf__commands_server[] = {{"time", 0, run_time},
                                                 {"ping", 0, run_ping},
                                                 {"echo", 0, run_echo},
                                                 {"select", 0, run_select},
                                                 {NULL, 0, NULL}};
