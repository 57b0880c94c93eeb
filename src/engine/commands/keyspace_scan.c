/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyspace_scan.c - commands on all keys of a database: SCAN, KEYS, RANDOMKEY.
 *
 * They walk LMDB's records, after those in memory were written. Expired keys
 * are skipped.
 */
#include <string.h>

#include "engine/commands/command_row.h"
#include "engine/files/keyhead.h"
#include "engine/keys/scan.h"
#include "util/glob.h"
#include "util/rand.h"

typedef struct keys {
    hf__tx *tx;
    MDB_cursor *cursor;
    MDB_val name; /* of the record */
    MDB_val value;
    hf_bytes key;
    hf__type type;
    bool expired;
} keys;

/* Decode the record. false: not a key's, or damaged. */
static bool read_key(keys *at)
{
    const unsigned char *name = at->name.mv_data;
    const unsigned char *value = at->value.mv_data;
    size_t size = at->value.mv_size;
    hf__keyhead head;

    if (name[0] != hf__key_kind(at->tx->database))
        return false;
    if (size >= HF__KEYHEAD_SIZE)
        hf__keyhead_read(&head, value);
    if (size < HF__KEYHEAD_SIZE || head.key_size > size - HF__KEYHEAD_SIZE) {
        hf__tx_fail(at->tx, MDB_CORRUPTED);
        return false;
    }
    at->type = (hf__type)head.type;
    at->expired = hf__keyhead_is_over(&head, value, size, at->tx->now_ms);
    at->key = hf__keyhead_key(&head, name, at->name.mv_size, value);
    return true;
}

static bool move_cursor(keys *at, MDB_cursor_op op)
{
    int rc;

    if (at->cursor == NULL || !hf__tx_spend(at->tx, 200))
        return false;
    rc = mdb_cursor_get(at->cursor, &at->name, &at->value, op);
    if (rc == MDB_SUCCESS)
        return read_key(at);
    if (rc != MDB_NOTFOUND)
        hf__tx_fail(at->tx, rc);
    return false;
}

/* Open a cursor, which keys_end() closes. */
static void keys_begin(keys *at, hf__tx *tx)
{
    int rc;

    memset(at, 0, sizeof(*at));
    at->tx = tx;
    if (tx->fatal != HF_OK || (tx->writable && !hf__tx_flush(tx)))
        return;
    rc = mdb_cursor_open(tx->txn, tx->env->dbi, &at->cursor);
    if (rc != MDB_SUCCESS) {
        at->cursor = NULL;
        hf__tx_fail(tx, rc);
    }
}

static void keys_end(keys *at)
{
    if (at->cursor != NULL)
        mdb_cursor_close(at->cursor);
}

/* Move to the first record from `name` on. false: none. */
static bool keys_seek(keys *at, const void *name, size_t size)
{
    at->name.mv_data = (void *)(uintptr_t)name;
    at->name.mv_size = size;
    return move_cursor(at, MDB_SET_RANGE);
}

static bool keys_first(keys *at)
{
    unsigned char first = hf__key_kind(at->tx->database);

    return keys_seek(at, &first, 1);
}

/* -------------------------------------------------------------------- SCAN */

/* Move to where the scan continues, or to the first key if that is unknown. */
static bool resume_scan(keys *at, const hf__scan *scan)
{
    unsigned char first = hf__key_kind(scan->tx->database);
    unsigned char name[HF__LMDB_KEY_MAX];
    size_t size = 0;
    bool more;

    if (scan->cursor != 0)
        size = hf__scan_position_name(scan, hf_view(&first, 1), name);
    if (size > 0)
        return keys_seek(at, name, size);
    more = keys_first(at);
    while (scan->cursor != 0 && more && !hf__scan_is_at(scan, &at->name))
        more = move_cursor(at, MDB_NEXT);
    return more || keys_first(at);
}

static bool is_wanted(const hf__scan *scan, const keys *at)
{
    return !at->expired && hf__scan_fits(scan, at->key) &&
           (!scan->by_type || hf__arg_is(scan->type, hf__type_name(at->type)));
}

static uint64_t scan_keys(const hf__scan *scan, hf__members *list)
{
    uint64_t left = scan->count;
    uint64_t cursor;
    bool more;
    keys at;

    keys_begin(&at, scan->tx);
    more = resume_scan(&at, scan);
    for (; more && left > 0; left--) {
        if (is_wanted(scan, &at) && !hf__members_refer(list, at.key, 0))
            break;
        more = move_cursor(&at, MDB_NEXT);
    }
    cursor = hf__scan_next(scan, more ? &at.name : NULL);
    keys_end(&at);
    return cursor;
}

static void run_scan(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf__members list;
    hf__scan scan;
    uint64_t cursor;

    if (!hf__scan_cursor(&scan, tx, args[1]) ||
        !hf__scan_options(&scan, args + 2, count - 2, true))
        return;
    hf__members_init(&list, tx);
    cursor = scan_keys(&scan, &list);
    hf__scan_reply_cursor(tx, cursor);
    hf__members_reply(&list, false);
}

/* ------------------------------------------------------------------ others */

static void run_keys(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf_bytes pattern = args[1];
    bool all = pattern.size == 1 && *(const char *)pattern.data == '*';
    hf__members list;
    bool more;
    keys at;

    (void)count;
    if (!hf__scan_pattern(tx, pattern))
        return;
    hf__members_init(&list, tx);
    keys_begin(&at, tx);
    for (more = keys_first(&at); more; more = move_cursor(&at, MDB_NEXT)) {
        if (!at.expired && (all || hf__glob_fits(pattern, at.key)) &&
            !hf__members_refer(&list, at.key, 0))
            break;
    }
    keys_end(&at);
    hf__members_reply(&list, false);
}

/* Reservoir sampling: the n-th key replaces the chosen one with probability
 * 1/n. Keys cannot be found by number. */
static void run_randomkey(hf__tx *tx, const hf_bytes *args, size_t count)
{
    hf_bytes chosen = hf_view(NULL, 0);
    int64_t seen = 0;
    bool more;
    keys at;

    (void)args;
    (void)count;
    keys_begin(&at, tx);
    for (more = keys_first(&at); more; more = move_cursor(&at, MDB_NEXT)) {
        if (!at.expired && hf__rand_between(0, seen++) == 0)
            chosen = at.key;
    }
    keys_end(&at);
    if (seen > 0)
        hf__reply_bytes(tx, chosen.data, chosen.size);
    else
        hf__reply_nil(tx);
}

const hf__command_entry hf__commands_keyspace_scan[] = {
    {"scan", 0, run_scan},
    {"keys", 0, run_keys},
    {"randomkey", 0, run_randomkey},
    {NULL, 0, NULL}};
