/* SPDX-License-Identifier: Apache-2.0 */
/*
 * work_queue.c - work queues: putting jobs, and looking at them. Taking them is
 * in job.c.
 */
#include "core/client.h"
#include "core/form.h"
#include "core/own_key.h"
#include "holdfast/queue.h"
#include "lease/job.h"
#include "util/error.h"
#include "util/mem.h"
#include "util/rand.h"

#define ID_BYTES 16 /* of an id that is drawn */

/* put: keys, arguments, and what a dedup record adds. */
#define PUT_WORDS (3 + 7 + HF__RECORD_WORDS)

static void add_queue(hf_call *call, hf_bytes queue)
{
    if (HF__TRY(call, hf__layout_check_ours(&call->client->layout, "a queue",
                                            call->form.err)))
        hf__add_key(call, queue);
    hf__add_own_key(call, HF__ROLE_WAIT, queue);
}

/* --------------------------------------------------------------------- put */

static hf_status check_bytes(hf_bytes bytes, size_t most, const char *what,
                             hf_error *err)
{
    if (bytes.data == NULL && bytes.size > 0)
        return hf__fail(err, HF_INVALID, "%s is NULL", what);
    return hf__check_range((int64_t)bytes.size, 0, (int64_t)most, what, err);
}

/* The one place that has the limits of a job. */
static hf_status check_job(hf_bytes id, hf_bytes payload,
                           const hf_queue_options *o, hf_error *err)
{
    hf_status status = check_bytes(id, HF_QUEUE_ID_MAX, "size of the id", err);

    if (status == HF_OK)
        status = check_bytes(payload, HF_QUEUE_PAYLOAD_MAX,
                             "size of the payload", err);
    if (status == HF_OK)
        status =
            check_bytes(o->group, HF_QUEUE_ID_MAX, "size of the group", err);
    if (status == HF_OK)
        status = hf__check_range(o->delay_ms, 0, HF_QUEUE_DELAY_MAX_MS,
                                 "delay_ms", err);
    if (status == HF_OK)
        status = hf__check_range(o->remember_ms, 0, HF_QUEUE_DELAY_MAX_MS,
                                 "remember_ms", err);
    if (status == HF_OK)
        status = hf__check_range(o->priority, 0, HF_QUEUE_PRIORITY_MAX,
                                 "priority", err);
    if (status == HF_OK)
        status = hf__check_range(o->attempts, 0, HF_QUEUE_ATTEMPTS_MAX,
                                 "attempts", err);
    return status;
}

static void add_id(hf_call *call, hf_bytes id)
{
    char *text;

    if (id.size > 0) {
        hf__add(call, id);
        return;
    }
    text = hf__call_alloc(call, 2 * ID_BYTES + 1);
    if (text == NULL)
        return;
    hf__rand_hex(text, ID_BYTES);
    hf__add(call, hf_view(text, 2 * ID_BYTES));
}

static hf_status finish_put(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 1)
        return HF_OK;
    if (call->request.reply.integer == 0)
        return hf__fail(err, HF_CONFLICT,
                        "the queue has, or remembers, a job with that id");
    return hf__fail(err, HF_INDETERMINATE,
                    "a later call of this client overtook this one; outcome "
                    "unknown");
}

static bool was_put(const hf__request *request)
{
    return request->reply.integer == 1;
}

static const hf__operation put = {
    .script = HF__SCRIPT(QUEUE_PUT),
    .once = HF__SCRIPT(QUEUE_PUT_ONCE),
    .without = {HF__SCRIPT(QUEUE_PUT), HF__RECORD_WORDS, false},
    .wrote = was_put,
    .finish = finish_put,
};

static hf_status run_put(hf__form form, hf_client *client, hf_bytes queue,
                         hf_bytes id, hf_bytes payload,
                         const hf_queue_options *opts)
{
    hf_call here, *call = hf__begin(&here, form, &put, client);
    hf_queue_options options = HF_QUEUE_OPTIONS_INIT;

    if (!HF__LOAD(call, &options, opts, hf_queue_options, 0) ||
        !HF__TRY(call, check_job(id, payload, &options, call->form.err)))
        return hf__end(call);
    hf__reserve(call, PUT_WORDS);
    add_queue(call, queue);
    hf__add_own_key(call, HF__ROLE_ITEMS, queue);
    add_id(call, id);
    hf__add(call, payload);
    hf__add_number(call, options.delay_ms);
    hf__add_number(call, options.priority);
    hf__add_number(call, options.attempts);
    hf__add_number(call, options.remember_ms);
    hf__add(call, options.group);
    return hf__end(call);
}

