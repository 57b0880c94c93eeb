/* SPDX-License-Identifier: Apache-2.0 */
/* cache_job.c - see cache_job.h; hf_cache_fill_done() and its kin. */
#include "data/cache_job.h"

#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/order.h"

hf_status hf__cache_job_init(hf_cache_fill *self, hf_client *client,
                             const hf__procedure_kind *kind, hf_bytes key,
                             hf_cache_fill_fn fill, void *user,
                             const hf_cache_options *opts, hf_error *err)
{
    hf_status status = hf__cache_steps_init(&self->steps, client, kind, key,
                                            opts, fill != NULL, err);

    self->fill = fill;
    self->user = user;
    self->ended = NULL;
    hf__heap_node_init(&self->renewal.node);
    self->has_ended = false;
    self->result = (hf_buffer)HF_BUFFER_INIT;
    if (status == HF_OK)
        self->key = hf_view((const char *)self->steps.keys[0].data +
                                client->prefix_size,
                            key.size);
    return status;
}

void hf__cache_job_done(hf_cache_fill *self)
{
    hf_buffer_free(&self->result);
    hf__cache_steps_done(&self->steps);
}

hf_status hf__cache_check_info(const hf_cache_info *info, hf_error *err)
{
    if (info == NULL)
        return HF_OK;
    return hf__check_struct(info->struct_size, sizeof(*info), "hf_cache_info",
                            "HF_CACHE_INFO_INIT", err);
}

hf_status hf__cache_job_result(hf_cache_fill *self, hf_buffer *value,
                               hf_cache_info *info, hf_error *err)
{
    const hf__cache_steps *steps = &self->steps;
    hf_status status = steps->status;

    if (status != HF_OK)
        return hf__fail_copy(err, &steps->detail);
    if (steps->from_fill) {
        *value = self->result;
        self->result = (hf_buffer)HF_BUFFER_INIT;
    } else {
        status = hf__buffer_set(value, steps->found, err);
    }
    if (status == HF_OK && info != NULL) {
        info->source = steps->source;
        info->fill_status = steps->fill_status;
    }
    return status;
}

/* -------------------------------------------------------------------- fill */

static void fill_renewal(hf__repeat *repeat, hf__request *request)
{
    hf_cache_fill *self = hf__container_of(repeat, hf_cache_fill, renewal);

    hf__cache_steps_renew(&self->steps, request, self->renewal_words,
                          self->renewal_numbers);
}

void hf__cache_job_fill(hf_cache_fill *self)
{
    const hf_cache_options *options = &self->steps.options;

    if ((options->flags & HF_CACHE_NO_RENEW) == 0) {
        self->renewal.fill = fill_renewal;
        self->renewal.every_ms = hf__at_least(options->lease_ms / 3, 1);
        self->renewal.time_ms = options->lease_ms;
        hf__repeat_begin(&self->steps.client->repeats, &self->renewal);
    }
    self->fill(self->user, self);
}

void hf__cache_job_end_renewal(hf_cache_fill *self)
{
    hf__repeat_end(&self->steps.client->repeats, &self->renewal);
}

void hf__cache_job_filled(hf_cache_fill *self)
{
    self->steps.filled = self->has_ended ? self->filled : HF_INVALID;
    self->steps.value = hf_view(self->result.data, self->result.size);
}

static hf_status copy_value(hf_cache_fill *self, hf_bytes value, hf_error *err)
{
    hf_status status = hf__check_value(value, err);
    char *copy;

    if (status != HF_OK)
        return status;
    copy = hf__alloc(value.size + 1);
    if (copy == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a value of %zu bytes", value.size);
    if (value.size > 0)
        memcpy(copy, value.data, value.size);
    copy[value.size] = '\0';
    self->result = (hf_buffer){copy, value.size};
    return HF_OK;
}

hf_status hf_cache_fill_done(hf_cache_fill *fill, hf_status status,
                             hf_bytes value, hf_error *err)
{
    hf_status copied = HF_OK;

    if (fill == NULL)
        return hf__fail(err, HF_INVALID, "fill is NULL");
    if (fill->has_ended)
        return hf__fail(err, HF_INVALID, "the fill has ended already");
    fill->has_ended = true;
    hf__cache_job_end_renewal(fill);
    if (status == HF_OK)
        copied = copy_value(fill, value, err);
    fill->filled = copied != HF_OK ? copied : status;
    if (fill->ended != NULL) {
        hf_status ended = fill->ended(fill, err);

        return ended != HF_OK ? ended : copied;
    }
    return copied;
}

hf_status hf_cache_fill_renew(hf_cache_fill *fill, hf_error *err)
{
    hf_bytes words[HF__CACHE_RENEW_WORDS];
    char numbers[2][HF__NUMBER_SIZE];
    hf__request request;
    hf_client *client;
    hf_status status;

    if (fill == NULL)
        return hf__fail(err, HF_INVALID, "fill is NULL");
    client = fill->steps.client;
    status = hf__client_enter_blocking(client, err);
    if (status != HF_OK)
        return status;
    hf__request_init(&request);
    hf__cache_steps_renew(&fill->steps, &request, words, numbers);
    status = hf__run_inside(client, &request, INT64_MAX, err);
    if (status == HF_OK && request.reply.integer == 0)
        status = hf__fail(err, HF_LOST,
                          "the lease of the fill was lost, or the entry "
                          "was changed");
    hf__request_done(&request);
    hf__life_leave(&client->life);
    return status;
}

hf_bytes hf_cache_fill_key(const hf_cache_fill *fill)
{
    return fill == NULL ? hf_str("") : fill->key;
}
