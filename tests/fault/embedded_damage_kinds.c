/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_damage_kinds.c - the ways in which files get damaged: cut, flipped,
 * zeroed, overwritten, exchanged, of another time, of another program.
 *
 * Positions are chosen so that many of them matter: pages in use, page headers,
 * numbers that lead to other places.
 */
#include <string.h>

#include "embedded_damage.h"
#include "engine/files/sidecar.h"
#include "util/crc32c.h"

/* Offsets in a meta page, which says where LMDB's trees begin. */
#define HEAD_SIZE 152u
#define AT_PAGE_SIZE 40u
/* Offsets in a checkpoint; each page of its file holds one. */
#define SLOT_BOOT 24u
#define SLOT_SUM 216u

static bytes *data_of(image *self)
{
    return &self->files[FILE_DATA];
}

static void put(bytes *to, size_t at, const void *data, size_t size)
{
    if (at < to->size)
        memcpy(to->data + at, data,
               size < to->size - at ? size : to->size - at);
}

static void noise(bytes *to, size_t at, size_t size, prng *random)
{
    for (size_t i = at; i < at + size && i < to->size; i++)
        to->data[i] = (unsigned char)prng_next(random);
}

static void flip(bytes *to, size_t at, size_t size, prng *random)
{
    if (at + size > to->size || size == 0)
        return;
    at += prng_below(random, size);
    to->data[at] ^= (unsigned char)(1u << prng_below(random, 8));
}

/* Offset of a page in use; now and then of any page but the meta pages. */
static size_t any_page(const sources *from, prng *random)
{
    const page_list *all = &from->pages[PAGE_ANY];

    if (prng_chance(random, 10))
        return (2 + prng_below(random, from->last_page - 1)) * PAGE;
    return all->at[prng_below(random, all->count)];
}

static size_t page_of(const sources *from, page_kind kind, prng *random)
{
    const page_list *list = &from->pages[kind];

    return list->at[prng_below(random, list->count)];
}

/* -------------------------------------------------------------------- none */

static void none(image *self, const sources *from, prng *random)
{
    (void)self;
    (void)from;
    (void)random;
}

/* -------------------------------------------------------------------- cuts */

static void cut_anywhere(image *self, const sources *from, prng *random)
{
    (void)from;
    bytes_resize(data_of(self), prng_below(random, data_of(self)->size));
}

static void cut_at_page(image *self, const sources *from, prng *random)
{
    size_t pages = data_of(self)->size / PAGE;

    (void)from;
    bytes_resize(data_of(self), prng_below(random, pages) * PAGE);
}

static void cut_used(image *self, const sources *from, prng *random)
{
    bytes_resize(data_of(self), prng_below(random, from->last_page + 1) * PAGE +
                                    prng_below(random, 2) * 512);
}

static void grown(image *self, const sources *from, prng *random)
{
    size_t size = data_of(self)->size;

    (void)from;
    bytes_resize(data_of(self), size + prng_below(random, 1u << 20));
    if (prng_chance(random, 50))
        noise(data_of(self), size, data_of(self)->size - size, random);
}

/* -------------------------------------------------------------------- bits */

static void flip_one(image *self, const sources *from, prng *random)
{
    flip(data_of(self), 0, (from->last_page + 1) * PAGE, random);
}

static void flip_many(image *self, const sources *from, prng *random)
{
    size_t count = (size_t)2 << prng_below(random, 9);

    for (size_t i = 0; i < count; i++)
        flip_one(self, from, random);
}

static void flip_head(image *self, const sources *from, prng *random)
{
    size_t count = 1 + prng_below(random, 4);

    (void)from;
    for (size_t i = 0; i < count; i++)
        flip(data_of(self), prng_below(random, 2) * PAGE, HEAD_SIZE, random);
}

static void flip_page_head(image *self, const sources *from, prng *random)
{
    flip(data_of(self), any_page(from, random), 64, random);
}

static void flip_branch(image *self, const sources *from, prng *random)
{
    flip(data_of(self), page_of(from, PAGE_BRANCH, random), PAGE, random);
}

static void flip_leaf(image *self, const sources *from, prng *random)
{
    flip(data_of(self), page_of(from, PAGE_LEAF, random), PAGE, random);
}

static void flip_large(image *self, const sources *from, prng *random)
{
    flip(data_of(self), page_of(from, PAGE_LARGE, random), 8 * PAGE, random);
}

/* ------------------------------------------------------------------ numbers */

