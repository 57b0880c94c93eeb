/* SPDX-License-Identifier: Apache-2.0 */
/* timers.c - see timers.h. */
#include "core/timers.h"

#include "util/clock.h"
#include "util/error.h"

void hf__timers_init(hf__timers *timers, hf__loop *loop)
{
    timers->loop = loop;
    timers->alarm = NULL;
    timers->armed_ms = INT64_MAX;
    hf__heap_init(&timers->heap);
    pthread_mutex_init(&timers->mutex, NULL);
}

/* Thousands of timers are set between two rings: a system call for each would
 * cost more than all the rest. One that was stopped may cause a ring
 * without effect. */
static void arm_timers(hf__timers *timers)
{
    const hf__heap_node *first = hf__heap_first(&timers->heap);

    if (first == NULL || first->at_ms >= timers->armed_ms)
        return;
    timers->armed_ms = first->at_ms;
    hf__alarm_set(timers->alarm, first->at_ms);
}

static void ring_timers(void *user)
{
    hf__timers *timers = user;
    int64_t now_ms = hf__clock_boot_ms();
    hf__heap_node *node;

    while ((node = hf__heap_first(&timers->heap)) != NULL &&
           node->at_ms <= now_ms) {
        hf__timer *timer = (hf__timer *)node;

        hf__heap_remove(&timers->heap, node);
        timer->fire(timer);
    }
    timers->armed_ms = INT64_MAX;
    arm_timers(timers);
}

hf_status hf__timers_start(hf__timers *timers, hf_error *err)
{
    hf_status status = hf__loop_start(timers->loop, err);

    if (status != HF_OK)
        return status;
    pthread_mutex_lock(&timers->mutex);
    if (timers->alarm == NULL)
        status = hf__alarm_new(timers->loop, ring_timers, timers,
                               &timers->alarm, err);
    pthread_mutex_unlock(&timers->mutex);
    return status;
}

void hf__timers_done(hf__timers *timers)
{
    hf__alarm_free(timers->alarm);
    hf__heap_done(&timers->heap);
}

void hf__timer_init(hf__timer *timer, void (*fire)(hf__timer *timer))
{
    hf__heap_node_init(&timer->node);
    timer->fire = fire;
}

bool hf__timer_set(hf__timers *timers, hf__timer *timer, int64_t at_ms)
{
    if (!hf__heap_reserve(&timers->heap, timers->heap.count + 1))
        return false;
    hf__heap_put(&timers->heap, &timer->node, at_ms);
    arm_timers(timers);
    return true;
}

void hf__timer_stop(hf__timers *timers, hf__timer *timer)
{
    hf__heap_remove(&timers->heap, &timer->node);
}