HF__FORMS(hf_queue_put, run_put(form, client, queue, id, payload, opts),
          hf_client *client, hf_bytes queue, hf_bytes id, hf_bytes payload,
          const hf_queue_options *opts);

HF__MANY(hf_queue_put_many, jobs,
         run_put(form, client, queue, jobs[i].id, jobs[i].payload, opts),
         hf_client *client, hf_bytes queue, const hf_queue_put_item *jobs,
         size_t count, const hf_queue_options *opts);

/* ----------------------------------------------------------------- inspect */

static hf_status finish_inspect(hf_call *call, hf_error *err)
{
    const hf_reply *items = call->request.reply.array.items;
    hf_queue_info *info = call->out;

    (void)err;
    info->ready = items[0].integer;
    info->taken = items[1].integer;
    info->delayed = items[2].integer;
    info->behind = items[3].integer;
    info->dead = items[4].integer;
    info->remembered = items[5].integer;
    info->waiters = items[6].integer;
    info->paused = items[7].integer == 1;
    return HF_OK;
}

static const hf__operation inspect = {
    .script = HF__SCRIPT(QUEUE_INSPECT),
    .finish = finish_inspect,
};

static hf_status run_inspect(hf__form form, hf_client *client, hf_bytes queue,
                             hf_queue_info *info)
{
    hf_call here, *call = hf__begin(&here, form, &inspect, client);

    hf__set_out(call, info, "info");
    if (HF__TRY(call, hf__check_struct(info->struct_size, sizeof(*info),
                                       "hf_queue_info", "HF_QUEUE_INFO_INIT",
                                       call->form.err)))
        add_queue(call, queue);
    return hf__end(call);
}

HF__FORMS(hf_queue_inspect, run_inspect(form, client, queue, info),
          hf_client *client, hf_bytes queue, hf_queue_info *info);

/* -------------------------------------------------------------------- list */

void hf_queue_jobs_free(hf_queue_jobs *jobs)
{
    if (jobs == NULL)
        return;
    hf__free(jobs->jobs);
    *jobs = (hf_queue_jobs)HF_QUEUE_JOBS_INIT;
}

static hf_status finish_list(hf_call *call, hf_error *err)
{
    const hf_reply *reply = &call->request.reply;
    const hf_reply *items = reply->array.items;
    size_t count = reply->array.count / HF__JOB_ITEMS;
    size_t size = count * sizeof(hf_job) + 1;
    hf_queue_jobs *out = call->out;
    hf_job *jobs;
    char *at;

    for (size_t i = 0; i < count; i++)
        size += hf__job_size(items + i * HF__JOB_ITEMS);
    jobs = hf__alloc(size);
    if (jobs == NULL)
        return hf__fail(err, HF_NO_MEMORY, "%zu jobs of %zu bytes", count,
                        size);
    at = (char *)(jobs + count);
    for (size_t i = 0; i < count; i++)
        at = hf__job_read(&jobs[i], items + i * HF__JOB_ITEMS, at);
    out->jobs = jobs;
    out->count = count;
    return HF_OK;
}

static const hf__operation list = {
    .script = HF__SCRIPT(QUEUE_LIST),
    .finish = finish_list,
};

/* Scores of each state (scripts/README.md). */
static const struct {
    const char *from;
    const char *to;
} states[] = {{"7e15", "(8e15"},
              {"1", "(4e15"},
              {"4e15", "(5e15"},
              {"8e15", "(9e15"},
              {"6e15", "(7e15"}};

static hf_status run_list(hf__form form, hf_client *client, hf_bytes queue,
                          hf_queue_state state, int64_t offset, int64_t count,
                          hf_queue_jobs *jobs)
{
    hf_call here, *call = hf__begin(&here, form, &list, client);

    hf__set_out(call, jobs, "jobs");
    if (!HF__TRY(call, hf__check_range(state, 0, HF_QUEUE_DEAD, "state",
                                       call->form.err)) ||
        !HF__TRY(call, hf__check_range(offset, 0, INT32_MAX, "offset",
                                       call->form.err)) ||
        !HF__TRY(call, hf__check_range(count, 1, HF_QUEUE_LIST_MAX, "count",
                                       call->form.err)))
        return hf__end(call);
    if (HF__TRY(call, hf__layout_check_ours(&client->layout, "a queue",
                                            call->form.err)))
        hf__add_key(call, queue);
    hf__add_own_key(call, HF__ROLE_ITEMS, queue);
    hf__add(call, hf_str(states[state].from));
    hf__add(call, hf_str(states[state].to));
    hf__add_number(call, offset);
    hf__add_number(call, count);
    return hf__end(call);
}