/* A number that misleads: small, huge, or off by a little. */
static void astray(bytes *to, size_t at, size_t size, prng *random)
{
    uint64_t number = 0;

    if (at + size > to->size)
        return;
    memcpy(&number, to->data + at, size);
    switch (prng_below(random, 6)) {
    case 0:
        number = prng_below(random, 4);
        break;
    case 1:
        number = UINT64_MAX - prng_below(random, 4);
        break;
    case 2:
        number = prng_next(random);
        break;
    case 3:
        number += 1 + prng_below(random, 64);
        break;
    case 4:
        number -= 1 + prng_below(random, 64);
        break;
    default:
        number = prng_below(random, 4096);
    }
    memcpy(to->data + at, &number, size);
}

static void number_in_head(image *self, const sources *from, prng *random)
{
    size_t size = (size_t)2 << prng_below(random, 3);
    size_t at = prng_below(random, HEAD_SIZE / size) * size;

    (void)from;
    astray(data_of(self), prng_below(random, 2) * PAGE + at, size, random);
}

/* The same in both meta pages: neither can replace the other. */
static void number_in_heads(image *self, const sources *from, prng *random)
{
    size_t size = (size_t)2 << prng_below(random, 3);
    size_t at = prng_below(random, HEAD_SIZE / size) * size;

    (void)from;
    astray(data_of(self), at, size, random);
    put(data_of(self), PAGE + at, data_of(self)->data + at, size);
}

static void number_in_page(image *self, const sources *from, prng *random)
{
    size_t size = (size_t)2 << prng_below(random, 3);
    size_t page = any_page(from, random);

    astray(data_of(self), page + prng_below(random, 128 / size) * size, size,
           random);
}

static void number_in_branch(image *self, const sources *from, prng *random)
{
    size_t page = page_of(from, PAGE_BRANCH, random);

    astray(data_of(self), page + prng_below(random, PAGE / 2) * 2, 2, random);
}

static void number_in_leaf(image *self, const sources *from, prng *random)
{
    size_t page = page_of(from, PAGE_LEAF, random);

    astray(data_of(self), page + prng_below(random, PAGE / 2) * 2, 2, random);
}

static void page_size(image *self, const sources *from, prng *random)
{
    static const uint32_t sizes[] = {0,    1,     256,   512,      1024,
                                     8192, 32768, 65536, 1u << 20, 0x80000000};
    uint32_t size = sizes[prng_below(random, sizeof(sizes) / sizeof(sizes[0]))];

    (void)from;
    put(data_of(self), AT_PAGE_SIZE, &size, sizeof(size));
    put(data_of(self), PAGE + AT_PAGE_SIZE, &size, sizeof(size));
}

/* -------------------------------------------------------------------- pages */

static void zero_page(image *self, const sources *from, prng *random)
{
    memset(data_of(self)->data + any_page(from, random), 0, PAGE);
}

static void zero_sector(image *self, const sources *from, prng *random)
{
    size_t at = any_page(from, random) + prng_below(random, 8) * 512;

    memset(data_of(self)->data + at, 0, 512);
}

static void zero_head(image *self, const sources *from, prng *random)
{
    (void)from;
    memset(data_of(self)->data + prng_below(random, 2) * PAGE, 0, PAGE);
}

static void noise_page(image *self, const sources *from, prng *random)
{
    noise(data_of(self), any_page(from, random), PAGE, random);
}

static void noise_sector(image *self, const sources *from, prng *random)
{
    size_t at = any_page(from, random) + prng_below(random, 8) * 512;

    noise(data_of(self), at, 512, random);
}

/* The page header stays: only the rest is noise. */
static void noise_in_page(image *self, const sources *from, prng *random)
{
    size_t skip = 16 + prng_below(random, 512);

    noise(data_of(self), any_page(from, random) + skip, PAGE - skip, random);
}

static void swapped(image *self, const sources *from, prng *random)
{
    unsigned char held[PAGE];
    size_t a = any_page(from, random);
    size_t b = any_page(from, random);
    unsigned char *data = data_of(self)->data;

    memcpy(held, data + a, PAGE);
    memcpy(data + a, data + b, PAGE);
    memcpy(data + b, held, PAGE);
}

/* Swapped, and each claims to be in its right place. */
static void swapped_renumbered(image *self, const sources *from, prng *random)
{
    size_t a = any_page(from, random);
    size_t b = any_page(from, random);
    unsigned char *data = data_of(self)->data;
    unsigned char held[PAGE];

    memcpy(held, data + a, PAGE);
    memcpy(data + a + 8, data + b + 8, PAGE - 8);
    memcpy(data + b + 8, held + 8, PAGE - 8);
}

