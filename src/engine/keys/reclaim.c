/* SPDX-License-Identifier: Apache-2.0 */
/*
 * reclaim.c - lazy deletion of expired keys and of the elements of deleted
 * keys.
 *
 * A little of it is done in every commit, so that no thread is needed and no
 * commit takes long; fields of hashes whose deadlines have passed are reclaimed
 * in one hash of each step. The sidecar knows whether deletions are pending,
 * the position of the sweep for expired keys, and when it continues: at once if
 * it has found many.
 *
 * If it finds many in each step, as after a million keys expired at once,
 * commits that follow one another quickly delete few each: as many as in one
 * step a millisecond, and two for each record that is put. That is more than
 * can have been added, so the number of expired keys falls.
 */
#include "engine/keys/reclaim.h"

#include <errno.h>
#include <string.h>

#include "engine/files/format.h"
#include "engine/files/keyhead.h"
#include "engine/keys/deadlines.h"
#include "engine/keys/elements.h"
#include "engine/keys/keyspace.h"
#include "engine/keys/record_cache.h"
#include "engine/keys/records.h"
#include "engine/wake/note.h"

/* About 10 us of a commit. */
#define SWEEP_COUNT 64u
/* For each record that is put; and the fewest in one step, which has to find
 * its place and to copy a page. */
#define SWEEP_EACH 2u
#define SWEEP_LEAST 16u
/* Pause between two steps if little was found, and at the end of the key
 * space. */
#define SWEEP_PAUSE_MS 10
#define SWEEP_ROUND_MS 100
/* A step found many if more than one in this many had expired. */
#define SWEEP_MANY 8u
/* When the store is full: some 5 ms each. */
#define SWEEP_HARD 400u
#define PENDING_HARD 2560u

/* An older tombstone (keyhead.h) is deleted. */
#define TOMBSTONE_MS 1000

#define PENDING_COUNT 64u

/* One of hf__reclaim_some(): about a millisecond. */
#define STEP_SWEEPS 16u
#define STEP_PENDING 512u

/* ---------------------------------------------------------------- orphans */

/* Delete elements of one kind; returns the rest of `budget`. */
static unsigned delete_elements(hf__tx *tx, MDB_cursor *cursor,
                                unsigned char kind, uint64_t keyid,
                                unsigned budget)
{
    unsigned char from[9] = {kind};
    MDB_val key = {sizeof(from), from};
    MDB_val value;
    int rc;

    hf__put_be64(from + 1, keyid);
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
            tx->changed = true;
            rc = hf__tx_note_change(tx, &key) ? mdb_cursor_del(cursor, 0)
                                              : ENOMEM;
        }
        if (rc != MDB_SUCCESS) {
            hf__tx_fail(tx, rc);
            return 0;
        }
    }
    return budget;
}

/* One pending delete; returns the rest of the budget. Sets
 * tx->no_pending_deletes if there is none. */
static unsigned delete_pending(hf__tx *tx, MDB_cursor *cursor, unsigned budget)
{
    static const unsigned char kinds[] = {HF__RECORDS_OF_ID};
    unsigned char kind = HF__RECORD_PENDING_DELETE;
    MDB_val key = {1, &kind};
    MDB_val value;
    unsigned char name[9];
    uint64_t keyid;
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);

    if (rc == MDB_NOTFOUND ||
        (rc == MDB_SUCCESS && (key.mv_size != sizeof(name) ||
                               *(unsigned char *)key.mv_data != kind))) {
        tx->no_pending_deletes = true;
        return budget;
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

/* Returns the number of deleted elements, at most `budget`. */
static unsigned run_pending_deletes(hf__tx *tx, unsigned budget)
{
    unsigned left = budget;
    MDB_cursor *cursor;
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return 0;
    }
    tx->no_pending_deletes = false;
    while (left > 0 && tx->fatal == HF_OK && !tx->no_pending_deletes)
        left = delete_pending(tx, cursor, left);
    mdb_cursor_close(cursor);
    return budget - left;
}

/* ------------------------------------------------------------ expired keys */

typedef struct sweep {
    bool spares_shells; /* recent tombstones */
    unsigned limit;     /* of `expired` */
    unsigned seen;
    unsigned expired;
    size_t keyid_count;
    uint64_t
        keyids[HF__KEYHEAD_IDS * SWEEP_COUNT]; /* of elements, to be deleted */
    bool at_end;
    size_t hash_size;
    unsigned char hash[HF__LMDB_KEY_MAX]; /* a key with fields to reclaim */
} sweep;

static bool is_fresh_tombstone(int64_t expire_ms, int64_t now_ms)
{
    int64_t age_ms;

    if (!hf__expiry_is_tombstone(expire_ms) || now_ms <= 0)
        return false;
    age_ms = now_ms + expire_ms;
    /* One in the future is from before the clock was set back. */
    return age_ms >= 0 && age_ms < TOMBSTONE_MS;
}

