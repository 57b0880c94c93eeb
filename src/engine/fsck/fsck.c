/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck.c - checks every page of a data file, tree by tree.
 *
 *  1. The data's tree: each page in range, used once, of its kind, at its
 *     height; each item within its page; all keys in ascending order across
 *     pages; large values on pages of their own. Each record goes to
 *     fsck_records.c.
 *  2. The tree of free pages: the same, and each page that it lists is in range
 *     and listed once.
 *  3. Used and free pages together are all pages; the counts in the meta page
 *     are right; the records fit together.
 *
 * A page that cannot be read is reported and skipped with all below it; what is
 * then missing is not reported again.
 *
 * If the caller wants to keep what is intact, 2. and 3. are replaced by a
 * second walk over the data's tree, after the records were compared.
 */
#include "engine/fsck/fsck.h"

#include <string.h>

#include "engine/files/format.h"
#include "engine/files/header.h"
#include "engine/files/sum.h"

/* Pages between calls of keep_going(): some tenth of a millisecond. */
#define ASK_PAGES 256u

typedef struct level {
    hf__page page;
    uint64_t number;
    uint32_t next; /* the next item */
    unsigned char *bytes;
} level;

struct hf__fsck_memory {
    size_t size; /* of all of this */
    uint64_t *used;
    uint64_t *free;
    uint64_t free_count;
    unsigned char *held;

    /* Of the tree being walked. */
    size_t which;
    hf__tree counted;
    size_t previous_size; /* of the last leaf's key; SIZE_MAX: none yet */
    size_t floor_size;    /* the least allowed size of the next key */
    unsigned char previous[HF__LMDB_KEY_MAX + 1];
    unsigned char floor[HF__LMDB_KEY_MAX + 1];
    level levels[HF__DEPTH_MAX];
};

static void report_page(hf__fsck *fsck, hf__finding_code code, uint64_t page,
                        uint64_t a, uint64_t b)
{
    hf__fsck_report(fsck, code, page, hf_view(NULL, 0), a, b);
}

/* The same if the pages below are skipped. */
static bool report_broken(hf__fsck *fsck, hf__finding_code code, uint64_t page,
                          uint64_t a, uint64_t b)
{
    report_page(fsck, code, page, a, b);
    fsck->broken = true;
    return false;
}

/* ----------------------------------------------------------------- memory */

static bool allocate_memory(hf__fsck *fsck)
{
    size_t page_size = fsck->meta.page_size;
    size_t words = (size_t)(fsck->meta.last_page / 64 + 1);
    size_t size = sizeof(struct hf__fsck_memory) + 2 * 8 * words +
                  HF__DEPTH_MAX * page_size + HF__FSCK_HELD + HF__SUM_PART;
    struct hf__fsck_memory *memory = hf__fsck_map(fsck, size);
    unsigned char *at = (unsigned char *)(memory + 1);

    if (memory == NULL)
        return false;
    memory->size = size;
    memory->used = (uint64_t *)(void *)at;
    memory->free = memory->used + words;
    at += 2 * 8 * words;
    memory->held = at;
    at += HF__FSCK_HELD;
    fsck->scratch = at;
    at += HF__SUM_PART;
    for (size_t i = 0; i < HF__DEPTH_MAX; i++, at += page_size)
        memory->levels[i].bytes = at;
    memory->used[0] = 3; /* the meta pages */
    fsck->memory = memory;
    return true;
}

static void release_memory(hf__fsck *fsck)
{
    if (fsck->memory == NULL)
        return;
    hf__fsck_drop_keys(fsck);
    hf__fsck_unmap(fsck->memory, fsck->memory->size);
    fsck->memory = NULL;
}

/* ---------------------------------------------------------------- reading */

static bool is_over(const hf__fsck *fsck)
{
    return fsck->stopped || fsck->failed || fsck->no_memory;
}

