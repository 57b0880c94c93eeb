/* SPDX-License-Identifier: Apache-2.0 */
/* cond.h - condition variables whose waits end at a CLOCK_BOOTTIME instant. */
#ifndef HF__UTIL_COND_H
#define HF__UTIL_COND_H

#include <pthread.h>
#include <stdint.h>

void hf__cond_init(pthread_cond_t *cond);

/*
 * Wait, until an instant of hf__clock_boot_ms() at the latest (INT64_MAX:
 * without limit). The wait itself runs on CLOCK_MONOTONIC, so after a suspend
 * it may end late by the time slept: check the clock again.
 */
void hf__cond_wait_until(pthread_cond_t *cond, pthread_mutex_t *mutex,
                         int64_t until_ms);

#endif
