/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_watch.c - starting, closing and describing a watch.
 */
#include "store/redis/topology/sentinel_watch.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/topology/sentinel_master.h"
#include "store/redis/topology/sentinel_round.h"
#include "util/container.h"
#include "util/mem.h"

/* -------------------------------------------------------------------- life */

static void run_refresh(hf__task *task)
{
    hf__sentinel_watch *watch =
        hf__container_of(task, hf__sentinel_watch, refresh_task);

    pthread_mutex_lock(&watch->mutex);
    watch->posted = false;
    pthread_mutex_unlock(&watch->mutex);
    hf__sentinel_round_want(watch);
}

void hf__sentinel_watch_init(hf__sentinel_watch *watch,
                             const hf__sentinel_url *place,
                             const hf__store_config *config,
                             void (*moved)(void *user), void *user)
{
    memset(watch, 0, sizeof(*watch));
    watch->resolver.ops = &hf__sentinel_master_resolver;
    watch->place = place;
    watch->moved = moved;
    watch->user = user;
    watch->error = (hf_error)HF_ERROR_INIT;
    watch->closing = true; /* until it is started */
    watch->refresh_task.run = run_refresh;
    hf__store_context_init(&watch->context, config, NULL);
    pthread_mutex_init(&watch->mutex, NULL);
}

/* Beginning on the loop thread. */
typedef struct start_task {
    hf__task base;
    hf__sentinel_watch *watch;
    hf_error *err;
    hf_status status;
} start_task;

static void run_start(hf__task *task)
{
    start_task *self = (start_task *)task;

    self->status = hf__sentinel_round_begin(self->watch, self->err);
}

hf_status hf__sentinel_watch_start(hf__sentinel_watch *watch, hf_error *err)
{
    hf__loop *loop = watch->context.loop;
    start_task task = {{run_start, NULL}, watch, err, HF_OK};
    hf_status status = hf__loop_start(loop, err);

    if (status == HF_OK)
        status = hf__alarm_new(loop, hf__sentinel_round_alarm, watch,
                               &watch->alarm, err);
    if (status != HF_OK)
        return status;
    pthread_mutex_lock(&watch->mutex);
    watch->closing = false;
    pthread_mutex_unlock(&watch->mutex);
    hf__loop_call(loop, &task.base);
    return task.status;
}

static void run_close(hf__task *task)
{
    hf__sentinel_watch *watch =
        hf__container_of(task, hf__sentinel_watch, close_task);

    watch->gone_alarm = watch->alarm;
    watch->alarm = NULL;
    hf__sentinel_round_end(watch);
}

void hf__sentinel_watch_close(hf__sentinel_watch *watch)
{
    hf__loop *loop = watch->context.loop;

    pthread_mutex_lock(&watch->mutex);
    watch->closing = true;
    pthread_mutex_unlock(&watch->mutex);
    if (watch->alarm == NULL)
        return;
    watch->close_task.run = run_close;
    hf__loop_call(loop, &watch->close_task);
    hf__store_context_drain(&watch->context);
    hf__alarm_free(watch->gone_alarm);
    /* Waits for tasks posted before the close. */
    hf__loop_call(loop, NULL);
}

void hf__sentinel_watch_done(hf__sentinel_watch *watch)
{
    hf__resolver_free(watch->address);
    watch->address = NULL;
    pthread_mutex_destroy(&watch->mutex);
}

/* The peers belong to the loop thread, which may have been in any state. */
void hf__sentinel_watch_close_forked(hf__sentinel_watch *watch)
{
    size_t at;

    for (at = 0; at < watch->count; at++)
        hf__async_conn_close_forked(&watch->peers[at]->conn);
    hf__resolver_free(watch->address);
}

/* ---------------------------------------------------------------- describe */

/* Lines are collected on the loop thread and reported on the caller's. */
typedef struct sentinel_line {
    char text[HF__WHERE_SIZE + 128];
} sentinel_line;

typedef struct survey_task {
    hf__task base;
    const hf__sentinel_watch *watch;
    sentinel_line lines[HF__SENTINEL_MAX];
    size_t count;
} survey_task;

static void run_survey(hf__task *task)
{
    survey_task *self = (survey_task *)task;
    const hf__sentinel_peer *peer;
    const char *state;
    size_t at;

    for (at = 0; at < self->watch->count; at++) {
        peer = self->watch->peers[at];
        state = "is being asked";
        if (peer->state == HF__SENTINEL_ANSWERED)
            state = "answers";
        else if (peer->state == HF__SENTINEL_FAILED)
            state = peer->conn.error.message;
        snprintf(self->lines[at].text, sizeof(self->lines[at].text),
                 "%s%s: %.100s", peer->where.text,
                 peer->is_learned ? " (learned)" : "", state);
    }
    self->count = self->watch->count;
}

static void describe_master(hf__sentinel_watch *watch, hf__describe_fn line,
                            void *user)
{
    hf__sentinel_answer master;
    hf_error error;
    char text[HF__WHERE_SIZE];
    bool known;

    pthread_mutex_lock(&watch->mutex);
    known = watch->address != NULL;
    master = watch->master;
    error = watch->error;
    pthread_mutex_unlock(&watch->mutex);
    line(user, "master", watch->place->name);
    if (known) {
        snprintf(text, sizeof(text),
                 strchr(master.host, ':') != NULL ? "[%s]:%d" : "%s:%d",
                 master.host, master.port);
        line(user, "address", text);
        snprintf(text, sizeof(text), "%llu", (unsigned long long)master.epoch);
        line(user, "epoch", text);
    }
    if (error.status != HF_OK)
        line(user, "sentinels", error.message);
}

/* NULL: out of memory. */
static survey_task *collect_state(const hf__sentinel_watch *watch)
{
    survey_task *task = hf__calloc(1, sizeof(*task));

    if (task == NULL)
        return NULL;
    task->base.run = run_survey;
    task->watch = watch;
    hf__loop_run(watch->context.loop, &task->base);
    return task;
}

void hf__sentinel_watch_describe(hf__sentinel_watch *watch,
                                 hf__describe_fn line, void *user)
{
    survey_task *task;
    size_t at;

    describe_master(watch, line, user);
    task = collect_state(watch);
    if (task == NULL)
        return;
    for (at = 0; at < task->count; at++)
        line(user, "sentinel", task->lines[at].text);
    hf__free(task);
}
