/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_table.h - one shard of a near cache: a hash table with S3-FIFO eviction
 * (Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023).
 *
 * A new entry goes into the small queue, a tenth of the bytes. When it leaves
 * that, it is moved to the main queue if it was hit more than once, or freed:
 * so a scan, whose entries are not hit, leaves the main queue alone. Hashes of
 * those freed are remembered for as long as a main queue of entries; what is
 * read again meanwhile goes straight to the main queue, where an entry that was
 * hit since gets another round.
 *
 * The caller locks.
 */
#ifndef HF__DATA_NEAR_TABLE_H
#define HF__DATA_NEAR_TABLE_H

#include "holdfast/base.h"

typedef struct hf__near_entry {
    struct hf__near_entry *next;  /* in its bucket */
    struct hf__near_entry *newer; /* in its queue */
    struct hf__near_entry *older;
    uint64_t hash;
    int64_t until_ms; /* when it expires; INT64_MAX: never */
    uint32_t stamp;   /* valid while the key's stamp is this */
    uint16_t key_size;
    uint8_t hits;  /* since it was queued, at most 3 */
    bool is_main;  /* in the main queue */
    bool absent;   /* there is no such key */
    uint32_t size; /* of the value */
    char bytes[];  /* the key, then the value */
} hf__near_entry;

typedef struct hf__near_queue {
    hf__near_entry *oldest;
    hf__near_entry *newest;
    size_t bytes;
    size_t count;
} hf__near_queue;

typedef struct hf__near_table {
    hf__near_entry **buckets;
    size_t bucket_count; /* a power of two */
    size_t count;
    size_t bytes_max;
    hf__near_queue small;
    hf__near_queue main;
    uint32_t *ghosts; /* by hash: when it was freed, 0: never ... */
    uint32_t *ghost_hashes;
    size_t ghost_count; /* a power of two */
    uint32_t freed;     /* how many were so far */
    uint64_t evictions;
} hf__near_table;

/* false: out of memory. */
bool hf__near_table_init(hf__near_table *table, size_t bytes_max);
void hf__near_table_done(hf__near_table *table);

/* Have the processor fetch what find() will read first. Needs no lock: a wrong
 * address is fetched in vain. */
static inline void hf__near_table_prefetch(const hf__near_table *table,
                                           uint64_t hash)
{
    hf__near_entry **buckets =
        __atomic_load_n(&table->buckets, __ATOMIC_RELAXED);
    size_t count = __atomic_load_n(&table->bucket_count, __ATOMIC_RELAXED);

    __builtin_prefetch(&buckets[hash & (count - 1)]);
}

/* NULL: not there. Does not count as a hit. */
hf__near_entry *hf__near_table_find(const hf__near_table *table, uint64_t hash,
                                    hf_bytes key);
static inline void hf__near_table_hit(hf__near_entry *entry)
{
    if (entry->hits < 3)
        entry->hits++;
}
static inline hf_bytes hf__near_value(const hf__near_entry *entry)
{
    return hf_view(entry->bytes + entry->key_size, entry->size);
}

/* Remove and free an entry that was found. */
void hf__near_table_remove(hf__near_table *table, hf__near_entry *entry);

/* A new entry with copies of both, in no table; NULL: out of memory, or it
 * could not be kept. */
hf__near_entry *hf__near_entry_new(const hf__near_table *table, uint64_t hash,
                                   hf_bytes key, hf_bytes value);
/* Put it in place of one with its key. */
void hf__near_table_put(hf__near_table *table, hf__near_entry *entry);

#endif
