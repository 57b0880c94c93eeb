/* SPDX-License-Identifier: Apache-2.0 */
/* salvage.h - the entries of a shared connection that is of no use any more. */
#ifndef HF__STORE_REDIS_SALVAGE_H
#define HF__STORE_REDIS_SALVAGE_H

#include "store/redis/server/mux.h"

/* hf__link_ops.down of a mux. */
void hf__salvage_down(hf__link *link, bool was_up);

/* The end of a turn on a retired mux: hand on what was not written, and let
 * the server go once nothing is left. */
void hf__salvage_retired(hf__mux *mux);

/* No connection can be made: what is done with requests that were not written.
 */
void hf__salvage_unsent(hf__mux *mux);

#endif
