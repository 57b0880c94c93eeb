/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pack.h - entries of a stream that are packed into one record, in the order of
 * their ids. Nothing here knows LMDB; the bytes may be anything.
 *
 * A pack is the number of its entries, one byte; the names of the fields of its
 * first entry, as their number and texts; then the entries. An entry is the
 * size of the rest of it; its id, less that of the pack: ms, and seq, whole if
 * ms differs; 0 if its fields have the names above, and then the values, or the
 * number of fields, and then names and values by turns. Numbers take 7 bits of
 * each byte, the lowest first, and the 8th says that more follow. A text is its
 * size and bytes.
 *
 * The id of a pack is at most that of its first entry, and names its record.
 */
#ifndef HF__ENGINE_PACK_H
#define HF__ENGINE_PACK_H

#include "engine/streams/stream_id.h"

/* No more entries are put into a pack that has so many, or would be larger:
 * five fill a page of LMDB, of which four stay in it when it is split at its
 * end. One entry alone may be larger. */
#define HF__PACK_ENTRIES 100u
#define HF__PACK_SIZE 780u

typedef struct hf__pack {
    hf__stream_id id;
    hf_bytes data;
} hf__pack;

typedef struct hf__entry {
    hf__stream_id id;
    size_t offset; /* in the pack */
    size_t size;
    uint64_t left;   /* fields that hf__entry_next() has not returned */
    hf_bytes names;  /* rest of them; data NULL: they are among the values */
    hf_bytes values; /* rest of them */
} hf__entry;

/* How many entries there are; 0: damaged. */
static inline unsigned hf__pack_count(const hf__pack *pack)
{
    const unsigned char *at = pack->data.data;

    return pack->data.size > 0 ? *at : 0;
}

/* The next entry; begin with zeros. false: at the end, or damaged. */
bool hf__pack_next(const hf__pack *pack, hf__entry *at);
/* The names of the first entry's fields, and the next of them. */
bool hf__pack_names(const hf__pack *pack, uint64_t *count, hf_bytes *names);
bool hf__pack_next_name(hf_bytes *names, hf_bytes *name);
/* The next field. false: at the end, or damaged. */
bool hf__entry_next(hf__entry *entry, hf_bytes *name, hf_bytes *value);
/* Is the pack as described above, its ids ascending? */
bool hf__pack_is_whole(const hf__pack *pack);

/* Bytes of a pack that is made of this entry alone. `pairs`: `count` names and
 * values by turns. */
size_t hf__pack_size(const hf_bytes *pairs, size_t count);
/* Write it, and return its size. */
size_t hf__pack_make(unsigned char *to, const hf_bytes *pairs, size_t count);

/* Append an entry to `size` bytes at `to`, whose id is higher than those before
 * it, and return the new size; hf__pack_room() bytes are enough for it. */
size_t hf__pack_room(const hf_bytes *pairs, size_t count);
size_t hf__pack_append(unsigned char *to, size_t size, hf__stream_id pack,
                       hf__stream_id id, const hf_bytes *pairs, size_t count);

#endif