static void count_pages(hf__fsck *fsck, uint64_t count)
{
    uint64_t before = fsck->pages_done / ASK_PAGES;

    fsck->pages_done += count;
    if (fsck->keep_going != NULL && fsck->pages_done / ASK_PAGES != before &&
        !fsck->keep_going(fsck, fsck->pages_done, fsck->meta.last_page + 1))
        fsck->stopped = true;
}

/* Mark pages as used. false: reported. */
static bool use_pages(hf__fsck *fsck, uint64_t from, uint64_t number,
                      uint64_t count)
{
    uint64_t last = fsck->meta.last_page;
    uint64_t *used = fsck->memory->used;

    if (number < 2 || number > last || count > last - number + 1)
        return report_broken(fsck, HF__FOUND_PAGE_RANGE, from, number, last);
    for (uint64_t i = number; i < number + count; i++) {
        if (used[i / 64] >> i % 64 & 1)
            return report_broken(fsck, HF__FOUND_PAGE_TWICE, from, i, 0);
    }
    for (uint64_t i = number; i < number + count; i++)
        used[i / 64] |= UINT64_C(1) << i % 64;
    return true;
}

/* ----------------------------------------------------------- large values */

/* The pages of a large value; false: reported. There may be more than needed:
 * LMDB overwrites a longer value of the same transaction in place. */
static bool take_large(hf__fsck *fsck, uint64_t from, const hf__node *node)
{
    uint32_t page_size = fsck->meta.page_size;
    uint64_t count = hf__pages_of_value(node->value_size, page_size);
    unsigned char head[HF__PAGE_HEAD];
    uint16_t kind;
    uint32_t pages;
    uint64_t number;

    if (!use_pages(fsck, from, node->child, count) ||
        !hf__fsck_read(fsck, head, sizeof(head), node->child * page_size))
        return false;
    memcpy(&number, head, sizeof(number));
    memcpy(&kind, head + 10, sizeof(kind));
    memcpy(&pages, head + 12, sizeof(pages));
    if (number != node->child || kind != HF__PAGE_LARGE || pages < count)
        return report_broken(fsck, HF__FOUND_PAGE_LARGE, node->child, 0, 0);
    if (pages > count &&
        !use_pages(fsck, from, node->child + count, pages - count))
        return false;
    fsck->memory->counted.large_pages += pages;
    count_pages(fsck, pages);
    return true;
}

/* ------------------------------------------------------------- free pages */

static bool take_free_page(hf__fsck *fsck, uint64_t from, uint64_t number)
{
    struct hf__fsck_memory *memory = fsck->memory;
    uint64_t bit = UINT64_C(1) << number % 64;

    if (number < 2 || number > fsck->meta.last_page)
        return report_broken(fsck, HF__FOUND_FREE_RANGE, from, number,
                             fsck->meta.last_page);
    if (memory->free[number / 64] & bit)
        return report_broken(fsck, HF__FOUND_FREE_TWICE, from, number, 0);
    memory->free[number / 64] |= bit;
    memory->free_count++;
    return true;
}

/* A list of free pages: their number, then the pages in descending order. Read
 * in parts, as it can be long. */
static void take_free_list(hf__fsck *fsck, const hf__item *item)
{
    uint64_t *part = (uint64_t *)(void *)fsck->scratch;
    uint64_t before = UINT64_MAX;
    uint64_t transaction, count;
    size_t done = 8;

    memcpy(&transaction, item->key.data, sizeof(transaction));
    if (item->value_size < 8 || item->value_size % 8 != 0 ||
        transaction > fsck->meta.transaction) {
        (void)report_broken(fsck, HF__FOUND_FREE_LIST, item->page, transaction,
                            0);
        return;
    }
    memcpy(&count, item->value, sizeof(count));
    if (count > item->value_size / 8 - 1) {
        (void)report_broken(fsck, HF__FOUND_FREE_LIST, item->page, transaction,
                            0);
        return;
    }
    while (count > 0) {
        size_t size =
            count < HF__SUM_PART / 8 ? (size_t)count * 8 : (size_t)HF__SUM_PART;

        if (item->value_page == 0)
            memcpy(part, item->value + done, size);
        else if (!hf__fsck_value(fsck, item, done, part, size))
            return;
        for (size_t i = 0; i < size / 8; i++) {
            if (part[i] >= before) {
                (void)report_broken(fsck, HF__FOUND_FREE_LIST, item->page,
                                    transaction, 0);
                return;
            }
            before = part[i];
            if (!take_free_page(fsck, item->page, before))
                return;
        }
        count -= size / 8;
        done += size;
    }
}

