/* SPDX-License-Identifier: Apache-2.0 */
/* cache_get.c - hf_cache_get_or_fill(), hf_cache_get(). */
#include "data/cache_get.h"

#include "core/run.h"
#include "util/container.h"
#include "util/error.h"

static bool run_fill(hf__procedure *procedure)
{
    hf_cache_fill *self =
        hf__container_of(procedure, hf_cache_fill, steps.procedure);

    hf__cache_job_fill(self);
    hf__cache_job_end_renewal(self);
    hf__cache_job_filled(self);
    return true;
}

const hf__procedure_kind hf__cache_blocking = {
    .step = hf__cache_step, .fill = hf__cache_request, .leave = run_fill};

hf_status hf__cache_read(hf_client *client, hf_bytes key, hf_cache_fill_fn fill,
                         void *user, const hf_cache_options *opts,
                         hf_buffer *value, hf_cache_info *info, hf_error *err)
{
    hf_cache_fill self;
    hf__visit visit;
    hf_status status = hf__client_visit(client, &visit, err);

    if (status != HF_OK)
        return status;
    status = hf__cache_job_init(&self, client, &hf__cache_blocking, key, fill,
                                user, opts, err);
    if (status == HF_OK)
        hf__run_blocking(&self.steps.procedure, HF__ASK);
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
