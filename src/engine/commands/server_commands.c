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

const hf__command_entry hf__commands_server[] = {{"time", 0, run_time},
                                                 {"ping", 0, run_ping},
                                                 {"echo", 0, run_echo},
                                                 {NULL, 0, NULL}};
