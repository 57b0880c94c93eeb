/* SPDX-License-Identifier: Apache-2.0 */
/* work.h - counts what is under way in a quorum: close() waits for it. */
#ifndef HF__STORE_QUORUM_WORK_H
#define HF__STORE_QUORUM_WORK_H

#include "store/quorum/quorum.h"

/* Called around submitting to the nodes; false: the quorum is being closed, and
 * they may be gone. */
bool hf__work_enter(hf__quorum *quorum);
void hf__work_leave(hf__quorum *quorum);

/* A round, or anything else that uses the quorum's memory. */
void hf__work_begins(hf__quorum *quorum);
void hf__work_ended_locked(hf__quorum *quorum);

#endif
