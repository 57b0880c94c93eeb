/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c - work queues. What must hold:
 *
 * 1. No two workers believe at the same instant that they have the same job
 *    (checks.c).
 * 2. The end of a job is accepted only if no other worker believes that it has
 *    it, and then the store does not have it any more.
 * 3. A job that was put leaves the store only after a worker has finished it.
 * 4. It is given to a worker that waits within a bound (checks.c).
 */
#include "holdfast/queue.h"

#include <stdio.h>

#include "script/script.h"
#include "script/script_words.h"
#include "sim.h"

#define ITEMS "hf:items:{" NAME "}"

/* The number of the job that it has, or had last; JOBS: none. */
static size_t job_of(const handle *of)
{
    hf_job job = HF_JOB_INIT;

    if (of->kind != KIND_QUEUE || of->lock == NULL ||
        hf_queue_job(of->lock, &job, NULL) != HF_OK)
        return JOBS;
    return (size_t)(*(const char *)job.id.data - '0');
}

bool jobs_differ(const handle *one, const handle *other)
{
    return one->kind == KIND_QUEUE && job_of(one) != job_of(other);
}

bool jobs_wanted(void)
{
    for (size_t i = 0; i < JOBS; i++) {
        if (sim_world.put[i] && !sim_world.finished[i])
            return true;
    }
    return false;
}

static bool has_finished(const handle *of)
{
    size_t number = job_of(of);

    return number < JOBS && sim_world.finished[number];
}

static void put(const program *of, int64_t number)
{
    char id[2] = {(char)('0' + number), '\0'};

    if (hf_queue_put(of->of->client, hf_str(NAME), hf_str(id), hf_str(""), NULL,
                     NULL) == HF_OK)
        sim_world.put[number] = true;
}

static bool is_stored(size_t number)
{
    char field[3] = {'=', (char)('0' + number), '\0'};
    hf_bytes words[] = {hf_str("hexists"), hf_str(ITEMS), hf_str(field)};
    hf__request request;
    bool found;

    hf__request_command(&request, words, 3, true);
    server_run(&request);
    found =
        request.reply.kind == HF_REPLY_INTEGER && request.reply.integer == 1;
    hf__request_done(&request);
    return found;
}

static void check_ended(const handle *of, size_t number)
{
    if (!net_draining && is_stored(number))
        check_fail("job %zu is still there, but its end was accepted", number);
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *other = &sim_world.handles[i];

        if (other != of && other->believed && job_of(other) == number)
            check_fail("job %zu is ended, but handle %zu believes to have it",
                       number, i);
    }
}

void jobs_finish(handle *of)
{
    size_t number = job_of(of);

    of->released = true;
    of->ends = 0;
    if (number == JOBS ||
        (of->lock->state != HF__LOCK_HELD && of->lock->state != HF__LOCK_LOST))
        return;
    of->ends = number + 1;
    if (!sim_cheats("lazy"))
        sim_world.finished[number] = true;
}

void jobs_ended(handle *of, hf_status status)
{
    bool ended = status == HF_OK || status == HF_TIMEOUT || status == HF_HELD ||
                 status == HF_CANCELLED;

    if (of->ends > 0 && ended)
        check_ended(of, of->ends - 1);
    of->ends = 0;
}

static void end(handle *of)
{
    hf_status status;

    jobs_finish(of);
    status = hf_queue_done(of->lock, NULL);
    if (status == HF_OK)
        jobs_ended(of, status);
}

bool jobs_step(const program *of, const op *step)
{
    handle *on = &sim_world.handles[step->handle];

    if (step->what == OP_PUT)
        put(of, step->arg);
    else if (step->what == OP_DONE && on->lock != NULL)
        end(on);
    return step->what == OP_PUT || step->what == OP_DONE;
}

/* With --cheat any: the end of a job that was finished is accepted from
 * everyone. */
void jobs_send(const packet *self)
{
    size_t at = self->key_count;
    char *owner;

    if (self->script == &hf__scripts[HF__SCRIPT_QUEUE_TAKE])
        at = HF__QUEUE_TAKE_ENDED;
    else if (self->script != &hf__scripts[HF__SCRIPT_QUEUE_RELEASE])
        return;
    if (!sim_cheats("any") || at >= self->word_count)
        return;
    owner = (char *)(uintptr_t)self->words[at].data;
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        if (sim_world.handles[i].believed &&
            has_finished(&sim_world.handles[i]))
            memcpy(owner, sim_world.handles[i].lock->owner, HF_OWNER_SIZE - 1);
    }
}

/* With --cheat sure: an end that was refused counts as one that was applied
 * before. */
static void hide_late_end(packet *self)
{
    static char other[] = "x";
    hf_reply *reply = &self->answer.reply;

    hf_reply *owner;

    if (self->script != &hf__scripts[HF__SCRIPT_QUEUE_TAKE] ||
        reply->kind != HF_REPLY_ARRAY || reply->array.count != 3)
        return;
    owner = &reply->array.items[1];
    if (owner->bytes.size == 0) {
        owner->bytes.data = other;
        owner->bytes.size = 1;
    }
}

void jobs_answer(packet *self)
{
    if (sim_cheats("sure"))
        hide_late_end(self);
    for (size_t i = 0; i < JOBS; i++) {
        if (sim_world.put[i] && !sim_world.finished[i] && !is_stored(i))
            check_fail("job %zu is lost", i);
    }
}
