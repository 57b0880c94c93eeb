/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - diagnostics common to all kinds of store. */
#ifndef HF__STORE_DIAGNOSIS_H
#define HF__STORE_DIAGNOSIS_H

#include "store/maintenance.h"
#include "store/store.h"

/* Longest text of a diagnostic. */
#define HF__DIAGNOSTIC_SIZE 512

/* Report one diagnostic; `remedy` is "" if nothing needs to be done. The form
 * with a status is an error. */
void hf__report(const hf__diagnosis *diagnosis, hf_level level,
                const char *name, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void hf__report_error(const hf__diagnosis *diagnosis, hf_status status,
                      const char *name, const char *remedy, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

/* Has the deadline passed? Then nothing is reported any more. */
bool hf__diagnosis_is_over(const hf__diagnosis *diagnosis);

/* Deadline of a request that begins now. */
int64_t hf__diagnosis_until(const hf__diagnosis *diagnosis, int64_t now_ms);

/* Is a file with a secret readable only by its owner? */
void hf__diagnose_secret_file(const hf__diagnosis *diagnosis, const char *name,
                              const char *path);

/* Run one request on the target. */
typedef void (*hf__diagnose_run_fn)(void *target, hf__request *request);

/* The store's clock, from several TIMEs. */
typedef struct hf__diagnose_clock {
    int64_t ahead_us; /* of ours, from the fastest reply */
    int64_t error_us; /* plus or minus: half of its round trip */
} hf__diagnose_clock;

/* Clock differences above which an instant is wrong. */
#define HF__CLOCK_NOTE_US 1000000
#define HF__CLOCK_WARNING_US 60000000

/* Ask for the time once. */
hf_status hf__diagnose_clock_of(const hf__diagnosis *diagnosis,
                                hf__diagnose_run_fn run, void *target,
                                hf__diagnose_clock *clock, hf_error *err);

/*
 * Report "reachable", and measure "round trip" with TIME; the first one, which
 * may include connecting, is not counted. HF_OK: *clock is set. On a failure
 * the caller reports "reachable".
 */
hf_status hf__diagnose_latency(const hf__diagnosis *diagnosis,
                               hf__diagnose_run_fn run, void *target,
                               hf__diagnose_clock *clock, hf_error *err);

/* Report "fencing tokens": how far the last one of the client's prefix is from
 * the store's clock. Not for a cluster, which has a counter for each slot. */
void hf__diagnose_tokens(const hf__diagnosis *diagnosis,
                         hf__diagnose_run_fn run, void *target,
                         const hf__diagnose_clock *clock);

#endif
