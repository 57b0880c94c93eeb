/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepers.h - how late the machine wakes a thread that only sleeps. A test of
 * deadlines allows for that, as no library can be on time where nothing is.
 */
#ifndef TESTS_SUPPORT_SLEEPERS_H
#define TESTS_SUPPORT_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sleepers sleepers;

/* Start threads with short sleeps on each processor that this process may use:
 * one may be stalled while the others are not. NULL: it cannot be done. */
sleepers *sleepers_start(void);

/* The longest delay of any, us, since the start or the last reset. */
int64_t sleepers_late_us(const sleepers *all);
void sleepers_reset(sleepers *all);

void sleepers_stop(sleepers *all);

#endif
