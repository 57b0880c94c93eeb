/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pages.h - an LMDB file read page by page, trusting nothing in it.
 *
 * LMDB maps its file and trusts it. What checks a file before LMDB opens it
 * reads it here, by pread(), and every number is checked before it is used. The
 * layout is that of LMDB 0.9 (data format 1) on 64-bit machines.
 *
 * Nothing here allocates, locks or prints, so it may run in a child forked
 * while other threads were running.
 */
#ifndef HF__ENGINE_PAGES_H
#define HF__ENGINE_PAGES_H

#include "engine/files/finding.h"
#include "holdfast/base.h"

#define HF__PAGE_SIZE_MIN 512u
#define HF__PAGE_SIZE_MAX 65536u
#define HF__PAGE_HEAD 16u
#define HF__NO_PAGE UINT64_MAX
/* LMDB's own limits: the height of a tree, the bytes of a key. */
#define HF__DEPTH_MAX 32u

enum { HF__TREE_FREE = 0, HF__TREE_DATA = 1 };

/* Kinds of pages, as stored in the head. */
enum {
    HF__PAGE_BRANCH = 0x01,
    HF__PAGE_LEAF = 0x02,
    HF__PAGE_LARGE = 0x04, /* first page of a large value */
    HF__PAGE_META = 0x08
};

typedef struct hf__tree {
    uint32_t unused; /* the page's size in the first tree, 0 in the other */
    uint16_t flags;
    uint16_t depth;
    uint64_t branch_pages;
    uint64_t leaf_pages;
    uint64_t large_pages;
    uint64_t entries;
    uint64_t root; /* HF__NO_PAGE: empty */
} hf__tree;

/* The newer of the two meta pages. */
typedef struct hf__meta {
    uint32_t page_size;
    uint32_t index; /* 0 or 1: its page */
    hf__tree trees[2];
    uint64_t last_page;
    uint64_t transaction;
} hf__meta;

/* In a meta page, and at the beginning of LMDB's lock file. */
#define HF__LMDB_MAGIC 0xbeefc0deu
/* Offsets in a meta page: the page's size, the flags of the tree of free pages,
 * the root of the data, and the number of the transaction. */
#define HF__META_AT_PAGE_SIZE 40
#define HF__META_AT_FLAGS 44
#define HF__META_AT_ROOT 128
#define HF__META_AT_TRANSACTION 144
/* Keys of that tree are numbers; we use no other flag. */
#define HF__TREE_FREE_FLAGS 0x08u

/* false: `found` says why the file cannot be used at all. */
bool hf__pages_meta(int fd, uint64_t file_size, hf__meta *meta,
                    hf__finding *found);

/* Read `size` bytes; false: I/O error, or the file is shorter. */
bool hf__pages_read(int fd, void *to, size_t size, uint64_t offset);

/* A branch or leaf page in memory. */
typedef struct hf__page {
    const unsigned char *bytes;
    uint32_t size;
    uint32_t count; /* items */
    bool leaf;
} hf__page;

/* One item of it. */
typedef struct hf__node {
    hf_bytes key;
    uint64_t child;             /* of a branch; first page of a large value */
    bool large;                 /* the value is elsewhere */
    size_t value_size;          /* of a leaf's value */
    const unsigned char *value; /* NULL if it is elsewhere */
} hf__node;

/* Check the bytes of page `number`. false: see `found`. */
bool hf__page_open(const unsigned char *bytes, uint32_t size, uint64_t number,
                   hf__page *page, hf__finding *found);
/* Item `index` < page->count; false: it does not lie within the page. */
bool hf__page_node(const hf__page *page, uint32_t index, hf__node *node);
/* Do the items fill the page without gaps or overlaps? */
bool hf__page_is_full(const hf__page *page, uint64_t *taken, uint64_t *room);

/* Pages of a large value. */
uint64_t hf__pages_of_value(uint64_t size, uint32_t page_size);

/* By bytes, the shorter first: the order of all keys of the data. */
int hf__pages_compare(hf_bytes a, hf_bytes b);

/*
 * Copy the value of a key from the data's tree, at most `room` bytes; *size is
 * its whole size. false: not found (found->code NONE) or the tree is damaged.
 * `memory` has room for one page.
 */
bool hf__pages_get(int fd, const hf__meta *meta, hf_bytes key, void *to,
                   size_t room, size_t *size, unsigned char *memory,
                   hf__finding *found);

#endif
