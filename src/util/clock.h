/* SPDX-License-Identifier: Apache-2.0 */
/*
 * clock.h - the only place that reads a clock.
 *
 * Local deadlines are CLOCK_BOOTTIME, which counts while the machine sleeps;
 * only the embedded store, which acts as a server, reads wall time.
 */
#ifndef HF__UTIL_CLOCK_H
#define HF__UTIL_CLOCK_H

#include <stdint.h>

/* ms and us of CLOCK_BOOTTIME. */
int64_t hf__clock_boot_ms(void);
int64_t hf__clock_boot_us(void);

/* us of CLOCK_MONOTONIC, for waits that take no other clock. */
int64_t hf__clock_monotonic_us(void);
/* The same in ns, for what is shorter. */
int64_t hf__clock_monotonic_ns(void);

/* Its last tick, up to 10 ms ago, for an eighth of the time. */
int64_t hf__clock_tick_ns(void);

/* us of processor time that the calling thread has used. */
int64_t hf__clock_thread_us(void);

/* us of Unix time (CLOCK_REALTIME). */
int64_t hf__clock_unix_us(void);

/* How far Unix time is ahead of hf__clock_boot_ms() now, in whole ms. It
 * changes only when the system's clock is set: NTP slews both. */
int64_t hf__clock_unix_ahead_ms(void);

/* How far hf__clock_boot_ms() is ahead of the machine's in this process's time
 * namespace (time_namespaces(7)). */
int64_t hf__clock_namespace_ms(void);

/* now + delta_ms without overflow; a delta of INT64_MAX means never. */
int64_t hf__clock_after(int64_t now_ms, int64_t delta_ms);

/* Sleep until an instant of hf__clock_boot_ms(); returns immediately if
 * past. */
void hf__clock_sleep_until(int64_t deadline_ms);

/* Give the processor away for at least `us`, under a second; a signal ends it.
 * The kernel adds its timer slack, 50 us for an ordinary thread. */
void hf__clock_nap_us(int64_t us);

#endif
