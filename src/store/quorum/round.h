/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.h - one request on its way through all nodes.
 *
 * A round outlives the request it serves: that completes once the outcome is
 * decided, while answers of slow nodes are still to come. So it owns copies of
 * the words. Its mutex guards it; no call into a node's store is made with it
 * held.
 */
#ifndef HF__STORE_QUORUM_ROUND_H
#define HF__STORE_QUORUM_ROUND_H

#include "store/quorum/quorum.h"

/* Send the request to all nodes; it completes by on_done, perhaps before this
 * returns. */
void hf__round_start(hf__quorum *quorum, hf__request *request);

/* Have the nodes not be waited for any longer. On the loop thread. */
void hf__round_cancel(hf__quorum *quorum, hf__request *request);

#endif
