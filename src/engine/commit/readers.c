/* SPDX-License-Identifier: Apache-2.0 */
/*
 * readers.c - waiting for a reader when a store is full.
 *
 * LMDB reuses a page only when no reader can see its old content. On a busy
 * machine a reader may be preempted for some milliseconds within its
 * transaction; in a full store a dozen deletes and renewals then use up the few
 * pages reserved for them, although enough pages are free. So a writer waits
 * for such a reader, but not for one that is stopped, and not again soon for
 * one it has waited for in vain. For dead readers see mdb_reader_check().
 */
#include "engine/commit/readers.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

/* Some time slices; all writers wait meanwhile. A copy of this process ends
 * once it is awaited, as soon as a piece of its file is written. */
#define AWAIT_MS 50
#define AWAIT_COPY_MS 1000
#define AWAIT_AGAIN_MS 1000

/* `user` is the lowest snapshot number in use. LMDB reports readers only as
 * lines: pid, thread, number or "-". */
static int note_reader(const char *line, void *user)
{
    uint64_t *lowest = user;
    const char *last = strrchr(line, ' ');
    char *end;
    unsigned long long number;

    if (last == NULL)
        return 0;
    number = strtoull(last + 1, &end, 10);
    if (end != last + 1 && number < *lowest)
        *lowest = number;
    return 0;
}

uint64_t hf__readers_oldest(hf__env *env)
{
    uint64_t lowest = UINT64_MAX;

    if (mdb_reader_list(env->mdb, note_reader, &lowest) < 0)
        return UINT64_MAX;
    return lowest;
}

bool hf__readers_await(hf__env *env)
{
    int64_t now_ms = hf__clock_boot_ms();
    uint64_t oldest = hf__readers_oldest(env);
    bool copies = oldest == __atomic_load_n(&env->copied, __ATOMIC_RELAXED);
    int64_t until_ms = now_ms + (copies ? AWAIT_COPY_MS : AWAIT_MS);
    MDB_envinfo info;

    if (mdb_env_info(env->mdb, &info) != MDB_SUCCESS ||
        oldest >= info.me_last_txnid ||
        (oldest == env->awaited && now_ms < env->await_again_ms))
        return false;
    /* It stays so: no later snapshot has that number. */
    __atomic_store_n(&env->awaiting, oldest, __ATOMIC_RELAXED);
    while (now_ms < until_ms && hf__readers_oldest(env) <= oldest) {
        hf__clock_sleep_until(now_ms + 1);
        now_ms = hf__clock_boot_ms();
    }
    if (hf__readers_oldest(env) > oldest)
        return true;
    env->awaited = oldest;
    env->await_again_ms = now_ms + AWAIT_AGAIN_MS;
    return false;
}
