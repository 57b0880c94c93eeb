/* SPDX-License-Identifier: Apache-2.0 */
/* keep.c - see keep.h. The queue stays: its head finds the lock free when it
 * has expired. */
#include "lease/keep.h"

#include "core/background.h"
#include "lease/lease.h"
#include "lease/renewal.h"
#include "util/clock.h"
#include "util/error.h"

static hf_status finish_keep(hf_call *call, hf_error *err)
{
    hf__renewal_answer answer;

    if (!hf__renewal_read(&call->request.reply, 1, &answer))
        return hf__bad_reply(call->request.script->name, err);
    if (answer == HF__GONE)
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    if (answer == HF__TAKEN)
        return hf__fail(err, HF_LOST, "another owner holds the lock");
    return HF_OK;
}

void hf__lock_kept(const hf_lock *lock)
{
    const hf_bytes words[] = {lock->keys.main, lock->keys.waiters};
    hf__request request;

    if (lock->kind->redisson != NULL)
        return; /* its waiters are elsewhere */
    hf__request_script(&request, HF__SCRIPT(LOCK_NOTIFY), words, 2, 2);
    hf__background_send(lock->client,
                        hf__background_copy(&request, lock->options.ttl_ms));
}

bool hf__lock_keep(hf_call *call, const hf_lock *lock)
{
    int64_t passed_ms = hf__clock_boot_ms() - lock->held_ms;
    int64_t left_ms = lock->options.min_hold_ms - passed_ms;

    if (left_ms <= 0)
        return false;
    call->script = &hf__scripts[lock->kind->renew];
    call->finish = finish_keep;
    hf__add_whole_key(call, lock->keys.main);
    hf__add(call, hf_str(lock->owner));
    hf__add_number(call, left_ms);
    return true;
}
