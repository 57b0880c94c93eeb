/* SPDX-License-Identifier: Apache-2.0 */
/*
 * flush_map.c - the state in the sidecar of a store that is not synced by each
 * commit of LMDB; see flush.c.
 */
#include "engine/commit/flush_map.h"

#include "util/error.h"
#include "util/futex.h"

uint64_t hf__flush_last_txn(const hf__env *env)
{
    MDB_envinfo info;

    (void)mdb_env_info(env->mdb, &info);
    return info.me_last_txnid;
}

void hf__flush_wake(hf__env *env)
{
    uint32_t *word = &env->sidecar.map->flush.word;

    (void)__atomic_add_fetch(word, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(word, true);
}

void hf__flush_refuse(hf__env *env)
{
    __atomic_store_n(&env->sidecar.map->flush.failed, HF__FLUSH_FAILED,
                     __ATOMIC_SEQ_CST);
}

hf_status hf__flush_fail(hf_error *err)
{
    return hf__fail(err, HF_SYSTEM,
                    "writing to the disk failed; close the store in all "
                    "processes to revert it to its last checkpoint");
}
