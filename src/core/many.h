/* SPDX-License-Identifier: Apache-2.0 */
/*
 * many.h - many calls at once: what the `_many` functions share, and their
 * `_start` forms (gather.h).
 *
 *     hf__many many;
 *     size_t i;
 *
 *     hf__many_begin(&many, client, count, statuses, err);
 *     hf__many_needs(&many, keys, "keys");
 *     while (hf__many_next(&many, &i))
 *         hf__many_ran(&many, body(hf__one_of(&many), client, keys[i], ...));
 *     return hf__many_end(&many);
 *
 * The calls go to the store in windows, so next() runs those that have been
 * put together whenever a window is full. Started ones go one by one.
 */
#ifndef HF__CORE_MANY_H
#define HF__CORE_MANY_H

#include "core/call.h"
#include "core/gather.h"

/* Calls that go to the store together: enough to hide the way there and back; a
 * call is over a kilobyte. As long as the store answers each window of them has
 * request_ms of its own, however many there are. */
#define HF__MANY_WINDOW 1024

/* A status in which the store has answered. */
static inline bool hf__many_is_answer(hf_status status)
{
    hf_kind kind = hf_status_kind(status);

    return kind == HF_KIND_OK || kind == HF_KIND_NO;
}

/* A status with which no answer came. */
static inline bool hf__many_is_silence(hf_status status)
{
    return status == HF_UNAVAILABLE || status == HF_INDETERMINATE;
}

typedef struct hf__many {
    hf_client *client;
    size_t count;
    hf_status *statuses;
    hf_status failed; /* the first status that is no answer */
    size_t failed_at; /* the call that has it */
    hf_error *err;    /* says which */
    hf_error detail;  /* of the call that is put together */
    bool inside;
    hf__gathering *started; /* NULL: the caller waits */

    size_t room;  /* for calls of a window */
    size_t first; /* number of the window's first call */
    size_t at;    /* calls of the window that were begun */
    size_t ready; /* requests of it */
    int64_t limit_ms;
    hf_call *calls;
    hf_call **homes; /* NULL, or those that were allocated, of each call */
    hf__request **requests;
} hf__many;

void hf__many_begin(hf__many *many, hf_client *client, size_t count,
                    hf_status *statuses, hf_error *err);

/* The same for calls that are started, in memory of the caller; `leases`: they
 * renew or release. */
void hf__many_start(hf__many *many, hf__gathering *started, hf_client *client,
                    bool leases, size_t count, hf_status *statuses,
                    const hf_async *async, hf_error *err);

/* HF_INVALID, unless there is nothing to do or `input` is there. */
void hf__many_needs(hf__many *many, const void *input, const char *name);

/* false: all have run. Else the body of call number `*index` is to begin and
 * end one call. */
bool hf__many_next(hf__many *many, size_t *index);

static inline hf__form hf__one_of(hf__many *many)
{
    if (many->started != NULL)
        return (hf__form){.kind = HF__FORM_STARTED,
                          .is_item = true,
                          .async = &many->started->async,
                          .err = &many->started->detail};
    return (hf__form){.kind = HF__FORM_MANY,
                      .is_item = true,
                      .many = many,
                      .err = &many->detail};
}

/* What the body has returned. */
void hf__many_ran(hf__many *many, hf_status status);

/* HF_OK: the store answered every one of them; else the first status that is
 * no answer, its message preceded by the item's number. Or all were started. */
hf_status hf__many_end(hf__many *many);

/* By core/form.c: the memory of the next call, with `reply_stays` allocated by
 * itself; that is put together. */
hf_status hf__many_call(hf__many *many, bool reply_stays, hf_call **call);
hf_status hf__many_add(hf__many *many, hf_call *call);

/* The same as end() for statuses that came otherwise. */
hf_status hf__many_verdict(const hf_status *statuses, size_t count,
                           hf_error *err);

#endif
