/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.c - the calls of latches, limiters, ids, elections, semaphores and
 * read-write locks, and some of keys, for the table of every_call.c. */
#include "support/every_wait.h"

/* Run it, or start it: `...` are the arguments before async and err. */
#define CALL(function, ...)                                                    \
    (async == NULL ? function(__VA_ARGS__, err)                                \
                   : function##_start(__VA_ARGS__, async, err))

EVERY_WAIT(every_latch_set)
{
    return CALL(hf_latch_set, p->client, p->key, 1, 60000, &p->result.number);
}

EVERY_WAIT(every_latch_arrive)
{
    return CALL(hf_latch_arrive, p->client, p->key, hf_str("1"), 1,
                &p->result.number);
}

EVERY_WAIT(every_latch_await)
{
    return CALL(hf_latch_await, p->client, p->key, 0);
}

EVERY_WAIT(every_latch_await_early)
{
    return CALL(hf_latch_await_early, p->client, p->key, 0);
}

EVERY_WAIT(every_latch_left)
{
    return CALL(hf_latch_left, p->client, p->key, &p->result.number);
}

EVERY_WAIT(every_latch_delete)
{
    return CALL(hf_latch_delete, p->client, p->key);
}

/* -------------------------------------------------------------------- keys */

EVERY_WAIT(every_timeline_count_matching)
{
    return CALL(hf_timeline_count_matching, p->client, p->key, NULL,
                &p->result.count, &p->result.buffer);
}

EVERY_WAIT(every_timeline_delete)
{
    return CALL(hf_timeline_delete, p->client, p->key);
}

EVERY_WAIT(every_key_rename)
{
    return CALL(hf_key_rename, p->client, p->key, p->key, 0);
}

EVERY_WAIT(every_key_copy)
{
    return CALL(hf_key_copy, p->client, p->key, p->key, HF_COPY_REPLACE);
}

EVERY_WAIT(every_key_delete)
{
    return CALL(hf_key_delete, p->client, p->key);
}

/* ---------------------------------------------------------------- limiters */

static hf_limiter_options rate(void)
{
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;

    options.count = 1000000;
    return options;
}

EVERY_WAIT(every_limiter_take)
{
    hf_limiter_options options = rate();

    return CALL(hf_limiter_take, p->client, p->key, 1, &options,
                &p->result.limiter);
}

EVERY_WAIT(every_limiter_take_waiting)
{
    hf_limiter_options options = rate();

    options.wait_ms = 1000;
    return CALL(hf_limiter_take, p->client, p->key, 1, &options,
                &p->result.limiter);
}

EVERY_WAIT(every_limiter_take_many)
{
    hf_limiter_options options = rate();
    hf_limiter_item item = {p->key, 1, &p->result.limiter};

    (void)async;
    return hf_limiter_take_many(p->client, &item, 1, &options,
                                &p->result.status, err);
}

/* --------------------------------------------------------------------- ids */

EVERY_WAIT(every_ids_next)
{
    hf_ids_options options = HF_IDS_OPTIONS_INIT;
    hf_ids *ids = NULL;
    hf_status status;

    options.flags = HF_IDS_DENSE;
    options.block = 1;
    status = hf_ids_new(p->client, p->key, &options, &ids, err);
    if (status == HF_OK)
        status = CALL(hf_ids_next, ids, &p->result.number);
    hf_ids_free(ids);
    return status;
}

EVERY_WAIT(every_semaphore_resize)
{
    return CALL(hf_semaphore_resize, p->client, p->key, 1);
}

EVERY_WAIT(every_lock_break_owner)
{
    return CALL(hf_lock_break_owner, p->client, p->key, hf_str("another"));
}

EVERY_WAIT(every_rwlock_downgrade)
{
    return CALL(hf_rwlock_downgrade, p->lock);
}

EVERY_WAIT(every_election_proclaim)
{
    return CALL(hf_election_proclaim, p->lock, hf_str("1"));
}

EVERY_WAIT(every_election_leader)
{
    return CALL(hf_election_leader, p->client, p->key, &p->result.leader);
}

EVERY_WAIT(every_barrier_wait)
{
    return CALL(hf_barrier_wait, p->client, p->key, 1, 0, NULL,
                &p->result.pass);
}

EVERY_WAIT(every_barrier_reset)
{
    return CALL(hf_barrier_reset, p->client, p->key, &p->result.number);
}
