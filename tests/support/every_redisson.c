/* SPDX-License-Identifier: Apache-2.0 */
/* every_redisson.c - the calls about locks, latches and semaphores of Redisson,
 * as every_call.c has the others. */
#include "holdfast/redisson.h"
#include "support/every_call.h"

/* Run it, or start it: `...` are the arguments before async and err. */
#define CALL(function, ...)                                                    \
    (async == NULL ? function(__VA_ARGS__, err)                                \
                   : function##_start(__VA_ARGS__, async, err))

#define DEFINE(name)                                                           \
    static hf_status name(every_place *p, const hf_async *async, hf_error *err)

DEFINE(lock_try)
{
    if (async != NULL)
        return hf_lock_acquire_start(p->lock, 0, async, err);
    return hf_lock_try(p->lock, err);
}

DEFINE(lock_renew)
{
    return CALL(hf_lock_renew, p->lock);
}

DEFINE(lock_release)
{
    return CALL(hf_lock_release, p->lock);
}

DEFINE(lock_inspect)
{
    return CALL(hf_lock_inspect, p->client, p->key, &p->result.info);
}

static int ignore_holder(void *user, const hf_lock_info *holder)
{
    (void)user;
    return holder->owner_size == 0;
}

DEFINE(lock_holders)
{
    return CALL(hf_lock_holders, p->client, p->key, ignore_holder, NULL);
}

DEFINE(lock_break)
{
    return CALL(hf_lock_break, p->client, p->key);
}

DEFINE(lock_break_owner)
{
    return CALL(hf_lock_break_owner, p->client, p->key, hf_str("another"));
}

DEFINE(latch_set)
{
    return CALL(hf_redisson_latch_set, p->client, p->key, 1);
}

DEFINE(latch_arrive)
{
    return CALL(hf_redisson_latch_arrive, p->client, p->key);
}

DEFINE(latch_await)
{
    return CALL(hf_redisson_latch_await, p->client, p->key, 0);
}

DEFINE(latch_inspect)
{
    return CALL(hf_redisson_latch_inspect, p->client, p->key,
                &p->result.number);
}

DEFINE(semaphore_set)
{
    return CALL(hf_redisson_semaphore_set, p->client, p->key, 1);
}

DEFINE(semaphore_acquire)
{
    return CALL(hf_redisson_semaphore_acquire, p->client, p->key, 1, 0);
}

DEFINE(semaphore_release)
{
    return CALL(hf_redisson_semaphore_release, p->client, p->key, 1);
}

DEFINE(semaphore_inspect)
{
    return CALL(hf_redisson_semaphore_inspect, p->client, p->key,
                &p->result.number);
}

#define STARTS .starts = true, .is_redisson = true
#define LOCK(of) STARTS, .needs_lock = true, .kind = HF_REDISSON_##of
#define TRY(of) LOCK(of), .takes_lock = true
#define HELD(of) LOCK(of), .needs_held = true

const every_call every_redisson_calls[] = {
    {"redisson lock try", "redisson_acquire", lock_try, TRY(LOCK)},
    {"redisson lock renew", "redisson_renew", lock_renew, HELD(LOCK)},
    {"redisson lock release", "redisson_release", lock_release, HELD(LOCK)},
    {"redisson lock inspect", "lock_inspect", lock_inspect, STARTS},
    {"redisson lock holders", "lock_holders", lock_holders, STARTS},
    {"redisson lock break", "lock_break", lock_break, STARTS},
    {"redisson lock break owner", "redisson_break", lock_break_owner,
     HELD(LOCK)},
    {"redisson fenced try", "redisson_acquire", lock_try, TRY(FENCED_LOCK)},
    {"redisson fair try", "redisson_fair_acquire", lock_try, TRY(FAIR_LOCK)},
    {"redisson fair release", "redisson_fair_release", lock_release,
     HELD(FAIR_LOCK)},
    {"redisson read try", "redisson_read_acquire", lock_try, TRY(READ_LOCK)},
    {"redisson read release", "redisson_read_release", lock_release,
     HELD(READ_LOCK)},
    {"redisson write try", "redisson_write_acquire", lock_try, TRY(WRITE_LOCK)},
    {"redisson write release", "redisson_write_release", lock_release,
     HELD(WRITE_LOCK)},
    {"redisson permit try", "redisson_permit_acquire", lock_try, TRY(PERMIT)},
    {"redisson permit renew", "redisson_permit_renew", lock_renew,
     HELD(PERMIT)},
    {"redisson permit release", "redisson_permit_release", lock_release,
     HELD(PERMIT)},
    {"redisson latch set", "redisson_count_set_once", latch_set, STARTS},
    {"redisson latch arrive", "redisson_latch_arrive_once", latch_arrive,
     STARTS},
    {"redisson latch await", "redisson_count_read", latch_await, STARTS},
    {"redisson latch inspect", "redisson_count_read", latch_inspect, STARTS},
    {"redisson semaphore set", "redisson_count_set_once", semaphore_set,
     STARTS},
    {"redisson semaphore acquire", "redisson_semaphore_acquire",
     semaphore_acquire, STARTS},
    {"redisson semaphore release", "redisson_semaphore_release_once",
     semaphore_release, STARTS},
    {"redisson semaphore inspect", "redisson_count_read", semaphore_inspect,
     STARTS},
};
const size_t every_redisson_count =
    sizeof(every_redisson_calls) / sizeof(every_redisson_calls[0]);
