/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - what comes of the votes of a round. */
#ifndef HF__STORE_QUORUM_OUTCOME_H
#define HF__STORE_QUORUM_OUTCOME_H

#include "store/quorum/round.h"

/* A vote has come, or all parts were sent: decide, if that is possible now. The
 * mutex is held, and let go in between. */
void hf__outcome_judge_locked(hf__round *round);

/* The vote of a node has come after the acquire was given up. The mutex is
 * held, and let go in between. */
void hf__outcome_late_locked(hf__round *round, size_t node);

#endif
