/* SPDX-License-Identifier: Apache-2.0 */
/* retry.h - when a request is sent again, and how it fails otherwise. */
#ifndef HF__STORE_REDIS_RETRY_H
#define HF__STORE_REDIS_RETRY_H

#include "store/redis/wire/errors.h"
#include "store/store.h"

/* A request whose connection breaks every time may be the cause. */
#define HF__RETRY_LOSSES_MAX 5

/* After this silence repeatable requests are sent again on a new connection. */
#define HF__RETRY_SILENCE_MS 2000

/* The attempts of a request so far, on all connections. */
typedef struct hf__attempts {
    unsigned losses;    /* connections that broke */
    unsigned waits;     /* temporary refusals */
    unsigned redirects; /* servers that named another one */
    bool whole;         /* send the script's text */
    bool doubtful;      /* sent before, without an answer */
    bool asking;        /* write ASKING before it, once */
} hf__attempts;

/* May it be sent again although an earlier sending was not answered? A read
 * that waits may not: it would miss what came in between. */
bool hf__retry_is_safe(const hf__request *request);

/* Pause before attempt number `tries` (0, 1, ...) of a request that the server
 * refused temporarily. */
int64_t hf__retry_delay_ms(unsigned tries);

/*
 * request->reply has been received. ANSWER, DROP and BREAK: the request's
 * status, and its error if need be, are set. LOAD and BACK_OFF: this sending
 * had no effect and does not count in request->sends. `doubtful`: an earlier
 * sending was not answered, so "not applied" is not known of that one.
 * `redirect` is always set; without a router the verdict counts.
 */
hf__verdict hf__retry_judge(hf__request *request, bool doubtful,
                            hf__redirect *redirect);

/* Complete with `err`; UNAVAILABLE becomes INDETERMINATE if it is doubtful. */
void hf__retry_fail(hf__request *request, bool doubtful, const hf_error *err);

#endif
