/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fsck_counts.c - checks that each count of a sorted set is the sum of the
 * records below it (keys/counts.c).
 *
 * Counts come before the order, so they are kept, as a list in their order. The
 * parent of a record is the last count of the level above that is not behind
 * it: the children are read in order, too, so it moves forward only.
 */
#include <string.h>

#include "engine/files/format.h"
#include "engine/files/keyhead.h"
#include "engine/fsck/fsck.h"
#include "engine/keys/packed.h"

#define PREFIX_SIZE 9u /* keyid, level */
#define LIST_FIRST 65536u

typedef struct kept_count {
    hf__count count;
    hf__count left; /* less the children seen */
    size_t size;
    unsigned char name[]; /* keyid, level, position */
} kept_count;

struct hf__kept_counts {
    size_t map_size; /* bytes of this struct */
    size_t used;     /* of `bytes` */
    size_t parent;   /* of the last record of an order */
    _Alignas(kept_count) unsigned char bytes[];
};

static kept_count *kept_at(struct hf__kept_counts *list, size_t offset)
{
    return (kept_count *)(void *)(list->bytes + offset);
}

static size_t entry_size(size_t name_size)
{
    size_t unit = _Alignof(kept_count);

    return (sizeof(kept_count) + name_size + unit - 1) / unit * unit;
}

/* NULL: no memory. */
static struct hf__kept_counts *make_room(hf__fsck *fsck, size_t size)
{
    struct hf__kept_counts *old = fsck->counts;
    size_t used = old != NULL ? sizeof(*old) + old->used : sizeof(*old);
    size_t map_size = old != NULL ? old->map_size : LIST_FIRST / 2;
    struct hf__kept_counts *list;

    if (old != NULL && map_size - used >= size)
        return old;
    list = hf__fsck_map(fsck, 2 * map_size);
    if (list == NULL)
        return NULL;
    if (old != NULL)
        memcpy(list, old, used);
    list->map_size = 2 * map_size;
    hf__fsck_counts_drop(fsck);
    fsck->counts = list;
    return list;
}

void hf__fsck_counts_add(hf__fsck *fsck, hf_bytes name, hf__count count)
{
    size_t size = entry_size(name.size);
    struct hf__kept_counts *list = make_room(fsck, size);
    kept_count *added;

    if (list == NULL)
        return;
    added = kept_at(list, list->used);
    added->count = added->left = count;
    added->size = name.size;
    memcpy(added->name, name.data, name.size);
    list->used += size;
}

static hf_bytes name_of(const kept_count *one)
{
    return hf_view(one->name, one->size);
}

/* A record of the level below; `name`: what its parent's would be, were it the
 * first child. */
static void take_child(struct hf__kept_counts *list, size_t *parent,
                       hf_bytes name, uint64_t members)
{
    size_t next = *parent + entry_size(kept_at(list, *parent)->size);

    while (next < list->used &&
           hf__bytes_compare(name_of(kept_at(list, next)), name) <= 0) {
        *parent = next;
        next += entry_size(kept_at(list, next)->size);
    }
    if (memcmp(kept_at(list, *parent)->name, name.data, PREFIX_SIZE) != 0)
        return;
    kept_at(list, *parent)->left.members -= members;
    kept_at(list, *parent)->left.children--;
}

void hf__fsck_counts_order(hf__fsck *fsck, uint64_t keyid, hf_bytes position)
{
    unsigned char name[PREFIX_SIZE + HF__LMDB_KEY_MAX];

    if (fsck->counts == NULL)
        return;
    hf__put_be64(name, keyid);
    name[PREFIX_SIZE - 1] = 1;
    memcpy(name + PREFIX_SIZE, position.data, position.size);
    take_child(fsck->counts, &fsck->counts->parent,
               hf_view(name, PREFIX_SIZE + position.size), 1);
}

/* The counts, as children of those of the level above. */
static void take_counts(struct hf__kept_counts *list)
{
    unsigned char name[PREFIX_SIZE + HF__LMDB_KEY_MAX];
    size_t parent = 0;
    const kept_count *one;

    for (size_t i = 0; i < list->used; i += entry_size(one->size)) {
        one = kept_at(list, i);
        memcpy(name, one->name, one->size);
        name[PREFIX_SIZE - 1]++;
        take_child(list, &parent, hf_view(name, one->size), one->count.members);
    }
}

void hf__fsck_counts_end(hf__fsck *fsck,
                         void (*wrong)(hf__fsck *fsck, uint64_t keyid))
{
    struct hf__kept_counts *list = fsck->counts;
    const kept_count *one;

    if (list == NULL)
        return;
    take_counts(list);
    for (size_t i = 0; i < list->used; i += entry_size(one->size)) {
        one = kept_at(list, i);
        if (one->left.members != 0 || one->left.children != 0)
            wrong(fsck, hf__get_be64(one->name));
    }
}

void hf__fsck_counts_drop(hf__fsck *fsck)
{
    if (fsck->counts != NULL)
        hf__fsck_unmap(fsck->counts, fsck->counts->map_size);
    fsck->counts = NULL;
}