/* ------------------------------------------------------------------ pages */

static int compare_keys(const hf__fsck *fsck, hf_bytes a, hf_bytes b)
{
    uint64_t first, second;

    if (fsck->memory->which == HF__TREE_DATA)
        return hf__pages_compare(a, b);
    memcpy(&first, a.data, sizeof(first));
    memcpy(&second, b.data, sizeof(second));
    return first < second ? -1 : first > second ? 1 : 0;
}

static bool is_key_size(const hf__fsck *fsck, size_t size)
{
    if (fsck->memory->which == HF__TREE_FREE)
        return size == sizeof(uint64_t);
    return size >= 1 && size <= HF__LMDB_KEY_MAX;
}

/* Keys of leaves and branches must ascend; a leaf's key must not be less than
 * its branch's. */
static bool is_in_order(hf__fsck *fsck, const hf__page *page, hf_bytes key)
{
    struct hf__fsck_memory *memory = fsck->memory;

    if (memory->previous_size != SIZE_MAX &&
        compare_keys(fsck, key,
                     hf_view(memory->previous, memory->previous_size)) <= 0)
        return false;
    if (memory->floor_size != SIZE_MAX &&
        compare_keys(fsck, key, hf_view(memory->floor, memory->floor_size)) < 0)
        return false;
    if (page->leaf) {
        memcpy(memory->previous, key.data, key.size);
        memory->previous_size = key.size;
    } else {
        memcpy(memory->floor, key.data, key.size);
        memory->floor_size = key.size;
    }
    return true;
}

/* All items are within the page and fill it. */
static bool check_nodes(hf__fsck *fsck, const hf__page *page, uint64_t number)
{
    uint64_t taken = 0, room = 0;
    hf__node node;

    for (uint32_t i = 0; i < page->count; i++) {
        if (!hf__page_node(page, i, &node) ||
            (!is_key_size(fsck, node.key.size) && (page->leaf || i > 0)))
            return report_broken(fsck, HF__FOUND_PAGE_NODE, number, i, 0);
    }
    if (!hf__page_is_full(page, &taken, &room))
        return report_broken(fsck, HF__FOUND_PAGE_NODES, number, taken, room);
    /* While LMDB rebalances its own list, a branch may have one item. */
    if (!page->leaf && page->count < 2 && fsck->memory->which == HF__TREE_DATA)
        return report_broken(fsck, HF__FOUND_PAGE_ROOM, number, 0, 0);
    return true;
}

/* Read, check and count a page of the tree. false: reported. */
static bool open_page(hf__fsck *fsck, uint64_t from, uint64_t number,
                      uint32_t depth)
{
    struct hf__fsck_memory *memory = fsck->memory;
    bool leaf = depth + 1 == fsck->meta.trees[memory->which].depth;
    level *at = &memory->levels[depth];
    hf__finding found;

    if (!use_pages(fsck, from, number, 1) ||
        !hf__fsck_read(fsck, at->bytes, fsck->meta.page_size,
                       number * fsck->meta.page_size))
        return false;
    count_pages(fsck, 1);
    at->number = number;
    at->next = 0;
    if (!hf__page_open(at->bytes, fsck->meta.page_size, number, &at->page,
                       &found))
        return report_broken(fsck, (hf__finding_code)found.code, number,
                             found.a, found.b);
    if (at->page.leaf != leaf)
        return report_broken(fsck, HF__FOUND_PAGE_KIND, number,
                             at->page.leaf ? HF__PAGE_LEAF : HF__PAGE_BRANCH,
                             leaf ? HF__PAGE_LEAF : HF__PAGE_BRANCH);
    if (!check_nodes(fsck, &at->page, number))
        return false;
    memory->counted.branch_pages += leaf ? 0 : 1;
    memory->counted.leaf_pages += leaf ? 1 : 0;
    memory->counted.entries += leaf ? at->page.count : 0;
    return true;
}

