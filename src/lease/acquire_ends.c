/* SPDX-License-Identifier: Apache-2.0 */
/*
 * acquire_ends.c - an acquire that first ends what the handle has, in the same
 * request; see acquire_steps.h.
 */
#include "lease/acquire_steps.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/event_fd.h"

void hf__steps_let_go_locked(hf_lock *lock, hf__end_first *end)
{
    hf__watchdog *watchdog = &lock->client->leases->watchdog;
    bool has, again = lock->state == HF__LOCK_FREE && lock->unended;

    hf__lease_check_locked(watchdog, lock);
    has = lock->state == HF__LOCK_HELD || lock->state == HF__LOCK_LOST;
    if (end->outcome.what == NULL)
        return;
    if (has || again || lock->state == HF__LOCK_FREE)
        atomic_store(&lock->ended,
                     has || again ? HF_INDETERMINATE : HF_NOT_FOUND);
    if (!has && !again)
        return;
    end->again = again && lock->unended_sent;
    if (lock->state != HF__LOCK_LOST)
        end->valid_ms =
            again ? lock->unended_ms : atomic_load(&lock->valid_until_ms);
    memcpy(end->owner, lock->owner, sizeof(end->owner));
    if (again)
        return;
    hf__lease_unwatch_locked(watchdog, lock);
    HF__LOCK_PROBE(release, lock, atomic_load(&lock->token));
    if (lock->lost_fd >= 0)
        hf__event_fd_lower(lock->lost_fd);
    lock->holds = 0;
    lock->state = HF__LOCK_FREE;
}

size_t hf__steps_add_end(hf__steps *steps, size_t count)
{
    hf_bytes *words = steps->words + count;

    words[0] = hf_str(steps->end.owner);
    words[1] = hf_str(steps->end.outcome.what);
    words[2] = hf__number(steps->delay_text, steps->end.outcome.delay_ms);
    words[3] = steps->lock->kind->kept_id(steps->lock);
    return count + HF__END_WORDS;
}

hf_status hf__steps_read_end(hf__steps *steps, hf_status status, bool again,
                             hf_error *err)
{
    hf__end_first *end = &steps->end;

    end->answered = true;
    if (status == HF_EXPIRED && again && hf__clock_boot_ms() >= end->valid_ms) {
        steps->until_ms = 0;
        return hf__fail(err, HF_INDETERMINATE,
                        "the lease expired before a reply arrived");
    }
    end->owner[0] = '\0';
    if (status == HF_EXPIRED && again) /* before that: it was done before */
        status = hf__fail(err, HF_HELD, "%s", steps->lock->kind->refused);
    if (status != HF_CORRUPT)
        atomic_store(&steps->lock->ended,
                     status == HF_EXPIRED ? HF_EXPIRED : HF_OK);
    return status;
}
