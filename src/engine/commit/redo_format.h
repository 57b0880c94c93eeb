/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redo_format.h - the log of durability=log as it is stored: three parts, each
 * a head and records one after another; see redo.c.
 */
#ifndef HF__ENGINE_REDO_FORMAT_H
#define HF__ENGINE_REDO_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#include "engine/files/sidecar.h"

#define HF__REDO_MAGIC "HFREDO1\n"

/* The parts that are written in turn; the last one takes what does not fit, and
 * grows. */
#define HF__REDO_OVERFLOW (HF__REDO_PARTS - 1u)
#define HF__REDO_PART_SIZE (UINT64_C(512) << 10)
#define HF__REDO_FILE_SIZE (HF__REDO_OVERFLOW * HF__REDO_PART_SIZE)

/* In the byte order of the machine, as LMDB's pages. */
typedef struct hf__redo_head {
    char magic[8];
    uint64_t salt; /* random, of this use of the part */
    uint32_t zero;
    uint32_t sum; /* CRC-32C of the fields above */
} hf__redo_head;

typedef struct hf__redo_record {
    uint64_t size; /* of the changes after it; padded to 8 bytes */
    uint64_t txn;
    uint64_t serial; /* grows by each attempt */
    uint32_t zero;
    uint32_t sum; /* CRC-32C of the part's salt, the fields above, the changes
                   */
} hf__redo_record;

/* One change: this, the key, and the value. */
typedef struct hf__redo_change {
    uint64_t value_size;
    uint32_t key_size;
    uint32_t kind;
} hf__redo_change;
enum { HF__REDO_PUT = 1, HF__REDO_DELETE = 2, HF__REDO_DROP = 3 };

static inline uint64_t hf__redo_padded(uint64_t size)
{
    return (size + 7) & ~UINT64_C(7);
}

/* Of a record, without the changes. */
uint32_t hf__redo_sum(uint64_t salt, const hf__redo_record *record);

#endif
