/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_commands.c - commands on keys of any type.
 */
#include <string.h>

#include "engine/commands/command_row.h"

static void run_del(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t deleted = 0;

    for (size_t i = 1; i < count && tx->fatal == HF_OK; i++) {
        hf__record *record = hf__key_find(tx, args[i]);

        if (record != NULL) {
            hf__key_delete(tx, record);
            deleted++;
        }
        hf__tx_trim(tx);
    }
    hf__reply_integer(tx, deleted);
}

static void run_exists(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t found = 0;

    for (size_t i = 1; i < count && tx->fatal == HF_OK; i++) {
        if (hf__key_find(tx, args[i]) != NULL)
            found++;
        hf__tx_trim(tx);
    }
    hf__reply_integer(tx, found);
}

static void run_type(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__record *record = hf__key_find(tx, args[1]);

    (void)count;
    hf__reply_line(tx, record == NULL ? "none"
                                      : hf__type_name((hf__type)record->type));
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_key[] = {
    {"del", WRITES, run_del},  {"unlink", WRITES, run_del},
    {"exists", 0, run_exists}, {"touch", 0, run_exists},
    {"type", 0, run_type},     {NULL, 0, NULL}};
