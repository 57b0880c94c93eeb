/* SPDX-License-Identifier: Apache-2.0 */
/*
 * election.h - what is read of an election.
 */
#ifndef HF__LEASE_ELECTION_H
#define HF__LEASE_ELECTION_H

#include "core/form.h"
#include "holdfast/election.h"

/* Read a reply of election_inspect; with no leader, term is 0. On HF_OK what
 * `leader` held is freed. */
hf_status hf__leader_read(const hf_reply *reply, hf_leader *leader,
                          hf_error *err);

#endif
