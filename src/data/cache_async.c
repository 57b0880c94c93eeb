/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_async.c - hf_cache_get_start(): the steps of cache_steps.h, each begun
 * by the completion of the one before, on whatever thread that is. Without a
 * fill they neither wait nor write.
 */
#include "core/async.h"
#include "data/cache_job.h"
#include "util/error.h"
#include "util/mem.h"

static void ask(hf_call *call);

static void complete(hf_call *call, hf_status status, const hf_error *detail)
{
    call->request.status = status;
    if (status != HF_OK)
        call->request.error = *detail;
    hf__call_complete(call);
}

static void on_done(hf__request *request)
{
    hf_call *call = request->user;
    hf_cache_fill *job = call->owned;

    if (hf__cache_steps_read(&job->steps) == HF__CACHE_END)
        complete(call, job->steps.status, &job->steps.detail);
    else
        ask(call);
}

static void ask(hf_call *call)
{
    hf_cache_fill *job = call->owned;
    hf_client *client = call->client;
    hf__request *request = hf__cache_steps_ask(&job->steps);
    hf_error detail = HF_ERROR_INIT;
    hf_status status = hf__request_stamp(client, request, INT64_MAX, &detail);

    if (status == HF_OK && hf__life_is_closing(&client->life))
        status = hf__fail(&detail, HF_UNAVAILABLE, "the client is closed");
    if (status != HF_OK) {
        complete(call, status, &detail);
        return;
    }
    request->on_done = on_done;
    request->user = call;
    client->store->ops->submit(client->store, &request, 1);
}

/* On the loop thread, where then all requests complete. */
static void cancel(hf_call *call)
{
    hf__store *store = call->client->store;
    hf_cache_fill *job = call->owned;

    if (store->ops->cancel == NULL || !hf__call_lock_pending(call))
        return;
    hf__call_unlock_pending(call);
    store->ops->cancel(store, job->steps.stage == HF__CACHE_LOOK
                                  ? &job->steps.look
                                  : &job->steps.ask);
}

static hf_status finish(hf_call *call, hf_error *err)
{
    return hf__cache_job_result(call->owned, call->out, NULL, err);
}

static void release_job(hf_call *call)
{
    hf__cache_job_done(call->owned);
    hf__free(call->owned);
}

/* Everything that can fail. */
static hf_status prepare(hf_call *call, hf_bytes key,
                         const hf_cache_options *opts, hf_buffer *value,
                         hf_error *err)
{
    hf_status status = hf__call_enter(call, false, err);
    hf_cache_fill *job;

    if (status == HF_OK)
        status = hf__check_out(value, "value", err);
    if (status != HF_OK)
        return status;
    job = hf__alloc(sizeof(*job));
    if (job == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a call");
    call->owned = job;
    call->release = release_job;
    call->out = value;
    call->finish = finish;
    call->cancel = cancel;
    return hf__cache_job_init(job, call->client, key, NULL, NULL, opts, err);
}

hf_status hf_cache_get_start(hf_client *client, hf_bytes key,
                             const hf_cache_options *opts, hf_buffer *value,
                             const hf_async *async, hf_error *err)
{
    hf_call *call;
    hf_status status = hf__call_new(client, async, &call, err);

    if (status != HF_OK)
        return status;
    hf__call_init(call, client);
    status = prepare(call, key, opts, value, err);
    if (status != HF_OK) {
        hf__call_discard(call);
        return status;
    }
    hf__call_start_begin(call, async);
    ask(call);
    hf__call_start_end(call);
    return HF_OK;
}
