/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.c - work queues. What must hold:
 *
 * 1. No two workers believe at the same instant that they have the same job
 *    (checks.c).
 * 2. The end of a job is accepted only if no other worker believes that it has
 *    it.
 * 3. A job that was put leaves the store only after a worker has finished it.
 * 4. It is given to a worker that waits within a bound (checks.c).
 */
#include "holdfast/queue.h"

#include <stdio.h>

#include "script/script.h"
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

static void end(handle *of)
{
    size_t number = job_of(of);

    if (number < JOBS && !sim_cheats("lazy"))
        sim_world.finished[number] = true;
    of->released = true;
    if (hf_queue_done(of->lock, NULL) != HF_OK)
        return;
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        const handle *other = &sim_world.handles[i];

        if (other != of && other->believed && job_of(other) == number)
            check_fail("job %zu is ended, but handle %zu believes to have it",
                       number, i);
    }
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

/* With --cheat any: the end of a job that was finished is accepted from
 * everyone. */
void jobs_send(const packet *self)
{
    char *owner;

    if (!sim_cheats("any") ||
        self->script != &hf__scripts[HF__SCRIPT_QUEUE_RELEASE])
        return;
    owner = (char *)(uintptr_t)self->words[self->key_count].data;
    for (size_t i = 0; i < sim_world.handle_count; i++) {
        if (sim_world.handles[i].believed &&
            has_finished(&sim_world.handles[i]))
            memcpy(owner, sim_world.handles[i].lock->owner, HF_OWNER_SIZE - 1);
    }
}

void jobs_answer(void)
{
    for (size_t i = 0; i < JOBS; i++) {
        if (sim_world.put[i] && !sim_world.finished[i] && !is_stored(i))
            check_fail("job %zu is lost", i);
    }
}
