/* SPDX-License-Identifier: Apache-2.0 */
/* job.h - a job in a reply of a work queue's scripts. */
#ifndef HF__LEASE_JOB_H
#define HF__LEASE_JOB_H

#include "holdfast/queue.h"
#include "store/reply.h"

/* {id, payload, taken, at most, order, put, group} */
#define HF__JOB_ITEMS 7

/* How much memory its bytes take, and reading it into that; the end of that. */
size_t hf__job_size(const hf_reply *items);
char *hf__job_read(hf_job *job, const hf_reply *items, char *at);

#endif
