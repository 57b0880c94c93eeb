/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_many.c - hf_cache_get_many(): the first look at all entries goes to the
 * store at once; the few that need more steps take them one by one.
 */
#include "core/batch.h"
#include "core/form.h"
#include "core/many.h"
#include "core/run.h"
#include "data/cache_get.h"
#include "holdfast/cache.h"
#include "util/error.h"
#include "util/mem.h"

/* Entries that go to the store together: several kilobytes each. */
#define WINDOW 128

typedef struct window {
    hf_client *client;
    const hf_cache_options *opts;
    hf_cache_fill *jobs;
    hf__request **requests;
    hf_status *statuses;
    size_t first; /* number of its first entry */
    hf_status failed;
    hf_error *err;
} window;

static void note_status(window *self, size_t at, hf_status status,
                        const hf_error *detail)
{
    hf_kind kind = hf_status_kind(status);

    self->statuses[at] = status;
    if (kind == HF_KIND_OK || kind == HF_KIND_NO || self->failed != HF_OK)
        return;
    self->failed = hf__fail(self->err, status, "item %zu: %s", self->first + at,
                            detail->message);
}

static void look_at_window(window *self, const hf_bytes *keys, size_t count)
{
    size_t ready = 0;

    for (size_t i = 0; i < count; i++) {
        hf_error detail = HF_ERROR_INIT;
        hf_cache_fill *job = &self->jobs[i];
        hf_status status =
            hf__cache_job_init(job, self->client, &hf__cache_blocking, keys[i],
                               NULL, NULL, self->opts, &detail);
        hf__request *request = NULL;

        if (status == HF_OK) {
            request = hf__cache_request(&job->steps.procedure);
            status =
                hf__request_stamp(self->client, request, INT64_MAX, &detail);
        }
        note_status(self, i, status, &detail);
        if (status == HF_OK)
            self->requests[ready++] = request;
    }
    hf__submit_all(self->client, self->requests, ready);
}

static void finish_window(window *self, hf_buffer *values, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        hf_error detail = HF_ERROR_INIT;
        hf_cache_fill *job = &self->jobs[i];

        if (self->statuses[i] == HF_OK) {
            hf__run_blocking(
                &job->steps.procedure,
                hf__cache_step(&job->steps.procedure, HF__ANSWERED));
            note_status(self, i,
                        hf__cache_job_result(job, &values[i], NULL, &detail),
                        &detail);
        }
        hf__cache_job_done(job);
    }
}

static hf_status get_all(window *self, const hf_bytes *keys, size_t count,
                         hf_buffer *values, hf_status *statuses)
{
    size_t room = count < WINDOW ? count : WINDOW;
    size_t some;

    self->jobs = hf__calloc(room, sizeof(*self->jobs));
    self->requests = hf__calloc(room, sizeof(hf__request *));
    if (self->jobs == NULL || self->requests == NULL)
        self->failed = hf__fail(self->err, HF_NO_MEMORY, "%zu calls", room);
    for (; self->jobs != NULL && self->requests != NULL && self->first < count;
         self->first += some) {
        some = count - self->first < room ? count - self->first : room;
        self->statuses = statuses + self->first;
        look_at_window(self, keys + self->first, some);
        finish_window(self, values + self->first, some);
    }
    hf__free(self->requests);
    hf__free(self->jobs);
    return self->failed;
}

hf_status hf_cache_get_many(hf_client *client, const hf_bytes *keys,
                            size_t count, const hf_cache_options *opts,
                            hf_buffer *values, hf_status *statuses,
                            hf_error *err)
{
    window self = {.client = client, .opts = opts, .err = err};
    hf_status status = hf__client_enter_blocking(client, err);
    bool inside = status == HF_OK;

    if (status == HF_OK && count > 0)
        status = hf__check_out(statuses, "statuses", err);
    if (status == HF_OK && count > 0)
        status = hf__check_out(keys, "keys", err);
    if (status == HF_OK && count > 0)
        status = hf__check_out(values, "values", err);
    if (status == HF_OK && count > 0)
        status = get_all(&self, keys, count, values, statuses);
    if (inside)
        hf__life_leave(&client->life);
    return status;
}

HF__MANY_START(hf_cache_get_many, client, (HF__NEEDS(keys), HF__NEEDS(values)),
               hf_cache_get_start(client, keys[i], opts, &values[i], form.async,
                                  form.err),
               hf_client *client, const hf_bytes *keys, size_t count,
               const hf_cache_options *opts, hf_buffer *values);
