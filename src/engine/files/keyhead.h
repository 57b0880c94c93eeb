/* SPDX-License-Identifier: Apache-2.0 */
/*
 * keyhead.h - the head of a key's record on disk.
 *
 *   0 type  1 form  2 checksum (2)  4 size of the whole key or 0 (4)
 *   8 expiry (8)  16 keyid (8)  24 count of elements (8)
 *
 * Then come the whole key, if its name was folded, and the content. The
 * checksum covers the record's name and value, with its own two bytes as zeros.
 * It is verified by `store check`, not when a record is read.
 *
 * The expiry is an instant of the store's clock, ms, or 0 for none. Below zero
 * the record is a tombstone: the key was deleted at that instant, negated, and
 * is expected to be created again. To other readers it is an expired key.
 */
#ifndef HF__ENGINE_KEYHEAD_H
#define HF__ENGINE_KEYHEAD_H

#include <string.h>

#include "engine/files/format.h"
#include "engine/files/sum.h"
#include "holdfast/base.h"

#define HF__KEYHEAD_SIZE 32u
#define HF__KEYHEAD_SUM_AT 2u

typedef struct hf__keyhead {
    uint8_t type;
    uint8_t form;
    uint16_t sum;
    uint32_t key_size;
    int64_t expire_ms;
    uint64_t keyid;
    uint64_t count;
} hf__keyhead;

static inline bool hf__expiry_is_tombstone(int64_t expire_ms)
{
    return expire_ms < 0;
}

static inline void hf__keyhead_read(hf__keyhead *head, const unsigned char *at)
{
    head->type = at[0];
    head->form = at[1];
    memcpy(&head->sum, at + HF__KEYHEAD_SUM_AT, sizeof(head->sum));
    memcpy(&head->key_size, at + 4, sizeof(head->key_size));
    memcpy(&head->expire_ms, at + 8, sizeof(head->expire_ms));
    memcpy(&head->keyid, at + 16, sizeof(head->keyid));
    memcpy(&head->count, at + 24, sizeof(head->count));
}

static inline void hf__keyhead_write(const hf__keyhead *head, unsigned char *at)
{
    at[0] = head->type;
    at[1] = head->form;
    memcpy(at + HF__KEYHEAD_SUM_AT, &head->sum, sizeof(head->sum));
    memcpy(at + 4, &head->key_size, sizeof(head->key_size));
    memcpy(at + 8, &head->expire_ms, sizeof(head->expire_ms));
    memcpy(at + 16, &head->keyid, sizeof(head->keyid));
    memcpy(at + 24, &head->count, sizeof(head->count));
}

/*
 * The content of a hash of the form DEADLINES. The deadlines, instants like the
 * expiry, are elements and an order of an id of their own, as of a sorted set
 * of the fields that have one.
 */
typedef struct hf__deadlines {
    uint64_t id;
    int64_t first_ms;
    int64_t last_ms; /* then the key is gone; 0: a field has no deadline */
    uint64_t count;
} hf__deadlines;

/* The content of a large sorted set, and what a count is (counts.c). One of
 * format 2 and before has neither. */
typedef struct hf__counts_root {
    uint32_t levels; /* of counts */
    uint32_t behind; /* 1: some counts are still to be made */
    uint64_t children;
} hf__counts_root;
typedef struct hf__count {
    uint64_t members;
    uint64_t children; /* records of the level below */
} hf__count;

/* The content of a string in chunks, whose size is the count of its head. */
typedef struct hf__chunks {
    uint64_t count; /* of their records */
} hf__chunks;

/* The whole key: after the kind in the record's name, or in its value at `at`,
 * which is large enough. */
static inline hf_bytes hf__keyhead_key(const hf__keyhead *head,
                                       const unsigned char *name,
                                       size_t name_size,
                                       const unsigned char *at)
{
    if (head->key_size > 0)
        return hf_view(at + HF__KEYHEAD_SIZE, head->key_size);
    return hf_view(name + 1, name_size - 1);
}

/* The ids of a key's elements; `size` bytes at `at` are its record's value. */
#define HF__KEYHEAD_IDS 2u
static inline size_t hf__keyhead_ids(const hf__keyhead *head,
                                     const unsigned char *at, size_t size,
                                     uint64_t ids[HF__KEYHEAD_IDS])
{
    hf__deadlines fields;
    size_t count = 0;

    if (head->form != HF__FORM_INLINE)
        ids[count++] = head->keyid;
    if (head->form == HF__FORM_DEADLINES &&
        size >= HF__KEYHEAD_SIZE + sizeof(fields)) {
        memcpy(&fields, at + size - sizeof(fields), sizeof(fields));
        ids[count++] = fields.id;
    }
    return count;
}

/* Is a key gone by now? `size` bytes at `at` are its record's value. */
static inline bool hf__keyhead_is_over(const hf__keyhead *head,
                                       const unsigned char *at, size_t size,
                                       int64_t now_ms)
{
    hf__deadlines fields;

    if (head->expire_ms != 0 && head->expire_ms <= now_ms)
        return true;
    if (head->form != HF__FORM_DEADLINES ||
        size - HF__KEYHEAD_SIZE != (uint64_t)head->key_size + sizeof(fields))
        return false;
    memcpy(&fields, at + size - sizeof(fields), sizeof(fields));
    return fields.last_ms != 0 && fields.last_ms <= now_ms;
}

/* The sum, not yet folded, of the first `size` bytes of the value, at least the
 * head; hf__sum() continues it. The value is unchanged on return. */
static inline uint64_t hf__keyhead_sum(hf_bytes name, unsigned char *value,
                                       size_t size)
{
    unsigned char kept[2];
    uint64_t sum;

    memcpy(kept, value + HF__KEYHEAD_SUM_AT, sizeof(kept));
    memset(value + HF__KEYHEAD_SUM_AT, 0, sizeof(kept));
    sum = hf__sum(hf__sum(0, name.data, name.size), value, size);
    memcpy(value + HF__KEYHEAD_SUM_AT, kept, sizeof(kept));
    return sum;
}

#endif
