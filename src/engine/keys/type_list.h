/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_list.h - lists of either form. Indexes count from 0 at the front and are
 * below record->count unless noted.
 *
 * Values that are put must not be in LMDB's map or in the list itself.
 */
#ifndef HF__ENGINE_TYPE_LIST_H
#define HF__ENGINE_TYPE_LIST_H

#include "engine/keys/packed.h"

/* The list; NULL in *record: none. false: another type, replied, or fatal. */
bool hf__list_open(hf__tx *tx, hf_bytes key, hf__record **record);
/* The list, created if missing. NULL: replied with an error, or fatal. */
hf__record *hf__list_make(hf__tx *tx, hf_bytes key);

/* false: fatal. The view is valid until the next write. */
bool hf__list_get(hf__tx *tx, hf__record *record, uint64_t index,
                  hf_bytes *value);
void hf__list_push(hf__tx *tx, hf__record *record, hf_bytes value, bool front);
void hf__list_set(hf__tx *tx, hf__record *record, uint64_t index,
                  hf_bytes value);
/* Insert a value before the one at `index`, or append it. Inserting uses
 * scratch. */
void hf__list_insert(hf__tx *tx, hf__record *record, uint64_t index,
                     hf_bytes value);
/*
 * Remove up to `most` elements equal to `value`, the first or the last ones,
 * and return their number. The key stays, even if it is now empty. Uses
 * scratch.
 */
uint64_t hf__list_remove(hf__tx *tx, hf__record *record, hf_bytes value,
                         bool last, uint64_t most);
/* Keep only `count` elements from `first` on. The key stays. */
void hf__list_keep(hf__tx *tx, hf__record *record, uint64_t first,
                   uint64_t count);

/* Walks it from an index to an end. No writes meanwhile. */
typedef struct hf__list_walk {
    hf__tx *tx;
    bool small;
    bool backward;
    uint64_t left;
    const unsigned char *content; /* of a small list */
    size_t content_size;
    uint16_t offsets[HF__PACKED_INLINE_MAX];
    uint64_t index;
    MDB_cursor *cursor; /* of a large list */
    MDB_cursor_op op;   /* to the next element */
    uint64_t keyid;
    uint64_t at; /* its number */
} hf__list_walk;

/* An `index` outside of the list: empty. */
void hf__list_walk_begin(hf__list_walk *walk, hf__tx *tx, hf__record *record,
                         uint64_t index, bool backward);
bool hf__list_walk_next(hf__list_walk *walk, hf_bytes *value);
void hf__list_walk_end(hf__list_walk *walk);

#endif
