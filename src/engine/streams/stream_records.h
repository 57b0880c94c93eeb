/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stream_records.h - the records of streams (files/format.h): their names,
 * reading, writing and finding them.
 *
 * A name is the kind, the stream's keyid, what it is, and numbers. A view of a
 * value is valid until the next write.
 */
#ifndef HF__ENGINE_STREAM_RECORDS_H
#define HF__ENGINE_STREAM_RECORDS_H

#include "engine/commit/tx.h"
#include "engine/streams/stream_id.h"

/* Stored: what a record of a stream is. */
enum {
    HF__STREAM_PACK = 'n',     /* id: entries (pack.h) */
    HF__STREAM_CONSUMER = 'c', /* group, consumer: its state and name */
    HF__STREAM_PENDING = 'p',  /* group, id: of what is not acknowledged */
    HF__STREAM_TAKEN = 't'     /* group, consumer, id: the same by consumer */
};

#define HF__STREAM_PREFIX 10u /* kind, keyid, what it is */
#define HF__STREAM_NAME_MAX (HF__STREAM_PREFIX + 4u + 4u + 16u)

typedef struct hf__stream_name {
    size_t size;
    unsigned char bytes[HF__STREAM_NAME_MAX];
} hf__stream_name;

/* With those of the numbers that such a record has. */
hf__stream_name hf__stream_name_of(uint64_t keyid, unsigned char what,
                                   uint32_t group, uint32_t consumer,
                                   hf__stream_id id);
/* That at the end of it. */
hf__stream_id hf__stream_name_get_id(const hf__stream_name *name);
uint32_t hf__stream_name_get_number(const hf__stream_name *name, size_t at);

static inline MDB_val hf__stream_name_key(const hf__stream_name *name)
{
    return (MDB_val){name->size, (void *)(uintptr_t)name->bytes};
}

/* false: there is none, or fatal. */
bool hf__stream_record_get(hf__tx *tx, const hf__stream_name *name,
                           hf_bytes *value);
/* `value` must not be in LMDB's map. */
void hf__stream_record_put(hf__tx *tx, const hf__stream_name *name,
                           hf_bytes value);
void hf__stream_record_delete(hf__tx *tx, const hf__stream_name *name);

typedef enum hf__stream_seek {
    HF__SEEK_FROM, /* the first at or after the name */
    HF__SEEK_UP_TO /* the last at or before it */
} hf__stream_seek;
/* Find a record that has the first `prefix` bytes of *name. It gets the name of
 * what was found. false: there is none, or fatal. */
bool hf__stream_record_seek(hf__tx *tx, hf__stream_name *name, size_t prefix,
                            hf__stream_seek seek, hf_bytes *value);

#endif
