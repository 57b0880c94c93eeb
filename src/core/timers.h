/* SPDX-License-Identifier: Apache-2.0 */
/*
 * timers.h - many instants on one alarm of a client's loop. The loop thread's,
 * start and stop excepted.
 */
#ifndef HF__CORE_TIMERS_H
#define HF__CORE_TIMERS_H

#include <pthread.h>

#include "util/heap.h"
#include "util/loop.h"

typedef struct hf__timer {
    hf__heap_node node; /* first: a node is cast to its timer */
    void (*fire)(struct hf__timer *timer);
} hf__timer;

typedef struct hf__timers {
    hf__loop *loop;
    hf__heap heap;
    pthread_mutex_t mutex; /* guards the making of the alarm */
    hf__alarm *alarm;
    int64_t armed_ms; /* when it rings at the latest; INT64_MAX: never */
} hf__timers;

void hf__timers_init(hf__timers *timers, hf__loop *loop);
/* Make the alarm; the loop is started if it was not. Any thread. */
hf_status hf__timers_start(hf__timers *timers, hf_error *err);
/* No timer fires any more. Not from the loop thread. In a forked child only
 * memory is freed. */
void hf__timers_done(hf__timers *timers);

void hf__timer_init(hf__timer *timer, void (*fire)(hf__timer *timer));
/* Fire at an instant, replacing the one set before; false: out of memory. */
bool hf__timer_set(hf__timers *timers, hf__timer *timer, int64_t at_ms);
void hf__timer_stop(hf__timers *timers, hf__timer *timer);

#endif
