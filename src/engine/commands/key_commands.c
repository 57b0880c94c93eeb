/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_commands.c - commands on keys of any type, and on all of them.
 */
#include <errno.h>
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/commit/redo.h"
#include "engine/files/header.h"
#include "engine/keys/key_count.h"
#include "engine/wake/note.h"

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

static void run_dbsize(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__key_counts counts;

    (void)args;
    (void)count;
    if (hf__key_count(tx, &counts))
        hf__reply_integer(tx, counts.keys);
}

static void run_flushdb(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int rc;

    if (count > 2 || (count == 2 && !hf__arg_is(args[1], "sync") &&
                      !hf__arg_is(args[1], "async"))) {
        hf__reply_error(tx, HF__ERROR_SYNTAX);
        return;
    }
    /* For their notes. */
    if (tx->watched != 0)
        (void)hf__tx_flush(tx);
    hf__tx_drop_records(tx);
    hf__note_flush(tx);
    tx->epoch++;
    tx->changed = true;
    rc = hf__redo_note_drop(tx) ? MDB_SUCCESS : ENOMEM;
    if (rc == MDB_SUCCESS)
        rc = mdb_drop(tx->txn, tx->env->dbi, 0);
    if (rc == MDB_SUCCESS)
        rc = hf__header_put(tx->txn, tx->env->dbi, tx->env->mode);
    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    hf__reply_line(tx, "OK");
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_key[] = {{"del", WRITES, run_del},
                                              {"unlink", WRITES, run_del},
                                              {"exists", 0, run_exists},
                                              {"touch", 0, run_exists},
                                              {"type", 0, run_type},
                                              {"dbsize", 0, run_dbsize},
                                              {"flushdb", WRITES, run_flushdb},
                                              {"flushall", WRITES, run_flushdb},
                                              {NULL, 0, NULL}};
