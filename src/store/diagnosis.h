/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - what every kind of store tells in the same way when it is
 * examined. */
#ifndef HF__STORE_DIAGNOSIS_H
#define HF__STORE_DIAGNOSIS_H

#include "store/store.h"

/* Longest value of a remark. */
#define HF__DIAGNOSTIC_SIZE 512

/* Tell one remark; `remedy` is "" if there is nothing to be done. The form
 * with a status is an error. */
void hf__report(const hf__diagnosis *diagnosis, hf_level level,
                const char *name, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void hf__report_error(const hf__diagnosis *diagnosis, hf_status status,
                      const char *name, const char *remedy, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

/* From then on nothing is told any more. */
bool hf__diagnosis_is_over(const hf__diagnosis *diagnosis);

/* Until when a request that begins now may take. */
int64_t hf__diagnosis_until(const hf__diagnosis *diagnosis, int64_t now_ms);

/* Who but its owner may read a file with a secret in it? */
void hf__diagnose_secret_file(const hf__diagnosis *diagnosis, const char *name,
                              const char *path);

/* Run one request on whatever is examined. */
typedef void (*hf__diagnose_run_fn)(void *target, hf__request *request);

/* What TIME said, asked several times. */
typedef struct hf__diagnose_clock {
    int64_t ahead_us; /* of ours, from the fastest answer */
    int64_t error_us; /* at most so much more or less: half of its round trip */
} hf__diagnose_clock;

/*
 * Tell "reachable", and measure "round trip" with TIME; the first answer, for
 * which a connection may have been made, is not counted. HF_OK: *clock is set.
 * A failure is for the caller to tell, as "reachable".
 */
hf_status hf__diagnose_latency(const hf__diagnosis *diagnosis,
                               hf__diagnose_run_fn run, void *target,
                               hf__diagnose_clock *clock, hf_error *err);

#endif
