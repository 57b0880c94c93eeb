/* SPDX-License-Identifier: Apache-2.0 */
/* fsck_groups.h - what has been seen of each key id of a store. */
#ifndef HF__ENGINE_FSCK_GROUPS_H
#define HF__ENGINE_FSCK_GROUPS_H

#include "engine/fsck/fsck.h"

typedef struct hf__fsck_group {
    uint64_t keyid;
    uint64_t element_count;
    uint64_t element_sum;
    uint64_t order_count;
    uint64_t order_sum;
    uint64_t list_count;
    uint64_t list_first;
    uint64_t list_last;
    uint64_t list_end;      /* of a string, by its last chunk */
    uint64_t level_records; /* counts of the last level */
    hf__counts_root root;   /* by the key's record, of a sorted set */
    uint64_t count;         /* by the key's record */
    /* By the key's record: of a list; packs of a stream; size of a string. */
    uint64_t first;
    hf__stream_tally stream;
    uint64_t page;  /* of the key's record */
    uint64_t a, b;  /* of `code` */
    uint64_t other; /* the id of the same key's other entry; 0: none */
    uint32_t index; /* of the key's record */
    uint8_t code;   /* hf__finding_code: what is wrong with it */
    uint8_t type;   /* hf__type; 0: no key seen */
    bool taken;     /* this entry is in use */
    bool pending_delete;
    bool odd;          /* an element cannot be one of a sorted set */
    bool gap;          /* a list's numbers have gaps */
    bool no_chunks;    /* an element of a list cannot be a chunk */
    bool wrong;        /* a member of a set is at a wrong position */
    uint8_t level;     /* of the last count */
    bool has_counts;   /* by the key's record */
    bool wrong_counts; /* one is not the sum of what is below it */
} hf__fsck_group;

struct hf__groups {
    size_t map_size; /* bytes of this struct */
    uint64_t count;
    uint64_t capacity;    /* a power of two */
    hf__fsck_group *last; /* the last entry used */
    hf__fsck_group entries[];
};

/* The entry of an id, created if missing. NULL: no memory. Valid until the next
 * call. */
hf__fsck_group *hf__fsck_group_of(hf__fsck *fsck, uint64_t keyid);

#endif
