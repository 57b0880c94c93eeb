/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job.c - the kind of a job that is taken from a work queue, and how it ends.
 *
 * Its owner id is a member of the queue's sorted set, by the end of its lease,
 * as that of a permit is of a semaphore's: one script renews both. A put, or
 * the end of another job, keeps a job for the first waiter, for a second, and
 * tells it to ask; the reply to that has the job (docs/adr/0112).
 */
#include "lease/job.h"
#include "core/form.h"
#include "core/own_key.h"
#include "holdfast/queue.h"
#include "lease/acquire.h"
#include "lease/handle.h"
#include "lease/release.h"
#include "script/script_words.h"
#include "util/error.h"
#include "util/mem.h"

/* The form that kinds.h asks for. */
_Static_assert((int)HF__QUEUE_TAKE_OWNER == HF__LOCK_ACQUIRE_OWNER + 1, "");
_Static_assert((int)HF__QUEUE_RELEASE_LEAVE == HF__LOCK_RELEASE_LEAVE, "");
_Static_assert((int)HF__QUEUE_TAKE_ENDED == HF__LOCK_ACQUIRE_WORDS + 1, "");
_Static_assert(HF__QUEUE_TAKE_JOB - HF__QUEUE_TAKE_ENDED + 1 == HF__END_WORDS,
               "");

/* Of an order: (HF_QUEUE_PRIORITY_MAX - priority) times this, and a number of
 * the job (scripts/queue_put.lua). */
#define ORDER_OF_CLASS INT64_C(10000000000000)

/* Of a job in a reply. */
enum { ID, PAYLOAD, TAKEN, MOST, ORDER, PUT, GROUP };
_Static_assert(GROUP + 1 == HF__JOB_ITEMS, "");

size_t hf__job_size(const hf_reply *items)
{
    return items[ID].bytes.size + items[PAYLOAD].bytes.size +
           items[GROUP].bytes.size + 3;
}

static hf_bytes put_bytes(char **at, const hf_reply *reply)
{
    char *begin = *at;

    memcpy(begin, reply->bytes.data, reply->bytes.size);
    begin[reply->bytes.size] = '\0';
    *at += reply->bytes.size + 1;
    return hf_view(begin, reply->bytes.size);
}

char *hf__job_read(hf_job *job, const hf_reply *items, char *at)
{
    job->struct_size = sizeof(*job);
    job->id = put_bytes(&at, &items[ID]);
    job->payload = put_bytes(&at, &items[PAYLOAD]);
    job->group = put_bytes(&at, &items[GROUP]);
    job->attempt = items[TAKEN].integer;
    job->attempts = items[MOST].integer;
    job->priority =
        HF_QUEUE_PRIORITY_MAX - items[ORDER].integer / ORDER_OF_CLASS;
    job->put_ms = items[PUT].integer;
    return at;
}

/* The job, behind the token, and its bytes are one piece of memory. Others rely
 * on the limit of its id. */
static hf_status keep_job(hf_lock *lock, const hf_reply *reply, hf_error *err)
{
    const hf_reply *items = reply->array.items + 1;
    size_t id_size = items[ID].bytes.size;
    hf_job *job;

    if (id_size == 0 || id_size > HF_QUEUE_ID_MAX ||
        items[GROUP].bytes.size > HF_QUEUE_ID_MAX)
        return hf__bad_reply(hf__scripts[lock->kind->acquire].name, err);
    job = hf__alloc(sizeof(*job) + hf__job_size(items));
    if (job == NULL)
        return hf__fail(err, HF_NO_MEMORY, "a job");
    (void)hf__job_read(job, items, (char *)(job + 1));
    hf__free(lock->kept);
    lock->kept = job;
    return HF_OK;
}

static hf_bytes kept_id(const hf_lock *lock)
{
    return ((const hf_job *)lock->kept)->id;
}

/* The only other reply: the job that was to be ended was not. */
static hf_status read_late_end(hf_lock *lock, const hf_reply *items,
                               hf_error *err)
{
    (void)lock;
    return items[1].bytes.size > 0
               ? HF_HELD
               : hf__fail(err, HF_EXPIRED, "the lease had expired");
}

static const hf__lease_kind job_kind = {
    .acquire = HF__SCRIPT_QUEUE_TAKE,
    .renew = HF__SCRIPT_SEMAPHORE_RENEW,
    .release = HF__SCRIPT_QUEUE_RELEASE,
    .refused = "no job is ready, or the queue is paused",
    .held_as = "shared",
    .mode = ",job",
    .role = HF__ROLE_ITEMS,
    .held_again = "this handle has a job: end that first",
    .keep = keep_job,
    .kept_id = kept_id,
    .read_reply = read_late_end,
};

