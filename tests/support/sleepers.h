/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sleepers.h - how late the machine lets a thread be that only wants to sleep.
 * A test of deadlines allows for that, as no library can be on time where
 * nobody is.
 */
#ifndef TESTS_SUPPORT_SLEEPERS_H
#define TESTS_SUPPORT_SLEEPERS_H

#include <stdbool.h>
#include <stdint.h>

typedef struct sleepers sleepers;

/* Put a thread to short sleeps on each processor that this process may use: one
 * may stand still while the others go on. NULL: it cannot be done. */
sleepers *sleepers_start(void);

/* The longest that any was late, us, since the start or since it was
 * forgotten. */
int64_t sleepers_late_us(const sleepers *all);
void sleepers_forget(sleepers *all);

void sleepers_stop(sleepers *all);

#endif