/* -------------------------------------------------------- of another time */

static void stale_page(image *self, const sources *from, prng *random)
{
    size_t at = any_page(from, random);

    if (at + PAGE <= from->older.size)
        put(data_of(self), at, from->older.data + at, PAGE);
}

static void stale_half(image *self, const sources *from, prng *random)
{
    for (size_t at = 0; at + PAGE <= from->older.size; at += PAGE) {
        if (prng_chance(random, 50))
            put(data_of(self), at, from->older.data + at, PAGE);
    }
}

static void stale_heads(image *self, const sources *from, prng *random)
{
    (void)random;
    put(data_of(self), 0, from->older.data, 2 * PAGE);
}

/* ----------------------------------------------------- of another program */

static void empty(image *self, const sources *from, prng *random)
{
    (void)from;
    (void)random;
    bytes_resize(data_of(self), 0);
}

static void text(image *self, const sources *from, prng *random)
{
    static const char words[] = "# Notes\n\nThis is not a store.\n";

    (void)from;
    bytes_set(data_of(self), words, sizeof(words) - 1);
    bytes_resize(data_of(self), prng_below(random, 3) * PAGE + 30);
}

static void sqlite(image *self, const sources *from, prng *random)
{
    bytes_resize(data_of(self), 0);
    bytes_resize(data_of(self), (1 + prng_below(random, 8)) * PAGE);
    put(data_of(self), 0, "SQLite format 3", 16);
    (void)from;
}

static void other_lmdb(image *self, const sources *from, prng *random)
{
    bytes_set(data_of(self), from->foreign.data, from->foreign.size);
    if (prng_chance(random, 50)) {
        self->forms[FILE_SIDECAR] = FORM_MISSING;
        self->forms[FILE_LOCK] = FORM_MISSING;
    }
}

/* Find the store's header record and change its version. */
static void newer_format(image *self, const sources *from, prng *random)
{
    bytes *data = data_of(self);
    uint32_t version = 6 + (uint32_t)prng_below(random, 1000) * 97;

    (void)from;
    for (size_t i = 2 * PAGE; i + 16 < data->size; i++) {
        if (memcmp(data->data + i, "HOLDFAST", 8) == 0)
            put(data, i + 8, &version, sizeof(version));
    }
}

/* -------------------------------------------------------- the other files */

static void file_damage(image *self, size_t file, prng *random)
{
    bytes *to = &self->files[file];
    size_t count = (size_t)1 << prng_below(random, 8);

    if (to->size == 0) { /* one that does not belong there */
        self->forms[file] = FORM_FILE;
        bytes_resize(to, 4 * PAGE);
    }
    switch (prng_below(random, 6)) {
    case 0:
        bytes_resize(to, prng_below(random, to->size));
        break;
    case 1:
        memset(to->data, 0, to->size);
        break;
    case 2:
        noise(to, 0, to->size, random);
        break;
    case 3:
        bytes_resize(to, to->size + prng_below(random, 65536));
        break;
    case 4:
        bytes_resize(to, 0);
        break;
    default:
        for (size_t i = 0; i < count; i++)
            flip(to, 0, to->size, random);
    }
}

static void sidecar(image *self, const sources *from, prng *random)
{
    (void)from;
    file_damage(self, FILE_SIDECAR, random);
}

/* Its first kilobyte holds all but counters: sizes, state, the lock. */
static void sidecar_head(image *self, const sources *from, prng *random)
{
    size_t count = 1 + prng_below(random, 4);

    (void)from;
    for (size_t i = 0; i < count; i++)
        astray(&self->files[FILE_SIDECAR], prng_below(random, 256) * 4, 4,
               random);
}

static void sidecar_noise_behind_head(image *self, const sources *from,
                                      prng *random)
{
    (void)from;
    noise(&self->files[FILE_SIDECAR], 128 + prng_below(random, 1024),
          self->files[FILE_SIDECAR].size, random);
}

static void sidecar_gone(image *self, const sources *from, prng *random)
{
    (void)from;
    self->forms[FILE_SIDECAR] = FORM_MISSING;
    if (prng_chance(random, 50))
        self->forms[FILE_LOCK] = FORM_MISSING;
}

/* Only the data file remains. */
static void sidecar_gone_and_flips(image *self, const sources *from,
                                   prng *random)
{
    sidecar_gone(self, from, random);
    flip_many(self, from, random);
}

static void lock_file(image *self, const sources *from, prng *random)
{
    (void)from;
    file_damage(self, FILE_LOCK, random);
}

