/* SPDX-License-Identifier: Apache-2.0 */
/*
 * gather.c - barriers and latches. What must hold:
 *
 * 1. A generation of a barrier is passed by no more than its parties.
 * 2. A latch opens only after all arrivals, however often each is sent.
 */
#include "holdfast/barrier.h"
#include "holdfast/latch.h"
#include "sim.h"

#define PARTIES 2
#define ARRIVALS 2
#define TTL_MS 3000

static void pass(program *of, int64_t wait_ms)
{
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;
    hf_barrier_pass passed;
    int *count;

    options.ttl_ms = TTL_MS;
    if (hf_barrier_wait(of->of->client, hf_str(NAME), PARTIES, wait_ms,
                        &options, &passed, NULL) != HF_OK)
        return;
    count = &sim_world.passed[passed.generation % GENERATIONS];
    if (++*count > PARTIES)
        check_fail("generation %lld is passed by %d of %d parties",
                   (long long)passed.generation, *count, PARTIES);
}

static void await_open(const program *of, int64_t wait_ms)
{
    if (hf_latch_await(of->of->client, hf_str(NAME), wait_ms, NULL) == HF_OK &&
        sim_world.arrivals < ARRIVALS)
        check_fail("the latch is open after %d of %d arrivals",
                   sim_world.arrivals, ARRIVALS);
}

bool gather_step(program *of, const op *step)
{
    hf_client *sender = of->of->client;

    switch (step->what) {
    case OP_BARRIER:
        pass(of, step->arg);
        return true;
    case OP_LATCH:
        (void)!hf_latch_set(sender, hf_str(NAME), ARRIVALS, 60000, NULL, NULL);
        return true;
    case OP_ARRIVE:
        sim_world.arrivals++;
        (void)!hf_latch_arrive(sender, hf_str(NAME), hf_str(""), 1, NULL, NULL);
        return true;
    case OP_AWAIT_OPEN:
        await_open(of, step->arg);
        return true;
    default:
        return false;
    }
}

/* ------------------------------------------------------------------ cheats */

/* With --cheat twice: each request is another arrival. With --cheat light: a
 * handle takes one permit, whatever its weight. */
void gather_send(const packet *self)
{
    static unsigned arrivals;
    char *last = (char *)(uintptr_t)self->words[self->word_count - 1].data;

    if (sim_cheats("twice") &&
        self->script == &hf__scripts[HF__SCRIPT_LATCH_ARRIVE])
        *(char *)(uintptr_t)self->words[self->key_count].data =
            (char)('A' + arrivals++ % 26);
    if (sim_cheats("light") &&
        self->script == &hf__scripts[HF__SCRIPT_SEMAPHORE_ACQUIRE] &&
        last[1] == '/')
        last[2] = '1';
}

/* With --cheat uncounted: a party that no longer waits has passed. */
void gather_answer(packet *self)
{
    const hf_reply *reply = &self->answer.reply;

    if (sim_cheats("uncounted") && self->answer.status == HF_OK &&
        self->script == &hf__scripts[HF__SCRIPT_BARRIER_ARRIVE] &&
        reply->array.items[0].integer == 2)
        reply->array.items[0].integer = 1;
}
