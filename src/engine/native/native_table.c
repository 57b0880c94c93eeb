/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_table.c - tables of scripts: lists, and maps from texts or numbers.
 */
#include "engine/native/native_code.h"

_Static_assert(HF__NV_NIL == 0, "items that are zeros are nil");

/* A list may have so many gaps before it becomes a map. */
#define GAPS_MAX 8u

static const char *kind_name(hf__nv value)
{
    return hf__native_type(value).text;
}

hf__native_table *hf__native_table_new(hf__native *run, size_t size)
{
    hf__native_table *table = hf__native_alloc(run, sizeof(*table));

    *table = (hf__native_table){0};
    if (size > 0) {
        table->items = hf__native_alloc(run, size * sizeof(*table->items));
        memset(table->items, 0, size * sizeof(*table->items));
    }
    table->size = size;
    return table;
}

/* There may be more items after the counted ones. */
static void count_on(hf__native_table *table)
{
    while (table->count < table->size &&
           table->items[table->count].tag != HF__NV_NIL)
        table->count++;
}

hf__nv hf__native_table_of(hf__native *run, const hf__nv *items, size_t count)
{
    hf__native_table *table = hf__native_table_new(run, count);

    if (count > 0)
        memcpy(table->items, items, count * sizeof(*items));
    count_on(table);
    return (hf__nv){.tag = HF__NV_TABLE, .table = table};
}

hf__native_table *hf__native_listed(hf__native *run, hf__nv table)
{
    if (table.tag == HF__NV_STATUS || table.tag == HF__NV_ERROR)
        return hf__native_table_new(run, 0);
    if (table.tag != HF__NV_TABLE)
        hf__native_raise(run,
                         "bad argument #1 to 'ipairs' (table expected, got %s)",
                         kind_name(table));
    return table.table;
}

hf__native_table *hf__native_unpacked(hf__native *run, hf__nv table)
{
    if (table.tag != HF__NV_TABLE)
        hf__native_raise(run,
                         "bad argument #1 to 'unpack' (table expected, got %s)",
                         kind_name(table));
    return table.table;
}

hf__nv hf__native_part(hf__native *run, hf__nv table, double from, double to)
{
    const hf__native_table *all = hf__native_unpacked(run, table);
    size_t begin = from < 1 ? 1 : (size_t)from;
    size_t end = to < 0 ? all->count : (size_t)to;
    hf__native_table *part =
        hf__native_table_new(run, end >= begin ? end - begin + 1 : 0);

    for (size_t i = 0; i < part->size; i++)
        part->items[i] = hf__native_item(all, begin + i);
    count_on(part);
    return (hf__nv){.tag = HF__NV_TABLE, .table = part};
}

/* ------------------------------------------------------------------- pairs */

static size_t hash_of(hf__nv key)
{
    uint64_t hash = 14695981039346656037u; /* FNV-1a */

    if (key.tag == HF__NV_NUMBER) {
        memcpy(&hash, &key.number, sizeof(hash));
        return (size_t)((hash ^ (hash >> 32)) * 0x9e3779b97f4a7c15u >> 32);
    }
    for (size_t i = 0; key.tag == HF__NV_TEXT && i < key.size; i++)
        hash = (hash ^ (unsigned char)key.text[i]) * 1099511628211u;
    return (size_t)(hash ^ (hash >> 32));
}

/* The pair of the key, or the free one for it; NULL: there are none at all. */
static hf__native_pair *find_pair(const hf__native_table *table, hf__nv key)
{
    size_t mask = table->pair_size - 1;

    if (table->pair_size == 0)
        return NULL;
    for (size_t at = hash_of(key) & mask;; at = (at + 1) & mask) {
        hf__native_pair *pair = &table->pairs[at];

        if (pair->key.tag == HF__NV_NIL || hf__nv_same(pair->key, key))
            return pair;
    }
}

static void set_pair(hf__native *run, hf__native_table *table, hf__nv key,
                     hf__nv value);

static void grow_pairs(hf__native *run, hf__native_table *table)
{
    hf__native_pair *old = table->pairs;
    size_t old_size = table->pair_size;

    table->pair_size = old_size > 0 ? 2 * old_size : 8;
    table->pairs =
        hf__native_alloc(run, table->pair_size * sizeof(*table->pairs));
    for (size_t i = 0; i < table->pair_size; i++)
        table->pairs[i].key = hf__nv_nil();
    table->pair_count = 0;
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].key.tag != HF__NV_NIL)
            set_pair(run, table, old[i].key, old[i].value);
    }
}

static void set_pair(hf__native *run, hf__native_table *table, hf__nv key,
                     hf__nv value)
{
    hf__native_pair *pair;

    if (2 * table->pair_count >= table->pair_size)
        grow_pairs(run, table);
    pair = find_pair(table, key);
    if (pair->key.tag == HF__NV_NIL)
        table->pair_count++;
    pair->key = key;
    pair->value = value;
}

/* ------------------------------------------------------------------- items */

/* The number of a list's item; 0: it is no such key. */
static inline size_t index_at(double key)
{
    int64_t at = key >= 1 && key < 1e9 ? (int64_t)key : 0;

    return (double)at == key ? (size_t)at : 0;
}

static size_t index_of(hf__nv key)
{
    return key.tag == HF__NV_NUMBER ? index_at(key.number) : 0;
}

hf__nv hf__native_get(hf__native *run, hf__nv table, hf__nv key)
{
    const hf__native_pair *pair;
    size_t at;

    if (table.tag == HF__NV_STATUS || table.tag == HF__NV_ERROR ||
        hf__nv_is_text(table))
        return hf__nv_nil();
    if (table.tag != HF__NV_TABLE)
        hf__native_raise(run, "attempt to index a %s value", kind_name(table));
    at = index_of(key);
    if (at != 0 && at <= table.table->size)
        return table.table->items[at - 1];
    if (key.tag == HF__NV_SCORE)
        key = hf__native_text(run, key);
    pair = find_pair(table.table, key);
    return pair != NULL && pair->key.tag != HF__NV_NIL ? pair->value
                                                       : hf__nv_nil();
}

