/* SPDX-License-Identifier: Apache-2.0 */
/*
 * page_changes.c - see page_changes.h. The layout is that of LMDB 0.9, as in
 * engine/files/pages.h.
 */
#include "page_changes.h"

#include <string.h>

#include "engine/files/format.h"
#include "engine/files/keyhead.h"
#include "engine/files/pages.h"

#define CHANGES_MAX 32

/* Of the meta page in use, from its begin: from the trees to the number of the
 * transaction. */
#define META_FIRST 40u
#define META_LAST 152u
#define META_ENTRIES 120u /* of the data's tree */
#define NODE_HEAD 8u

typedef struct change {
    input *in;
    bytes *data;
    const sources *from;
} change;

static size_t page_count(const bytes *data)
{
    return data->size / PAGE;
}

/* One that is in use, or any; there is at least one. */
static unsigned char *take_page(change *of)
{
    const page_list *used = &of->from->pages[PAGE_ANY];
    size_t choice = input_byte(of->in);
    size_t at = choice % page_count(of->data) * PAGE;

    if (choice < 192)
        at = used->at[choice % used->count];
    return of->data->data + (at + PAGE <= of->data->size ? at : 0);
}

/* The meta page of the newer transaction. */
static unsigned char *newer_meta(bytes *data)
{
    unsigned char *meta = data->data;
    uint64_t first, second = 0;

    memcpy(&first, meta + HF__META_AT_TRANSACTION, sizeof(first));
    if (page_count(data) > 1)
        memcpy(&second, meta + PAGE + HF__META_AT_TRANSACTION, sizeof(second));
    return second > first ? meta + PAGE : meta;
}

/* A number, in so many bytes: small, near a bound, or what is there and a bit
 * more. */
static void put_number(change *of, unsigned char *at, size_t size)
{
    static const uint64_t bounds[] = {0,
                                      1,
                                      511,
                                      512,
                                      PAGE,
                                      INT32_MAX,
                                      UINT32_MAX,
                                      (UINT64_C(1) << 46) - 1,
                                      UINT64_C(1) << 46,
                                      UINT64_C(1) << 53,
                                      INT64_MAX,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX};
    uint8_t choice = input_byte(of->in);
    uint64_t number = 0;

    memcpy(&number, at, size);
    if (choice < 64)
        number += (uint64_t)(choice - 32);
    else if (choice < 128)
        number = choice - 64u;
    else if (choice < 192)
        number = bounds[choice % (sizeof(bounds) / sizeof(bounds[0]))];
    else
        number = input_short(of->in);
    memcpy(at, &number, size);
}

/* ------------------------------------------------------------------ nodes */

/* false: the page has none. */
static bool take_node(change *of, hf__page *page, uint32_t *index,
                      hf__node *node)
{
    const unsigned char *at = take_page(of);
    hf__finding found;
    size_t number = (size_t)(at - of->data->data) / PAGE;

    if (!hf__page_open(at, PAGE, number, page, &found) || page->count == 0)
        return false;
    *index = input_byte(of->in) % page->count;
    return hf__page_node(page, *index, node);
}

static unsigned char *writable(const void *at)
{
    return (unsigned char *)(uintptr_t)at;
}

static void change_node_head(change *of)
{
    hf__page page;
    uint32_t index;
    hf__node node;

    if (take_node(of, &page, &index, &node))
        put_number(of,
                   writable(node.key.data) - NODE_HEAD +
                       2 * input_below(of->in, 4),
                   2);
}

static void change_key(change *of)
{
    hf__page page;
    uint32_t index;
    hf__node node;

    if (take_node(of, &page, &index, &node) && node.key.size > 0)
        put_number(of,
                   writable(node.key.data) + input_byte(of->in) % node.key.size,
                   1);
}

static void change_value(change *of)
{
    static const size_t sizes[] = {1, 2, 4, 8};
    size_t size = sizes[input_below(of->in, 4)];
    hf__page page;
    uint32_t index;
    hf__node node;

    if (take_node(of, &page, &index, &node) && node.value != NULL &&
        node.value_size >= size)
        put_number(of,
                   writable(node.value) +
                       input_short(of->in) % (node.value_size - size + 1),
                   size);
}

/* Two nodes of a page change places, or one becomes the other. */
static void move_node(change *of)
{
    hf__page page;
    uint32_t index, other;
    hf__node node;
    unsigned char *pointers, kept[2];

    if (!take_node(of, &page, &index, &node))
        return;
    other = input_byte(of->in) % page.count;
    pointers = writable(page.bytes) + HF__PAGE_HEAD;
    memcpy(kept, pointers + 2 * index, 2);
    memcpy(pointers + 2 * index, pointers + 2 * other, 2);
    if (input_byte(of->in) % 2 == 0)
        memcpy(pointers + 2 * other, kept, 2);
}

