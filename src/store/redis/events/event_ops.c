/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_ops.c - waiting for and watching the counters of an inbox. The counters
 * and the watches are the loop thread's; everybody else comes by a task.
 */
#include "store/redis/events/event_ops.h"

#include "util/error.h"

static hf__fleet *fleet_of(hf__inbox *inbox)
{
    return inbox->link.node->fleet;
}

uint32_t hf__listen_seq(hf__inbox *inbox, hf_bytes topic, int64_t deadline_ms)
{
    hf__fleet *fleet = fleet_of(inbox);

    if (!hf__fleet_is_forked(fleet) &&
        hf__loop_start(fleet->loop, NULL) == HF_OK) {
        hf__inbox_start(inbox);
        hf__inbox_wait(inbox, deadline_ms);
    }
    return hf__events_read(inbox->events, hf__events_bucket(topic));
}

void hf__listen_watch_key(hf__inbox *inbox, hf_bytes key)
{
    hf__fleet *fleet = fleet_of(inbox);

    if (!hf__fleet_is_forked(fleet) && hf__loop_started(fleet->loop))
        hf__inbox_watch_key(inbox, key);
}

bool hf__listen_wait(hf__inbox *inbox, hf_bytes topic, uint32_t seq,
                     int64_t until_ms)
{
    return hf__events_wait(inbox->events, hf__events_bucket(topic), seq,
                           until_ms);
}

typedef struct watch_task {
    hf__task base;
    hf__events *events;
    hf__watch *watch;
} watch_task;

static void run_add(hf__task *task)
{
    const watch_task *self = (watch_task *)task;

    hf__events_add(self->events, self->watch);
}

static void run_remove(hf__task *task)
{
    const watch_task *self = (watch_task *)task;

    hf__events_remove(self->events, self->watch);
}

static void run_on_loop(hf__fleet *fleet, watch_task *task)
{
    if (hf__loop_here(fleet->loop))
        task->base.run(&task->base);
    else
        hf__loop_call(fleet->loop, &task->base);
}

hf_status hf__listen_watch(hf__inbox *inbox, hf_bytes topic, hf__watch *watch,
                           hf_error *err)
{
    watch_task task = {{run_add, NULL}, inbox->events, watch};
    hf_status status;

    if (hf__fleet_is_forked(fleet_of(inbox)))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    status = hf__loop_start(fleet_of(inbox)->loop, err);
    if (status != HF_OK)
        return status;
    hf__inbox_start(inbox);
    watch->bucket = hf__events_bucket(topic);
    run_on_loop(fleet_of(inbox), &task);
    return HF_OK;
}

void hf__listen_unwatch(hf__fleet *fleet, hf__events *events, hf__watch *watch)
{
    watch_task task = {{run_remove, NULL}, events, watch};

    if (!hf__fleet_is_forked(fleet))
        run_on_loop(fleet, &task);
}