hf__nv hf__native_field(hf__native *run, hf__nv table, const char *name)
{
    if (table.tag == HF__NV_ERROR || table.tag == HF__NV_STATUS) {
        if (strcmp(name, table.tag == HF__NV_ERROR ? "err" : "ok") != 0)
            return hf__nv_nil();
        return hf__nv_text(table.text, table.size);
    }
    return hf__native_get(run, table, hf__nv_text(name, strlen(name)));
}

static void grow_items(hf__native *run, hf__native_table *table, size_t at)
{
    size_t size = 2 * table->size > at ? 2 * table->size : at + 2 * GAPS_MAX;
    hf__nv *items = hf__native_alloc(run, size * sizeof(*items));

    if (table->size > 0)
        memcpy(items, table->items, table->size * sizeof(*items));
    memset(items + table->size, 0, (size - table->size) * sizeof(*items));
    table->items = items;
    for (size_t i = 0; i < table->pair_size; i++) {
        size_t place = index_of(table->pairs[i].key);

        if (place > table->size && place <= size)
            items[place - 1] = table->pairs[i].value;
    }
    table->size = size;
}

static inline void set_item(hf__native_table *table, size_t at, hf__nv value)
{
    table->items[at - 1] = value;
    if (at == table->count + 1)
        count_on(table);
    else if (value.tag == HF__NV_NIL && at <= table->count)
        table->count = at - 1;
}

void hf__native_set(hf__native *run, hf__nv table, hf__nv key, hf__nv value)
{
    size_t at = index_of(key);

    if (table.tag != HF__NV_TABLE)
        hf__native_raise(run, "attempt to index a %s value", kind_name(table));
    if (key.tag == HF__NV_NIL)
        hf__native_raise(run, "table index is nil");
    if (key.tag == HF__NV_SCORE)
        key = hf__native_text(run, key);
    if (value.tag == HF__NV_NIL && at > table.table->size &&
        table.table->pair_size == 0)
        return;
    if (at > table.table->size && at <= 2 * table.table->size + GAPS_MAX)
        grow_items(run, table.table, at);
    if (at != 0 && at <= table.table->size)
        set_item(table.table, at, value);
    else
        set_pair(run, table.table, key, value);
}

hf__nv hf__native_get_at(hf__native *run, hf__nv table, double at)
{
    size_t index = index_at(at);

    if (table.tag == HF__NV_TABLE && index - 1 < table.table->size)
        return table.table->items[index - 1];
    return hf__native_get(run, table, hf__nv_number(at));
}

hf__nv hf__native_get_item(hf__native *run, hf__nv table, int64_t at)
{
    if (table.tag == HF__NV_TABLE && (uint64_t)at - 1 < table.table->size)
        return table.table->items[at - 1];
    return hf__native_get(run, table, hf__nv_number((double)at));
}

void hf__native_set_item(hf__native *run, hf__nv table, int64_t at,
                         hf__nv value)
{
    if (table.tag == HF__NV_TABLE && (uint64_t)at - 1 < table.table->size)
        set_item(table.table, (size_t)at, value);
    else
        hf__native_set(run, table, hf__nv_number((double)at), value);
}

void hf__native_set_at(hf__native *run, hf__nv table, double at, hf__nv value)
{
    size_t index = index_at(at);

    if (table.tag == HF__NV_TABLE && index - 1 < table.table->size)
        set_item(table.table, index, value);
    else
        hf__native_set(run, table, hf__nv_number(at), value);
}

double hf__native_length(hf__native *run, hf__nv value)
{
    if (hf__nv_is_text(value))
        return hf__native_text(run, value).size;
    if (value.tag == HF__NV_TABLE)
        return (double)value.table->count;
    if (!hf__nv_is_table(value))
        hf__native_raise(run, "attempt to get length of a %s value",
                         kind_name(value));
    return 0;
}

/* ----------------------------------------------------- errors and statuses */

hf__nv hf__native_failure(hf__native *run, hf__nv text)
{
    text = hf__native_text(run, text);
    text.tag = HF__NV_ERROR;
    return text;
}

hf__nv hf__native_status(hf__native *run, hf__nv text)
{
    text = hf__native_text(run, text);
    text.tag = HF__NV_STATUS;
    return text;
}

/* -------------------------------------------------------------- KEYS, ARGV */

static hf__nv word_by(const hf_bytes *words, size_t count, double at)
{
    size_t index = at >= 1 && at <= (double)count ? (size_t)at : 0;

    return index != 0 && (double)index == at ? hf__nv_bytes(words[index - 1])
                                             : hf__nv_nil();
}

hf__nv hf__native_keys_by(hf__native *run, double at)
{
    return word_by(run->keys, run->key_count, at);
}

hf__nv hf__native_argv_by(hf__native *run, double at)
{
    return word_by(run->args, run->arg_count, at);
}

static hf__nv as_table(hf__native *run, const hf_bytes *words, size_t count)
{
    hf__native_table *table = hf__native_table_new(run, count);

    for (size_t i = 0; i < count; i++)
        table->items[i] = hf__nv_bytes(words[i]);
    table->count = count;
    return (hf__nv){.tag = HF__NV_TABLE, .table = table};
}

hf__nv hf__native_keys(hf__native *run)
{
    return as_table(run, run->keys, run->key_count);
}

hf__nv hf__native_argv(hf__native *run)
{
    return as_table(run, run->args, run->arg_count);
}
