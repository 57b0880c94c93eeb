/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_steps.h - reading a cache entry and filling it: a procedure
 * (core/procedure.h).
 *
 * 1. LOOK: read the value, what is known about it, the fill under way and the
 *    versions of the tags with one MGET. If the entry has tags that were not
 *    asked for, look again with those. Most calls end here.
 * 2. CLOCK: a stale value, or one that may be refreshed early, needs the
 *    store's clock. It is asked for every 10 s at most.
 * 3. LEASE: take the lease, if the entry is still as it was seen; else look
 *    again. If another fill is under way and a stale value may be returned, end
 *    with that.
 * 4. JOIN: read the event counter, then try to take the lease once more and
 *    join the waiters in the same step, so any later end of the fill moves the
 *    counter.
 * 5. Sleep until it moves, or the lease ends, or it is time to poll; a poll
 *    recovers a notification that was lost with its message or its sender. Go
 *    to 1.
 * 6. Fill, then STORE: put the value, or end the fill without one.
 *
 * The fill's delta for XFetch is the time from the lease to the end of step 6's
 * fill.
 */
#ifndef HF__DATA_CACHE_STEPS_H
#define HF__DATA_CACHE_STEPS_H

#include "core/procedure.h"
#include "data/cache_entry.h"
#include "holdfast/cache.h"

/* key, meta, fill, waiters, the tags of the options, the entry's own. */
#define HF__CACHE_KEYS_MAX (4 + 2 * HF_CACHE_TAGS_MAX)
/* A script has 10 arguments more. */
#define HF__CACHE_WORDS_MAX (HF__CACHE_KEYS_MAX + 10)

typedef enum hf__cache_stage {
    HF__CACHE_LOOK,
    HF__CACHE_CLOCK,
    HF__CACHE_LEASE,
    HF__CACHE_JOIN,
    HF__CACHE_STORE
} hf__cache_stage;

typedef struct hf__cache_steps {
    hf__procedure procedure; /* it is away for the fill */
    hf_client *client;
    hf_cache_options options; /* `tags` are not used */
    bool fills;
    int64_t limit_ms; /* request_ms after until_ms */
    hf__cache_stage stage;

    hf_bytes keys[HF__CACHE_KEYS_MAX];
    hf_bytes names[HF__CACHE_KEYS_MAX]; /* of the tags, from 4 on */
    size_t tag_count;                   /* of the options */
    size_t look_count;                  /* the entry's own included */
    char *storage;                      /* of both; NULL: in `room` */
    char *extra;                        /* of the entry's own */
    char room[512];

    hf__request look; /* its reply stays until the next LOOK */
    hf__request ask;
    hf_bytes words[HF__CACHE_WORDS_MAX];
    char numbers[6][HF__NUMBER_SIZE];
    char *packed; /* names of the tags, for STORE */

    hf_bytes seen; /* meta; views of the reply of LOOK */
    hf__cache_meta meta;
    const hf_reply *found; /* the value; NULL: none that may be returned */
    bool stale;            /* it is */
    bool early;            /* it is fresh, and to be filled again */
    bool answers;          /* FILL: it may be returned during the fill */
    bool waited;           /* for a fill of another call */
    int looks;             /* because the entry had changed */

    char token[2 * HF__CACHE_TOKEN_DIGITS];
    char versions[HF_CACHE_TAGS_MAX * (HF__CACHE_TOKEN_DIGITS + 1) + 1];
    int64_t leased_us; /* when; on hf__clock_boot_us() */
    int64_t took_ms;

    hf_status filled; /* what the fill reported ... */
    hf_bytes value;   /* ... and its value */

    hf_status status; /* at the end ... */
    hf_error detail;
    bool from_fill; /* ... the value is the fill's; else `found` */
    hf_cache_source source;
    hf_status fill_status;
} hf__cache_steps;

/* Check the arguments and begin. Keys and tags are copied. End with done(),
 * also after a failure. */
hf_status hf__cache_steps_init(hf__cache_steps *steps, hf_client *client,
                               const hf__procedure_kind *kind, hf_bytes key,
                               const hf_cache_options *opts, bool fills,
                               hf_error *err);
void hf__cache_steps_done(hf__cache_steps *steps);

/* The steps, and the request of one. After a fill, before HF__RESUMED, `filled`
 * and `value` are set. */
hf__next hf__cache_step(hf__procedure *procedure, hf__happened what);
hf__request *hf__cache_request(hf__procedure *procedure);

/* The same as HF__CANCELLED for a lease whose fill has not begun: end it. */
hf__next hf__cache_steps_give_back(hf__cache_steps *steps);

/* A request that renews the lease; its words are in `words`. */
#define HF__CACHE_RENEW_WORDS (1 + HF_CACHE_TAGS_MAX + 3)
void hf__cache_steps_renew(const hf__cache_steps *steps, hf__request *request,
                           hf_bytes words[HF__CACHE_RENEW_WORDS],
                           char numbers[2][HF__NUMBER_SIZE]);

#endif
