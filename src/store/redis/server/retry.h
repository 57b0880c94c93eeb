/* SPDX-License-Identifier: Apache-2.0 */
/* retry.h - when a request is sent again, and what becomes of it if not. */
#ifndef HF__STORE_REDIS_RETRY_H
#define HF__STORE_REDIS_RETRY_H

#include "store/redis/wire/errors.h"
#include "store/store.h"

/* A request whose connection breaks each time it is sent may be what breaks
 * it. */
#define HF__RETRY_LOSSES_MAX 5

/* A server that says nothing for so long is tried on a new connection, with
 * what may be sent again. */
#define HF__RETRY_SILENCE_MS 2000

/* What has become of a request so far, on whichever connections. */
typedef struct hf__attempts {
    unsigned losses;    /* connections that broke */
    unsigned waits;     /* refusals for now */
    unsigned redirects; /* servers that named another one */
    bool whole;         /* send the script's text */
    bool doubtful;      /* sent before, without an answer */
    bool asking;        /* write ASKING in front of it, this once */
} hf__attempts;

/* May it be sent again although an earlier sending was not answered? */
bool hf__retry_is_safe(const hf__request *request);

/* How long to wait before try number `tries` (0, 1, ...) of a request that the
 * server refused for now. */
int64_t hf__retry_delay_ms(unsigned tries);

/*
 * A reply has come into request->reply. ANSWER, DROP and BREAK: the request's
 * status, and its error if need be, are set. LOAD and BACK_OFF: this sending
 * had no effect and does not count in request->sends. `doubtful`: an earlier
 * sending was not answered, so that "not applied" now says nothing about that
 * one. `redirect` is set in any case; without a router the verdict is what
 * counts.
 */
hf__verdict hf__retry_judge(hf__request *request, bool doubtful,
                            hf__redirect *redirect);

/* Complete with `err`; UNAVAILABLE of a doubtful one is INDETERMINATE. */
void hf__retry_fail(hf__request *request, bool doubtful, const hf_error *err);

#endif
