/* SPDX-License-Identifier: Apache-2.0 */
/* subscription.h - the subscription by which a client receives its events. */
#ifndef HF__STORE_REDIS_SUBSCRIPTION_H
#define HF__STORE_REDIS_SUBSCRIPTION_H

#include <stdatomic.h>

#include "store/redis/events/channels.h"
#include "store/redis/events/events.h"
#include "store/redis/events/key_tracking.h"
#include "store/redis/server/async_conn.h"

typedef enum hf__subscription_state {
    HF__SUBSCRIPTION_IDLE,    /* events were not needed so far */
    HF__SUBSCRIPTION_TRYING,  /* an attempt is under way */
    HF__SUBSCRIPTION_BEGINS,  /* subscribed; the counters are being moved */
    HF__SUBSCRIPTION_LISTENS, /* subscribed */
    HF__SUBSCRIPTION_FAILED   /* the last attempt failed; another follows */
} hf__subscription_state;

typedef struct hf__subscription {
    hf__async_conn conn; /* first */
    const char *channel; /* the context's, or the creator's */
    hf__events own_events;
    hf__events *events; /* several subscriptions may share it */
    /* Does a message count? NULL: yes. */
    bool (*accepts)(struct hf__subscription *subscription, hf_bytes topic);
    uint32_t state; /* hf__subscription_state; a futex */
    atomic_bool asked;
    atomic_bool poked; /* poke_task is posted */
    hf__task start_task;
    hf__task poke_task;
    hf__task close_task;
    hf__arena arena; /* of the message being read */
    hf_reply message;
    hf__key_tracking tracking;
    hf__channels channels; /* in addition to `channel` */
    int64_t probed_ms;     /* 0: no PING is unanswered */
    int64_t silence_ms;    /* after which a PING is sent */
    int64_t look_ms;       /* next poll of the waiters; 0: subscribed */
    int64_t blind_ms;      /* longest interval of those polls */
    void (*closed)(struct hf__subscription *subscription);
    uint32_t is_closed; /* futex */
} hf__subscription;

void hf__subscription_init(hf__subscription *subscription,
                           hf__redis_node *node);

/* Start, once; the loop must be started. Any thread. */
void hf__subscription_start(hf__subscription *subscription);

/* The server's address has moved: see hf__server_reset(). Any thread. */
void hf__subscription_poke(hf__subscription *subscription);

/* Have a key move its counter, see hf__store_ops::event_key. Does nothing if
 * the server cannot. Any thread; the loop runs. */
void hf__subscription_watch_key(hf__subscription *subscription, hf_bytes key,
                                bool held);

/* Have messages on another channel move the counter of a topic until an
 * instant; 0: not any more. Any thread; the loop runs. */
void hf__subscription_hear(hf__subscription *subscription, hf_bytes topic,
                           hf_bytes channel, bool sharded, int64_t until_ms);

/* Wait until it is subscribed, an attempt failed, or an instant. Any thread;
 * returns immediately on the loop thread. */
void hf__subscription_wait(hf__subscription *subscription, int64_t until_ms);

/* Is it subscribed now? Any thread. */
bool hf__subscription_listens(const hf__subscription *subscription);

/* Close and free. Not on the loop thread. */
void hf__subscription_close(hf__subscription *subscription);

/* The loop thread: close; closed() is called when it can be freed by done().
 * Waiters see a failed attempt. */
void hf__subscription_close_here(
    hf__subscription *subscription,
    void (*closed)(hf__subscription *subscription));
void hf__subscription_done(hf__subscription *subscription);

/* In a forked child: close the descriptor and nothing else. */
void hf__subscription_abandon(hf__subscription *subscription);

/* Test seam: silence before the first PING, and how long its reply may take,
 * for later subscriptions. Not for production. */
void hf__subscription_hurry(int64_t silence_ms, int64_t answer_ms);

#endif
