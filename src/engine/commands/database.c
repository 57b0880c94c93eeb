/* SPDX-License-Identifier: Apache-2.0 */
/*
 * database.c - commands on whole databases: SELECT, DBSIZE, SWAPDB, FLUSHDB,
 * FLUSHALL.
 */
#include "engine/commands/command_row.h"

#include <errno.h>

#include "engine/commit/redo.h"
#include "engine/files/header.h"
#include "engine/keys/databases.h"
#include "engine/keys/function_record.h"
#include "engine/keys/key_count.h"
#include "engine/wake/note.h"

/* Any key may have gone, or come. */
static void report_all(hf__tx *tx)
{
    if (tx->made != NULL)
        tx->made(tx, hf_view(NULL, 0));
}

/* For this command's transaction; who has a connection keeps the number. */
static void run_select(hf__tx *tx, const hf_bytes *args, size_t count)
{
    uint8_t database;

    (void)count;
    if (!hf__arg_database(tx, args[1], &database))
        return;
    tx->database = database;
    hf__reply_line(tx, "OK");
}

static void run_dbsize(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__key_counts counts;

    (void)args;
    (void)count;
    if (hf__key_count(tx, &counts))
        hf__reply_integer(tx, counts.keys);
}

static void run_swapdb(hf__tx *tx, const hf_bytes *args, size_t count)
{
    int64_t first, second;

    (void)count;
    if (!hf__arg_at_least(tx, args[1], INT32_MIN, "ERR invalid first DB index",
                          &first) ||
        !hf__arg_at_least(tx, args[2], INT32_MIN, "ERR invalid second DB index",
                          &second))
        return;
    if (first < 0 || first >= (int)HF__DATABASES || second < 0 ||
        second >= (int)HF__DATABASES) {
        hf__reply_error(tx, HF__ERROR_DATABASE);
        return;
    }
    if (first != second) {
        hf__database_swap(tx, (unsigned)first, (unsigned)second);
        report_all(tx);
    }
    hf__reply_line(tx, "OK");
}

/* ------------------------------------------------------------------- flushing
 */

static bool check_flush(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (count == 1 || (count == 2 && (hf__arg_is(args[1], "sync") ||
                                      hf__arg_is(args[1], "async"))))
        return true;
    return hf__reply_error(tx, HF__ERROR_SYNTAX);
}

/* But libraries of functions, which are not of a database. */
static void drop_all(hf__tx *tx)
{
    hf_bytes functions;
    int rc;

    if (!hf__functions_save(tx, &functions))
        return;
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
    else
        hf__functions_put_saved(tx, functions);
}

static void run_flushall(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (!check_flush(tx, args, count))
        return;
    drop_all(tx);
    report_all(tx);
    hf__reply_line(tx, "OK");
}

static void run_flushdb(hf__tx *tx, const hf_bytes *args, size_t count)
{
    if (!check_flush(tx, args, count))
        return;
    if (hf__database_has_others(tx, tx->database))
        hf__database_clear(tx, tx->database);
    else if (tx->fatal == HF_OK)
        drop_all(tx);
    report_all(tx);
    hf__reply_line(tx, "OK");
}

#define WRITES HF__COMMAND_WRITES

const hf__command_entry hf__commands_database[] = {
    {"select", 0, run_select},          {"dbsize", 0, run_dbsize},
    {"swapdb", WRITES, run_swapdb},     {"flushdb", WRITES, run_flushdb},
    {"flushall", WRITES, run_flushall}, {NULL, 0, NULL}};
