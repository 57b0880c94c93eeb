/* SPDX-License-Identifier: Apache-2.0 */
/*
 * key_tracking.h - noticing changes of a key for which no event is published:
 * the lock of another library.
 *
 * The server tracks what this connection reads (CLIENT TRACKING), as for
 * client-side caching. A GET of the key says whether it exists, and makes the
 * server report its next change, expiry and deletion included. This needs RESP3
 * and permission for CLIENT TRACKING; without them the waiter polls.
 *
 * Owns the list of outstanding requests on the connection, PINGs included, as
 * replies carry no name. Loop thread only.
 */
#ifndef HF__STORE_REDIS_KEY_TRACKING_H
#define HF__STORE_REDIS_KEY_TRACKING_H

#include "store/reply.h"
#include "util/buf.h"

/* Above this, waiters poll. */
#define HF__TRACKING_MAX 64

typedef enum hf__key_tracking_kind {
    HF__TRACKING_NONE,
    HF__TRACKING_PING,
    HF__TRACKING_TRACK,
    HF__TRACKING_KEY,
    HF__TRACKING_CHANNEL /* one of channels.h */
} hf__key_tracking_kind;

typedef struct hf__key_tracking_question {
    hf__key_tracking_kind kind;
    uint32_t bucket; /* of a key; of a channel, its list */
    bool held;       /* a key that should exist */
} hf__key_tracking_question;

typedef struct hf__key_tracking {
    hf__key_tracking_question asked[HF__TRACKING_MAX]; /* a ring */
    uint32_t first;
    uint32_t count;
    bool tracks; /* or was asked to */
    bool refused;
} hf__key_tracking;

/* A new connection, or none. */
void hf__key_tracking_reset(hf__key_tracking *tracking);

/* Write a request into `out`; false: no room. */
bool hf__key_tracking_ping(hf__key_tracking *tracking, hf__buf *out);
bool hf__key_tracking_key(hf__key_tracking *tracking, hf_bytes key,
                          uint32_t bucket, bool held, hf__buf *out);

/* Note that a channel is being subscribed, for which there is room. A push,
 * which is no reply, says that it is. */
bool hf__key_tracking_has_room(const hf__key_tracking *tracking);
void hf__key_tracking_channel(hf__key_tracking *tracking, uint32_t list);
/* It is; false: that was not asked for. */
bool hf__key_tracking_subscribed(hf__key_tracking *tracking);

/* Which request a reply belongs to; NONE: to none. `*moved`: a key exists
 * against `held`, or the reverse. */
hf__key_tracking_kind hf__key_tracking_answer(hf__key_tracking *tracking,
                                              const hf_reply *reply,
                                              uint32_t *bucket, bool *moved);

#endif
