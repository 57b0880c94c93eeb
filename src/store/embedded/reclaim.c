/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.c - taking back what nobody can see any more: expired keys, and the
 * elements of keys that are gone.
 *
 * A little of it is part of every commit, so that no thread is needed and no
 * commit takes long. The sidecar says whether there are orphans, where the
 * search for expired keys stands, and when it may go on; where it goes on at
 * once is where it found many.
 */
#include <string.h>

#include "store/embedded/tx.h"

/* About 10 us of a commit. */
#define SWEEP_COUNT 64u
/* Between two steps if little was found, and at the end of the key space. */
#define SWEEP_PAUSE_MS 10
#define SWEEP_ROUND_MS 100
/* A step found many if more than one in this many had expired. */
#define SWEEP_MANY 8u
/* When the store is full: some 5 ms. */
#define SWEEP_HARD 400u

#define ORPHAN_COUNT 64u

/* ---------------------------------------------------------------- orphans */

void hf__orphan_put(hf__tx *tx, uint64_t keyid)
{
    unsigned char bytes[9] = {HF__RECORD_ORPHAN};
    MDB_val key = {sizeof(bytes), bytes};
    MDB_val value = {0, bytes};

    memcpy(bytes + 1, &keyid, sizeof(keyid));
    tx->env->sidecar.map->orphans = 1;
    tx->orphans_gone = false;
    (void)hf__tx_put(tx, &key, &value);
}

/* Delete elements from the cursor's kind on; returns how many are left of
 * `budget`. */
static unsigned delete_elements(hf__tx *tx, MDB_cursor *cursor,
                                unsigned char kind, uint64_t keyid,
                                unsigned budget)
{
    unsigned char from[9] = {kind};
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int rc;

    for (size_t i = 0; i < 8; i++)
        from[1 + i] = (unsigned char)(keyid >> (56 - 8 * i));
    for (; budget > 0; budget--) {
        key.mv_size = sizeof(from);
        key.mv_data = from;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
        if (rc == MDB_NOTFOUND ||
            (rc == MDB_SUCCESS &&
             (key.mv_size < sizeof(from) || memcmp(key.mv_data, from, 9) != 0)))
            break;
        if (rc == MDB_SUCCESS) {
            tx->epoch++;
            rc = mdb_cursor_del(cursor, 0);
        }
        if (rc != MDB_SUCCESS) {
            hf__tx_fail(tx, rc);
            return 0;
        }
    }
    return budget;
}

/* One orphan; returns what is left of the budget, 0 also when none is left. */
static unsigned delete_orphan(hf__tx *tx, MDB_cursor *cursor, unsigned budget)
{
    static const unsigned char kinds[] = {HF__RECORD_ELEMENT, HF__RECORD_ORDER,
                                          HF__RECORD_LIST};
    unsigned char kind = HF__RECORD_ORPHAN;
    MDB_val key = {1, &kind};
    MDB_val value;
    unsigned char name[9];
    uint64_t keyid;
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);

    if (rc == MDB_NOTFOUND ||
        (rc == MDB_SUCCESS && (key.mv_size != sizeof(name) ||
                               *(unsigned char *)key.mv_data != kind))) {
        tx->orphans_gone = true;
        return 0;
    }
    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return 0;
    }
    memcpy(name, key.mv_data, sizeof(name));
    memcpy(&keyid, name + 1, sizeof(keyid));
    for (size_t i = 0; i < sizeof(kinds) && budget > 0; i++)
        budget = delete_elements(tx, cursor, kinds[i], keyid, budget);
    if (budget > 0) {
        key.mv_size = sizeof(name);
        key.mv_data = name;
        hf__tx_delete(tx, &key);
    }
    return budget;
}

static void reclaim_orphans(hf__tx *tx)
{
    unsigned budget = ORPHAN_COUNT;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return;
    }
    while (budget > 0 && tx->fatal == HF_OK)
        budget = delete_orphan(tx, cursor, budget);
    mdb_cursor_close(cursor);
}

/* ------------------------------------------------------------ expired keys */

typedef struct sweep {
    unsigned seen;
    unsigned expired;
    size_t keyid_count;
    uint64_t keyids[SWEEP_COUNT]; /* their elements are orphans now */
    bool at_end;
} sweep;

/* Only what the head says is looked at; see keyspace.c for its layout. */
static bool is_expired(const MDB_val *value, int64_t now_ms, uint64_t *keyid)
{
    const unsigned char *at = value->mv_data;
    int64_t expire_ms;

    if (value->mv_size < 32)
        return false;
    memcpy(&expire_ms, at + 8, sizeof(expire_ms));
    if (expire_ms == 0 || expire_ms > now_ms)
        return false;
    *keyid = 0;
    if (at[1] == HF__FORM_ELEMENTS)
        memcpy(keyid, at + 16, sizeof(*keyid));
    return true;
}

