/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stepper.h - the steps of a started call that takes several requests, and
 * waits for events and instants between them.
 *
 * From the first posted() on everything happens on the loop thread; other
 * threads only post, at most once in each state. A function of the kind may
 * free the stepper, so calling it is the last thing that a function does. While
 * the stepper is `listed` a close of the client ends it.
 */
#ifndef HF__CORE_STEPPER_H
#define HF__CORE_STEPPER_H

#include "core/pending.h"
#include "core/timers.h"
#include "store/store.h"

typedef enum hf__stepper_state {
    HF__STEPPER_FIRST,    /* until the first posted() */
    HF__STEPPER_AT_STORE, /* a request is at the store */
    HF__STEPPER_PAUSED,   /* until it is time to ask */
    HF__STEPPER_SLEEPING, /* for an event, or an instant */
    HF__STEPPER_AWAY      /* until it is posted, or an instant */
} hf__stepper_state;

typedef struct hf__stepper hf__stepper;

typedef struct hf__stepper_kind {
    /* Fill the next request. */
    hf__request *(*fill)(hf__stepper *self);
    /* It ended, with its outcome in it. */
    void (*answered)(hf__stepper *self);
    /* In state FIRST or AWAY. */
    void (*posted)(hf__stepper *self);
    /* In state SLEEPING or AWAY: by an event or by the timer. */
    void (*woken)(hf__stepper *self, bool by_event);
    /* A request, a timer or a watch could not begin. */
    void (*failed)(hf__stepper *self, hf_status status, const char *why);
    /* The client is being closed; timer and watch have stopped. */
    void (*closing)(hf__stepper *self);
    bool retries; /* a request that a busy local store did not begin */
} hf__stepper_kind;

struct hf__stepper {
    hf_client *client;
    const hf__stepper_kind *kind;
    hf__stepper_state state;
    hf__request *request; /* the last one */
    int64_t by_ms;        /* for the tries of a request */
    bool listed;          /* `pending`; timer and watch may be used */
    bool watching;
    bool moved; /* an event came since it was last asked */
    hf__task task;
    hf__timer timer;
    hf__watch watch;
    hf__pending pending;
};

void hf__stepper_init(hf__stepper *self, hf_client *client,
                      const hf__stepper_kind *kind);

/* Submit a filled request; its `user` is the stepper. Any thread. */
void hf__stepper_submit(hf__stepper *self, hf__request *request,
                        int64_t limit_ms,
                        void (*on_done)(hf__request *request));
/* Call posted() on the loop thread, which runs. Any thread. */
void hf__stepper_post(hf__stepper *self);

/* --------------------------------------------------- on the loop thread */

/* Have events of the topic wake it; false: failed() was called. */
bool hf__stepper_listen(hf__stepper *self, hf_bytes topic);
/* After a pause, fill a request and run it by an instant. */
void hf__stepper_ask(hf__stepper *self, int64_t by_ms, int64_t pause_ms);
/* SLEEPING; woken() at once if an event came since it was last asked. */
void hf__stepper_sleep(hf__stepper *self, int64_t until_ms);
/* As an event does. */
void hf__stepper_wake(hf__stepper *self);
/* AWAY; false: out of memory. */
bool hf__stepper_leave(hf__stepper *self, int64_t until_ms);
/* Complete the request under way without its reply, so much later. */
void hf__stepper_cancel(hf__stepper *self, int64_t after_ms);
/* Nothing is called any more, but for what was posted; was it listed? */
bool hf__stepper_stop(hf__stepper *self);

bool hf__stepper_is_closing(const hf__stepper *self);

#endif
