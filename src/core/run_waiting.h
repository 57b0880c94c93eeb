/* SPDX-License-Identifier: Apache-2.0 */
/*
 * run_waiting.h - a request that waits at the store, on the calling thread: it
 * is submitted, and cancelled when the client is interrupted or closed.
 */
#ifndef HF__CORE_RUN_WAITING_H
#define HF__CORE_RUN_WAITING_H

#include "store/store.h"

/* Run a stamped request to its end. Inside the client; not on its own thread.
 */
void hf__run_waiting(hf_client *client, hf__request *request);

#endif
