/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_outage.h - threads that use a store while things go wrong with its
 * server, and the audit of their results.
 */
#ifndef REDIS_OUTAGE_H
#define REDIS_OUTAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/base.h"

/* Most time of one call of the load in addition to its own wait, ms. */
#define LOAD_REQUEST_MS 700

#define LOAD_STATUSES 600

typedef struct load load;

/* Start that many threads, which use the store at `url` until load_stop(). A
 * call may be this late, ms. */
load *load_start(const char *url, unsigned threads, int64_t late_ms);

/* A status allowed from now on in addition to those of any outage: HF_FULL or
 * HF_DENIED; HF_OK: none. */
void load_allow(load *self, hf_status status);

/* The present fault, for messages. */
void load_name(load *self, const char *fault);

/* How far past its deadline the worst call since then ended, ns. */
int64_t load_worst_ns(const load *self);

/* How often a status was returned so far, in all threads. */
uint64_t load_count(const load *self, hf_status status);

/* How many threads have succeeded since the instant, on test_now_ms(). */
unsigned load_recovered(const load *self, int64_t since_ms);
unsigned load_threads(const load *self);

/*
 * End the threads, and compare their results with the content of the store at
 * `url`, which must be working. Prints figures; returns how many promises were
 * broken, each with a line on stderr.
 */
unsigned load_stop(load *self, const char *url);

/* ------------------------------------------------------------------- time */

/*
 * How late a call of this thread is: what it took beyond its limit, less the
 * time that this thread and the library's were runnable but not running. That
 * time is the machine's, not the library's.
 */
typedef struct stopwatch {
    int64_t began_ns;
    int64_t queued_ns; /* for a processor, both threads */
} stopwatch;

/* For this thread the library's thread is the newest one; for others it is
 * that of the load. */
void stopwatch_use_newest(void);

void stopwatch_start(stopwatch *self);
/* What it took in ns, and how much of it (may be NULL) without a processor. */
int64_t stopwatch_read(const stopwatch *self, int64_t *queued_ns);

#endif
