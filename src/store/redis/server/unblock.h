/* SPDX-License-Identifier: Apache-2.0 */
/* unblock.h - ending the wait of a command at the server. On the loop thread.
 */
#ifndef HF__STORE_REDIS_UNBLOCK_H
#define HF__STORE_REDIS_UNBLOCK_H

#include "store/redis/server/pipeline_internal.h"

/* What hf__unblock::due is. */
void hf__unblock_due(hf__pipeline *pipe, hf__pipeline_entry *entry);

/* The shared connection broke. Any pipeline. */
void hf__unblock_lost(hf__pipeline *pipe);

/* Cancel what is there, if it is a pipeline of commands that wait. */
void hf__unblock_end_all(hf__pipeline *pipe);

#endif
