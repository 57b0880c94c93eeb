/* SPDX-License-Identifier: Apache-2.0 */
/* replicas.h - what the cases of replicas.c share. */
#ifndef TESTS_FAULT_REPLICAS_H
#define TESTS_FAULT_REPLICAS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/lock.h"
#include "support/redis_sentinel.h"

#define WITHIN_MS 300    /* where too few must be reported */
#define PATIENT_MS 10000 /* where there are enough, on a busy machine */
#define COUNT 40
#define LIMIT_MS 30000

int64_t now_ms(void);
void pause_ms(int64_t ms);

/* Counts and prints a violation if false. */
__attribute__((format(printf, 2, 3))) void check(bool holds, const char *format,
                                                 ...);
void check_status(hf_status status, hf_status expected, const char *what,
                  const hf_error *err);

/* A client, or a lock, that waits this long for this many; the program ends on
 * failure. */
hf_client *open_client(const char *url, int32_t replicas, int64_t within_ms);
hf_lock *new_lock(hf_client *client, const char *name, int32_t replicas,
                  int64_t within_ms);

/* replicas_lag.c */
void run_lag(void);

#endif
