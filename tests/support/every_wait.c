/* SPDX-License-Identifier: Apache-2.0 */
/* every_wait.c - the calls of latches, barriers, limiters and ids, for
 * every_call.c. */
#include "holdfast/barrier.h"
#include "holdfast/ids.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "support/every_define.h"

/* -------------------------------------------------------- latches, barriers */

DEFINE(latch_set)
{
    return CALL(hf_latch_set, p->client, p->key, 1, 60000, &p->result.number);
}

DEFINE(latch_arrive)
{
    return CALL(hf_latch_arrive, p->client, p->key, hf_str("1"), 1,
                &p->result.number);
}

DEFINE(latch_await)
{
    return CALL(hf_latch_await, p->client, p->key, 0);
}

DEFINE(latch_await_early)
{
    return CALL(hf_latch_await_early, p->client, p->key, 0);
}

DEFINE(latch_inspect)
{
    return CALL(hf_latch_inspect, p->client, p->key, &p->result.number);
}

DEFINE(latch_delete)
{
    return CALL(hf_latch_delete, p->client, p->key);
}

DEFINE(barrier_wait)
{
    return CALL(hf_barrier_wait, p->client, p->key, 1, 0, NULL,
                &p->result.pass);
}

DEFINE(barrier_reset)
{
    return CALL(hf_barrier_reset, p->client, p->key, &p->result.number);
}

/* ------------------------------------------------------------ limiters, ids */

static hf_limiter_options high_rate(void)
{
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;

    options.count = 1000000;
    return options;
}

DEFINE(limiter_take)
{
    hf_limiter_options options = high_rate();

    return CALL(hf_limiter_take, p->client, p->key, 1, &options,
                &p->result.limiter);
}

DEFINE(limiter_take_waiting)
{
    hf_limiter_options options = high_rate();

    options.wait_ms = 1000;
    return CALL(hf_limiter_take, p->client, p->key, 1, &options,
                &p->result.limiter);
}

DEFINE(limiter_inspect)
{
    hf_limiter_options options = high_rate();

    return CALL(hf_limiter_inspect, p->client, p->key, &options,
                &p->result.limiter);
}

DEFINE(limiter_take_many)
{
    hf_limiter_options options = high_rate();
    hf_limiter_item item = {p->key, 1, &p->result.limiter};

    return CALL(hf_limiter_take_many, p->client, &item, 1, &options,
                &p->result.status);
}

static hf_status dense_ids(every_place *p, hf_ids **ids, hf_error *err)
{
    hf_ids_options options = HF_IDS_OPTIONS_INIT;

    options.flags = HF_IDS_DENSE;
    options.block = 1;
    return hf_ids_new(p->client, p->key, &options, ids, err);
}

DEFINE(ids_next)
{
    hf_ids *ids = NULL;
    hf_status status = dense_ids(p, &ids, err);

    if (status == HF_OK)
        status = CALL(hf_ids_next, ids, &p->result.number);
    hf_ids_free(ids);
    return status;
}

DEFINE(ids_next_many)
{
    hf_ids *ids = NULL;
    hf_status status = dense_ids(p, &ids, err);

    if (status == HF_OK)
        status = CALL(hf_ids_next_many, ids, &p->result.number, 1);
    hf_ids_free(ids);
    return status;
}
