/* SPDX-License-Identifier: Apache-2.0 */
/*
 * kept.h - records that a client has read or written. They may be stale: a
 * commit checks versions. Loop thread only.
 */
#ifndef HF__RECORDS_KEPT_H
#define HF__RECORDS_KEPT_H

#include "records/backend.h"

typedef struct hf__kept {
    struct hf__kept *next;     /* in its chain */
    hf__backend_record record; /* of version 0: there is none */
    uint64_t turn;             /* when it was last found or put */
} hf__kept;

#define HF__KEPT_CHAINS 256u
/* Keys of some 600 locks. */
#define HF__KEPT_MAX 2048u
/* A larger payload is read each time, bytes. */
#define HF__KEPT_PAYLOAD_MAX 65536u
/* All keys and payloads, bytes: 128 of the largest. */
#define HF__KEPT_BYTES_MAX (8u << 20)

typedef struct hf__kept_table {
    hf__kept *chains[HF__KEPT_CHAINS];
    size_t count;
    size_t bytes; /* keys and payloads */
    uint64_t turn;
} hf__kept_table;

void hf__kept_done(hf__kept_table *table);

/* NULL: not known. Valid until the next put or drop. */
const hf__kept *hf__kept_find(hf__kept_table *table, hf_bytes key);
/* Copies it. What there is no memory for, or is too large, is dropped. */
void hf__kept_put(hf__kept_table *table, const hf__backend_record *record);
void hf__kept_drop(hf__kept_table *table, hf_bytes key);

#endif
