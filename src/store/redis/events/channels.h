/* SPDX-License-Identifier: Apache-2.0 */
/*
 * channels.h - the channels of other libraries to which a client listens
 * in addition to its inbox (hf__store_ops::event_channel).
 *
 * A channel is kept until the instant that its users have asked for, and
 * unsubscribed later. Loop thread only.
 */
#ifndef HF__STORE_REDIS_CHANNELS_H
#define HF__STORE_REDIS_CHANNELS_H

#include "store/events.h"
#include "store/redis/events/key_tracking.h"

/* Above this, waiters poll. */
#define HF__CHANNELS_MAX 10000

typedef struct hf__heard hf__heard;

typedef struct hf__channels {
    hf__heard *lists[HF__EVENTS_COUNT]; /* by hf__events_bucket() of the name */
    size_t count;
    size_t unsent;     /* wanted, and not subscribed yet */
    size_t leaving;    /* unsubscribed, and not confirmed yet */
    int64_t tidied_ms; /* when those not wanted any more were last removed */
} hf__channels;

/* Want a channel until an instant. Its messages move a counter. */
void hf__channels_want(hf__channels *channels, hf_bytes name, uint32_t bucket,
                       bool sharded, int64_t until_ms);
/* Unsubscribe a channel; true: a request for that was written. */
bool hf__channels_remove(hf__channels *channels, hf_bytes name, hf__buf *out);
/* The connection is new, or there is none. */
void hf__channels_reset(hf__channels *channels);
void hf__channels_done(hf__channels *channels);

/* Write the requests for those that are not subscribed, as far as there is
 * room; true: some were written. */
bool hf__channels_subscribe(hf__channels *channels, hf__key_tracking *tracking,
                            hf__buf *out);
/* Likewise unsubscribe those that are not wanted any more. */
bool hf__channels_tidy(hf__channels *channels, int64_t now_ms, hf__buf *out);

/* The counter of a channel that was subscribed or has a message; false: it is
 * not wanted. */
bool hf__channels_find(const hf__channels *channels, hf_bytes name,
                       uint32_t *bucket);
/* The server has ended it; false: it was not wanted. */
bool hf__channels_end(hf__channels *channels, hf_bytes name, uint32_t *bucket);
/* The server has refused the first that was sent of this list. */
void hf__channels_refuse(hf__channels *channels, uint32_t list);

#endif
