/* SPDX-License-Identifier: Apache-2.0 */
/* near_table.c - see near_table.h. */
#include "data/near_table.h"

#include <string.h>

#include "util/mem.h"

#define BUCKETS_MIN 64u
#define LINE 64 /* of the processor's caches */

/* Larger entries would displace too many. */
#define SHARE 8u

/* A byte in so many is for the remembered hashes. */
#define BYTES_PER_GHOST 1024u
#define GHOSTS_MIN 256u

static size_t size_of(const hf__near_entry *entry)
{
    return sizeof(*entry) + entry->key_size + entry->size;
}

bool hf__near_table_init(hf__near_table *table, size_t bytes_max)
{
    memset(table, 0, sizeof(*table));
    table->bytes_max = bytes_max;
    table->bucket_count = BUCKETS_MIN;
    table->ghost_count = GHOSTS_MIN;
    while (table->ghost_count < bytes_max / BYTES_PER_GHOST)
        table->ghost_count *= 2;
    table->buckets = hf__calloc(table->bucket_count, sizeof(*table->buckets));
    table->ghosts = hf__calloc(table->ghost_count, sizeof(*table->ghosts));
    table->ghost_hashes =
        hf__calloc(table->ghost_count, sizeof(*table->ghost_hashes));
    if (table->buckets != NULL && table->ghosts != NULL &&
        table->ghost_hashes != NULL)
        return true;
    hf__near_table_done(table);
    return false;
}

static void free_queue(hf__near_queue *queue)
{
    hf__near_entry *entry;

    while ((entry = queue->oldest) != NULL) {
        queue->oldest = entry->newer;
        hf__free(entry);
    }
}

void hf__near_table_done(hf__near_table *table)
{
    free_queue(&table->small);
    free_queue(&table->main);
    hf__free(table->buckets);
    hf__free(table->ghosts);
    hf__free(table->ghost_hashes);
    memset(table, 0, sizeof(*table));
}

/* ----------------------------------------------------------------- buckets */

static hf__near_entry **bucket_of(const hf__near_table *table, uint64_t hash)
{
    return &table->buckets[hash & (table->bucket_count - 1)];
}

hf__near_entry *hf__near_table_find(const hf__near_table *table, uint64_t hash,
                                    hf_bytes key)
{
    hf__near_entry *entry = *bucket_of(table, hash);

    /* The key and the value will be needed: fetch both at once. */
    if (entry != NULL) {
        __builtin_prefetch((const char *)entry + LINE);
        __builtin_prefetch((const char *)entry + 2 * LINE);
    }
    while (entry != NULL &&
           (entry->hash != hash || entry->key_size != key.size ||
            memcmp(entry->bytes, key.data, key.size) != 0))
        entry = entry->next;
    return entry;
}

/* Without memory the chains become longer. */
static void grow_table(hf__near_table *table)
{
    size_t old_count = table->bucket_count;
    hf__near_entry **old = table->buckets;
    hf__near_entry **made = hf__calloc(2 * old_count, sizeof(*made));

    if (made == NULL)
        return;
    __atomic_store_n(&table->buckets, made, __ATOMIC_RELAXED);
    __atomic_store_n(&table->bucket_count, 2 * old_count, __ATOMIC_RELAXED);
    for (size_t i = 0; i < old_count; i++) {
        hf__near_entry *entry, *next;

        for (entry = old[i]; entry != NULL; entry = next) {
            hf__near_entry **at = bucket_of(table, entry->hash);

            next = entry->next;
            entry->next = *at;
            *at = entry;
        }
    }
    hf__free(old);
}

static void unlink_entry(hf__near_table *table, hf__near_entry *entry)
{
    hf__near_entry **at = bucket_of(table, entry->hash);

    while (*at != entry)
        at = &(*at)->next;
    *at = entry->next;
    table->count--;
}

/* ------------------------------------------------------------------ queues */

static hf__near_queue *queue_of(hf__near_table *table,
                                const hf__near_entry *entry)
{
    return entry->is_main ? &table->main : &table->small;
}

static void push_entry(hf__near_table *table, hf__near_entry *entry)
{
    hf__near_queue *queue = queue_of(table, entry);

    entry->newer = NULL;
    entry->older = queue->newest;
    if (queue->newest != NULL)
        queue->newest->newer = entry;
    else
        queue->oldest = entry;
    queue->newest = entry;
    queue->bytes += size_of(entry);
    queue->count++;
}

