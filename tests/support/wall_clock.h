/* SPDX-License-Identifier: Apache-2.0 */
/*
 * wall_clock.h - wall clocks that a test sets: of servers that it starts, and
 * of its own process. Monotonic clocks are not affected. Not thread-safe.
 */
#ifndef TESTS_SUPPORT_WALL_CLOCK_H
#define TESTS_SUPPORT_WALL_CLOCK_H

#include <stdint.h>

typedef struct wall_clock wall_clock;

/* A clock that shows the system's time; NULL, with a line on stderr: it cannot
 * be made. */
wall_clock *wall_clock_new(void);
/* No process may use it any more. NULL is allowed. */
void wall_clock_free(wall_clock *clock);

/* Programs that are started from now on have this clock; NULL: the system's. */
void wall_clock_give(const wall_clock *clock);
/* This process has it from now on; NULL: the system's. */
void wall_clock_keep(const wall_clock *clock);

/* Move it by that much; it then runs on. */
void wall_clock_step(wall_clock *clock, int64_t ms);

#endif
