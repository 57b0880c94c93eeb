/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_cache.c - what the last write transactions read and wrote of key
 * records.
 *
 * It saves looking them up in LMDB, which is most of what a short transaction
 * does beside its writes. It belongs to the writing context, and so to whoever
 * holds the writer lock. What is remembered is LMDB's state as long as
 *
 *  - the number of each transaction of ours follows that of our last commit:
 *    LMDB counts commits, those of other processes too;
 *  - whoever writes key records other than through hf__record says so by
 *    hf__recall_drop(), and who undoes a transaction by hf__recall_clear().
 *
 * Bounded: a table of fixed size, in sets of WAYS by the key's hash. A new one
 * replaces the oldest of its set. Memory that is never used is never touched.
 * The hashes lie by themselves: looking one up reads one line of them, and one
 * entry only if it is there.
 */
#include "store/embedded/keys/record_cache.h"

#include <string.h>

#include "store/embedded/files/name.h"
#include "util/mem.h"

/* Enough for the keys of some 2000 locks; 1.3 MB if all are used. */
#define SET_COUNT 2048u
#define WAYS 4u

struct hf__recall {
    uint64_t era;
    uint64_t number; /* of the transaction that may build on this */
    uint32_t hashes[SET_COUNT][WAYS];
    uint32_t oldest[SET_COUNT];
    hf__recalled sets[SET_COUNT][WAYS];
};

hf__recall *hf__recall_new(void)
{
    hf__recall *recall = hf__calloc(1, sizeof(*recall));

    if (recall != NULL)
        recall->era = 1;
    return recall;
}

void hf__recall_free(hf__recall *recall)
{
    hf__free(recall);
}

void hf__recall_begin(hf__recall *recall, uint64_t number)
{
    if (recall == NULL)
        return;
    if (recall->number != number)
        recall->era++;
    recall->number = number;
}

void hf__recall_committed(hf__recall *recall)
{
    if (recall != NULL)
        recall->number++;
}

void hf__recall_clear(hf__recall *recall)
{
    if (recall != NULL)
        recall->era++;
}

/* Of this key, of any era; NULL: none. */
static hf__recalled *find(hf__recall *recall, uint32_t hash, hf_bytes key)
{
    size_t set = hash % SET_COUNT;

    for (size_t i = 0; i < WAYS; i++) {
        hf__recalled *one = &recall->sets[set][i];

        if (recall->hashes[set][i] == hash && one->key_size == key.size &&
            memcmp(one->bytes, key.data, key.size) == 0)
            return one;
    }
    return NULL;
}

/* Longer names are folded, and then it does not matter what this says. */
static hf_bytes key_of(const hf__record *record)
{
    return hf_view(record->name + 1, record->key_size);
}

void hf__recall_drop(hf__recall *recall, hf_bytes key)
{
    hf__recalled *one = NULL;

    if (recall != NULL && key.size <= HF__RECALL_KEY_MAX)
        one = find(recall, (uint32_t)hf__name_hash(key, 0), key);
    if (one != NULL)
        one->era = 0;
}

static hf__recalled *find_record(hf__recall *recall, const hf__record *record)
{
    if (recall == NULL || record->key_size > HF__RECALL_KEY_MAX)
        return NULL;
    return find(recall, record->hash, key_of(record));
}

const hf__recalled *hf__recall_find(hf__recall *recall,
                                    const hf__record *record)
{
    const hf__recalled *one = find_record(recall, record);

    return one != NULL && one->era == recall->era ? one : NULL;
}

bool hf__recall_comes_back(hf__recall *recall, const hf__record *record,
                           size_t *content_size)
{
    const hf__recalled *one = find_record(recall, record);

    if (one == NULL || !one->came_back)
        return false;
    *content_size = one->content_size;
    return true;
}

static hf__recalled *take_oldest(hf__recall *recall, const hf__record *record)
{
    size_t set = record->hash % SET_COUNT;
    size_t way = recall->oldest[set]++ % WAYS;
    hf__recalled *one = &recall->sets[set][way];

    recall->hashes[set][way] = record->hash;
    one->key_size = (uint8_t)record->key_size;
    one->came_back = false;
    one->stored = true;
    memcpy(one->bytes, record->name + 1, record->key_size);
    return one;
}

void hf__recall_put(hf__recall *recall, const hf__record *record)
{
    hf__recalled *one;
    size_t size = record->stored ? record->content_size : 0;

    if (recall == NULL || record->key_size > HF__RECALL_KEY_MAX)
        return;
    one = find(recall, record->hash, key_of(record));
    if (size > HF__RECALL_CONTENT_MAX || (size > 0 && !record->owned)) {
        if (one != NULL)
            one->era = 0;
        return;
    }
    if (one == NULL)
        one = take_oldest(recall, record);
    one->came_back = one->came_back || (record->stored && !one->stored);
    one->era = recall->era;
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
