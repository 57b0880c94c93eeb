/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.h - small key records that a process remembers from one of its
 * write transactions to the next, as long as nobody else has written.
 */
#ifndef HF__EMBEDDED_RECORD_CACHE_H
#define HF__EMBEDDED_RECORD_CACHE_H

#include "store/embedded/keys/keyspace.h"

/* Longer keys and contents are not remembered: names and owners of locks fit,
 * and so do fencing tokens. */
#define HF__RECORD_CACHE_KEY_MAX 80u
#define HF__RECORD_CACHE_CONTENT_MAX 40u

/* What LMDB has of a key. */
typedef struct hf__cached_record {
    uint64_t era; /* void if it is not the current one; 0 never is */
    uint8_t key_size;
    uint8_t content_size;
    bool stored; /* false: there is no such key; what follows means nothing */
    bool came_back; /* it was seen to be made after it had been deleted */
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

/* NULL: no memory. The others take NULL, as a reader has it, and then remember
 * nothing. */
hf__record_cache *hf__record_cache_new(void);
void hf__record_cache_free(hf__record_cache *cache);

/* A transaction has begun; `number` is LMDB's of it. */
void hf__record_cache_begin(hf__record_cache *cache, uint64_t number);
/* It was committed and changed something. */
void hf__record_cache_committed(hf__record_cache *cache);
/* What the records wrote was undone. */
void hf__record_cache_clear(hf__record_cache *cache);
/* This key was written past the records. */
void hf__record_cache_drop(hf__record_cache *cache, hf_bytes key);

/* NULL: not known. Valid until the next call of hf__record_cache_put(). */
const hf__cached_record *hf__record_cache_find(hf__record_cache *cache,
                                               const hf__record *record);
/* Was the key seen to be made again after it had been deleted? Then the size of
 * its last content is set too. */
bool hf__record_cache_comes_back(hf__record_cache *cache,
                                 const hf__record *record,
                                 size_t *content_size);
/* LMDB has the record like this now. */
void hf__record_cache_put(hf__record_cache *cache, const hf__record *record);

#endif
