/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job_queue.c - see job_queue.h.
 */
#include "engine/run/job_queue.h"

#include <assert.h>
#include <sched.h>

#include "util/clock.h"
#include "util/mem.h"

hf__queue *hf__queue_new(void)
{
    hf__queue *queue = hf__calloc(1, sizeof(*queue));

    if (queue == NULL)
        return NULL;
    pthread_mutex_init(&queue->mutex, NULL);
    for (size_t i = 0; i < 2; i++)
        queue->lanes[i].end = &queue->lanes[i].first;
    return queue;
}

void hf__queue_free(hf__queue *queue)
{
    if (queue == NULL)
        return;
    assert(!queue->led);
    pthread_mutex_destroy(&queue->mutex);
    hf__free(queue);
}

void hf__queue_put_locked(hf__queue *queue, hf__queued_job *what)
{
    hf__queue_lane *line =
        &queue->lanes[what->job->request->lane == HF__LANE_LEASE];

    what->next = NULL;
    what->queued = true;
    queue->queued_count++;
    *line->end = what;
    line->end = &what->next;
}

static hf__queue_lane *first_lane_locked(hf__queue *queue)
{
    return &queue->lanes[queue->lanes[HF__LANE_LEASE].first != NULL];
}

hf__queued_job *hf__queue_first_locked(hf__queue *queue)
{
    return first_lane_locked(queue)->first;
}

static hf__queued_job *take_locked(hf__queue *queue)
{
    hf__queue_lane *line = first_lane_locked(queue);
    hf__queued_job *what = line->first;

    if (what == NULL)
        return NULL;
    line->first = what->next;
    if (line->first == NULL)
        line->end = &line->first;
    what->queued = false;
    queue->queued_count--;
    return what;
}

void hf__queue_remove_locked(hf__queue *queue, hf__queued_job *what)
{
    hf__queue_lane *line =
        &queue->lanes[what->job->request->lane == HF__LANE_LEASE];
    hf__queued_job **at = &line->first;

    while (*at != what)
        at = &(*at)->next;
    *at = what->next;
    if (*at == NULL)
        line->end = at;
    what->queued = false;
    queue->queued_count--;
}

static hf__queued_job *take_first(hf__queue *queue)
{
    hf__queued_job *what;

    pthread_mutex_lock(&queue->mutex);
    what = take_locked(queue);
    pthread_mutex_unlock(&queue->mutex);
    return what;
}

/* If the queue is empty and more jobs are expected, wait a moment: callers
 * whose jobs have just completed are likely to return. */
hf__queued_job *hf__queue_take(hf__queue *queue, size_t count, int64_t until_us)
{
    hf__queued_job *what = take_first(queue);

    while (what == NULL && count < queue->expected &&
           hf__clock_boot_us() < until_us) {
        sched_yield();
        what = take_first(queue);
    }
    return what;
}

size_t hf__queue_waiting(hf__queue *queue)
{
    size_t count;

    pthread_mutex_lock(&queue->mutex);
    count = queue->queued_count;
    pthread_mutex_unlock(&queue->mutex);
    return count;
}
