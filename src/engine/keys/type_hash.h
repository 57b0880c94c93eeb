/* SPDX-License-Identifier: Apache-2.0 */
/*
 * type_hash.h - hashes of either form: fields and values.
 */
#ifndef HF__ENGINE_TYPE_HASH_H
#define HF__ENGINE_TYPE_HASH_H

#include "engine/keys/elements.h"
#include "engine/keys/keyspace.h"

/* The hash; NULL in *record: none. false: another type, replied, or fatal. */
bool hf__hash_open(hf__tx *tx, hf_bytes key, hf__record **record);
/* The hash, created if missing. NULL: replied with an error, or fatal. */
hf__record *hf__hash_make(hf__tx *tx, hf_bytes key);

/* false: no such field, or fatal. The view is valid until the next write. */
bool hf__hash_get(hf__tx *tx, hf__record *record, hf_bytes field,
                  hf_bytes *value);
/* Several; data NULL: no such field. */
void hf__hash_get_several(hf__tx *tx, hf__record *record,
                          const hf_bytes *fields, size_t count,
                          hf_bytes *values);
/* true: the field is new. It loses its deadline. Field and value must not be in
 * LMDB's map or in the hash. */
bool hf__hash_put(hf__tx *tx, hf__record *record, hf_bytes field,
                  hf_bytes value);
/* The same, but it keeps its deadline. */
bool hf__hash_update(hf__tx *tx, hf__record *record, hf_bytes field,
                     hf_bytes value);
/* Set the deadline of a field that exists. */
void hf__hash_expire(hf__tx *tx, hf__record *record, hf_bytes field,
                     int64_t expire_ms);
/* The fields that exist: record->count may be more. */
uint64_t hf__hash_count(hf__tx *tx, hf__record *record);
/* No field exists; needs no walk. */
bool hf__hash_is_empty(hf__tx *tx, hf__record *record);
/* true: it existed. The key stays, even if it is now empty. */
bool hf__hash_delete(hf__tx *tx, hf__record *record, hf_bytes field);

/* Position of a walk over a small hash. */
typedef struct hf__hash_entry {
    size_t offset; /* in the content */
    size_t size;   /* the whole entry */
    hf_bytes field;
    hf_bytes value;
} hf__hash_entry;

/* Walks it. No writes meanwhile. */
typedef struct hf__hash_walk {
    hf__walk walk;      /* of a large hash */
    hf__record *record; /* if deadlines must be compared; else NULL */
    bool small;
    const unsigned char *content;
    size_t content_size;
    hf__hash_entry at;
} hf__hash_walk;

void hf__hash_walk_begin(hf__hash_walk *walk, hf__tx *tx, hf__record *record);
bool hf__hash_walk_next(hf__hash_walk *walk, hf_bytes *field, hf_bytes *value);
void hf__hash_walk_end(hf__hash_walk *walk);

#endif
