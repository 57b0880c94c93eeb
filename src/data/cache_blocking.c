/* SPDX-License-Identifier: Apache-2.0 */
/* cache_blocking.c - hf_cache_get_or_fill(), hf_cache_get(): the steps of
 * cache_steps.h on the calling thread. */
#include "data/cache_blocking.h"

#include "core/blocking_wait.h"
#include "util/error.h"
#include "util/mem.h"

/* The request of one stage; a fill that has ended has time of its own. */
static hf__cache_next ask(hf__cache_steps *steps, hf__blocking_wait *self)
{
    hf__cache_stage stage = steps->stage;

    if (stage == HF__CACHE_JOIN)
        hf__blocking_wait_listen(self, hf__cache_topic(steps), steps->until_ms);
    (void)!hf__run_inside(
        steps->client, hf__cache_steps_ask(steps),
        stage == HF__CACHE_STORE ? INT64_MAX : steps->limit_ms, NULL);
    return hf__cache_steps_read(steps);
}

static hf__cache_next sleep_until_event(hf__cache_steps *steps,
                                        hf__blocking_wait *self)
{
    if (!hf__blocking_wait_sleep(self, steps->wake_ms))
        return hf__cache_steps_fail(steps, HF_CANCELLED, HF__INTERRUPTED);
    return hf__cache_steps_waited(steps);
}

static hf__cache_next run_fill(hf_cache_fill *self)
{
    hf__cache_steps *steps = &self->steps;

    hf__cache_job_fill(self);
    hf__cache_job_end_renewal(self);
    steps->filled = self->has_ended ? self->filled : HF_INVALID;
    steps->value = hf_view(self->result.data, self->result.size);
    return hf__cache_steps_filled(steps);
}

void hf__cache_run(hf_cache_fill *self, hf__cache_next next)
{
    hf__cache_steps *steps = &self->steps;
    hf__blocking_wait here;

    hf__blocking_wait_init(&here, steps->client);
    while (next != HF__CACHE_END) {
        if (next == HF__CACHE_ASK)
            next = ask(steps, &here);
        else if (next == HF__CACHE_WAIT)
            next = sleep_until_event(steps, &here);
        else
            next = run_fill(self);
    }
    hf__blocking_wait_done(&here);
}

hf_status hf__cache_read(hf_client *client, hf_bytes key, hf_cache_fill_fn fill,
                         void *user, const hf_cache_options *opts,
                         hf_buffer *value, hf_cache_info *info, hf_error *err)
{
    hf_cache_fill self;
    hf__visit visit;
    hf_status status = hf__client_visit(client, &visit, err);

    if (status != HF_OK)
        return status;
    status = hf__cache_job_init(&self, client, key, fill, user, opts, err);
    if (status == HF_OK)
        hf__cache_run(&self, HF__CACHE_ASK);
    if (status == HF_OK)
        status = hf__cache_job_result(&self, value, info, err);
    hf__cache_job_done(&self);
    hf__client_visit_end(client, &visit);
    return status;
}

hf_status hf_cache_get_or_fill(hf_client *client, hf_bytes key,
                               hf_cache_fill_fn fill, void *user,
                               const hf_cache_options *opts, hf_buffer *value,
                               hf_cache_info *info, hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK && fill == NULL)
        status = hf__fail(err, HF_INVALID, "fill is NULL");
    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status == HF_OK)
        status = hf__cache_check_info(info, err);
    if (status != HF_OK)
        return status;
    return hf__cache_read(client, key, fill, user, opts, value, info, err);
}

hf_status hf_cache_get(hf_client *client, hf_bytes key,
                       const hf_cache_options *opts, hf_buffer *value,
                       hf_error *err)
{
    hf_status status = hf__client_check(client, err);

    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status != HF_OK)
        return status;
    return hf__cache_read(client, key, NULL, NULL, opts, value, NULL, err);
}
