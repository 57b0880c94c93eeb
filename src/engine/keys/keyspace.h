/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyspace.h - keys with a type, an expiry and a content, whatever their form
 * on disk.
 */
#ifndef HF__ENGINE_KEYSPACE_H
#define HF__ENGINE_KEYSPACE_H

#include "engine/commit/tx.h"
#include "engine/files/format.h"
#include "engine/wake/key_event.h"
#include "util/hash_bytes.h"
#include "util/private_api.h"

typedef struct hf__record {
    struct hf__record *next; /* in its chain */
    uint32_t hash;           /* hf__key_hash() */
    bool stored;             /* in LMDB */
    bool live;               /* the key exists for commands */
    bool dirty;              /* newer than in LMDB */
    bool expired;            /* not live for that reason */
    bool owned;              /* content is in `memory`, not in LMDB's map */
    bool used;               /* by a command, since it was last cleared */
    bool uncached;           /* the record cache may not have what is in LMDB */
    uint8_t type;            /* hf__type */
    uint8_t form;            /* HF__FORM_... */
    uint32_t epoch;          /* of a `content` in LMDB's map */
    int64_t expire_ms;       /* store's clock; 0: never */
    uint64_t keyid;          /* of its elements; 0: none */
    uint64_t count;          /* elements */
    const unsigned char *content;
    size_t content_size;
    unsigned char *memory;
    size_t memory_size;
    size_t key_size;         /* of the whole key */
    size_t name_size;        /* of `name` */
    unsigned char *long_key; /* the whole key, if `name` does not hold it */
    struct hf__cached_record *cached; /* record_cache.c: its entry, if ... */
    uint64_t looked_up;               /* ... none has become another's since */
    unsigned char name[HF__LMDB_KEY_MAX + 1]; /* key of the record in LMDB */
} hf__record;

/* Keys of the same name in two databases have different hashes. */
static inline uint32_t hf__key_hash(unsigned database, hf_bytes key)
{
    return (uint32_t)hf__hash(key, 0) + database * UINT32_C(0x9e3779b1);
}

static inline uint8_t hf__record_database(const hf__record *record)
{
    return hf__kind_database(record->name[0]);
}

/*
 * A key is one of the current database, tx->database.
 *
 * The key if it exists, else NULL; NULL also when fatal.
 */
HF__PRIVATE_API hf__record *hf__key_find(hf__tx *tx, hf_bytes key);
/*
 * The key, NULL in *record if it does not exist. false: another type, which was
 * replied, or fatal.
 */
bool hf__key_of_type(hf__tx *tx, hf_bytes key, hf__type type,
                     hf__record **record);

/* The record of a key that exists or not (record->live). NULL: fatal. */
hf__record *hf__key_record(hf__tx *tx, hf_bytes key);
/* The key's record, emptied: live, of `type`, without content and expiry. NULL:
 * fatal. */
hf__record *hf__key_make(hf__tx *tx, hf_bytes key, hf__type type);
hf_bytes hf__record_key(const hf__record *record);
/* Make it the record of a key that does not exist. */
void hf__record_clear(hf__record *record);
bool hf__record_make(hf__tx *tx, hf__record *record, hf__type type);
void hf__key_delete(hf__tx *tx, hf__record *record);
/* Without an event: it was never there for anyone, or is renamed. */
void hf__key_drop(hf__tx *tx, hf__record *record);
void hf__key_touch(hf__tx *tx, hf__record *record); /* marks it dirty */
/* Only elements have changed: write the record again if the key is watched. */
void hf__key_touch_watched(hf__tx *tx, hf__record *record);

/* Something happened to the key. */
static inline void hf__record_event(hf__tx *tx, uint32_t event_class,
                                    const char *name, const hf__record *record)
{
    if ((tx->watched & event_class) != 0)
        hf__key_event_put(tx, event_class, name, hf__record_key(record));
}

/* The content, read again if stale. NULL: fatal. */
const unsigned char *hf__content(hf__tx *tx, hf__record *record);

/* Copy content that has to be so large. false: fatal. */
bool hf__content_copy(hf__tx *tx, hf__record *record, void *to, size_t size);
/* Replace the content by a copy; false: fatal. `data` may be a part of it. */
bool hf__content_set(hf__tx *tx, hf__record *record, const void *data,
                     size_t size);
/*
 * Resize the content to `size` bytes and make it writable. NULL: fatal.
 */
unsigned char *hf__content_edit(hf__tx *tx, hf__record *record, size_t size);

/* As replied by TYPE. */
const char *hf__type_name(hf__type type);

#endif
