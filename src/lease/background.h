/* SPDX-License-Identifier: Apache-2.0 */
/* background.h - requests that no caller waits for. */
#ifndef HF__LEASE_BACKGROUND_H
#define HF__LEASE_BACKGROUND_H

#include "lease/handle.h"

/* Send a copy of a filled request; its outcome is not reported. It is dropped
 * when memory is short, or after the time of a lease of the handle. */
void hf__lease_send(const hf_lock *lock, const hf__request *filled);

#endif