hf_status hf_queue_new(hf_client *client, hf_bytes name,
                       const hf_lock_options *opts, hf_lock **lock,
                       hf_error *err)
{
    hf_lock *made = NULL;
    hf_status status = hf__check_out(lock, "lock", err);

    if (status == HF_OK)
        status = hf__lock_make(client, &job_kind, name, 0, opts, &made, err);
    if (status != HF_OK)
        return status;
    if (made->options.min_hold_ms > 0 || made->options.delay_ms > 0) {
        hf_lock_free(made);
        return hf__fail(err, HF_UNSUPPORTED,
                        "min_hold_ms, delay_ms: a job has none");
    }
    *lock = made;
    return HF_OK;
}

static hf_status check_handle(const hf_lock *lock, hf_error *err)
{
    hf_status status = hf__lock_check(lock, err);

    if (status == HF_OK && lock->kind != &job_kind)
        status = hf__fail(err, HF_INVALID, "the handle is of no queue");
    return status;
}

hf_status hf_queue_job(const hf_lock *lock, hf_job *job, hf_error *err)
{
    hf_status status = check_handle(lock, err);

    if (status == HF_OK)
        status = hf__check_out(job, "job", err);
    if (status == HF_OK)
        status = hf__check_struct(job->struct_size, sizeof(*job), "hf_job",
                                  "HF_JOB_INIT", err);
    if (status == HF_OK && lock->kept == NULL)
        status = hf__fail(err, HF_NOT_FOUND, "the handle has had no job");
    if (status == HF_OK)
        *job = *(const hf_job *)lock->kept;
    return status;
}

int64_t hf_queue_backoff(const hf_job *job, int64_t first_ms, int64_t most_ms)
{
    int64_t delay_ms = first_ms;

    for (int64_t i = 1; job != NULL && i < job->attempt && delay_ms < most_ms;
         i++)
        delay_ms = delay_ms > most_ms / 2 ? most_ms : 2 * delay_ms;
    return delay_ms < most_ms ? delay_ms : most_ms;
}

/* --------------------------------------------------------------- its end */

/* Words of queue_release.lua. */
static const char *const words[] = {[HF_QUEUE_DONE] = "done",
                                    [HF_QUEUE_AGAIN] = "again",
                                    [HF_QUEUE_DEFER] = "",
                                    [HF_QUEUE_FAIL] = "dead"};

static hf_status read_outcome(hf__outcome *to, const hf_lock *lock,
                              hf_queue_outcome outcome, int64_t delay_ms,
                              hf_error *err)
{
    hf_status status = check_handle(lock, err);

    if (status == HF_OK)
        status = hf__check_range(outcome, 0, HF_QUEUE_FAIL, "outcome", err);
    if (status == HF_OK)
        status = hf__check_range(delay_ms, 0, HF_QUEUE_DELAY_MAX_MS, "delay_ms",
                                 err);
    if (status == HF_OK)
        *to = (hf__outcome){words[outcome], delay_ms};
    return status;
}

static hf_status run_end(hf__form form, hf_lock *lock, hf_queue_outcome how,
                         int64_t delay_ms)
{
    hf__outcome outcome;
    hf_status status = read_outcome(&outcome, lock, how, delay_ms, form.err);

    return status == HF_OK ? hf__lock_release_as(form, lock, &outcome) : status;
}

HF__FORMS(hf_queue_done, run_end(form, lock, HF_QUEUE_DONE, 0), hf_lock *lock);
HF__FORMS(hf_queue_again, run_end(form, lock, HF_QUEUE_AGAIN, delay_ms),
          hf_lock *lock, int64_t delay_ms);
HF__FORMS(hf_queue_defer, run_end(form, lock, HF_QUEUE_DEFER, delay_ms),
          hf_lock *lock, int64_t delay_ms);
HF__FORMS(hf_queue_fail, run_end(form, lock, HF_QUEUE_FAIL, 0), hf_lock *lock);

hf_status hf_queue_next(hf_lock *lock, hf_queue_outcome outcome,
                        int64_t delay_ms, int64_t wait_ms, hf_error *err)
{
    hf__outcome how;
    hf_status status = read_outcome(&how, lock, outcome, delay_ms, err);

    return status == HF_OK ? hf__lock_end_and_acquire(lock, &how, wait_ms, err)
                           : status;
}

hf_status hf_queue_next_start(hf_lock *lock, hf_queue_outcome outcome,
                              int64_t delay_ms, int64_t wait_ms,
                              const hf_async *async, hf_error *err)
{
    hf__outcome how;
    hf_status status = read_outcome(&how, lock, outcome, delay_ms, err);

    return status == HF_OK
               ? hf__lock_end_and_acquire_start(lock, &how, wait_ms, async, err)
               : status;
}

hf_status hf_queue_ended(const hf_lock *lock, hf_error *err)
{
    hf_status status = check_handle(lock, err);

    if (status != HF_OK)
        return status;
    switch ((hf_status)atomic_load(&lock->ended)) {
    case HF_OK:
        return HF_OK;
    case HF_EXPIRED:
        return hf__fail(err, HF_EXPIRED, "the lease had expired");
    case HF_NOT_FOUND:
        return hf__fail(err, HF_NOT_FOUND, "the handle had no job to end");
    default:
        return hf__fail(err, HF_INDETERMINATE,
                        "the end of the job got no reply; outcome unknown");
    }
}
