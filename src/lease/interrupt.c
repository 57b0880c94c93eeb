/* SPDX-License-Identifier: Apache-2.0 */
/* interrupt.c - see interrupt.h. */
#include "lease/interrupt.h"

#include "lease/handle.h"

hf__interrupt_mark hf__interrupt_mark_of(const hf_lock *lock)
{
    return (hf__interrupt_mark){atomic_load(&lock->client->interrupts.count),
                                atomic_load(&lock->interruptions)};
}

bool hf__interrupted(const hf_lock *lock, hf__interrupt_mark mark)
{
    return hf__client_interrupted(lock->client, mark.client) ||
           atomic_load(&lock->interruptions) != mark.lock;
}

hf_status hf_lock_interrupt(hf_lock *lock, hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK)
        status = hf__client_enter(lock->client, err);
    if (status != HF_OK)
        return status;
    atomic_fetch_add(&lock->interruptions, 1);
    hf__interrupts_wake(&lock->client->interrupts, lock);
    hf__life_leave(&lock->client->life);
    return HF_OK;
}