/* One record, with the beginning of its value. */
static void take_item(hf__fsck *fsck, const level *at, uint32_t index,
                      const hf__node *node)
{
    struct hf__fsck_memory *memory = fsck->memory;
    hf__item item = {.page = at->number,
                     .index = index,
                     .key = node->key,
                     .value_size = node->value_size,
                     .value_held = node->value_size};

    if (node->large) {
        if (!take_large(fsck, at->number, node))
            return;
        item.value_page = node->child;
        if (item.value_held > HF__FSCK_HELD)
            item.value_held = HF__FSCK_HELD;
        item.value = memory->held;
        if (!hf__fsck_value(fsck, &item, 0, item.value, item.value_held))
            return;
    } else {
        item.value = at->bytes + (node->value - at->bytes);
    }
    if (memory->which == HF__TREE_FREE)
        take_free_list(fsck, &item);
    else if (fsck->again)
        hf__fsck_keep(fsck, &item);
    else
        hf__fsck_record(fsck, &item);
}

static void take_leaf(hf__fsck *fsck, const level *at)
{
    hf__node node;

    for (uint32_t i = 0; i < at->page.count && !is_over(fsck); i++) {
        (void)hf__page_node(&at->page, i, &node);
        if (!is_in_order(fsck, &at->page, node.key)) {
            hf__fsck_report(fsck, HF__FOUND_PAGE_ORDER, at->number, node.key, i,
                            0);
            fsck->broken = true;
            return;
        }
        take_item(fsck, at, i, &node);
    }
}

/* ------------------------------------------------------------------ trees */

/* Descend to the next child of the branch at `depth`; returns the new depth. */
static uint32_t step_down(hf__fsck *fsck, uint32_t depth)
{
    level *at = &fsck->memory->levels[depth];
    uint32_t index = at->next++;
    hf__node node;

    (void)hf__page_node(&at->page, index, &node);
    if (index > 0 && !is_in_order(fsck, &at->page, node.key)) {
        hf__fsck_report(fsck, HF__FOUND_PAGE_ORDER, at->number, node.key, index,
                        0);
        fsck->broken = true;
        return depth;
    }
    if (open_page(fsck, at->number, node.child, depth + 1))
        return depth + 1;
    return depth;
}

static void walk_tree(hf__fsck *fsck, size_t which)
{
    const hf__tree *tree = &fsck->meta.trees[which];
    struct hf__fsck_memory *memory = fsck->memory;
    uint32_t depth = 0;

    memory->which = which;
    memset(&memory->counted, 0, sizeof(memory->counted));
    memory->previous_size = SIZE_MAX;
    memory->floor_size = SIZE_MAX;
    if (tree->root == HF__NO_PAGE ||
        !open_page(fsck, fsck->meta.index, tree->root, 0))
        return;
    /* Terminates: each step takes one item, and no page is opened twice. */
    while (!is_over(fsck)) {
        level *at = &memory->levels[depth];

        if (at->page.leaf)
            take_leaf(fsck, at);
        if (!at->page.leaf && at->next < at->page.count) {
            depth = step_down(fsck, depth);
            continue;
        }
        if (depth == 0)
            break;
        depth--;
    }
}

