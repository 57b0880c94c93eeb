/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c - the calls on a work queue: numbers are put as jobs, in two
 * priorities, and each is taken under a lease that outlasts the history.
 *
 * Who takes one holds it under a number of its own, as the fencing of a job is
 * by its owner. What a killed client has is never given to another.
 */
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "holdfast/queue.h"

#define LEASE_MS 600000

static hf_bytes queue_of(session *self)
{
    return hf_str(self->name[0]);
}

static void put(session *self)
{
    int64_t number = unique(self);
    int64_t in[] = {number, prng_chance(&self->random, 30) ? 1 : 0};
    hf_queue_options opts = HF_QUEUE_OPTIONS_INIT;
    char id[24];

    (void)snprintf(id, sizeof(id), "%lld", (long long)number);
    opts.priority = in[1];
    call_begin(self, "put", 2, in);
    call_end(self, hf_queue_put(self->client, queue_of(self), hf_str(id),
                                hf_str(id), &opts, NULL));
}

/* A handle that has a job of another queue is left behind, with the job. */
static bool has_handle(session *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    opts.ttl_ms = LEASE_MS;
    opts.flags = HF_LOCK_NO_RENEW;
    if (self->worker_key == self->key && self->worker != NULL)
        return true;
    self->worker_key = self->key;
    self->hold = 0;
    return hf_queue_new(self->client, queue_of(self), &opts, &self->worker,
                        NULL) == HF_OK;
}

static int64_t number_of(const session *self)
{
    hf_job job = HF_JOB_INIT;

    return hf_queue_job(self->worker, &job, NULL) == HF_OK
               ? strtoll(job.payload.data, NULL, 10)
               : 0;
}

static void take(session *self)
{
    int64_t hold = unique(self);
    hf_status status;

    call_begin(self, "take", 1, &hold);
    status = hf_lock_try(self->worker, NULL);
    if (status == HF_OK) {
        self->hold = hold;
        call_out(self, number_of(self));
    }
    call_end(self, status);
}

/* Cheat "undone": the job goes back instead. */
static void end(session *self, bool done)
{
    int64_t in[] = {self->hold, number_of(self)};
    bool sends = done && strcmp(self->cheat, "undone") != 0;

    self->hold = 0;
    call_begin(self, done ? "done" : "again", 2, in);
    call_end(self, sends ? hf_queue_done(self->worker, NULL)
                         : hf_queue_again(self->worker, 0, NULL));
}

/* The end of one and the next, or none, in one call. Cheat "back": the first
 * one goes back, whatever was asked for. */
static void next(session *self)
{
    static const char *const calls[] = {"done,take", "again,take", "defer,take",
                                        "fail,take"};
    hf_queue_outcome how =
        (hf_queue_outcome)prng_below(&self->random, HF_QUEUE_FAIL + 1);
    int64_t in[] = {self->hold, number_of(self), unique(self)};
    hf_status status;

    self->hold = 0;
    call_begin(self, calls[how], 3, in);
    if (strcmp(self->cheat, "back") == 0)
        how = HF_QUEUE_AGAIN;
    status = hf_queue_next(self->worker, how, 0, 0, NULL);
    if (status == HF_OK) {
        self->hold = in[2];
        call_out(self, number_of(self));
    }
    call_end(self, status == HF_TIMEOUT ? HF_HELD : status);
}

void act_queue(session *self)
{
    if (!has_handle(self))
        return;
    if (prng_chance(&self->random, 40))
        put(self);
    else if (self->hold == 0)
        take(self);
    else if (prng_chance(&self->random, 50))
        next(self);
    else
        end(self, prng_chance(&self->random, 60));
}
