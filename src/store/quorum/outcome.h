/* SPDX-License-Identifier: Apache-2.0 */
/* outcome.h - decides a round by its votes. */
#ifndef HF__STORE_QUORUM_OUTCOME_H
#define HF__STORE_QUORUM_OUTCOME_H

#include "store/quorum/quorum_round.h"

/* Decide, if the votes so far allow it. The mutex is held, and released in
 * between. */
void hf__outcome_judge_locked(hf__quorum_round *round);

/* A vote has arrived after the acquire was undone. The mutex is held, and
 * released in between. */
void hf__outcome_late_locked(hf__quorum_round *round, size_t node);

#endif
