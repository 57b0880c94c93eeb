/* SPDX-License-Identifier: Apache-2.0 */
/* lease_clock.h - the clock of leases, and the time of day. */
#ifndef HOLDFAST_CLI_LEASE_CLOCK_H
#define HOLDFAST_CLI_LEASE_CLOCK_H

#include <stdint.h>

/* Milliseconds of CLOCK_BOOTTIME. */
int64_t now_ms(void);

/* Unix time in milliseconds. */
int64_t unix_ms(void);

#endif
