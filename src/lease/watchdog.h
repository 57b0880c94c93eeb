/* SPDX-License-Identifier: Apache-2.0 */
/* watchdog.h - renews held leases in time and reports those that were lost. */
#ifndef HF__LEASE_WATCHDOG_H
#define HF__LEASE_WATCHDOG_H

#include "lease/lease.h"

/* Start the background thread unless it runs. HF_SYSTEM. */
hf_status hf__watchdog_start(hf__watchdog *watchdog, hf_error *err);

/* The alarm rings no more. In a forked child only memory is freed. */
void hf__watchdog_stop(hf__watchdog *watchdog);

#endif