static void take_entry(hf__near_table *table, hf__near_entry *entry)
{
    hf__near_queue *queue = queue_of(table, entry);

    if (entry->older != NULL)
        entry->older->newer = entry->newer;
    else
        queue->oldest = entry->newer;
    if (entry->newer != NULL)
        entry->newer->older = entry->older;
    else
        queue->newest = entry->older;
    queue->bytes -= size_of(entry);
    queue->count--;
}

void hf__near_table_remove(hf__near_table *table, hf__near_entry *entry)
{
    unlink_entry(table, entry);
    take_entry(table, entry);
    hf__free(entry);
}

/* ------------------------------------------------------------------ ghosts */

static void remember_key(hf__near_table *table, uint64_t hash)
{
    size_t at = (size_t)(hash >> 20) & (table->ghost_count - 1);

    if (++table->freed == 0)
        table->freed = 1;
    table->ghosts[at] = table->freed;
    table->ghost_hashes[at] = (uint32_t)hash;
}

/* Was it freed, and no more since than there are entries in the main queue? */
static bool is_remembered(const hf__near_table *table, uint64_t hash)
{
    size_t at = (size_t)(hash >> 20) & (table->ghost_count - 1);

    return table->ghosts[at] != 0 &&
           table->ghost_hashes[at] == (uint32_t)hash &&
           table->freed - table->ghosts[at] <= table->main.count;
}

/* ---------------------------------------------------------------- eviction */

static void evict_small(hf__near_table *table)
{
    hf__near_entry *entry = table->small.oldest;

    if (entry->hits > 1) {
        take_entry(table, entry);
        entry->hits = 0;
        entry->is_main = true;
        push_entry(table, entry);
        return;
    }
    remember_key(table, entry->hash);
    hf__near_table_remove(table, entry);
    table->evictions++;
}

static void evict_main(hf__near_table *table)
{
    hf__near_entry *entry = table->main.oldest;

    if (entry->hits > 0) {
        take_entry(table, entry);
        entry->hits--;
        push_entry(table, entry);
        return;
    }
    hf__near_table_remove(table, entry);
    table->evictions++;
}

/* Each turn frees an entry, moves one to the main queue, or takes a hit from
 * one there, of at most three each. */
static void make_room(hf__near_table *table)
{
    while (table->small.bytes + table->main.bytes > table->bytes_max) {
        if (table->small.bytes > table->bytes_max / 10 ||
            table->main.count == 0)
            evict_small(table);
        else
            evict_main(table);
    }
}

/* --------------------------------------------------------------------- put */

hf__near_entry *hf__near_entry_new(const hf__near_table *table, uint64_t hash,
                                   hf_bytes key, hf_bytes value)
{
    hf__near_entry *entry;

    if (value.size > table->bytes_max / SHARE ||
        sizeof(*entry) + key.size + value.size > table->bytes_max / SHARE)
        return NULL;
    entry = hf__alloc(sizeof(*entry) + key.size + value.size);
    if (entry == NULL)
        return NULL;
    memset(entry, 0, sizeof(*entry));
    entry->hash = hash;
    entry->key_size = (uint16_t)key.size;
    entry->size = (uint32_t)value.size;
    memcpy(entry->bytes, key.data, key.size);
    if (value.size > 0)
        memcpy(entry->bytes + key.size, value.data, value.size);
    return entry;
}

void hf__near_table_put(hf__near_table *table, hf__near_entry *entry)
{
    hf_bytes key = hf_view(entry->bytes, entry->key_size);
    hf__near_entry *old = hf__near_table_find(table, entry->hash, key);
    hf__near_entry **at;

    /* What replaces an entry has its place in the main queue. */
    entry->is_main = (old != NULL && old->is_main) ||
                     (old == NULL && is_remembered(table, entry->hash));
    if (old != NULL)
        hf__near_table_remove(table, old);
    if (2 * table->count >= table->bucket_count)
        grow_table(table);
    at = bucket_of(table, entry->hash);
    entry->next = *at;
    *at = entry;
    table->count++;
    push_entry(table, entry);
    make_room(table);
}
