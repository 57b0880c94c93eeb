/* SPDX-License-Identifier: Apache-2.0 */
/*
 * replicas.h - how many replicas are to acknowledge a write before the call
 * returns, and what it means if fewer do. The store counts; whether a count is
 * enough is said here.
 */
#ifndef HF__CORE_REPLICAS_H
#define HF__CORE_REPLICAS_H

#include "holdfast/async.h"
#include "store/store.h"

struct hf_lock_options; /* holdfast/lock.h */

struct hf__url;

/* From the options of a client and the parameters of its URL, which are taken
 * out of it; a lock's own options override its client's. HF_INVALID. */
hf_status hf__replicas_of_client(hf__replicas *replicas,
                                 const hf_client_options *options,
                                 struct hf__url *url, hf_error *err);
hf_status hf__replicas_of_lock(hf__replicas *replicas, const hf_client *client,
                               const struct hf_lock_options *options,
                               hf_error *err);

/* Ask the server, until then, whether it can do that. HF_UNSUPPORTED. */
hf_status hf__replicas_probe(hf__store *store, const hf__replicas *replicas,
                             int64_t deadline_ms, hf_error *err);

/* Fail with `done`, what has become of it, and how many replicas it got. */
hf_status hf__replicas_fail(const hf__request *request, hf_status status,
                            const char *done, hf_error *err);

/* Of a call that writes, after its request was filled: if its client asks for
 * replicas it waits for them, and with too few it is HF_INDETERMINATE. */
void hf__call_replicate(hf_call *call,
                        bool (*wrote)(const hf__request *request));

/* For scripts and commands that answer what they did with a number that is
 * not 0, and with anything else if they did nothing. */
bool hf__wrote_number(const hf__request *request);

#endif