HF__FORMS(hf_queue_list,
          run_list(form, client, queue, state, offset, count, jobs),
          hf_client *client, hf_bytes queue, hf_queue_state state,
          int64_t offset, int64_t count, hf_queue_jobs *jobs);

/* ----------------------------------------------------- pause, revive, drop */

static const hf__operation pause_one = {
    .script = HF__SCRIPT(QUEUE_PAUSE),
    .wrote = hf__wrote_number,
};

static hf_status run_pause(hf__form form, hf_client *client, hf_bytes queue,
                           bool paused)
{
    hf_call here, *call = hf__begin(&here, form, &pause_one, client);

    add_queue(call, queue);
    hf__add_own_key(call, HF__ROLE_ITEMS, queue);
    hf__add(call, hf_str(paused ? "1" : "0"));
    return hf__end(call);
}

HF__FORMS(hf_queue_pause, run_pause(form, client, queue, paused),
          hf_client *client, hf_bytes queue, bool paused);

static hf_status finish_revive(hf_call *call, hf_error *err)
{
    int64_t moved = call->request.reply.integer;

    if (call->note != 0 && moved == 0)
        return hf__fail(err, HF_NOT_FOUND, "no such dead letter");
    if (call->out != NULL)
        *(int64_t *)call->out = moved;
    return HF_OK;
}

static const hf__operation revive = {
    .script = HF__SCRIPT(QUEUE_REVIVE),
    .wrote = hf__wrote_number,
    .finish = finish_revive,
};

static hf_status run_revive(hf__form form, hf_client *client, hf_bytes queue,
                            hf_bytes id, int64_t count, int64_t *moved)
{
    hf_call here, *call = hf__begin(&here, form, &revive, client);

    hf__set_out(call, moved, NULL);
    call->note = id.size > 0;
    if (!HF__TRY(call, check_bytes(id, HF_QUEUE_ID_MAX, "size of the id",
                                   call->form.err)) ||
        !HF__TRY(call, hf__check_range(count, 1, HF_QUEUE_LIST_MAX, "count",
                                       call->form.err)))
        return hf__end(call);
    add_queue(call, queue);
    hf__add_own_key(call, HF__ROLE_ITEMS, queue);
    hf__add(call, id);
    hf__add_number(call, count);
    return hf__end(call);
}

HF__FORMS(hf_queue_revive, run_revive(form, client, queue, id, count, moved),
          hf_client *client, hf_bytes queue, hf_bytes id, int64_t count,
          int64_t *moved);

static hf_status finish_drop(hf_call *call, hf_error *err)
{
    if (call->request.reply.integer == 1)
        return HF_OK;
    return call->request.reply.integer == 0
               ? hf__fail(err, HF_NOT_FOUND, "no such job")
               : hf__fail(err, HF_HELD, "a worker has the job");
}

static const hf__operation drop = {
    .script = HF__SCRIPT(QUEUE_DROP),
    .wrote = hf__wrote_number,
    .finish = finish_drop,
};

static hf_status run_drop(hf__form form, hf_client *client, hf_bytes queue,
                          hf_bytes id)
{
    hf_call here, *call = hf__begin(&here, form, &drop, client);

    if (!HF__TRY(call, hf__check_range((int64_t)id.size, 1, HF_QUEUE_ID_MAX,
                                       "size of the id", call->form.err)) ||
        !HF__TRY(call,
                 check_bytes(id, HF_QUEUE_ID_MAX, "the id", call->form.err)))
        return hf__end(call);
    add_queue(call, queue);
    hf__add_own_key(call, HF__ROLE_ITEMS, queue);
    hf__add(call, id);
    return hf__end(call);
}

HF__FORMS(hf_queue_drop, run_drop(form, client, queue, id), hf_client *client,
          hf_bytes queue, hf_bytes id);
