/* SPDX-License-Identifier: Apache-2.0 */
/* broadcast.h - sends a request to all nodes and counts their votes. */
#ifndef HF__STORE_QUORUM_BROADCAST_H
#define HF__STORE_QUORUM_BROADCAST_H

#include "store/quorum/quorum.h"

/* Send the request to all nodes; it completes by on_done, perhaps before this
 * returns. */
void hf__broadcast(hf__quorum *quorum, hf__request *request);

/* Stop waiting for the nodes. On the loop thread. */
void hf__broadcast_cancel(hf__quorum *quorum, hf__request *request);

#endif
