/* SPDX-License-Identifier: Apache-2.0 */
/* mutex.h - taking a mutex with a CLOCK_BOOTTIME deadline. */
#ifndef HF__UTIL_MUTEX_H
#define HF__UTIL_MUTEX_H

#include <pthread.h>
#include <stdint.h>

/*
 * Lock, waiting until an instant of hf__clock_boot_ms() at the latest. What
 * pthread_mutex_clocklock() returns: 0, ETIMEDOUT, EOWNERDEAD (locked),
 * ENOTRECOVERABLE. The wait runs on CLOCK_MONOTONIC: a suspend prolongs it.
 * With a C library other than glibc it runs on CLOCK_REALTIME, and setting the
 * clock changes it.
 */
int hf__mutex_lock_until(pthread_mutex_t *mutex, int64_t until_ms);

#endif
