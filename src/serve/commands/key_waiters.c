/* SPDX-License-Identifier: Apache-2.0 */
/* key_waiters.c - see key_waiters.h. */
#include "serve/commands/key_waiters.h"

#include <string.h>

#include "util/hash_bytes.h"
#include "util/mem.h"

#define CHAINS_MIN 64u

/* -------------------------------------------------------------------- waiters
 */

/* The ids of streams may be others than those in the request. */
static hf_bytes word_of(const hf__block *block, const hf_bytes *words, size_t i)
{
    size_t ids = block->first + block->count;

    return block->ids != NULL && i >= ids && i < ids + block->count
               ? block->ids[i - ids]
               : words[i];
}

hf__waiter *hf__waiter_new(hf__conn *conn, const hf__command *command,
                           const hf__block *block, const hf_bytes *words,
                           size_t count)
{
    size_t size = sizeof(hf__waiter) + count * sizeof(*words);
    hf__waiter *waiter;
    unsigned char *at;

    for (size_t i = 0; i < count; i++)
        size += word_of(block, words, i).size;
    waiter = hf__calloc(1, size);
    if (waiter == NULL)
        return NULL;
    waiter->links = hf__calloc(block->count, sizeof(*waiter->links));
    if (waiter->links == NULL) {
        hf__free(waiter);
        return NULL;
    }
    waiter->conn = conn;
    waiter->command = command;
    waiter->block = *block;
    waiter->count = count;
    hf__heap_node_init(&waiter->node);
    at = (unsigned char *)&waiter->words[count];
    for (size_t i = 0; i < count; i++) {
        hf_bytes word = word_of(block, words, i);

        if (word.size > 0)
            memcpy(at, word.data, word.size);
        waiter->words[i] = hf_view(at, word.size);
        at += word.size;
    }
    if (block->ids != NULL)
        waiter->block.ids = &waiter->words[block->first + block->count];
    return waiter;
}

void hf__waiter_free(hf__waiter *waiter)
{
    hf__free(waiter->links);
    hf__free(waiter);
}

/* ----------------------------------------------------------------------- keys
 */

static hf__wait_key **chain_of(const hf__wait_table *table, uint64_t hash)
{
    return &table->chains[hash & (table->chain_count - 1)];
}

hf__wait_key *hf__wait_find(const hf__wait_table *table, uint32_t database,
                            hf_bytes key)
{
    uint64_t hash = hf__hash(key, database);
    hf__wait_key *found = table->key_count == 0 ? NULL : *chain_of(table, hash);

    while (found != NULL &&
           (found->hash != hash || found->database != database ||
            found->size != key.size ||
            (key.size > 0 && memcmp(found->bytes, key.data, key.size) != 0)))
        found = found->next;
    return found;
}

/* Make room for one more; the table may stay small if there is no memory. */
static bool grow_table(hf__wait_table *table)
{
    size_t count =
        table->chain_count == 0 ? CHAINS_MIN : table->chain_count * 2;
    hf__wait_table old = *table;
    hf__wait_key *next;

    if (table->key_count < table->chain_count)
        return true;
    table->chains = hf__calloc(count, sizeof(*table->chains));
    if (table->chains == NULL) {
        table->chains = old.chains;
        return old.chain_count > 0;
    }
    table->chain_count = count;
    for (size_t i = 0; i < old.chain_count; i++) {
        for (hf__wait_key *key = old.chains[i]; key != NULL; key = next) {
            hf__wait_key **chain = chain_of(table, key->hash);

            next = key->next;
            key->next = *chain;
            *chain = key;
        }
    }
    hf__free(old.chains);
    return true;
}

static hf__wait_key *make_key(hf__wait_table *table, uint8_t database,
                              hf_bytes name)
{
    hf__wait_key *key = hf__wait_find(table, database, name);
    hf__wait_key **chain;

    if (key != NULL || !grow_table(table))
        return key;
    key = hf__calloc(1, sizeof(*key) + name.size);
    if (key == NULL)
        return NULL;
    key->hash = hf__hash(name, database);
    key->database = database;
    key->size = name.size;
    if (name.size > 0)
        memcpy(key->bytes, name.data, name.size);
    chain = chain_of(table, key->hash);
    key->next = *chain;
    *chain = key;
    table->key_count++;
    return key;
}

static void drop_unused(hf__wait_table *table, hf__wait_key *key)
{
    hf__wait_key **at = chain_of(table, key->hash);

    if (key->first != NULL || key->in[HF__WAIT_MADE] ||
        key->in[HF__WAIT_CHANGED])
        return;
    while (*at != key)
        at = &(*at)->next;
    *at = key->next;
    table->key_count--;
    hf__free(key);
}

void hf__wait_put(hf__wait_table *table, hf__wait_list list, hf__wait_key *key)
{
    if (key->in[list])
        return;
    key->in[list] = true;
    key->next_in[list] = NULL;
    if (table->first[list] != NULL)
        table->last[list]->next_in[list] = key;
    else
        table->first[list] = key;
    table->last[list] = key;
}

void hf__wait_put_all(hf__wait_table *table, hf__wait_list list)
{
    for (size_t i = 0; i < table->chain_count; i++) {
        for (hf__wait_key *key = table->chains[i]; key != NULL; key = key->next)
            hf__wait_put(table, list, key);
    }
}

void hf__wait_take(hf__wait_table *table, hf__wait_list list)
{
    hf__wait_key *key = table->first[list];

    table->first[list] = key->next_in[list];
    key->in[list] = false;
    drop_unused(table, key);
}

void hf__wait_clear(hf__wait_table *table, hf__wait_list list)
{
    while (table->first[list] != NULL)
        hf__wait_take(table, list);
}

void hf__wait_done(hf__wait_table *table)
{
    hf__free(table->chains);
}

/* ---------------------------------------------------------------------- links
 */

/* At the end. */
static void put_link(hf__wait_key *key, hf__wait_link *link)
{
    link->key = key;
    link->next = NULL;
    link->previous = key->last;
    if (key->last != NULL)
        key->last->next = link;
    else
        key->first = link;
    key->last = link;
}

static void take_link(hf__wait_link *link)
{
    hf__wait_key *key = link->key;

    if (link->previous != NULL)
        link->previous->next = link->next;
    else
        key->first = link->next;
    if (link->next != NULL)
        link->next->previous = link->previous;
    else
        key->last = link->previous;
}

bool hf__wait_add(hf__wait_table *table, hf__waiter *waiter)
{
    const hf__block *block = &waiter->block;

    for (size_t i = 0; i < block->count; i++) {
        hf__wait_key *key = make_key(table, waiter->conn->database,
                                     waiter->words[block->first + i]);
        hf__wait_link *link = &waiter->links[waiter->link_count];

        if (key == NULL) {
            hf__wait_remove(table, waiter);
            return false;
        }
        /* The same key twice? */
        if (key->last != NULL && key->last->waiter == waiter)
            continue;
        link->waiter = waiter;
        put_link(key, link);
        waiter->link_count++;
    }
    return true;
}

void hf__wait_remove(hf__wait_table *table, hf__waiter *waiter)
{
    while (waiter->link_count > 0) {
        hf__wait_link *link = &waiter->links[--waiter->link_count];

        take_link(link);
        drop_unused(table, link->key);
    }
}
