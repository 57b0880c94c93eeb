/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_tracking.h - noticing that a key changes which nobody publishes for: the
 * lock of another library.
 *
 * The server is asked to track what this connection reads (CLIENT TRACKING), as
 * for client-side caching. A GET of the key answers that it is gone by now, or
 * makes the server tell of its next change, expiry and deletion included. It
 * needs RESP3 and the right to CLIENT TRACKING; without them nothing is
 * noticed, and the waiter's poll is what finds out.
 *
 * Owns which questions are under way on the connection, PINGs included, since
 * answers carry no name. The loop thread's.
 */
#ifndef HF__STORE_REDIS_KEY_TRACKING_H
#define HF__STORE_REDIS_KEY_TRACKING_H

#include "store/reply.h"
#include "util/buf.h"

/* More at once are not asked: who waits polls. */
#define HF__LOOKOUT_MAX 64

typedef enum hf__lookout_kind {
    HF__LOOKOUT_NONE,
    HF__LOOKOUT_PING,
    HF__LOOKOUT_TRACK,
    HF__LOOKOUT_KEY
} hf__lookout_kind;

typedef struct hf__lookout_question {
    hf__lookout_kind kind;
    uint32_t bucket; /* of a key */
} hf__lookout_question;

typedef struct hf__lookout {
    hf__lookout_question asked[HF__LOOKOUT_MAX]; /* a ring */
    uint32_t first;
    uint32_t count;
    bool tracks; /* or was asked to */
    bool refused;
} hf__lookout;

/* A new connection, or none. */
void hf__lookout_reset(hf__lookout *lookout);

/* Write a question into `out`; false: no room. */
bool hf__lookout_ping(hf__lookout *lookout, hf__buf *out);
bool hf__lookout_key(hf__lookout *lookout, hf_bytes key, uint32_t bucket,
                     hf__buf *out);

/* What an answer is to; NONE: to nothing. `*gone`: the key is not there. */
hf__lookout_kind hf__lookout_answer(hf__lookout *lookout, const hf_reply *reply,
                                    uint32_t *bucket, bool *gone);

#endif