/* The page keeps its place for it; the tree counts one less. */
static void remove_node(change *of)
{
    hf__page page;
    uint32_t index;
    hf__node node;
    unsigned char *at;
    uint16_t lower;
    uint64_t entries;

    if (!take_node(of, &page, &index, &node) || page.count < 2)
        return;
    at = writable(page.bytes);
    memmove(at + HF__PAGE_HEAD + 2 * index,
            at + HF__PAGE_HEAD + 2 * (index + 1),
            2 * (size_t)(page.count - index - 1));
    memcpy(&lower, at + 12, sizeof(lower));
    lower = (uint16_t)(lower - 2);
    memcpy(at + 12, &lower, sizeof(lower));
    at = newer_meta(of->data) + META_ENTRIES;
    memcpy(&entries, at, sizeof(entries));
    entries--;
    memcpy(at, &entries, sizeof(entries));
}

/* ------------------------------------------------------------------ pages */

static void change_page_head(change *of)
{
    unsigned char *page = take_page(of);

    put_number(of, page + 2 * input_below(of->in, HF__PAGE_HEAD / 2), 2);
}

static void change_byte(change *of)
{
    unsigned char *page = take_page(of);

    page[input_short(of->in) % PAGE] ^= input_byte(of->in);
}

/* Another page, with the number of this one or its own. */
static void replace_page(change *of)
{
    unsigned char *page = take_page(of);
    const unsigned char *other = take_page(of);
    unsigned char number[8];

    memcpy(number, page, sizeof(number));
    memmove(page, other, PAGE);
    if (input_byte(of->in) % 2 == 0)
        memcpy(page, number, sizeof(number));
}

/* As it was some writes before. */
static void age_page(change *of)
{
    unsigned char *page = take_page(of);
    size_t at = (size_t)(page - of->data->data);

    if (at + PAGE <= of->from->older.size)
        memcpy(page, of->from->older.data + at, PAGE);
}

static void change_meta(change *of)
{
    unsigned char *meta = newer_meta(of->data);
    size_t at = META_FIRST + 2 * input_below(of->in, 56);

    put_number(of, meta + at, at + 8 <= META_LAST && at % 8 == 0 ? 8 : 2);
}

static void change_size(change *of)
{
    size_t size = page_count(of->data) * PAGE;
    uint8_t choice = input_byte(of->in);

    if (choice < 64)
        size += choice * (size_t)PAGE;
    else
        size -= input_short(of->in) % size;
    if (size > 0)
        bytes_resize(of->data, size);
}

void page_changes_apply(input *in, bytes *data, const sources *from)
{
    static void (*const kinds[])(change *) = {
        change_node_head, change_key,  change_value,     change_value,
        move_node,        remove_node, change_page_head, change_byte,
        replace_page,     age_page,    change_meta,      change_size,
    };
    change of = {in, data, from};

    for (int i = 0; i < CHANGES_MAX && input_left(in) > 0; i++) {
        if (page_count(data) > 0)
            kinds[input_below(in, sizeof(kinds) / sizeof(kinds[0]))](&of);
    }
}

/* -------------------------------------------------------------- checksums */

/* Of a key's record whose value is in one piece; NULL: it is cut off. */
static unsigned char *value_of(const bytes *data, const hf__node *node)
{
    size_t at;

    if (node->value != NULL)
        return writable(node->value);
    if (node->child >= page_count(data))
        return NULL;
    at = node->child * PAGE + HF__PAGE_HEAD;
    return node->value_size <= data->size - at ? data->data + at : NULL;
}

/* A longer one is summed in parts, each from the sum before it. */
static void sum_node(const bytes *data, const hf__node *node)
{
    unsigned char *value = value_of(data, node);
    uint16_t sum;

    if (node->key.size == 0 || value == NULL ||
        *(const unsigned char *)node->key.data != HF__RECORD_KEY ||
        node->value_size < HF__KEYHEAD_SIZE || node->value_size > HF__SUM_PART)
        return;
    sum = hf__sum_fold(hf__keyhead_sum(node->key, value, node->value_size));
    memcpy(value + HF__KEYHEAD_SUM_AT, &sum, sizeof(sum));
}

void page_changes_sum(bytes *data)
{
    for (size_t number = 2; number < page_count(data); number++) {
        hf__finding found;
        hf__page page;
        hf__node node;

        if (!hf__page_open(data->data + number * PAGE, PAGE, number, &page,
                           &found) ||
            !page.leaf)
            continue;
        for (uint32_t i = 0; i < page.count; i++) {
            if (hf__page_node(&page, i, &node))
                sum_node(data, &node);
        }
    }
}