static void compare_counts(hf__fsck *fsck, size_t which)
{
    const hf__tree *said = &fsck->meta.trees[which];
    const hf__tree *seen = &fsck->memory->counted;
    const struct {
        const char *name;
        uint64_t said;
        uint64_t seen;
    } rows[] = {
        {"branch pages", said->branch_pages, seen->branch_pages},
        {"leaf pages", said->leaf_pages, seen->leaf_pages},
        {"pages of large values", said->large_pages, seen->large_pages},
        {"records", said->entries, seen->entries},
    };

    if (fsck->broken || is_over(fsck))
        return;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        if (rows[i].said != rows[i].seen)
            hf__fsck_report(fsck, HF__FOUND_TREE_COUNT, fsck->meta.index,
                            hf_str(rows[i].name), rows[i].seen, rows[i].said);
    }
}

/* Each page must be either used or free. */
static void compare_pages(hf__fsck *fsck)
{
    const struct hf__fsck_memory *memory = fsck->memory;
    uint64_t last = fsck->meta.last_page;
    uint64_t lost = 0;

    for (uint64_t i = 0; i <= last; i++) {
        bool used = memory->used[i / 64] >> i % 64 & 1;
        bool is_free = memory->free[i / 64] >> i % 64 & 1;

        if (used && is_free) {
            report_page(fsck, HF__FOUND_FREE_USED, fsck->meta.index, i, 0);
            return;
        }
        lost += used || is_free ? 0 : 1;
    }
    if (lost > 0 && !fsck->broken)
        report_page(fsck, HF__FOUND_LOST_PAGES, 0, lost, 0);
}

/* ------------------------------------------------------------------- whole */

/* Checked first: a newer format has records that we do not know. Damaged pages
 * found here are reported by the walk. */
static hf_status check_header(hf__fsck *fsck)
{
    hf__header head;
    hf__finding found;

    if (hf__header_read(fsck->fd, &fsck->meta, fsck->scratch, &head, &found))
        return HF_OK;
    if (found.code == HF__FOUND_NOT_OURS || found.code == HF__FOUND_NEWER ||
        found.code == HF__FOUND_HEADER)
        report_page(fsck, (hf__finding_code)found.code, found.page, found.a,
                    found.b);
    return hf__finding_status(&found);
}

static hf_status status_of(const hf__fsck *fsck)
{
    if (fsck->no_memory)
        return HF_NO_MEMORY;
    if (fsck->failed)
        return HF_SYSTEM;
    if (fsck->stopped)
        return HF_TIMEOUT;
    return fsck->findings > 0 ? HF_CORRUPT : HF_OK;
}

static void check_all(hf__fsck *fsck)
{
    walk_tree(fsck, HF__TREE_DATA);
    compare_counts(fsck, HF__TREE_DATA);
    if (!fsck->broken && !is_over(fsck))
        hf__fsck_compare(fsck);
    walk_tree(fsck, HF__TREE_FREE);
    compare_counts(fsck, HF__TREE_FREE);
    if (!is_over(fsck))
        compare_pages(fsck);
}

/* Keys that miss elements on pages that cannot be read are not intact. */
static void keep_all(hf__fsck *fsck)
{
    struct hf__fsck_memory *memory = fsck->memory;

    walk_tree(fsck, HF__TREE_DATA);
    compare_counts(fsck, HF__TREE_DATA);
    if (is_over(fsck))
        return;
    hf__fsck_compare(fsck);
    memset(memory->used, 0, 8 * (size_t)(fsck->meta.last_page / 64 + 1));
    memory->used[0] = 3; /* the meta pages */
    fsck->again = true;
    walk_tree(fsck, HF__TREE_DATA);
}

hf_status hf__fsck_run(hf__fsck *fsck)
{
    hf_status status;

    if (!allocate_memory(fsck))
        return HF_NO_MEMORY;
    status = check_header(fsck);
    if (status != HF_INVALID && status != HF_UNSUPPORTED) {
        if (fsck->keep != NULL)
            keep_all(fsck);
        else
            check_all(fsck);
        status = status_of(fsck);
    }
    release_memory(fsck);
    return status;
}
