/* SPDX-License-Identifier: Apache-2.0 */
/* wall_clock_shim.h - what wall_clock.c and wall_clock_shim.c share. */
#ifndef TESTS_SUPPORT_WALL_CLOCK_SHIM_H
#define TESTS_SUPPORT_WALL_CLOCK_SHIM_H

#include <stdatomic.h>

/* Environment variable: the file with the offset. */
#define WALL_CLOCK_FILE "HF_TEST_WALL_CLOCK"

typedef struct wall_clock_offset {
    _Atomic long long us;
} wall_clock_offset;

/* Of this process; NULL: none. */
void wall_clock_shim_use(const wall_clock_offset *offset);

#endif
