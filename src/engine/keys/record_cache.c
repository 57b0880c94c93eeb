/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.c - key records that recent write transactions read or wrote.
 *
 * It saves lookups in LMDB, most of a short transaction's work apart from its
 * writes. It belongs to the writing context, and so to the holder of the writer
 * lock. The entries are LMDB's state as long as
 *
 *  - the number of each of our transactions follows that of our last commit:
 *    LMDB counts the commits of all processes;
 *  - code that writes key records other than through hf__record calls
 *    hf__record_cache_drop(), and code that undoes a transaction
 *    hf__record_cache_clear().
 *
 * The table has a fixed size, in sets of WAYS by the key's hash; a new entry
 * replaces the oldest of its set. Unused memory is never touched. Hashes are
 * stored apart: a lookup reads one cache line of them, and an entry only if it
 * matches.
 */
#include "engine/keys/record_cache.h"

#include <string.h>

#include "util/hash_bytes.h"
#include "util/mem.h"

/* Enough for the keys of some 2000 locks; 1.4 MB if all are used. */
#define SET_COUNT 2048u
#define WAYS 4u

struct hf__record_cache {
    uint64_t era;
    uint64_t number; /* the next transaction for which this is valid */
    uint64_t taken;  /* counts entries that became another key's; from 1 */
    uint32_t hashes[SET_COUNT][WAYS];
    uint32_t oldest[SET_COUNT];
    hf__cached_record sets[SET_COUNT][WAYS];
};

hf__record_cache *hf__record_cache_new(void)
{
    hf__record_cache *cache = hf__calloc(1, sizeof(*cache));

    if (cache != NULL)
        cache->era = cache->taken = 1;
    return cache;
}

void hf__record_cache_free(hf__record_cache *cache)
{
    hf__free(cache);
}

bool hf__record_cache_begin(hf__record_cache *cache, uint64_t number)
{
    bool current = cache != NULL && cache->number == number;

    if (cache == NULL)
        return false;
    if (!current)
        cache->era++;
    cache->number = number;
    return current;
}

void hf__record_cache_committed(hf__record_cache *cache)
{
    if (cache != NULL)
        cache->number++;
}

void hf__record_cache_clear(hf__record_cache *cache)
{
    if (cache != NULL)
        cache->era++;
}

/* The key's entry, of any era; NULL: none. */
static hf__cached_record *find_entry(hf__record_cache *cache, uint32_t hash,
                                     hf_bytes key)
{
    size_t set = hash % SET_COUNT;

    for (size_t i = 0; i < WAYS; i++) {
        hf__cached_record *one = &cache->sets[set][i];

        if (cache->hashes[set][i] == hash && one->key_size == key.size &&
            memcmp(one->bytes, key.data, key.size) == 0)
            return one;
    }
    return NULL;
}

/* Longer names are folded; these are never cached. */
static hf_bytes key_of(const hf__record *record)
{
    return hf_view(record->name + 1, record->key_size);
}

void hf__record_cache_drop(hf__record_cache *cache, uint32_t hash, hf_bytes key)
{
    hf__cached_record *one = NULL;

    if (cache != NULL && key.size <= HF__RECORD_CACHE_KEY_MAX)
        one = find_entry(cache, hash, key);
    if (one != NULL)
        one->era = 0;
}

/* The record remembers it, as it is asked for again when it is put. */
static hf__cached_record *find_record(hf__record_cache *cache,
                                      hf__record *record)
{
    if (cache == NULL || record->key_size > HF__RECORD_CACHE_KEY_MAX)
        return NULL;
    if (record->looked_up != cache->taken) {
        record->cached = find_entry(cache, record->hash, key_of(record));
        record->looked_up = cache->taken;
    }
    return record->cached;
}

const hf__cached_record *hf__record_cache_find(hf__record_cache *cache,
                                               hf__record *record)
{
    const hf__cached_record *one = find_record(cache, record);

    return one != NULL && one->era == cache->era ? one : NULL;
}

bool hf__record_cache_comes_back(hf__record_cache *cache, hf__record *record,
                                 size_t *content_size)
{
    const hf__cached_record *one = find_record(cache, record);

    if (one == NULL || !one->came_back)
        return false;
    *content_size = one->content_size;
    return true;
}

static hf__cached_record *take_oldest(hf__record_cache *cache,
                                      const hf__record *record)
{
    size_t set = record->hash % SET_COUNT;
    size_t way = cache->oldest[set]++ % WAYS;
    hf__cached_record *one = &cache->sets[set][way];

    cache->taken++;
    cache->hashes[set][way] = record->hash;
    one->key_size = (uint8_t)record->key_size;
    one->came_back = false;
    one->stored = true;
    memcpy(one->bytes, record->name + 1, record->key_size);
    return one;
}

void hf__record_cache_put(hf__record_cache *cache, hf__record *record)
{
    hf__cached_record *one;
    size_t size = record->stored ? record->content_size : 0;

    if (cache == NULL || record->key_size > HF__RECORD_CACHE_KEY_MAX)
        return;
    one = find_record(cache, record);
    if (size > HF__RECORD_CACHE_CONTENT_MAX || (size > 0 && !record->owned)) {
        if (one != NULL)
            one->era = 0;
        return;
    }
    if (one == NULL)
        one = take_oldest(cache, record);
    one->came_back = one->came_back || (record->stored && !one->stored);
    one->era = cache->era;
    one->stored = record->stored;
    one->type = record->type;
    one->form = record->form;
    one->expire_ms = record->expire_ms;
    one->keyid = record->keyid;
    one->count = record->count;
    one->content_size = (uint8_t)size;
    if (size > 0)
        memcpy(one->bytes + one->key_size, record->content, size);
}
