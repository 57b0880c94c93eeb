/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.c - LMDB's file format: meta pages, pages, items.
 *
 * A page is a head of 16 bytes (number 8, unused 2, kind 2, end of the table
 * 2, start of the items 2), the table of the items' places (2 each), and the
 * items, which fill the page from its end without gaps. An item is a head of 8
 * bytes (size of the value or number of the child 6, size of the key 2, where
 * the upper 2 of the former 6 are flags in a leaf), the key, and in a leaf the
 * value or the number of its first page.
 */
#include "engine/files/pages.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define LMDB_VERSION 1u
#define NODE_HEAD 8u
#define NODE_LARGE 0x01u
/* Interrupted reads are repeated up to this often. */
#define INTERRUPTED_MAX 100

/* Offsets in a meta page. */
enum {
    AT_NUMBER = 0,
    AT_KIND = 10,
    AT_LOWER = 12,
    AT_UPPER = 14,
    AT_MAGIC = 16,
    AT_VERSION = 20,
    AT_TREES = 40,
    TREE_SIZE = 48,
    AT_LAST_PAGE = 136,
    META_SIZE = HF__META_AT_TRANSACTION + 8
};

static uint16_t read_u16(const unsigned char *at)
{
    uint16_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint32_t read_u32(const unsigned char *at)
{
    uint32_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static uint64_t read_u64(const unsigned char *at)
{
    uint64_t value;

    memcpy(&value, at, sizeof(value));
    return value;
}

static bool fail_page(hf__finding *found, hf__finding_code code, uint64_t page,
                      uint64_t a, uint64_t b)
{
    memset(found, 0, sizeof(*found));
    found->code = code;
    found->page = page;
    found->a = a;
    found->b = b;
    return false;
}

bool hf__pages_read(int fd, void *to, size_t size, uint64_t offset)
{
    unsigned char *at = to;
    int interrupted = 0;

    while (size > 0 && interrupted < INTERRUPTED_MAX) {
        ssize_t got = pread(fd, at, size, (off_t)offset);

        if (got == 0 || (got < 0 && errno != EINTR))
            return false;
        if (got < 0) {
            interrupted++;
            continue;
        }
        at += got;
        size -= (size_t)got;
        offset += (uint64_t)got;
    }
    return size == 0;
}

/* ------------------------------------------------------------------ heads */

static void read_tree(const unsigned char *at, hf__tree *tree)
{
    tree->unused = read_u32(at);
    tree->flags = read_u16(at + 4);
    tree->depth = read_u16(at + 6);
    tree->branch_pages = read_u64(at + 8);
    tree->leaf_pages = read_u64(at + 16);
    tree->large_pages = read_u64(at + 24);
    tree->entries = read_u64(at + 32);
    tree->root = read_u64(at + 40);
}

/* false: not a meta page of LMDB 0.9. */
static bool read_meta(int fd, uint32_t index, uint64_t offset, hf__meta *meta)
{
    unsigned char bytes[META_SIZE];

    if (!hf__pages_read(fd, bytes, sizeof(bytes), offset) ||
        read_u64(bytes + AT_NUMBER) != index ||
        read_u16(bytes + AT_KIND) != HF__PAGE_META ||
        read_u32(bytes + AT_MAGIC) != HF__LMDB_MAGIC ||
        read_u32(bytes + AT_VERSION) != LMDB_VERSION)
        return false;
    for (size_t i = 0; i < 2; i++)
        read_tree(bytes + AT_TREES + i * TREE_SIZE, &meta->trees[i]);
    meta->index = index;
    meta->page_size = meta->trees[HF__TREE_FREE].unused;
    meta->last_page = read_u64(bytes + AT_LAST_PAGE);
    meta->transaction = read_u64(bytes + HF__META_AT_TRANSACTION);
    return true;
}

static bool is_tree_sane(const hf__meta *meta, const hf__tree *tree)
{
    if (tree->root == HF__NO_PAGE)
        return tree->depth == 0 && tree->entries == 0;
    return tree->root >= 2 && tree->root <= meta->last_page &&
           tree->depth > 0 && tree->depth <= HF__DEPTH_MAX;
}

static bool is_meta_sane(const hf__meta *meta)
{
    const hf__tree *data = &meta->trees[HF__TREE_DATA];

    return meta->trees[HF__TREE_FREE].flags == HF__TREE_FREE_FLAGS &&
           data->flags == 0 && data->unused == 0 && is_tree_sane(meta, data) &&
           is_tree_sane(meta, &meta->trees[HF__TREE_FREE]);
}

static bool is_page_size(uint32_t size)
{
    return size >= HF__PAGE_SIZE_MIN && size <= HF__PAGE_SIZE_MAX &&
           (size & (size - 1)) == 0;
}

bool hf__pages_meta(int fd, uint64_t file_size, hf__meta *meta,
                    hf__finding *found)
{
    hf__meta heads[2];
    uint64_t first, second;

    if (!read_meta(fd, 0, 0, &heads[0]))
        return fail_page(found, HF__FOUND_FOREIGN, 0, 0, 0);
    if (!is_page_size(heads[0].page_size))
        return fail_page(found, HF__FOUND_META, 0, 0, 0);
    if (file_size < 2 * (uint64_t)heads[0].page_size)
        return fail_page(found, HF__FOUND_CUT, 0, file_size,
                         2 * (uint64_t)heads[0].page_size);
    if (!read_meta(fd, 1, heads[0].page_size, &heads[1]) ||
        heads[1].page_size != heads[0].page_size)
        return fail_page(found, HF__FOUND_META, 1, 0, 0);
    first = heads[0].transaction;
    second = heads[1].transaction;
    /* Transactions alternate between the two. In a new file both have
     * number 0. */
    if (!(first == 0 && second == 0) &&
        (first % 2 != 0 || (second != first + 1 && first != second + 1)))
        return fail_page(found, HF__FOUND_META_ORDER, 0, first, second);
    *meta = heads[second > first ? 1 : 0];
    if (meta->last_page < 1 || !is_meta_sane(meta))
        return fail_page(found, HF__FOUND_META, meta->index, 0, 0);
    if (meta->last_page >= file_size / meta->page_size)
        return fail_page(found, HF__FOUND_CUT, 0, file_size,
                         meta->last_page >= UINT64_MAX / meta->page_size
                             ? UINT64_MAX
                             : (meta->last_page + 1) * meta->page_size);
    return true;
}

/* ------------------------------------------------------------------ pages */

bool hf__page_open(const unsigned char *bytes, uint32_t size, uint64_t number,
                   hf__page *page, hf__finding *found)
{
    uint16_t kind = read_u16(bytes + AT_KIND);
    uint32_t lower = read_u16(bytes + AT_LOWER);
    uint32_t upper = read_u16(bytes + AT_UPPER);

    if (read_u64(bytes + AT_NUMBER) != number)
        return fail_page(found, HF__FOUND_PAGE_HEAD, number, 0, 0);
    if (kind != HF__PAGE_BRANCH && kind != HF__PAGE_LEAF)
        return fail_page(found, HF__FOUND_PAGE_KIND, number, kind,
                         HF__PAGE_LEAF);
    if (upper == 0 && size == HF__PAGE_SIZE_MAX)
        upper = size; /* does not fit into its 16 bits */
    if (lower < HF__PAGE_HEAD + 2 || lower % 2 != 0 || lower > upper ||
        upper > size)
        return fail_page(found, HF__FOUND_PAGE_ROOM, number, 0, 0);
    page->bytes = bytes;
    page->size = size;
    page->count = (lower - HF__PAGE_HEAD) / 2;
    page->leaf = kind == HF__PAGE_LEAF;
    return true;
}

/* Bytes of the item with its head; 0: damaged. */
static size_t node_size(const hf__page *page, const unsigned char *at)
{
    size_t size = NODE_HEAD + read_u16(at + 6);
    uint16_t flags = read_u16(at + 4);

    if (!page->leaf)
        return size;
    if (flags != 0 && flags != NODE_LARGE)
        return 0;
    return size + (flags == NODE_LARGE ? sizeof(uint64_t) : read_u32(at));
}

bool hf__page_node(const hf__page *page, uint32_t index, hf__node *node)
{
    uint32_t place = read_u16(page->bytes + HF__PAGE_HEAD + 2 * (size_t)index);
    const unsigned char *at = page->bytes + place;
    size_t size, key_size;

    memset(node, 0, sizeof(*node));
    if (place % 2 != 0 || place < HF__PAGE_HEAD + 2 * (size_t)page->count ||
        place > page->size - NODE_HEAD)
        return false;
    size = node_size(page, at);
    if (size == 0 || size > page->size - place)
        return false;
    key_size = read_u16(at + 6);
    node->key = hf_view(at + NODE_HEAD, key_size);
    at += NODE_HEAD + key_size;
    if (!page->leaf) {
        at -= NODE_HEAD + key_size;
        node->child = read_u32(at) | (uint64_t)read_u16(at + 4) << 32;
        return true;
    }
    node->large = size == NODE_HEAD + key_size + sizeof(uint64_t) &&
                  (read_u16(at - NODE_HEAD - key_size + 4) & NODE_LARGE) != 0;
    node->value_size = read_u32(at - NODE_HEAD - key_size);
    if (node->large)
        node->child = read_u64(at);
    else
        node->value = at;
    return true;
}

bool hf__page_is_full(const hf__page *page, uint64_t *taken, uint64_t *room)
{
    uint32_t upper = read_u16(page->bytes + AT_UPPER);
    uint64_t sum = 0;

    if (upper == 0)
        upper = page->size;
    for (uint32_t i = 0; i < page->count; i++) {
        uint32_t place = read_u16(page->bytes + HF__PAGE_HEAD + 2 * (size_t)i);

        if (place < upper)
            return false;
        sum += (node_size(page, page->bytes + place) + 1) & ~(uint64_t)1;
    }
    *taken = sum;
    *room = page->size - upper;
    return sum == page->size - upper;
}

uint64_t hf__pages_of_value(uint64_t size, uint32_t page_size)
{
    return (HF__PAGE_HEAD - 1 + size) / page_size + 1;
}

int hf__pages_compare(hf_bytes a, hf_bytes b)
{
    size_t shared = a.size < b.size ? a.size : b.size;
    int order = shared > 0 ? memcmp(a.data, b.data, shared) : 0;

    if (order != 0)
        return order;
    return a.size < b.size ? -1 : a.size > b.size ? 1 : 0;
}

/* ------------------------------------------------------------- one value */

/* The item for `key`: in a branch the last one that is not greater; in a leaf
 * the key itself. false: not found, or *damaged. */
static bool find_node(const hf__page *page, hf_bytes key, hf__node *node,
                      bool *damaged)
{
    *damaged = false;
    for (uint32_t i = page->count; i-- > 0;) {
        int order;

        if (!hf__page_node(page, i, node)) {
            *damaged = true;
            return false;
        }
        order = i == 0 && !page->leaf ? -1 : hf__pages_compare(node->key, key);
        if (order == 0 || (order < 0 && !page->leaf))
            return true;
    }
    return false;
}

bool hf__pages_get(int fd, const hf__meta *meta, hf_bytes key, void *to,
                   size_t room, size_t *size, unsigned char *memory,
                   hf__finding *found)
{
    uint64_t number = meta->trees[HF__TREE_DATA].root;
    hf__page page;
    hf__node node;
    bool damaged;

    memset(found, 0, sizeof(*found));
    for (uint32_t depth = 0; number != HF__NO_PAGE; depth++) {
        if (depth >= HF__DEPTH_MAX || number < 2 || number > meta->last_page ||
            !hf__pages_read(fd, memory, meta->page_size,
                            number * meta->page_size))
            return fail_page(found, HF__FOUND_PAGE_RANGE, number, number,
                             meta->last_page);
        if (!hf__page_open(memory, meta->page_size, number, &page, found))
            return false;
        if (!find_node(&page, key, &node, &damaged))
            return damaged &&
                   fail_page(found, HF__FOUND_PAGE_NODE, number, 0, 0);
        if (page.leaf) {
            *size = node.value_size;
            if (node.value != NULL)
                memcpy(to, node.value,
                       node.value_size < room ? node.value_size : room);
            return !node.large;
        }
        number = node.child;
    }
    return false;
}
