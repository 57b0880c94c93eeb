/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_commit.h - what a commit is made of: the runs of a request, and of
 * those of this client that wait behind it for the same keys. Loop thread only.
 *
 * A try of a work is: widen; clear, give, run, list.
 */
#ifndef HF__RECORDS_RECORD_COMMIT_H
#define HF__RECORDS_RECORD_COMMIT_H

#include "records/record_work.h"

void hf__commit_clear(hf__work *work);
/* Before the records of a try are taken: take those of the requests that wait
 * for one of its keys, too. */
void hf__commit_widen(hf__work *work);
/* Give the request of `one` the records of its keys, those that the work has
 * given in this try excepted. Returns the index of the first of all of them
 * that is a lease, looks over, and is not for this process; key_count: there is
 * none. */
size_t hf__commit_give(hf__work *work, const hf__work *one, int64_t now_us);
/* Run its request on what it was given, with run->now_us as TIME, and those
 * that wait for the same keys, which are then its group. The commit shall have
 * what they have changed and published. */
void hf__commit_run(hf__work *work, hf__scratch_call *run);
/* Fill its call: the records that are checked, and what is written. */
void hf__commit_list(hf__work *work);

/* Does the script want what is leased? */
bool hf__commit_marks(const hf__script *script);

#endif
