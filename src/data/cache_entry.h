/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_entry.h - what is known about a cache entry, as scripts/cache_put.lua
 * writes it into the key `meta`, and the names of an entry's keys.
 */
#ifndef HF__DATA_CACHE_ENTRY_H
#define HF__DATA_CACHE_ENTRY_H

#include "core/check.h"
#include "core/own_key.h"
#include "holdfast/cache.h"

/* Hexadecimal digits of a fill's token, which is also a tag's version. */
#define HF__CACHE_TOKEN_DIGITS 24

typedef struct hf__cache_tag {
    hf_bytes name;
    hf_bytes version;
} hf__cache_tag;

typedef struct hf__cache_meta {
    bool absent;            /* there is no value */
    int64_t fresh_until_ms; /* on the store's clock */
    int64_t stale_until_ms;
    int64_t error_until_ms;
    int64_t took_ms; /* the fill; 0: it was put */
    size_t tag_count;
    hf__cache_tag tags[HF_CACHE_TAGS_MAX]; /* views of the text */
} hf__cache_meta;

/* false: nothing that cache_put.lua writes. */
bool hf__cache_meta_read(hf__cache_meta *meta, hf_bytes text);

/* The tags as cache_put.lua gets them: size, colon, bytes of each; "" if there
 * are none. The size first, then the bytes at `at`. */
size_t hf__cache_names_size(const hf_bytes *tags, size_t count);
hf_bytes hf__cache_names_put(const hf_bytes *tags, size_t count, char *at);

/* Load the caller's options. `ttl`: it needs one. `known`: its flags. */
hf_status hf__cache_options_load(hf_cache_options *options,
                                 const hf_cache_options *opts, uint32_t known,
                                 bool ttl, hf_error *err);

/* How long an entry is kept; what jitter leaves of a time to live. */
int64_t hf__cache_keep_ms(const hf_cache_options *options, int64_t ttl_ms);
int64_t hf__cache_jitter(const hf_cache_options *options, int64_t ttl_ms);

#endif
