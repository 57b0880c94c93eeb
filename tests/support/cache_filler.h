/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_filler.h - fills of cache entries in tests: what they report, and what
 * happens in them.
 */
#ifndef CACHE_FILLER_H
#define CACHE_FILLER_H

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/cache.h"
#include "holdfast/key.h"
#include "support/store_fixture.h"

/* A fill: what it reports, and what happens in it. */
typedef struct filler {
    fixture *f;
    hf_bytes key;
    const char *value; /* NULL: `status` */
    hf_status status;
    void (*during)(struct filler *filler);
    const hf_cache_options *opts; /* of the call */
    atomic_int runs;
    hf_cache_info info;
    hf_buffer got;
} filler;

static inline void run_fill(void *user, hf_cache_fill *fill)
{
    filler *self = user;
    hf_status status = self->value != NULL ? HF_OK : self->status;

    atomic_fetch_add(&self->runs, 1);
    assert_bytes(self->key, hf_cache_fill_key(fill));
    if (self->during != NULL)
        self->during(self);
    expect_status(HF_OK,
                  hf_cache_fill_done(fill, status, hf_str(self->value), ERR));
}

static inline hf_cache_options lasting(int64_t ttl_ms)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = ttl_ms;
    return options;
}

static inline hf_status get_or_fill(hf_client *client, filler *self)
{
    hf_cache_options usual = lasting(60000);

    self->info = (hf_cache_info)HF_CACHE_INFO_INIT;
    return hf_cache_get_or_fill(client, self->key, run_fill, self,
                                self->opts != NULL ? self->opts : &usual,
                                &self->got, &self->info, ERR);
}

/* The call returns this value, from there. */
static inline void expect_got(filler *self, hf_client *client,
                              const char *value, hf_cache_source source)
{
    expect_status(HF_OK, get_or_fill(client, self));
    assert_buffer(&self->got, hf_str(value));
    assert_int_equal(self->info.source, source);
}

static inline void expect_cached(fixture *f, hf_bytes key, const char *value)
{
    hf_buffer got = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_cache_get(f->other, key, NULL, &got, ERR));
    assert_buffer(&got, hf_str(value));
}

static inline void expect_missing(hf_client *client, hf_bytes key)
{
    hf_buffer got = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, hf_cache_get(client, key, NULL, &got, ERR));
    assert_null(got.data);
}

static inline void put(fixture *f, hf_bytes key, const char *value,
                       const hf_cache_options *opts)
{
    expect_status(HF_OK,
                  hf_cache_put(f->client, key, hf_str(value), opts, ERR));
}

/* The library's own key about `key`, in the braces of `role`. Our rights may be
 * to keys with a prefix. */
static inline void name_own_key(char name[256], const char *role, hf_bytes key)
{
    const char *prefix = getenv("HOLDFAST_PREFIX");

    (void)snprintf(name, 256, role, prefix == NULL ? "" : prefix, (int)key.size,
                   (const char *)key.data);
}

#define META "hf:cache:{%s%.*s}"
#define FILL "hf:fill:{%s%.*s}"
#define WAIT "hf:wait:{%s%.*s}"
#define TAG "hf:tag::%s%.*s" /* has a hash tag */

static inline bool own_key_exists(fixture *f, const char *role, hf_bytes key)
{
    char name[256];
    int64_t ttl_ms = 0;

    name_own_key(name, role, key);
    return hf_key_ttl(f->client, hf_str(name), &ttl_ms, NULL) == HF_OK &&
           ttl_ms >= 0;
}

#endif