static bool is_expired(const sweep *done, const MDB_val *value, int64_t now_ms,
                       hf__keyhead *head)
{
    if (value->mv_size < HF__KEYHEAD_SIZE)
        return false;
    hf__keyhead_read(head, value->mv_data);
    if (done->spares_shells && is_fresh_tombstone(head->expire_ms, now_ms))
        return false;
    return hf__keyhead_is_over(head, value->mv_data, value->mv_size, now_ms);
}

static void note_hash(sweep *done, const MDB_val *key, const MDB_val *value,
                      int64_t now_ms)
{
    const unsigned char *at = value->mv_data;
    hf__deadlines fields;
    hf__keyhead head;

    if (done->hash_size > 0 || value->mv_size < HF__KEYHEAD_SIZE)
        return;
    hf__keyhead_read(&head, at);
    /* One with a folded name is reclaimed when it is used. */
    if (head.form != HF__FORM_DEADLINES || head.key_size > 0 ||
        value->mv_size != HF__KEYHEAD_SIZE + sizeof(fields))
        return;
    memcpy(&fields, at + HF__KEYHEAD_SIZE, sizeof(fields));
    if (fields.first_ms > now_ms)
        return;
    done->hash_size = key->mv_size;
    memcpy(done->hash, key->mv_data, key->mv_size);
}

static void reclaim_fields(hf__tx *tx, const sweep *done)
{
    hf__record *record;

    tx->database = hf__kind_database(done->hash[0]);
    record = hf__key_find(tx, hf_view(done->hash + 1, done->hash_size - 1));
    if (record == NULL)
        return;
    hf__deadlines_reclaim(tx, record);
    (void)hf__tx_flush(tx);
}

static void report_expired(hf__tx *tx, hf_bytes key)
{
    hf__note(tx, tx->database, HF_CHANGE_EXPIRED, key);
    hf__key_event(tx, HF__EVENT_EXPIRED, "expired", key);
}

static void note_expired(hf__tx *tx, const MDB_val *name, const MDB_val *value)
{
    hf__keyhead head;

    hf__keyhead_read(&head, value->mv_data);
    if (!hf__expiry_is_tombstone(head.expire_ms) &&
        head.key_size <= value->mv_size - HF__KEYHEAD_SIZE) {
        hf__env_note_expired(tx->env);
        report_expired(tx, hf__keyhead_key(&head, name->mv_data, name->mv_size,
                                           value->mv_data));
    }
}

static unsigned char kind_of(const MDB_val *key)
{
    return ((unsigned char *)key->mv_data)[0];
}

/* To the next record of a key, if this is none: those of database 0 come before
 * other kinds, the rest after them. MDB_NOTFOUND: that was the last. */
static int skip_others(MDB_cursor *cursor, MDB_val *key, MDB_val *value)
{
    static const unsigned char other = HF__RECORD_KEY_OTHER;
    int rc = MDB_SUCCESS;

    if (kind_of(key) < HF__RECORD_KEY ||
        (kind_of(key) > HF__RECORD_KEY && kind_of(key) < other)) {
        *key = (MDB_val){1, (void *)(uintptr_t)&other};
        rc = mdb_cursor_get(cursor, key, value, MDB_SET_RANGE);
    }
    if (rc == MDB_SUCCESS && !hf__kind_is_key(kind_of(key)))
        rc = MDB_NOTFOUND;
    return rc;
}

static int delete_one(hf__tx *tx, MDB_cursor *cursor, MDB_val *key,
                      MDB_val *value)
{
    hf_bytes name =
        hf_view((unsigned char *)key->mv_data + 1, key->mv_size - 1);

    tx->epoch++;
    tx->changed = true;
    tx->database = hf__kind_database(kind_of(key));
    note_expired(tx, key, value);
    hf__record_cache_drop(tx->cache, hf__key_hash(tx->database, name), name);
    return hf__tx_note_change(tx, key) ? mdb_cursor_del(cursor, 0) : ENOMEM;
}

static int delete_expired(hf__tx *tx, MDB_cursor *cursor, MDB_val *key,
                          MDB_val *value, sweep *done)
{
    hf__keyhead head;
    int rc = skip_others(cursor, key, value);

    while (rc == MDB_SUCCESS && done->seen < SWEEP_COUNT &&
           done->expired < done->limit) {
        done->seen++;
        if (is_expired(done, value, tx->now_ms, &head)) {
            done->expired++;
            done->keyid_count +=
                hf__keyhead_ids(&head, value->mv_data, value->mv_size,
                                &done->keyids[done->keyid_count]);
            rc = delete_one(tx, cursor, key, value);
        } else {
            note_hash(done, key, value, tx->now_ms);
        }
        if (rc == MDB_SUCCESS)
            rc = mdb_cursor_get(cursor, key, value, MDB_NEXT);
        if (rc == MDB_SUCCESS)
            rc = skip_others(cursor, key, value);
    }
    return rc;
}

/* Check the next key records from `position` on, `*size` bytes of a name (0:
 * from the first), and advance it. */
