/* SPDX-License-Identifier: Apache-2.0 */
/* flight.h - the loop thread's side of the shared connection. */
#ifndef HF__STORE_REDIS_FLIGHT_H
#define HF__STORE_REDIS_FLIGHT_H

#include "store/redis/mux.h"

/* What the link of a mux does. */
extern const hf__link_ops hf__flight_link_ops;

/* Take an entry over: it will complete. hf__link_update() must follow. */
void hf__flight_accept(hf__mux *mux, hf__entry *entry);

/* Complete everything that is not in flight, as the client is closed. */
void hf__flight_fail_all(hf__mux *mux);

/* Wake the callers whose requests have completed since the last time. */
void hf__flight_wake(hf__mux *mux);

#endif
