/* SPDX-License-Identifier: Apache-2.0 */
/* diagnosis.h - what every kind of store tells in the same way when it is
 * examined. */
#ifndef HF__STORE_DIAGNOSIS_H
#define HF__STORE_DIAGNOSIS_H

#include "store/store.h"

/* Longest value of a remark. */
#define HF__REMARK_SIZE 512

/* Tell one remark; `remedy` is "" if there is nothing to be done. The form
 * with a status is an error. */
void hf__remark(const hf__examination *examination, hf_level level,
                const char *name, const char *remedy, const char *format, ...)
    __attribute__((format(printf, 5, 6)));
void hf__remark_error(const hf__examination *examination, hf_status status,
                      const char *name, const char *remedy, const char *format,
                      ...) __attribute__((format(printf, 5, 6)));

/* From then on nothing is told any more. */
bool hf__examination_is_over(const hf__examination *examination);

/* Until when a request that begins now may take. */
int64_t hf__examination_until(const hf__examination *examination,
                              int64_t now_ms);

/* Who but its owner may read a file with a secret in it? */
void hf__examine_secret_file(const hf__examination *examination,
                             const char *name, const char *path);

/* Run one request on whatever is examined. */
typedef void (*hf__examine_run_fn)(void *target, hf__request *request);

/* What TIME said, asked several times. */
typedef struct hf__examine_clock {
    int64_t ahead_us; /* of ours, from the fastest answer */
    int64_t error_us; /* at most so much more or less: half of its round trip */
} hf__examine_clock;

/*
 * Tell "reachable", and measure "round trip" with TIME; the first answer, for
 * which a connection may have been made, is not counted. HF_OK: *clock is set.
 * A failure is for the caller to tell, as "reachable".
 */
hf_status hf__examine_pace(const hf__examination *examination,
                           hf__examine_run_fn run, void *target,
                           hf__examine_clock *clock, hf_error *err);

#endif
