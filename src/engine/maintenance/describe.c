/* SPDX-License-Identifier: Apache-2.0 */
/*
 * describe.c - facts about an open store: sizes, counts, who has it open.
 *
 * All counts are from one read transaction, which does not block writers; on a
 * large store it takes a second or so.
 */
#include "engine/maintenance/describe.h"

#include "engine/files/format.h"
#include "engine/files/header.h"
#include "engine/files/keyhead.h"
#include "engine/keys/number_text.h"
#include "util/clock.h"

typedef struct counts {
    MDB_stat data;
    MDB_stat free; /* LMDB's tree of free pages */
    MDB_envinfo info;
    uint32_t format;
    uint64_t keys;
    uint64_t expiring;
    uint64_t expired; /* not yet deleted */
    uint64_t
        pending_deletes; /* deleted keys whose elements are not yet deleted */
} counts;

static void reply_number(hf__describe_fn line, void *user, const char *name,
                         uint64_t value)
{
    char text[HF__NUMBER_TEXT_SIZE];

    (void)hf__number_put_integer(text, (int64_t)value);
    line(user, name, text);
}

static const char *mode_text(const hf__env *env)
{
    if (env->mode == HF__MODE_FLUSH)
        return "durable (flush)";
    if (env->mode == HF__MODE_LOG)
        return "durable (log)";
    return env->mode == HF__MODE_VOLATILE ? "volatile" : "durable (commit)";
}

/* --------------------------------------------------------------- counting */

static void count_key(counts *sum, const MDB_val *value, int64_t now_ms)
{
    hf__keyhead head;

    if (value->mv_size < HF__KEYHEAD_SIZE)
        return;
    hf__keyhead_read(&head, value->mv_data);
    if (hf__keyhead_is_over(&head, value->mv_data, value->mv_size, now_ms)) {
        sum->expired++;
        return;
    }
    sum->keys++;
    sum->expiring += head.expire_ms != 0 ? 1 : 0;
}

/* All records of some kinds. */
static int count_kinds(MDB_cursor *cursor, unsigned char first,
                       unsigned char last, counts *sum, int64_t now_ms)
{
    MDB_val key = {1, &first};
    MDB_val value;
    int rc = mdb_cursor_get(cursor, &key, &value, MDB_SET_RANGE);

    while (rc == MDB_SUCCESS && *(unsigned char *)key.mv_data <= last) {
        if (hf__kind_is_key(*(unsigned char *)key.mv_data))
            count_key(sum, &value, now_ms);
        else
            sum->pending_deletes++;
        rc = mdb_cursor_get(cursor, &key, &value, MDB_NEXT);
    }
    return rc == MDB_NOTFOUND ? MDB_SUCCESS : rc;
}

static int count_every_kind(MDB_cursor *cursor, counts *sum, int64_t now_ms)
{
    int rc = count_kinds(cursor, HF__RECORD_KEY, HF__RECORD_KEY, sum, now_ms);

    if (rc == MDB_SUCCESS)
        rc = count_kinds(cursor, HF__RECORD_PENDING_DELETE,
                         HF__RECORD_PENDING_DELETE, sum, now_ms);
    if (rc == MDB_SUCCESS)
        rc = count_kinds(cursor, hf__key_kind(1),
                         hf__key_kind(HF__DATABASES - 1), sum, now_ms);
    return rc;
}

static int read_format(const hf__env *env, MDB_txn *txn, counts *sum)
{
    unsigned char name = HF__RECORD_HEADER;
    MDB_val key = {1, &name};
    hf__header header = {.version = 0};
    MDB_val value;
    int rc = mdb_get(txn, env->dbi, &key, &value);

    if (rc == MDB_SUCCESS && value.mv_size == sizeof(header))
        memcpy(&header, value.mv_data, sizeof(header));
    sum->format = header.version;
    return rc;
}

