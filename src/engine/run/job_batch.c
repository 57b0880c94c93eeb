/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_batch.c - jobs in one shared transaction.
 *
 * Nothing is acknowledged before the commit, so a transaction may be undone and
 * run again: without the job that failed, if that caused it (a stopped script);
 * each job in a transaction of its own if there was no space for all. Replies
 * and events of the first try are dropped. If the commit fails, all jobs fail.
 *
 * Each job has its own time and sees what earlier ones wrote.
 */
#include "engine/run/job_batch.h"

#include "engine/keys/records.h"
#include "engine/keys/tx_life.h"
#include "engine/run/write.h"
#include "util/clock.h"

/* No further job is started after the lock was held for so long. */
#define HOLD_US 5000

/* How long to wait for recent callers. A commit takes some 200 us on a fast
 * disk. */
#define GATHER_US 50

void hf__queued_job_fail(hf__queued_job *what, hf_status status,
                         const char *message)
{
    hf__execute_drop_reply(what->job->request);
    hf__request_fail(what->job->request, status, "%s", message);
}

/* Append one more member; false: no more. */
static bool take_more(hf__batch *self)
{
    int64_t now_us = hf__clock_boot_us();
    hf__queued_job *what;

    while (!self->closed && self->count + self->done_count < HF__BATCH_MAX &&
           (self->count == 0 || now_us - self->began_us < HOLD_US)) {
        what = hf__queue_take(self->env->queue, self->count,
                              self->began_us + GATHER_US);
        if (what == NULL)
            return false;
        if (what->job->request->deadline_ms >= now_us / 1000) {
            self->members[self->count++] = what;
            return true;
        }
        self->done[self->done_count++] = what;
        hf__queued_job_fail(what, HF_UNAVAILABLE,
                            "the store was busy until the request's deadline");
    }
    return false;
}

static void run_member(hf__batch *self, size_t index)
{
    const hf__job *job = self->members[index]->job;
    hf__tx *tx = self->env->write_tx;

    if (!hf__execute_prepare(self->env, job)) {
        hf__tx_no_memory(tx);
        return;
    }
    hf__execute(tx, job);
    if (tx->fatal == HF_OK)
        (void)hf__tx_flush(tx);
}

/* One try. On failure *culprit is the member that failed, or `count`. */
static hf_status try_batch(hf__batch *self, size_t *culprit)
{
    hf__tx *tx = self->env->write_tx;
    int64_t now_ms = hf__clock_boot_ms();
    hf_status status =
        hf__env_begin_write(self->env, now_ms, &tx->txn, &tx->error);

    *culprit = self->count;
    if (status != HF_OK) {
        /* At least one job must complete, or this would be retried
         * indefinitely. */
        if (self->count == 0 && take_more(self))
            *culprit = self->count;
        tx->event_count = 0;
        tx->wanted_size = 0;
        return status;
    }
    hf__tx_start(tx, now_ms);
    for (size_t i = 0; i < self->count || take_more(self); i++) {
        if (i > 0)
            hf__tx_next(tx, hf__clock_boot_ms());
        run_member(self, i);
        if (tx->fatal != HF_OK) {
            *culprit = i;
            break;
        }
    }
    self->closed = true;
    status = hf__tx_finish(tx);
    if (status != HF_OK && *culprit == self->count && self->count == 1)
        *culprit = 0;
    return status;
}

static void finish_all(hf__batch *self)
{
    for (size_t i = 0; i < self->count; i++)
        self->done[self->done_count++] = self->members[i];
    self->count = 0;
}

static void fail_all(hf__batch *self, hf_status status)
{
    for (size_t i = 0; i < self->count; i++)
        hf__queued_job_fail(self->members[i], status,
                            self->env->write_tx->error.message);
    finish_all(self);
}

static void drop_job(hf__batch *self, size_t index, hf_status status)
{
    hf__queued_job *what = self->members[index];

    hf__queued_job_fail(what, status, self->env->write_tx->error.message);
    self->done[self->done_count++] = what;
    self->count--;
    for (size_t i = index; i < self->count; i++)
        self->members[i] = self->members[i + 1];
}

static void drop_replies(hf__batch *self)
{
    for (size_t i = 0; i < self->count; i++)
        hf__execute_drop_reply(self->members[i]->job->request);
}

/* They run again for no fault of theirs. */
static void start_over(hf__batch *self)
{
    drop_replies(self);
    for (size_t i = 0; i < self->count; i++)
        self->members[i]->job->request->tries = (hf__script_tries){0};
}

/* The writer lock is held. Remaining members need transactions of their own,
 * without it. */
static void run_batch(hf__batch *self)
{
    hf_status status;
    size_t culprit;
    int room = 0;

    /* Each round makes space or has one member fewer. */
    for (;;) {
        status = try_batch(self, &culprit);
        if (status == HF_OK) {
            finish_all(self);
            return;
        }
        if (status == HF_FULL && room++ < HF__WRITE_RETRY_MAX &&
            hf__write_make_room(self->env)) {
            drop_replies(self);
            continue;
        }
        if (status == HF_FULL &&
            (self->count > 1 || self->env->flush != NULL)) {
            drop_replies(self);
            return;
        }
        if (culprit == self->count) {
            fail_all(self, status);
            return;
        }
        drop_job(self, culprit, status);
        if (self->count == 0)
            return;
        start_over(self);
    }
}

/* Without memory for the writer's context, the first in the queue fails. */
static void fail_first(hf__batch *self)
{
    hf__queued_job *what = hf__queue_take(self->env->queue, 0, 0);

    if (what == NULL)
        return;
    hf__queued_job_fail(what, HF_NO_MEMORY, "out of memory");
    self->done[self->done_count++] = what;
}

void hf__batch_run(hf__batch *self, hf__env *env)
{
    self->env = env;
    self->began_us = hf__clock_boot_us();
    self->closed = false;
    self->count = 0;
    self->done_count = 0;
    if (hf__execute_prepare(env, NULL))
        run_batch(self);
    else
        fail_first(self);
}

void hf__batch_run_rest(hf__batch *self)
{
    for (size_t i = 0; i < self->count; i++)
        hf__write_run(self->env, self->members[i]->job);
    finish_all(self);
}
