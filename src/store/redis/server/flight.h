/* SPDX-License-Identifier: Apache-2.0 */
/* flight.h - the loop thread's side of the shared connection. */
#ifndef HF__STORE_REDIS_FLIGHT_H
#define HF__STORE_REDIS_FLIGHT_H

#include "store/redis/server/mux.h"

/* What the link of a mux does. */
extern const hf__link_ops hf__flight_link_ops;

/* Take an entry over: it will complete. hf__link_update() must follow. */
void hf__flight_accept(hf__mux *mux, hf__entry *entry);

/*
 * What is done with an entry that is in no list, by flight.c and salvage.c:
 * complete its request with an error (the entry is the caller's to free), put
 * it in front of its lane, or let the topology decide; true: it is gone.
 */
void hf__flight_fail(hf__mux *mux, hf__entry *entry, const hf_error *err);
void hf__flight_put_back(hf__mux *mux, hf__entry *entry);
bool hf__flight_hand_on(hf__mux *mux, hf__entry *entry,
                        const hf__redirect *why);

/* Drop a connection that is silent although the server is there, unless what
 * is in flight may not be sent again. */
void hf__flight_leave(hf__mux *mux);

/* The outcome of an entry that is in no list is set: complete and free it. */
void hf__flight_complete(hf__mux *mux, hf__entry *entry);

/* Complete everything that is not in flight, as the client is closed. */
void hf__flight_fail_all(hf__mux *mux);

/*
 * What ends each turn of the loop thread on a mux: hand on what a retired one
 * must not keep, wake the callers whose requests have completed since the last
 * time, and let the server go if it is retired and idle.
 */
void hf__flight_settle(hf__mux *mux);

#endif
