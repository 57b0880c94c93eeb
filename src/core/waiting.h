/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiting.h - calls that may have to wait after their request: until an
 * instant, or until it is worth sending again because an event came.
 *
 * A body ends such a call by hf__end_waiting() instead of hf__end():
 *
 * 1. Send the request. What its kind's read() makes of the reply decides: the
 *    call ends, asks again, or sleeps.
 * 2. A call that is to be woken sets the word `inbox`, after which the event
 *    counter of its first key is read before each request. The script checks
 *    and queues the inbox in one step, so any later event moves the counter.
 * 3. Sleep until the counter moves, until wake_ms, or until until_ms of the
 *    procedure. Ask again, or at until_ms give up.
 * 4. Giving up (HF_TIMEOUT, HF_CANCELLED) may take one more request, which
 *    give_up() fills: the request's error is the call's unless it says
 *    otherwise. Closing the client sends none.
 *
 * Without a reply a call whose script is repeatable asks again until until_ms.
 */
#ifndef HF__CORE_WAITING_H
#define HF__CORE_WAITING_H

#include "core/form.h"
#include "core/procedure.h"

typedef struct hf__wait hf__wait;

typedef struct hf__wait_kind {
    /* Of a reply; after give_up() also without one. */
    hf__next (*read)(hf__wait *wait);
    /* The status of the request is set; NULL: end with it. */
    hf__next (*give_up)(hf__wait *wait);
    hf_status closed; /* the client is closed during a sleep */
    /* How long to leave it to others before a request, ms; NULL: not at all. */
    int64_t (*pause)(const hf__wait *wait);
    const char *what; /* it waits for */
} hf__wait_kind;

struct hf__wait {
    hf__procedure procedure;
    hf_call *call;
    const hf__wait_kind *kind;
    int64_t wait_ms;
    size_t inbox; /* index of this word; 0: not woken */
    bool given_up;
};

/* What it waits for has not come: have events wake the call, and ask again;
 * once that is so, sleep for at most `ms`. Without time to wait, give up. */
hf__next hf__wait_longer(hf__wait *wait, int64_t ms);

/* Ask at once: first, or again by a request that has changed. */
hf__next hf__wait_ask(hf__wait *wait);

/* Sleep for that long, and a little more so that not all wake at once. */
hf__next hf__wait_sleep(hf__wait *wait, int64_t ms);

/* End with a failure. */
hf__next hf__wait_fail(hf__wait *wait, hf_status status, const char *why);

/* Run or start a call that was put together; not one of many. wait_ms is
 * checked. `inbox`: index of the word, which is "" so far; 0: none. */
hf_status hf__end_waiting(hf_call *call, const hf__wait_kind *kind,
                          int64_t wait_ms, size_t inbox);

#endif