static void sweep_step(hf__tx *tx,
                       unsigned char position[HF__SWEEP_POSITION_MAX],
                       uint32_t *size, sweep *done)
{
    /* A copy: other processes may write the place. */
    unsigned char from[HF__SWEEP_POSITION_MAX];
    uint32_t from_size = __atomic_load_n(size, __ATOMIC_RELAXED);
    MDB_val key = {1, from};
    MDB_val value;
    MDB_cursor *cursor;
    uint8_t current = tx->database; /* a command may be about to run in it */
    int rc = mdb_cursor_open(tx->txn, tx->env->dbi, &cursor);

    if (rc != MDB_SUCCESS) {
        hf__tx_fail(tx, rc);
        return;
    }
    if (from_size > 0 && from_size <= HF__LMDB_KEY_MAX) {
        memcpy(from, position, from_size);
        key.mv_size = from_size;
    }
    if (key.mv_size == 1 || !hf__kind_is_key(from[0])) {
        from[0] = HF__RECORD_KEY;
        key.mv_size = 1;
    }
    rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);
    if (rc == MDB_SUCCESS)
        rc = delete_expired(tx, cursor, &key, &value, done);
    done->at_end = rc == MDB_NOTFOUND;
    *size = 0;
    if (rc == MDB_SUCCESS && key.mv_size <= HF__SWEEP_POSITION_MAX) {
        memcpy(position, key.mv_data, key.mv_size);
        *size = (uint32_t)key.mv_size;
    }
    mdb_cursor_close(cursor);
    if (rc != MDB_SUCCESS && rc != MDB_NOTFOUND)
        hf__tx_fail(tx, rc);
    for (size_t i = 0; i < done->keyid_count; i++)
        hf__pending_delete_put(tx, done->keyids[i]);
    if (done->hash_size > 0)
        reclaim_fields(tx, done);
    tx->database = current;
}

/* How many expired keys the process may delete now. */
static unsigned sweep_allowance(hf__tx *tx)
{
    hf__env *env = tx->env;

    if (tx->now_ms != env->swept_ms || env->tight ||
        tx->put_count >= SWEEP_COUNT / SWEEP_EACH)
        env->sweep_allowance = SWEEP_COUNT;
    else
        env->sweep_allowance += SWEEP_EACH * tx->put_count;
    env->swept_ms = tx->now_ms;
    if (env->sweep_allowance > SWEEP_COUNT)
        env->sweep_allowance = SWEEP_COUNT;
    return env->sweep_allowance;
}

void hf__reclaim(hf__tx *tx)
{
    hf__sidecar_map *map = tx->env->sidecar.map;
    unsigned allowance = sweep_allowance(tx);

    /* An instant far ahead is from before the clock was set back. */
    if (allowance >= SWEEP_LEAST &&
        (tx->now_ms >= map->sweep_ms ||
         map->sweep_ms > tx->now_ms + 10 * SWEEP_ROUND_MS)) {
        sweep done = {.spares_shells = true, .limit = allowance};

        sweep_step(tx, map->sweep_key, &map->sweep_size, &done);
        tx->env->sweep_allowance -= done.expired;
        if (done.expired > done.seen / SWEEP_MANY)
            map->sweep_ms = tx->now_ms;
        else
            map->sweep_ms =
                tx->now_ms + (done.at_end ? SWEEP_ROUND_MS : SWEEP_PAUSE_MS);
    }
    if (map->pending_deletes && tx->fatal == HF_OK)
        (void)run_pending_deletes(tx, PENDING_COUNT);
}

void hf__reclaim_some(hf__tx *tx, hf__reclaimed *so_far)
{
    for (unsigned i = 0;
         i < STEP_SWEEPS && !so_far->at_end && tx->fatal == HF_OK; i++) {
        sweep done = {.limit = SWEEP_COUNT};

        sweep_step(tx, so_far->position, &so_far->position_size, &done);
        so_far->keys += done.expired;
        so_far->at_end = done.at_end;
    }
    if (tx->fatal == HF_OK)
        so_far->elements += run_pending_deletes(tx, STEP_PENDING);
    so_far->done = so_far->at_end && tx->no_pending_deletes;
}

/* Go round the keys once, in at most so many steps. */
static void sweep_all(hf__tx *tx, unsigned steps, bool spares_shells)
{
    hf__sidecar_map *map = tx->env->sidecar.map;
    bool wrapped = false;

    for (unsigned i = 0; i < steps && tx->fatal == HF_OK; i++) {
        sweep done = {.spares_shells = spares_shells, .limit = SWEEP_COUNT};

        sweep_step(tx, map->sweep_key, &map->sweep_size, &done);
        if (done.at_end && wrapped)
            break;
        wrapped = wrapped || done.at_end;
    }
}

void hf__reclaim_expired(hf__tx *tx, unsigned steps)
{
    sweep_all(tx, steps, true);
}

void hf__reclaim_hard(hf__tx *tx)
{
    /* No record may be deleted while it is in memory. */
    if (!hf__tx_flush(tx))
        return;
    hf__tx_drop_records(tx);
    sweep_all(tx, SWEEP_HARD, false);
    if (tx->env->sidecar.map->pending_deletes && tx->fatal == HF_OK)
        (void)run_pending_deletes(tx, PENDING_HARD);
}

static uint64_t used_pages(hf__tx *tx)
{
    MDB_stat data, free;

    /* 0 is LMDB's tree of free pages. */
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