static int delete_expired(hf__tx *tx, MDB_cursor *cursor, MDB_val *key,
                          MDB_val *value, sweep *done)
{
    uint64_t keyid;
    int rc = MDB_SUCCESS;

    while (done->seen < SWEEP_COUNT) {
        if (((unsigned char *)key->mv_data)[0] != HF__RECORD_KEY)
            return MDB_NOTFOUND;
        done->seen++;
        if (is_expired(value, tx->now_ms, &keyid)) {
            done->expired++;
            if (keyid != 0)
                done->keyids[done->keyid_count++] = keyid;
            tx->epoch++;
            tx->changed = true;
            rc = mdb_cursor_del(cursor, 0);
        }
        if (rc == MDB_SUCCESS)
            rc = mdb_cursor_get(cursor, key, value, MDB_NEXT);
        if (rc != MDB_SUCCESS)
            return rc;
    }
    return ((unsigned char *)key->mv_data)[0] == HF__RECORD_KEY ? MDB_SUCCESS
                                                                : MDB_NOTFOUND;
}

/* Look at the next few key records. */
static void sweep_step(hf__tx *tx, sweep *done)
{
    static unsigned char first = HF__RECORD_KEY;
    hf__sidecar_map *map = tx->env->sidecar.map;
    MDB_val key = {1, &first};
    MDB_val value;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return;
    }
    if (map->sweep_size > 0 && map->sweep_size <= HF__LMDB_KEY_MAX &&
        map->sweep_key[0] == HF__RECORD_KEY) {
        key.mv_size = map->sweep_size;
        key.mv_data = map->sweep_key;
    }
    rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (rc == MDB_SUCCESS)
        rc = delete_expired(tx, cursor, &key, &value, done);
    done->at_end = rc == MDB_NOTFOUND;
    map->sweep_size = 0;
    if (rc == MDB_SUCCESS && key.mv_size <= sizeof(map->sweep_key)) {
        memcpy(map->sweep_key, key.mv_data, key.mv_size);
        map->sweep_size = (uint32_t)key.mv_size;
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    for (size_t i = 0; i < done->keyid_count; i++)
        hf__orphan_put(tx, done->keyids[i]);
}

void hf__reclaim(hf__tx *tx)
{
    hf__sidecar_map *map = tx->env->sidecar.map;

    /* An instant far ahead was made before the clock was set back. */
    if (tx->now_ms >= map->sweep_ms ||
        map->sweep_ms > tx->now_ms + 10 * SWEEP_ROUND_MS) {
        sweep done = {0};

        sweep_step(tx, &done);
        if (done.expired > done.seen / SWEEP_MANY)
            map->sweep_ms = tx->now_ms;
        else
            map->sweep_ms =
                tx->now_ms + (done.at_end ? SWEEP_ROUND_MS : SWEEP_PAUSE_MS);
    }
    if (map->orphans && tx->fatal == HF_OK)
        reclaim_orphans(tx);
}

void hf__reclaim_hard(hf__tx *tx)
{
    bool wrapped = false;

    /* Records in memory must not be deleted behind their backs. */
    if (!hf__tx_flush(tx))
        return;
    hf__tx_forget(tx);
    for (unsigned i = 0; i < SWEEP_HARD && tx->fatal == HF_OK; i++) {
        sweep done = {0};

        sweep_step(tx, &done);
        if (done.at_end && wrapped)
            break;
        wrapped = wrapped || done.at_end;
    }
    if (tx->env->sidecar.map->orphans && tx->fatal == HF_OK)
        reclaim_orphans(tx);
}

static uint64_t used_pages(hf__tx *tx)
{
    MDB_stat data, free;

    /* 0 is LMDB's own tree of free pages. */
    if (mdb_stat(tx->txn, tx->env->dbi, &data) != MDB_SUCCESS ||
        mdb_stat(tx->txn, 0, &free) != MDB_SUCCESS)
        return 0;
    return data.ms_branch_pages + data.ms_leaf_pages + data.ms_overflow_pages +
           free.ms_branch_pages + free.ms_leaf_pages + free.ms_overflow_pages +
           tx->dirty_size / tx->env->page_size;
}

bool hf__tx_is_full(hf__tx *tx)
{
    uint64_t limit;

    if (!tx->env->tight)
        return false;
    limit = hf__env_limit_pages(tx->env) - hf__env_reserve_pages(tx->env);
    return used_pages(tx) >= limit;
}
