/* SPDX-License-Identifier: Apache-2.0 */
/*
 * members.c - a list of names with scores, in memory.
 */
#include "engine/keys/members.h"

#include <string.h>

#include "engine/keys/command_reply.h"
#include "engine/keys/keyspace.h"
#include "engine/keys/packed.h"

void hf__members_init(hf__members *list, hf__tx *tx)
{
    list->tx = tx;
    list->items = NULL;
    list->count = 0;
    list->capacity = 0;
}

bool hf__members_refer(hf__members *list, hf_bytes name, double score)
{
    size_t capacity = list->capacity == 0 ? 16 : 2 * list->capacity;
    hf__member *larger;

    if (list->count == list->capacity) {
        larger = hf__tx_alloc(list->tx, capacity * sizeof(*larger));
        if (larger == NULL)
            return false;
        if (list->count > 0)
            memcpy(larger, list->items, list->count * sizeof(*larger));
        list->items = larger;
        list->capacity = capacity;
    }
    list->items[list->count] = (hf__member){name, score, list->count, false};
    list->count++;
    return true;
}

bool hf__members_add(hf__members *list, hf_bytes name, double score)
{
    char *copy = hf__tx_alloc(list->tx, name.size);

    if (copy == NULL)
        return false;
    if (name.size > 0)
        memcpy(copy, name.data, name.size);
    return hf__members_refer(list, hf_view(copy, name.size), score);
}

void hf__members_sweep(hf__members *list)
{
    size_t kept = 0;

    for (size_t i = 0; i < list->count; i++) {
        if (!list->items[i].gone)
            list->items[kept++] = list->items[i];
    }
    list->count = kept;
}

/* ------------------------------------------------------------------ order */

/* Sort their indexes, then move them. */
static void arrange_members(hf__members *list, hf__order order)
{
    size_t *places;
    hf__member *sorted;

    if (list->count < 2)
        return;
    places = hf__tx_alloc(list->tx, 2 * list->count * sizeof(*places));
    sorted = places == NULL
                 ? NULL
                 : hf__tx_alloc(list->tx, list->count * sizeof(*sorted));
    if (sorted == NULL)
        return;
    for (size_t i = 0; i < list->count; i++)
        places[i] = i;
    hf__merge_sort(list->tx, places, places + list->count, list->count, order,
                   list->items);
    for (size_t i = 0; i < list->count; i++)
        sorted[i] = list->items[places[i]];
    list->items = sorted;
    list->capacity = list->count;
}

static int by_score(const void *items, size_t left, size_t right)
{
    const hf__member *a = (const hf__member *)items + left;
    const hf__member *b = (const hf__member *)items + right;

    if (a->score < b->score || a->score > b->score)
        return a->score < b->score ? -1 : 1;
    return hf__bytes_compare(a->name, b->name);
}

void hf__members_sort(hf__members *list)
{
    arrange_members(list, by_score);
}

static int by_name(const void *items, size_t left, size_t right)
{
    const hf__member *a = (const hf__member *)items + left;
    const hf__member *b = (const hf__member *)items + right;
    int order = hf__bytes_compare(a->name, b->name);

    if (order != 0)
        return order;
    return a->index < b->index ? -1 : a->index > b->index;
}

void hf__members_sort_names(hf__members *list)
{
    arrange_members(list, by_name);
}

/* ---------------------------------------------------------------- answers */

void hf__members_reply(const hf__members *list, bool with_scores)
{
    hf__tx *tx = list->tx;

    if (with_scores)
        hf__reply_pairs(tx, list->count);
    else
        hf__reply_array(tx, list->count);
    for (size_t i = 0; i < list->count; i++) {
        if (with_scores)
            hf__reply_pair(tx);
        hf__reply_bytes(tx, list->items[i].name.data, list->items[i].name.size);
        if (with_scores)
            hf__reply_double(tx, list->items[i].score);
    }
}
