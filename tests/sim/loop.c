/* SPDX-License-Identifier: Apache-2.0 */
/* loop.c - util/loop.h without a thread: the world runs what is due. */
#include "util/loop.h"

#include <stdlib.h>

#include "sim.h"
#include "util/clock.h"
#include "util/poll.h"

struct hf__loop {
    hf__task *first;
    hf__task *last;
    hf__alarm *alarms;
    client *of;
    bool started;
};

struct hf__alarm {
    hf__loop *loop;
    hf__alarm *next;
    void (*ring)(void *user);
    void *user;
    int64_t at_ms;
};

client *sim_client;
static const hf__loop *inside;

hf__loop *hf__loop_new(void)
{
    hf__loop *loop = calloc(1, sizeof(*loop));

    if (loop != NULL)
        loop->of = sim_opening();
    return loop;
}

hf_status hf__loop_start(hf__loop *loop, hf_error *err)
{
    (void)err;
    loop->started = true;
    return HF_OK;
}

bool hf__loop_started(const hf__loop *loop)
{
    return loop->started;
}

bool hf__loop_here(const hf__loop *loop)
{
    return inside == loop;
}

void hf__loop_post(hf__loop *loop, hf__task *task)
{
    task->next = NULL;
    if (loop->first == NULL)
        loop->first = task;
    else
        loop->last->next = task;
    loop->last = task;
}

void sim_loop_inside(hf__loop *loop, void (*what)(void *), void *user)
{
    const hf__loop *outer = inside;
    client *outer_client = sim_client;
    actor *outer_actor = sim_actor;

    inside = loop;
    sim_client = loop->of;
    sim_actor = NULL;
    what(user);
    inside = outer;
    sim_client = outer_client;
    sim_actor = outer_actor;
}

static void run_task(void *user)
{
    hf__task *task = user;

    task->run(task);
}

static void run_first(hf__loop *loop)
{
    hf__task *task = loop->first;

    loop->first = task->next;
    sim_loop_inside(loop, run_task, task);
}

void hf__loop_call(hf__loop *loop, hf__task *task)
{
    while (loop->first != NULL)
        run_first(loop);
    if (task != NULL)
        sim_loop_inside(loop, run_task, task);
}

void hf__loop_run(hf__loop *loop, hf__task *task)
{
    if (hf__loop_here(loop))
        task->run(task);
    else
        hf__loop_call(loop, task);
}

struct hf__poller *hf__loop_poller(hf__loop *loop)
{
    (void)loop;
    return NULL;
}

void hf__loop_free(hf__loop *loop)
{
    while (loop != NULL && loop->first != NULL)
        run_first(loop);
    free(loop);
}

/* ------------------------------------------------------------------ alarms */

hf_status hf__alarm_new(hf__loop *loop, void (*ring)(void *user), void *user,
                        hf__alarm **alarm, hf_error *err)
{
    hf__alarm *self = malloc(sizeof(*self));

    (void)err;
    if (self == NULL)
        abort();
    *self = (hf__alarm){loop, loop->alarms, ring, user, INT64_MAX};
    loop->alarms = self;
    *alarm = self;
    return HF_OK;
}

void hf__alarm_set(hf__alarm *alarm, int64_t at_ms)
{
    alarm->at_ms = at_ms;
    if (sim_cheats("deaf") && at_ms > 0 && at_ms != INT64_MAX)
        alarm->at_ms += 50;
}

void hf__alarm_free(hf__alarm *alarm)
{
    hf__alarm **at;

    if (alarm == NULL)
        return;
    for (at = &alarm->loop->alarms; *at != alarm; at = &(*at)->next)
        continue;
    *at = alarm->next;
    free(alarm);
}

/* --------------------------------------------------------------- the world */

static hf__alarm *due_alarm(const hf__loop *loop)
{
    int64_t now_ms = sim_now_ms() - loop->of->slept_us / 1000;
    hf__alarm *first = NULL;

    for (hf__alarm *at = loop->alarms; at != NULL; at = at->next) {
        if (at->at_ms <= now_ms && (first == NULL || at->at_ms < first->at_ms))
            first = at;
    }
    return first;
}

bool sim_loop_due(const hf__loop *loop)
{
    return loop->first != NULL || due_alarm(loop) != NULL;
}

static void ring(void *user)
{
    hf__alarm *alarm = user;

    alarm->at_ms = INT64_MAX;
    alarm->ring(alarm->user);
}

void sim_loop_run(hf__loop *loop)
{
    hf__alarm *alarm = due_alarm(loop);

    if (alarm != NULL)
        sim_loop_inside(loop, ring, alarm);
    else if (loop->first != NULL)
        run_first(loop);
}

int64_t sim_loop_next(const hf__loop *loop)
{
    int64_t next_ms = INT64_MAX;

    for (hf__alarm *at = loop->alarms; at != NULL; at = at->next) {
        if (at->at_ms < next_ms)
            next_ms = at->at_ms;
    }
    return next_ms == INT64_MAX ? next_ms : next_ms + loop->of->slept_us / 1000;
}
