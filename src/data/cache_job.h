/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_job.h - one call that reads a cache entry, and the fill that it may
 * run, in either form. The fill is the caller's handle.
 */
#ifndef HF__DATA_CACHE_JOB_H
#define HF__DATA_CACHE_JOB_H

#include "core/async.h"
#include "core/client.h"
#include "core/repeat.h"
#include "data/cache_steps.h"
#include "holdfast/cache.h"

struct hf_cache_fill {
    hf__cache_steps steps;
    hf_bytes key; /* the user's: in the steps' */
    hf_cache_fill_fn fill;
    void *user;
    /* hf_cache_fill_done() was called for a started call, which may be gone
     * afterwards. NULL: it is a blocking one. */
    hf_status (*ended)(hf_cache_fill *self, hf_error *err);
    hf__repeat renewal; /* of its lease, while it is under way */
    hf_bytes renewal_words[HF__CACHE_RENEW_WORDS];
    char renewal_numbers[2][HF__NUMBER_SIZE];
    bool has_ended;   /* by hf_cache_fill_done(): ... */
    hf_status filled; /* ... with this status ... */
    hf_buffer result; /* ... and value */
};

hf_status hf__cache_job_init(hf_cache_fill *self, hf_client *client,
                             const hf__procedure_kind *kind, hf_bytes key,
                             hf_cache_fill_fn fill, void *user,
                             const hf_cache_options *opts, hf_error *err);
void hf__cache_job_done(hf_cache_fill *self);

/* Run the caller's function; the lease is renewed until it ends the fill, or
 * ends_renewal(). */
void hf__cache_job_fill(hf_cache_fill *self);
void hf__cache_job_end_renewal(hf_cache_fill *self);
/* What the function has reported is the steps'. */
void hf__cache_job_filled(hf_cache_fill *self);

/* The results of a call that has ended: its status. `value` and `info` may be
 * NULL. */
hf_status hf__cache_job_result(hf_cache_fill *self, hf_buffer *value,
                               hf_cache_info *info, hf_error *err);

hf_status hf__cache_check_info(const hf_cache_info *info, hf_error *err);

#endif
