/* SPDX-License-Identifier: Apache-2.0 */
/* event_conn.h - the connection on which a client receives its events. */
#ifndef HF__STORE_REDIS_EVENT_CONN_H
#define HF__STORE_REDIS_EVENT_CONN_H

#include <stdatomic.h>

#include "store/events.h"
#include "store/redis/events/channels.h"
#include "store/redis/events/key_tracking.h"
#include "store/redis/server/async_conn.h"

typedef enum hf__event_conn_state {
    HF__EVENT_CONN_IDLE,    /* events were not needed so far */
    HF__EVENT_CONN_TRYING,  /* an attempt is under way */
    HF__EVENT_CONN_BEGINS,  /* subscribed; the counters are being moved */
    HF__EVENT_CONN_LISTENS, /* subscribed */
    HF__EVENT_CONN_FAILED   /* the last attempt failed; another follows */
} hf__event_conn_state;

typedef struct hf__event_conn {
    hf__async_conn conn; /* first */
    const char *channel; /* the context's, or the creator's */
    hf__events own_events;
    hf__events *events; /* several connections may share it */
    /* Does a message count? NULL: yes. */
    bool (*accepts)(struct hf__event_conn *self, hf_bytes topic);
    uint32_t state; /* hf__event_conn_state; a futex */
    atomic_bool asked;
    atomic_bool reset_posted; /* reset_task is posted */
    hf__task start_task;
    hf__task reset_task;
    hf__task close_task;
    hf__arena arena; /* of the message being read */
    hf_reply message;
    hf__key_tracking tracking;
    hf__channels channels; /* in addition to `channel` */
    int64_t probed_ms;     /* 0: no PING is unanswered */
    int64_t silence_ms;    /* after which a PING is sent */
    int64_t look_ms;       /* next poll of the waiters; 0: subscribed */
    int64_t blind_ms;      /* longest interval of those polls */
    void (*closed)(struct hf__event_conn *self);
    uint32_t is_closed; /* futex */
} hf__event_conn;

void hf__event_conn_init(hf__event_conn *self, hf__redis_node *node);

/* Start, once; the loop must be started. Any thread. */
void hf__event_conn_start(hf__event_conn *self);

/* The server's address has moved: see hf__server_reset(). Any thread. */
void hf__event_conn_reset(hf__event_conn *self);

/* Have a key move its counter, see hf__store_ops::event_key. Does nothing if
 * the server cannot. Any thread; the loop runs. */
void hf__event_conn_watch_key(hf__event_conn *self, hf_bytes key, bool held);

/* Have messages on another channel move the counter of a topic until an
 * instant; 0: not any more. Any thread; the loop runs. */
void hf__event_conn_hear(hf__event_conn *self, hf_bytes topic, hf_bytes channel,
                         bool sharded, int64_t until_ms);

/* Wait until it is subscribed, an attempt failed, or an instant. Any thread;
 * returns immediately on the loop thread. */
void hf__event_conn_wait(hf__event_conn *self, int64_t until_ms);

/* Is it subscribed now? Any thread. */
bool hf__event_conn_listens(const hf__event_conn *self);

/* Close and free. Not on the loop thread. */
void hf__event_conn_close(hf__event_conn *self);

/* The loop thread: close; closed() is called when it can be freed by done().
 * Waiters see a failed attempt. */
void hf__event_conn_close_here(hf__event_conn *self,
                               void (*closed)(hf__event_conn *self));
void hf__event_conn_done(hf__event_conn *self);

/* In a forked child: close the descriptor and nothing else. */
void hf__event_conn_close_forked(hf__event_conn *self);

/* Test seam: silence before the first PING, and how long its reply may take,
 * for later connections. Not for production. */
void hf__event_conn_set_silence(int64_t silence_ms, int64_t answer_ms);

#endif
