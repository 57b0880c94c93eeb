/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.h - small key records, cached from one write transaction of a
 * process to the next as long as no other process has written.
 */
#ifndef HF__ENGINE_RECORD_CACHE_H
#define HF__ENGINE_RECORD_CACHE_H

#include "engine/keys/keyspace.h"

/* Longer keys and contents are not cached. Names of locks fit, what they hold
 * (an owner id, a sign, a token of 16 digits, a `+`: 50 bytes), and fencing
 * tokens. */
#define HF__RECORD_CACHE_KEY_MAX 80u
#define HF__RECORD_CACHE_CONTENT_MAX 56u

/* A key's record in LMDB. */
typedef struct hf__cached_record {
    uint64_t era; /* valid if it is the current one, which is never 0 */
    uint8_t key_size;
    uint8_t content_size;
    bool stored;    /* false: no such key, and the rest is unset */
    bool came_back; /* it was created again after a deletion */
    uint8_t type;
    uint8_t form;
    int64_t expire_ms;
    uint64_t keyid;
    uint64_t count;
    unsigned char
        bytes[HF__RECORD_CACHE_KEY_MAX + HF__RECORD_CACHE_CONTENT_MAX];
} hf__cached_record;

static inline const unsigned char *
hf__cached_record_content(const hf__cached_record *one)
{
    return one->bytes + one->key_size;
}

typedef struct hf__record_cache hf__record_cache;

/* NULL: no memory. The other functions accept NULL, which is what readers have,
 * and do nothing. */
hf__record_cache *hf__record_cache_new(void);
void hf__record_cache_free(hf__record_cache *cache);

/* A transaction has begun; `number` is LMDB's number of it. false: another
 * process has written, or there is no cache. */
bool hf__record_cache_begin(hf__record_cache *cache, uint64_t number);
/* It was committed and changed something. */
void hf__record_cache_committed(hf__record_cache *cache);
/* The transaction was undone. */
void hf__record_cache_clear(hf__record_cache *cache);
/* This key, with hf__key_hash(), was written directly to LMDB. */
void hf__record_cache_drop(hf__record_cache *cache, uint32_t hash,
                           hf_bytes key);

/* NULL: not cached. Valid until the next call of hf__record_cache_put(). */
const hf__cached_record *hf__record_cache_find(hf__record_cache *cache,
                                               hf__record *record);
/* Has the key been created again after a deletion? Then the size of its last
 * content is set, too. */
bool hf__record_cache_comes_back(hf__record_cache *cache, hf__record *record,
                                 size_t *content_size);
/* The record is in LMDB now. */
void hf__record_cache_put(hf__record_cache *cache, hf__record *record);

#endif
