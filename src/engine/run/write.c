/* SPDX-License-Identifier: Apache-2.0 */
/*
 * write.c - one request in a write transaction of its own.
 *
 * If the map was too small, the transaction is undone, space is made, and it
 * runs again: nothing of the first try remains, not even its events, which are
 * delivered after the commit, without the lock. What they say is written down
 * before, under the lock.
 */
#include "engine/run/write.h"

#include <string.h>

#include "engine/commit/flush_state.h"
#include "engine/commit/readers.h"
#include "engine/files/header.h"
#include "engine/keys/tx_life.h"
#include "engine/wake/event_text.h"
#include "engine/wake/wake.h"
#include "util/clock.h"

/* Events delivered without the writer lock; more are delivered under it. */
#define EVENT_LOCAL 64u

/* For larger requests, free pages are sought before the file is extended. */
#define LARGE_SIZE (UINT64_C(256) << 10)

/* Running a script again that took longer costs more than space does. */
#define COSTLY_US 20000
/* Space for each us that a script is to run again: 64 MB for a second. */
#define GROW_EACH_US 64u

/* Rounds of hf__flush_make_room(): our pin, and those of other processes. */
#define FLUSH_RETRY_MAX 8

/* One try. Returns the transaction's status. */
static hf_status try_write(hf__env *env, const hf__job *job)
{
    hf__tx *tx = env->write_tx;
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status;

    status = hf__env_begin_write(env, now_ms, &tx->txn, &tx->error);
    if (status != HF_OK) {
        tx->event_count = 0;
        tx->wanted_size = 0;
        return status;
    }
    hf__tx_start(tx, now_ms);
    hf__execute(tx, job);
    return hf__tx_finish(tx);
}

/* Rewrite the header unchanged. */
static void put_header(hf__tx *tx)
{
    char name[1] = {HF__RECORD_HEADER};
    hf__header head;
    MDB_val key = {sizeof(name), name};
    MDB_val value = {sizeof(head), &head};
    int rc = hf__header_get(tx->txn, tx->env->dbi, &head);

    if (rc != MDB_SUCCESS)
        hf__tx_fail(tx, rc);
    else
        (void)hf__tx_put(tx, &key, &value);
}

/*
 * LMDB reuses freed pages only in the transaction after the next one, and a
 * transaction that does not fit does not count. So commit an empty one. false:
 * it would not help.
 */
static bool advance_txn(hf__env *env)
{
    hf__tx *tx = env->write_tx;
    uint64_t wanted_size = tx->wanted_size;
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status;

    if (hf__flush_last_txn(env) == env->advanced ||
        (env->flush != NULL && !hf__flush_is_pinned(env)))
        return false;
    status = hf__env_begin_write(env, now_ms, &tx->txn, &tx->error);
    if (status == HF_OK) {
        hf__tx_start(tx, now_ms);
        put_header(tx);
        status = hf__tx_finish(tx);
        env->advanced = hf__flush_last_txn(env);
    }
    tx->wanted_size = wanted_size;
    return status == HF_OK;
}

/*
 * As much as the try has put, twice, so that tries double; and the more the
 * longer its scripts took, as what they would have put after that is unknown.
 */
static uint64_t space_for(const hf__tx *tx)
{
    uint64_t size = 2 * tx->wanted_size;
    uint64_t ahead = (uint64_t)tx->script_us * GROW_EACH_US;

    if (tx->script_us < COSTLY_US || ahead < size)
        return size;
    return ahead;
}

bool hf__write_make_room(hf__env *env)
{
    uint64_t wanted_size = env->write_tx->wanted_size;
    uint64_t size = space_for(env->write_tx);
    bool costly = env->write_tx->script_us >= COSTLY_US;
    bool grows = env->write_tx->grows;
    bool made = false;
    int dead = 0;

    if (env->write_tx->log_full) /* a larger data file takes more of the disk */
        return false;
    if (env->write_tx->keyid_next >> HF__KEYID_BITS !=
        0) /* that is not space */
        return false;
    /* A dead reader pins pages freed since. */
    if (mdb_reader_check(env->mdb, &dead) == MDB_SUCCESS && dead > 0)
        made = true;
    /* An overwritten large value leaves as much space. */
    else if (wanted_size >= LARGE_SIZE && advance_txn(env))
        made = true;
    if (made && !costly)
        return true;
    if (hf__env_grow(env, size, hf__clock_boot_ms()) || made)
        return true;
    /* Pins only advance while the lock is free: hf__flush_make_room(). */
    if ((env->flush == NULL && hf__readers_await(env)) || advance_txn(env))
        return true;
    return !grows && hf__env_overdraw(env, hf__clock_boot_ms());
}

/* Returns the transaction's status. */
static hf_status write_locked(hf__env *env, const hf__job *job)
{
    hf__request *request = job->request;
    hf_status status;

    if (!hf__execute_prepare(env, job)) {
        hf__request_fail(request, HF_NO_MEMORY, "out of memory");
        return HF_NO_MEMORY;
    }
    status = try_write(env, job);
    for (int i = 0; status == HF_FULL && i < HF__WRITE_RETRY_MAX &&
                    hf__write_make_room(env);
         i++) {
        hf__execute_drop_reply(request);
        status = try_write(env, job);
    }
    if (status == HF_OK)
        return HF_OK;
    hf__execute_drop_reply(request);
    hf__request_fail(request, status, "%s", env->write_tx->error.message);
    return status;
}

void hf__write_end(hf__env *env)
{
    hf__tx *tx = env->write_tx;
    size_t count = tx != NULL ? tx->event_count : 0;
    hf__event events[EVENT_LOCAL];

    if (tx != NULL && tx->saying_count > 0)
        hf__event_texts_write(tx);
    if (count > EVENT_LOCAL) {
        hf__wake_fire(env, tx->events, count);
        count = 0;
    } else if (count > 0) {
        memcpy(events, tx->events, count * sizeof(events[0]));
    }
    if (tx != NULL)
        tx->event_count = 0;
    hf__env_unlock(env);
    if (count > 0)
        hf__wake_fire(env, events, count);
}

/* `tried`: for hf__flush_make_room(). */
static hf_status write_and_end(hf__env *env, const hf__job *job,
                               uint64_t *tried)
{
    hf_status status = write_locked(env, job);

    if (status == HF_FULL && env->flush != NULL)
        *tried = hf__readers_oldest(env);
    hf__write_end(env);
    return status;
}

void hf__write_run(hf__env *env, const hf__job *job)
{
    int64_t deadline_ms = job->request->deadline_ms;
    hf_error error = HF_ERROR_INIT;
    uint64_t tried = 0;
    hf_status status;

    if (hf__flush_lock(env, deadline_ms, &error) != HF_OK) {
        hf__request_fail(job->request, error.status, "%s", error.message);
        return;
    }
    status = write_and_end(env, job, &tried);
    for (int i = 0; status == HF_FULL && i < FLUSH_RETRY_MAX &&
                    hf__flush_make_room(env, i > 0, tried, deadline_ms);
         i++)
        status = write_and_end(env, job, &tried);
}