static void lock_gone(image *self, const sources *from, prng *random)
{
    (void)from;
    (void)random;
    self->forms[FILE_LOCK] = FORM_MISSING;
}

static void checkpoint(image *self, const sources *from, prng *random)
{
    (void)from;
    file_damage(self, FILE_CHECKPOINT, random);
}

static void checkpoint_gone(image *self, const sources *from, prng *random)
{
    (void)from;
    (void)random;
    self->forms[FILE_CHECKPOINT] = FORM_MISSING;
}

/* The machine was rebooted since, so only what is on the disk counts. A
 * volatile store would rightly be empty: it is left unchanged. */
static void booted(image *self, const sources *from, prng *random)
{
    hf__sidecar_map map;
    bytes *slots = &self->files[FILE_CHECKPOINT];

    (void)from;
    (void)random;
    memcpy(&map, self->files[FILE_SIDECAR].data, sizeof(map));
    if (map.mode == HF__MODE_VOLATILE)
        return;
    map.boot_id[0] ^= 1;
    map.head_sum = hf__sidecar_head_sum(&map);
    memcpy(self->files[FILE_SIDECAR].data, &map, sizeof(map));
    for (size_t at = 0; at + PAGE <= slots->size; at += PAGE) {
        unsigned char *slot = slots->data + at;
        uint32_t sum;

        if (slot[0] == 0)
            continue;
        slot[SLOT_BOOT] ^= 1;
        sum = hf__crc32c(0, slot, SLOT_SUM);
        memcpy(slot + SLOT_SUM, &sum, sizeof(sum));
    }
}

static void booted_and_flips(image *self, const sources *from, prng *random)
{
    booted(self, from, random);
    flip_many(self, from, random);
}

static void booted_and_heads(image *self, const sources *from, prng *random)
{
    booted(self, from, random);
    if (prng_chance(random, 50))
        flip_head(self, from, random);
    else
        number_in_head(self, from, random);
}

static void booted_and_checkpoint(image *self, const sources *from,
                                  prng *random)
{
    booted(self, from, random);
    file_damage(self, FILE_CHECKPOINT, random);
}

static void data_gone(image *self, const sources *from, prng *random)
{
    (void)from;
    (void)random;
    self->forms[FILE_DATA] = FORM_MISSING;
}

static void not_a_file(image *self, const sources *from, prng *random)
{
    static const file_form forms[] = {FORM_FOLDER, FORM_SYMLINK, FORM_FIFO};

    (void)from;
    self->forms[prng_below(random, FILE_SIDECAR + 1)] =
        forms[prng_below(random, 3)];
}

const damage damages[] = {
    {"none", none},
    {"cut anywhere", cut_anywhere},
    {"cut at a page", cut_at_page},
    {"cut where used", cut_used},
    {"grown", grown},
    {"one bit", flip_one},
    {"many bits", flip_many},
    {"bits of a root", flip_head},
    {"bit of a page's head", flip_page_head},
    {"bit of a branch", flip_branch},
    {"bit of a leaf", flip_leaf},
    {"bit of a large value", flip_large},
    {"number in a root", number_in_head},
    {"number in both roots", number_in_heads},
    {"number in a page", number_in_page},
    {"number in a branch", number_in_branch},
    {"number in a leaf", number_in_leaf},
    {"page size", page_size},
    {"zero page", zero_page},
    {"zero sector", zero_sector},
    {"zero root", zero_head},
    {"noise page", noise_page},
    {"noise sector", noise_sector},
    {"noise in a page", noise_in_page},
    {"pages swapped", swapped},
    {"swapped, renumbered", swapped_renumbered},
    {"older page", stale_page},
    {"half of it older", stale_half},
    {"older roots", stale_heads},
    {"empty", empty},
    {"text", text},
    {"SQLite", sqlite},
    {"another's LMDB", other_lmdb},
    {"newer format", newer_format},
    {"sidecar", sidecar},
    {"sidecar's head", sidecar_head},
    {"noise in sidecar", sidecar_noise_behind_head},
    {"no sidecar", sidecar_gone},
    {"no sidecar, bits", sidecar_gone_and_flips},
    {"lock file", lock_file},
    {"no lock file", lock_gone},
    {"checkpoint", checkpoint},
    {"no checkpoint", checkpoint_gone},
    {"booted", booted},
    {"booted, bits", booted_and_flips},
    {"booted, roots", booted_and_heads},
    {"booted, checkpoint", booted_and_checkpoint},
    {"no data file", data_gone},
    {"not a file", not_a_file},
};

const size_t damage_count = sizeof(damages) / sizeof(damages[0]);
