/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_read.h - queries to a sentinel, and reading its replies. Untrusted
 * input: only the form is checked.
 */
#ifndef HF__STORE_REDIS_SENTINEL_READ_H
#define HF__STORE_REDIS_SENTINEL_READ_H

#include "store/redis/topology/sentinel_vote.h"
#include "store/reply.h"
#include "util/buf.h"

/* One query is these commands in one write, so that address and epoch are from
 * the same instant. */
typedef enum hf__sentinel_step {
    HF__SENTINEL_MYID,
    HF__SENTINEL_ADDRESS,
    HF__SENTINEL_MASTER,
    HF__SENTINEL_OTHERS,
    HF__SENTINEL_STEPS
} hf__sentinel_step;

/* false: out of memory. */
bool hf__sentinel_put_question(hf__buf *out, const char *name);

/* SUBSCRIBE to the messages about changes. */
bool hf__sentinel_put_subscribe(hf__buf *out);

/*
 * Read the reply to one of the first three steps into `answer`. HF_INVALID,
 * HF_DENIED, ...: not a sentinel, or it refuses us. An unknown name, or
 * IDONTKNOW, is no error.
 */
hf_status hf__sentinel_read(hf__sentinel_step step, const hf_reply *reply,
                            hf__sentinel_answer *answer, hf_error *err);

/* Sentinels in the reply to the last step. */
size_t hf__sentinel_other_count(const hf_reply *reply);

/* Sentinel number `at` of it as an answer's id, host and port; false: it is
 * reported as down, or has no address. */
bool hf__sentinel_read_other(const hf_reply *reply, size_t at,
                             hf__sentinel_answer *other);

/* Is a push a message about master `name`, or about the sentinels? */
bool hf__sentinel_is_hint(const hf_reply *push, const char *name);

#endif
