/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_commit.h - what a commit is made of: the runs of a request, and of
 * those of this client that wait behind it for the same keys. Loop thread only.
 *
 * A try of a work is: widen; clear, give, run, take; perhaps gather; list.
 */
#ifndef HF__RECORDS_RECORD_COMMIT_H
#define HF__RECORDS_RECORD_COMMIT_H

#include "records/record_work.h"

void hf__commit_clear(hf__work *work);
/* Before the records of a try are taken: take those of the requests that wait
 * for one of its keys, too. */
void hf__commit_widen(hf__work *work);
/* Set what the request of `one` is given: the records of its keys, as those
 * that have run in this try have left them. Returns the index of the first
 * lease that looks over, and is not for this process; key_count: there is none.
 */
size_t hf__commit_give(hf__work *work, const hf__work *one, int64_t now_us);
/* Run the request of `one` on that, with run->now_us as TIME. */
void hf__commit_run(hf__work *work, hf__work *one, hf__scratch_call *run);
/* The commit shall have what it has changed and published. false: no memory;
 * nothing has changed. */
bool hf__commit_take(hf__work *work, hf__work *one,
                     const hf__scratch_call *run);
/* Run those that wait for the same keys, too; they are then its group. `run` is
 * that of its own request. */
void hf__commit_gather(hf__work *work, const hf__scratch_call *run);
/* Fill its call: the records that are checked, and what is written. */
void hf__commit_list(hf__work *work);

/* Does the script want what is leased? */
bool hf__commit_marks(const hf__script *script);

#endif
