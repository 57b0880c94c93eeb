/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - what is under way in a quorum, for which close() waits. */
#ifndef HF__STORE_QUORUM_WORK_H
#define HF__STORE_QUORUM_WORK_H

#include "store/quorum/quorum.h"

/* To be called around whatever is given to the nodes; false: the quorum is
 * being closed, and they may be gone. */
bool hf__work_enter(hf__quorum *quorum);
void hf__work_leave(hf__quorum *quorum);

/* A round, or another user of the quorum's memory, begins and ends. */
void hf__work_begins(hf__quorum *quorum);
void hf__work_ended_locked(hf__quorum *quorum);

#endif
