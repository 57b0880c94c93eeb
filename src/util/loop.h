/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loop.h - the one background thread a client may have: an epoll loop
 * that starts when something first needs it.
 *
 * Tasks and timers are intrusive: the caller owns their memory and keeps it
 * until they have run or been stopped. Their functions run on the loop thread,
 * with no lock held, and must not block.
 */
#ifndef HF__UTIL_LOOP_H
#define HF__UTIL_LOOP_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/base.h"
#include "util/private_api.h"

typedef struct hf__loop hf__loop;
struct hf__poller;

typedef struct hf__task {
    void (*run)(struct hf__task *task);
    struct hf__task *next; /* the loop's */
} hf__task;

/* No thread yet. NULL: out of memory. */
HF__PRIVATE_API hf__loop *hf__loop_new(void);

/*
 * Start the thread unless it runs. HF_SYSTEM: no thread, no descriptor.
 * Any thread, concurrently.
 */
HF__PRIVATE_API hf_status hf__loop_start(hf__loop *loop, hf_error *err);

/* Is the thread running? */
bool hf__loop_started(const hf__loop *loop);

/* Is the caller the loop thread? */
bool hf__loop_here(const hf__loop *loop);

/*
 * Run a task on the loop thread, after those posted before it. Any thread. The
 * loop must be started. A task posted before hf__loop_free() always runs.
 */
void hf__loop_post(hf__loop *loop, hf__task *task);

/* Post and wait until it has run; NULL: until those posted before have. Not
 * from the loop thread. */
HF__PRIVATE_API void hf__loop_call(hf__loop *loop, hf__task *task);
/* The same from any thread: on the loop thread, it runs at once. */
void hf__loop_run(hf__loop *loop, hf__task *task);

/* For code on the loop thread that has sockets. */
HF__PRIVATE_API struct hf__poller *hf__loop_poller(hf__loop *loop);

/*
 * One alarm on CLOCK_BOOTTIME (a timerfd, so that it rings immediately after a
 * suspend). `ring` runs on the loop thread.
 */
typedef struct hf__alarm hf__alarm;
/* Any thread, with any locks held: does not wait for the loop thread. The loop
 * must be started. */
hf_status hf__alarm_new(hf__loop *loop, void (*ring)(void *user), void *user,
                        hf__alarm **alarm, hf_error *err);
/* Ring at an instant of hf__clock_boot_ms(), replacing the one set before; a
 * past instant rings immediately; INT64_MAX never. Any thread. */
void hf__alarm_set(hf__alarm *alarm, int64_t at_ms);
/* No ring runs after it returned. Not from the loop thread. */
void hf__alarm_free(hf__alarm *alarm);

/*
 * Run what was posted, end the thread, free. All watching on it must have
 * stopped. Not from the loop thread. NULL is allowed. In a forked child only
 * memory is freed.
 */
HF__PRIVATE_API void hf__loop_free(hf__loop *loop);

#endif
