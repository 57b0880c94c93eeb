/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_ops.c - waiting for and watching the counters of an event connection.
 * Counters and watches belong to the loop thread; other threads post a task.
 */
#include "store/redis/events/event_ops.h"

#include "util/clock.h"
#include "util/error.h"

static hf__store_context *context_of(hf__event_conn *self)
{
    return self->conn.node->context;
}

uint32_t hf__event_seq(hf__event_conn *self, hf_bytes topic,
                       int64_t deadline_ms)
{
    hf__store_context *context = context_of(self);

    if (!hf__store_context_is_forked(context) &&
        hf__loop_start(context->loop, NULL) == HF_OK) {
        hf__event_conn_start(self);
        hf__event_conn_wait(self, deadline_ms);
    }
    return hf__events_read(self->events, hf__events_bucket(topic));
}

void hf__event_watch_key(hf__event_conn *self, hf_bytes key, bool held)
{
    hf__store_context *context = context_of(self);

    if (!hf__store_context_is_forked(context) &&
        hf__loop_started(context->loop))
        hf__event_conn_watch_key(self, key, held);
}

void hf__event_channel(hf__event_conn *self, hf_bytes topic, hf_bytes channel,
                       bool sharded, int64_t keep_ms)
{
    hf__store_context *context = context_of(self);

    if (hf__store_context_is_forked(context) ||
        hf__loop_start(context->loop, NULL) != HF_OK)
        return;
    hf__event_conn_start(self);
    hf__event_conn_hear(self, topic, channel, sharded,
                        keep_ms == 0 ? 0 : hf__clock_boot_ms() + keep_ms);
}

bool hf__event_wait(hf__event_conn *self, hf_bytes topic, uint32_t seq,
                    int64_t until_ms)
{
    return hf__events_wait(self->events, hf__events_bucket(topic), seq,
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

hf_status hf__event_watch(hf__event_conn *self, hf_bytes topic,
                          hf__watch *watch, hf_error *err)
{
    watch_task task = {{run_add, NULL}, self->events, watch};
    hf_status status;

    if (hf__store_context_is_forked(context_of(self)))
        return hf__fail(err, HF_INVALID, "the client was opened before fork()");
    status = hf__loop_start(context_of(self)->loop, err);
    if (status != HF_OK)
        return status;
    hf__event_conn_start(self);
    watch->bucket = hf__events_bucket(topic);
    hf__loop_run(context_of(self)->loop, &task.base);
    return HF_OK;
}

void hf__event_unwatch(hf__store_context *context, hf__events *events,
                       hf__watch *watch)
{
    watch_task task = {{run_remove, NULL}, events, watch};

    if (!hf__store_context_is_forked(context))
        hf__loop_run(context->loop, &task.base);
}
