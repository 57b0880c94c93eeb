/* SPDX-License-Identifier: Apache-2.0 */
/* kept.c - see kept.h. */
#include "records/kept.h"

#include <string.h>

#include "util/bytes.h"
#include "util/hash_bytes.h"
#include "util/mem.h"

static hf__kept **chain_of(hf__kept_table *table, hf_bytes key)
{
    return &table->chains[hf__hash(key, 0) % HF__KEPT_CHAINS];
}

static bool has_key(const hf__kept *one, hf_bytes key)
{
    return hf__bytes_same(one->record.key, key);
}

static hf__kept **find_place(hf__kept_table *table, hf_bytes key)
{
    hf__kept **at = chain_of(table, key);

    while (*at != NULL && !has_key(*at, key))
        at = &(*at)->next;
    return at;
}

const hf__kept *hf__kept_find(hf__kept_table *table, hf_bytes key)
{
    hf__kept *one = *find_place(table, key);

    if (one != NULL)
        one->turn = ++table->turn;
    return one;
}

static size_t size_of(const hf__kept *one)
{
    return one->record.key.size + one->record.payload.size;
}

static void remove_at(hf__kept_table *table, hf__kept **at)
{
    hf__kept *one = *at;

    *at = one->next;
    table->bytes -= size_of(one);
    hf__free(one);
    table->count--;
}

void hf__kept_drop(hf__kept_table *table, hf_bytes key)
{
    hf__kept **at = find_place(table, key);

    if (*at != NULL)
        remove_at(table, at);
}

/* The one that was not used for the longest time in a few chains. */
static void remove_oldest(hf__kept_table *table)
{
    hf__kept **oldest = NULL;

    for (size_t i = 0; i < HF__KEPT_CHAINS && (oldest == NULL || i % 16 != 0);
         i++) {
        hf__kept **at = &table->chains[(table->turn + i) % HF__KEPT_CHAINS];

        for (; *at != NULL; at = &(*at)->next) {
            if (oldest == NULL || (*at)->turn < (*oldest)->turn)
                oldest = at;
        }
    }
    remove_at(table, oldest);
}

static hf__kept *copy_record(const hf__backend_record *record)
{
    size_t key_size = record->key.size;
    size_t size = record->version != 0 ? record->payload.size : 0;
    hf__kept *one = hf__alloc(sizeof(*one) + key_size + size);
    char *bytes = (char *)(one + 1);

    if (one == NULL)
        return NULL;
    *one = (hf__kept){.record = *record};
    if (key_size > 0)
        memcpy(bytes, record->key.data, key_size);
    if (size > 0)
        memcpy(bytes + key_size, record->payload.data, size);
    one->record.key = hf_view(bytes, key_size);
    one->record.payload = hf_view(bytes + key_size, size);
    return one;
}

void hf__kept_put(hf__kept_table *table, const hf__backend_record *record)
{
    hf__kept **at = find_place(table, record->key);
    hf__kept *one = NULL;

    if (*at != NULL && (*at)->record.version == record->version) {
        (*at)->turn = ++table->turn;
        return;
    }
    if (record->version == 0 || record->payload.size <= HF__KEPT_PAYLOAD_MAX)
        one = copy_record(record);
    if (*at != NULL)
        remove_at(table, at);
    if (one == NULL)
        return;
    while (
        table->count >= HF__KEPT_MAX ||
        (table->count > 0 && table->bytes + size_of(one) > HF__KEPT_BYTES_MAX))
        remove_oldest(table);
    table->bytes += size_of(one);
    at = chain_of(table, record->key);
    one->turn = ++table->turn;
    one->next = *at;
    *at = one;
    table->count++;
}

void hf__kept_done(hf__kept_table *table)
{
    for (size_t i = 0; i < HF__KEPT_CHAINS; i++) {
        while (table->chains[i] != NULL)
            remove_at(table, &table->chains[i]);
    }
}
