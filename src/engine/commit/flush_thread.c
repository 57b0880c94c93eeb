/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_thread.c - starting and stopping durability=flush in a process, and the
 * thread that makes checkpoints. See flush.c.
 *
 * The thread sleeps on a futex word in the sidecar, which moves when there is
 * something to sync. The threads of all processes wake up; the first to take
 * the writer lock claims the checkpoint. If it dies, another makes one.
 */
#include <string.h>
#include <unistd.h>

#include "engine/commit/flush_state.h"
#include "engine/commit/redo.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/futex.h"
#include "util/mem.h"
#include "util/order.h"
#include "util/thread.h"

/* When a checkpoint is due after the first commit that it would hold. */
#define SOFT_MS 400
/* The same if a log has it. */
#define LOG_SOFT_MS 5000
/* Interval of checking the pins; and how long a process may take for a
 * checkpoint before another begins one. */
#define TICK_MS 500
#define CLAIM_MS 300
/* After a checkpoint that failed, or while another process makes one. */
#define RETRY_MS 100

static bool must_stop(const hf__flush *flush)
{
    return __atomic_load_n(&flush->stop, __ATOMIC_SEQ_CST);
}

/* ----------------------------------------------------------------- thread */

/* What to do, and when to check again. */
typedef struct plan {
    bool checkpoint;
    uint64_t seen;
    int64_t again_ms;
} plan;

static void make_plan_locked(hf__env *env, int64_t now_ms, plan *result)
{
    const hf__flush_map *map = &env->sidecar.map->flush;
    int64_t soft_ms = env->redo != NULL ? LOG_SOFT_MS : SOFT_MS;
    int64_t shared_ms = hf__sidecar_machine_ms(&env->sidecar, now_ms);
    bool due = hf__flush_is_due(env, shared_ms, soft_ms);

    result->seen = map->checkpoint;
    result->again_ms = INT64_MAX;
    if (hf__flush_is_pinned(env))
        result->again_ms = now_ms + TICK_MS;
    if (due && shared_ms - map->claimed_ms < CLAIM_MS)
        result->again_ms = now_ms + RETRY_MS;
    else if (due)
        result->checkpoint = true;
    else if (map->unsynced_ms != 0)
        result->again_ms = hf__at_most(
            result->again_ms, now_ms + map->unsynced_ms + soft_ms - shared_ms);
}

static void *keep_up(void *user)
{
    hf__env *env = user;
    hf__flush *flush = env->flush;
    const uint32_t *word = &env->sidecar.map->flush.word;
    int64_t tick_ms = 0;

    while (!must_stop(flush)) {
        uint32_t seen = __atomic_load_n(word, __ATOMIC_SEQ_CST);
        int64_t now_ms = hf__clock_boot_ms();
        plan what = {false, 0, now_ms + RETRY_MS};

        if (hf__env_lock(env, now_ms + HF__FLUSH_LOCK_MS, NULL) != HF_OK)
            continue;
        now_ms = hf__clock_boot_ms();
        hf__flush_follow_locked(env);
        if (now_ms >= tick_ms + TICK_MS) {
            hf__flush_drop_idle_locked(env);
            tick_ms = now_ms;
        }
        make_plan_locked(env, now_ms, &what);
        hf__env_unlock(env);
        if (what.checkpoint && hf__flush_checkpoint(env, what.seen, false,
                                                    INT64_MAX, NULL) == HF_OK)
            continue;
        if (what.checkpoint)
            what.again_ms = now_ms + RETRY_MS;
        if (!must_stop(flush))
            hf__futex_wait(word, seen, what.again_ms, true);
    }
    return NULL;
}

/* ----------------------------------------------------------- open and close */

static hf_status sync_data(hf__env *env, hf__checkpoint *head, hf_error *err)
{
    if (fdatasync(env->data_fd) != 0)
        return hf__fail(err, HF_SYSTEM, "writing to the disk failed");
    if (!hf__checkpoint_of(env->data_fd, env->page_size,
                           hf__flush_last_txn(env), head))
        return hf__fail(
            err, HF_CORRUPT,
            "the data file has no meta page of the last transaction");
    return HF_OK;
}

static hf_status open_file(hf__env *env, int dir_fd, hf_error *err)
{
    hf__checkpoint_file *file = &env->flush->file;
    hf_status status = hf__checkpoint_open(dir_fd, file, NULL);
    hf__checkpoint head;

    if (status != HF_NOT_FOUND)
        return status == HF_OK ? HF_OK : hf__checkpoint_open(dir_fd, file, err);
    /* Others would continue to write to the unlinked file. */
    if (hf__sidecar_in_use(&env->sidecar))
        return hf__fail(err, HF_CORRUPT,
                        "the checkpoint file was removed while the store is in "
                        "use");
    status = hf__redo_create(env, err);
    if (status == HF_OK)
        status = sync_data(env, &head, err);
    if (status == HF_OK)
        status = hf__checkpoint_create(dir_fd, &head, err);
    if (status == HF_OK)
        status = hf__checkpoint_open(dir_fd, file, err);
    return status;
}