static int count_all(const hf__env *env, MDB_txn *txn, counts *sum)
{
    int64_t now_ms = hf__sidecar_now_ms(&env->sidecar, hf__clock_boot_ms());
    MDB_cursor *cursor;
    int rc = mdb_stat(txn, env->dbi, &sum->data);

    if (rc == MDB_SUCCESS)
        rc = mdb_stat(txn, 0, &sum->free);
    if (rc == MDB_SUCCESS)
        rc = read_format(env, txn, sum);
    if (rc == MDB_SUCCESS)
        rc = mdb_env_info(env->mdb, &sum->info);
    if (rc == MDB_SUCCESS)
        rc = mdb_cursor_open(txn, env->dbi, &cursor);
    if (rc != MDB_SUCCESS)
        return rc;
    rc = count_every_kind(cursor, sum, now_ms);
    mdb_cursor_close(cursor);
    return rc;
}

/* false: no reader slot, or the store failed. */
static bool count_keys(hf__env *env, counts *sum)
{
    MDB_txn *txn = NULL;
    bool fine;

    if (hf__env_begin_read(env, &txn, NULL) != HF_OK)
        return false;
    fine = count_all(env, txn, sum) == MDB_SUCCESS;
    hf__env_end_read(env, txn);
    mdb_txn_abort(txn);
    return fine;
}

static uint64_t pages_of(const MDB_stat *stat)
{
    return stat->ms_branch_pages + stat->ms_leaf_pages +
           stat->ms_overflow_pages;
}

static void reply_counts(const counts *sum, hf__describe_fn line, void *user)
{
    uint64_t page_size = sum->data.ms_psize;
    uint64_t touched = sum->info.me_last_pgno + 1;
    /* Plus the two meta pages. */
    uint64_t used = pages_of(&sum->data) + pages_of(&sum->free) + 2;

    reply_number(line, user, "format", sum->format);
    reply_number(line, user, "keys", sum->keys);
    reply_number(line, user, "keys with expiry", sum->expiring);
    reply_number(line, user, "expired keys to reclaim", sum->expired);
    reply_number(line, user, "deleted keys to reclaim", sum->pending_deletes);
    reply_number(line, user, "records", sum->data.ms_entries);
    reply_number(line, user, "page size", page_size);
    reply_number(line, user, "bytes in use", used * page_size);
    /* A commit between reading two of these changes one. */
    reply_number(line, user, "bytes free for reuse",
                 touched > used ? (touched - used) * page_size : 0);
    reply_number(line, user, "bytes touched", touched * page_size);
    reply_number(line, user, "transactions", sum->info.me_last_txnid);
    reply_number(line, user, "reader slots in use", sum->info.me_numreaders);
    reply_number(line, user, "reader slots", sum->info.me_maxreaders);
}

/* Handles of all processes that have the store open. */
static uint64_t count_handles(const hf__env *env)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < HF__INBOX_MAX; i++) {
        if (hf__inbox_used(&env->sidecar, i))
            sum++;
    }
    return sum;
}

void hf__embedded_describe(hf__env *env, hf__describe_fn line, void *user)
{
    counts sum = {0};

    line(user, "store", "embedded");
    line(user, "path", env->path);
    line(user, "mode", mode_text(env));
    line(user, "engine", mdb_version(NULL, NULL, NULL));
    line(user, "script engine", "Lua 5.1");
    if (count_keys(env, &sum))
        reply_counts(&sum, line, user);
    else
        line(user, "error", "the store cannot be read now");
    /* Writers change them meanwhile. */
    reply_number(
        line, user, "bytes allocated",
        __atomic_load_n(&env->sidecar.map->allocated_size, __ATOMIC_RELAXED));
    reply_number(
        line, user, "bytes at most",
        __atomic_load_n(&env->sidecar.map->max_size, __ATOMIC_RELAXED));
    reply_number(line, user, "open handles", count_handles(env));
}
