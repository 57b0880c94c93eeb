/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_pages.c - which pages of an LMDB file are in use, and for
 * what: damage elsewhere would have no effect.
 */
#include <stdlib.h>
#include <string.h>

#include "embedded_damage.h"

/* Offsets in a meta page, in a page, in an entry of a page. */
#define ROOT_FREE 80u
#define ROOT_DATA 128u
#define ROOT_LAST_PAGE 136u
#define ROOT_TRANSACTION 144u
#define PAGE_FLAGS 10u
#define PAGE_LOWER 12u
#define PAGE_HEAD 16u
#define ENTRY_FLAGS 4u
#define ENTRY_KEY_SIZE 6u
#define ENTRY_HEAD 8u

#define FLAG_BRANCH 0x01u
#define ENTRY_LARGE 0x01u

static uint64_t number(const unsigned char *at, size_t size)
{
    uint64_t value = 0;

    memcpy(&value, at, size);
    return value;
}

static void add(sources *self, page_kind kind, size_t offset)
{
    const page_kind lists[2] = {kind, PAGE_ANY};

    for (size_t i = 0; i < 2; i++) {
        page_list *to = &self->pages[lists[i]];
        size_t *grown = realloc(to->at, (to->count + 1) * sizeof(to->at[0]));

        if (grown == NULL)
            abort();
        to->at = grown;
        to->at[to->count++] = offset;
    }
}

static void walk(sources *self, const bytes *data, uint64_t page);

static void walk_entry(sources *self, const bytes *data, bool branch,
                       const unsigned char *entry)
{
    uint64_t size = number(entry, 4);
    size_t pages = (size + PAGE_HEAD + PAGE - 1) / PAGE;
    uint64_t first;

    if (branch) {
        walk(self, data, number(entry, 6));
        return;
    }
    if ((number(entry + ENTRY_FLAGS, 2) & ENTRY_LARGE) == 0)
        return;
    first = number(entry + ENTRY_HEAD + number(entry + ENTRY_KEY_SIZE, 2), 8);
    for (size_t i = 0; i < pages; i++)
        add(self, PAGE_LARGE, (first + i) * PAGE);
}

static void walk(sources *self, const bytes *data, uint64_t page)
{
    const unsigned char *at = data->data + page * PAGE;
    bool branch;
    size_t count;

    if (page == UINT64_MAX) /* an empty tree */
        return;
    branch = (number(at + PAGE_FLAGS, 2) & FLAG_BRANCH) != 0;
    count = (number(at + PAGE_LOWER, 2) - PAGE_HEAD) / 2;
    add(self, branch ? PAGE_BRANCH : PAGE_LEAF, page * PAGE);
    for (size_t i = 0; i < count; i++)
        walk_entry(self, data, branch, at + number(at + PAGE_HEAD + 2 * i, 2));
}

void sources_walk(sources *self, const bytes *data)
{
    const unsigned char *root = data->data;

    if (number(root + PAGE + ROOT_TRANSACTION, 8) >
        number(root + ROOT_TRANSACTION, 8))
        root += PAGE;
    self->last_page = number(root + ROOT_LAST_PAGE, 8);
    walk(self, data, number(root + ROOT_FREE, 8));
    walk(self, data, number(root + ROOT_DATA, 8));
}
