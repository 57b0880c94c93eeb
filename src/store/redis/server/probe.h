/* SPDX-License-Identifier: Apache-2.0 */
/*
 * probe.h - a second connection to a server whose shared one is silent. Only
 * the loop thread is here.
 */
#ifndef HF__STORE_REDIS_PROBE_H
#define HF__STORE_REDIS_PROBE_H

#include "store/redis/server/mux.h"

/* The shared connection is silent: connect beside it. Nothing if that is under
 * way. false: there is no memory. */
bool hf__probe_begin(hf__mux *mux);

/* It has been heard, or is gone. */
void hf__probe_end(hf__mux *mux);

/* Is there one under way? */
bool hf__probe_is_on(const hf__mux *mux);

/* Close for good and free, if there is one; then mux->closed(). */
void hf__probe_close(hf__mux *mux);

/* In a forked child. */
void hf__probe_abandon(hf__mux *mux);

#endif
