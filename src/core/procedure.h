/* SPDX-License-Identifier: Apache-2.0 */
/*
 * procedure.h - a call of several requests, with waits between them, as a
 * function of what has happened.
 *
 * step() takes what has happened and returns what is next. One of two runners
 * does that: run.h on the calling thread, run_async.h on the loop thread. So
 * the order of the steps is written once, and no step waits.
 *
 * That a call was interrupted or cancelled is reported once, before the next
 * request or during a wait; to a started one, so is a close of the client.
 *
 * A procedure may have another as one of its steps (HF__CALL). Until that one
 * has ended, what happens is reported to it; then to the outer one, to which
 * neither an interruption nor a close was reported yet.
 */
#ifndef HF__CORE_PROCEDURE_H
#define HF__CORE_PROCEDURE_H

#include "store/store.h"

typedef enum hf__next {
    HF__ASK,    /* run a request: fill(), after pause_ms, by ask_by_ms */
    HF__LISTEN, /* have events of the topic counted from now on */
    HF__SLEEP,  /* until an event of the topic, or wake_ms */
    HF__AWAY,   /* call leave(), and wait for hf__resume(), or wake_ms */
    HF__STAY,   /* in the sleep, or away, until wake_ms as it was then */
    HF__CALL,   /* run `inner` to its end, from inner_next on */
    HF__END
} hf__next;

typedef enum hf__happened {
    HF__ANSWERED, /* the request ended, with its outcome in it */
    HF__LISTENS,
    HF__EVENT, /* since the last request, or since HF__LISTEN */
    HF__TIME,  /* wake_ms has come */
    HF__RESUMED,
    HF__RETURNED,  /* `inner` has ended */
    HF__CANCELLED, /* an interruption, or a started call was cancelled */
    HF__CLOSED,    /* the client is being closed; timers have stopped */
    HF__FAILED     /* what was next could not begin; `*failure` says why */
} hf__happened;

typedef struct hf__procedure hf__procedure;

typedef struct hf__procedure_kind {
    hf__next (*step)(hf__procedure *self, hf__happened what);
    hf__request *(*fill)(hf__procedure *self);
    /* Begin what it is away for; true: that is over. NULL: it never is. */
    bool (*leave)(hf__procedure *self);
    /* Before events of the topic are counted for a request; NULL: nothing. */
    void (*prepare)(hf__procedure *self);
    /* A blocking one; NULL: by the client's counter. */
    bool (*interrupted)(const hf__procedure *self);
    /* A request under way is completed without its reply so long after the call
     * was cancelled; 0: not at all. */
    int64_t grace_ms;
    bool retries; /* started, a request that a busy local store did not begin */
} hf__procedure_kind;

struct hf__procedure {
    const hf__procedure_kind *kind;
    hf_client *client;
    hf_bytes topic;    /* whose events end a sleep; empty: none do */
    const void *about; /* of whose interruptions it is woken; NULL: all */
    int64_t until_ms;  /* the call waits no longer */
    int64_t ask_by_ms;
    int64_t pause_ms;
    int64_t wake_ms;     /* INT64_MAX: no instant ends what is next */
    hf_error *failure;   /* the call's */
    bool cancelled;      /* it was reported ... */
    bool closed;         /* ... and so was this */
    unsigned interrupts; /* of a blocking one: the client's, when it began */
    hf__procedure *inner;
    hf__next inner_next;
    hf__procedure *outer; /* the runner's; NULL: none has called it */
    void (*resume)(hf__procedure *self); /* the runner's */
    void *runner;
};

static inline void hf__procedure_init(hf__procedure *self, hf_client *client,
                                      const hf__procedure_kind *kind,
                                      hf_error *failure)
{
    self->kind = kind;
    self->client = client;
    self->topic = hf_view(NULL, 0);
    self->about = NULL;
    self->until_ms = self->ask_by_ms = self->wake_ms = INT64_MAX;
    self->pause_ms = 0;
    self->failure = failure;
    self->cancelled = self->closed = false;
    self->outer = NULL;
}

static inline hf__next hf__procedure_call(hf__procedure *self,
                                          hf__procedure *inner, hf__next next)
{
    self->inner = inner;
    self->inner_next = next;
    return HF__CALL;
}

/* Have its events counted from the next request, or HF__LISTEN, on. Once only:
 * who interrupts the call may be reading it. */
static inline void hf__procedure_use(hf__procedure *self, hf_bytes topic)
{
    if (self->topic.size == 0)
        self->topic = topic;
}

/* On any thread, once for each time that it was away. */
static inline void hf__resume(hf__procedure *self)
{
    self->resume(self);
}

#endif