/* What the log has, after the snapshot that the data file was reverted to. */
static hf_status replay_log(hf__env *env, hf_error *err)
{
    if (env->redo == NULL)
        return HF_OK;
    if (!hf__flush_pin_locked(env))
        return hf__fail(err, HF_UNAVAILABLE,
                        "no reader's slot is free to apply the log");
    return hf__redo_replay(env, err);
}

/* The first process to open the store initializes the sidecar from the file and
 * ensures that there is a checkpoint of this boot. If the disk failed, no sync
 * is reliable: unless the data file was reverted since, all stays as it is, for
 * one that can do that. The failure is cleared last, as a process that is
 * killed here leaves everything to the next. */
static hf_status begin_alone(hf__env *env, hf_error *err)
{
    hf__flush_map *map = &env->sidecar.map->flush;
    uint32_t failed = env->reverted ? 0 : map->failed;
    hf__checkpoint head;
    bool same_boot = false;
    hf_status status =
        hf__checkpoint_newest(env->flush->file.fd, &head, &same_boot, err);

    if (status == HF_OK)
        status = hf__redo_open(env, same_boot, err);
    if (status == HF_OK && (!same_boot || env->reverted))
        status = replay_log(env, err);
    if (status == HF_OK && failed != HF__FLUSH_FAILED &&
        (!same_boot || head.txn != hf__flush_last_txn(env))) {
        status = sync_data(env, &head, err);
        if (status == HF_OK)
            status = hf__checkpoint_write(&env->flush->file, &head, err);
    }
    if (status != HF_OK)
        return status;
    memset(map, 0, sizeof(*map));
    map->checkpoint = head.txn;
    map->failed = failed;
    return failed == HF__FLUSH_FAILED ? HF_OK : hf__redo_reset(env, err);
}

static void close_pins(hf__flush *flush)
{
    for (size_t i = 0; i < 2; i++) {
        if (flush->pins[i].txn != NULL)
            mdb_txn_abort(flush->pins[i].txn);
    }
}

hf_status hf__flush_open(hf__env *env, int dir_fd, hf_error *err)
{
    hf__flush *flush;
    hf_status status;

    if (env->mode != HF__MODE_FLUSH && env->mode != HF__MODE_LOG)
        return HF_OK;
    flush = hf__calloc(1, sizeof(*flush));
    if (flush == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    pthread_mutex_init(&flush->mutex, NULL);
    env->flush = flush;
    status = open_file(env, dir_fd, err);
    if (status != HF_OK)
        goto free_flush;
    status = hf__checkpoint_alone(&flush->file)
                 ? begin_alone(env, err)
                 : hf__redo_open(env, false, err);
    if (status == HF_OK &&
        hf__thread_start(&env->flush->thread, keep_up, env) != 0)
        status = hf__fail(err, HF_SYSTEM, "cannot start a thread");
    if (status == HF_OK)
        return HF_OK;
    close_pins(flush);
    hf__redo_close(env);
    hf__checkpoint_close(&flush->file);

free_flush:
    pthread_mutex_destroy(&flush->mutex);
    hf__free(flush);
    env->flush = NULL;
    return status;
}

void hf__flush_close(hf__env *env)
{
    hf__flush *flush = env->flush;
    bool unsynced = false;

    if (flush == NULL)
        return;
    __atomic_store_n(&flush->stop, true, __ATOMIC_SEQ_CST);
    hf__flush_wake(env);
    (void)pthread_join(flush->thread, NULL);
    if (hf__env_lock(env, hf__clock_boot_ms() + HF__FLUSH_LOCK_MS, NULL) ==
        HF_OK) {
        unsynced = env->sidecar.map->flush.unsynced_ms != 0;
        hf__env_unlock(env);
    }
    /* A log has it, but the next to open the store would have to apply it. */
    if (unsynced && (env->redo == NULL || hf__checkpoint_alone(&flush->file)))
        (void)hf__flush_checkpoint(env, UINT64_MAX, false,
                                   hf__clock_boot_ms() + HF__FLUSH_LOCK_MS,
                                   NULL);
    close_pins(flush);
    hf__redo_close(env);
    hf__checkpoint_close(&flush->file);
    pthread_mutex_destroy(&flush->mutex);
    hf__free(flush);
    env->flush = NULL;
}
