/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - what SCAN, HSCAN and ZSCAN share: cursors, options, the reply.
 *
 * Elements that exist from a scan's first call to its last are returned at
 * least once.
 */
#ifndef HF__ENGINE_SCAN_H
#define HF__ENGINE_SCAN_H

#include "engine/keys/keyspace.h"
#include "engine/keys/members.h"

/*
 * A cursor is a hash of the name of the record at which the scan continues; the
 * environment keeps the names of recent ones. An unknown one is searched for
 * among all records; if its record is gone, the scan starts again. It has 46
 * bits: 14 digits, which Lua's numbers keep when converted to text.
 */
#define HF__SCAN_BITS 46

/* Scans at the same time, of all threads, that stay fast. */
#define HF__SCAN_POSITIONS 32

typedef struct hf__scan_position {
    uint64_t cursor; /* 0: unused */
    uint64_t stamp;  /* when it was made */
    size_t size;
    unsigned char name[HF__LMDB_KEY_MAX];
} hf__scan_position;

typedef struct hf__scan {
    hf__tx *tx;
    uint64_t cursor; /* as given */
    uint64_t count;  /* records to read */
    bool filter;
    hf_bytes pattern;
    bool by_type;
    hf_bytes type; /* only of keys of this type */
} hf__scan;

/* Read the cursor. false: replied with an error. */
bool hf__scan_cursor(hf__scan *scan, hf__tx *tx, hf_bytes arg);
/* Is a pattern not too long? false: replied with an error. */
bool hf__scan_pattern(hf__tx *tx, hf_bytes pattern);
/* Read the options; TYPE only if `types`. false: replied with an error. */
bool hf__scan_options(hf__scan *scan, const hf_bytes *args, size_t count,
                      bool types);
/* Read the arguments of HSCAN, SSCAN, ZSCAN, and open the key. false: replied,
 * as there is none, or fatal. */
bool hf__scan_open(hf__scan *scan, hf__tx *tx, const hf_bytes *args,
                   size_t count,
                   bool (*open)(hf__tx *tx, hf_bytes key, hf__record **record),
                   hf__record **record);
/* Does the name match? Without a scan, all do. */
bool hf__scan_fits(const hf__scan *scan, hf_bytes name);

/* The name of the record to continue at, if it is known and begins with
 * `prefix`; else 0. */
size_t hf__scan_position_name(const hf__scan *scan, hf_bytes prefix,
                              unsigned char name[HF__LMDB_KEY_MAX]);
/* Is this the record to continue at? */
bool hf__scan_is_at(const hf__scan *scan, const MDB_val *name);
/* The cursor for continuing at this record, which replaces the scan's own;
 * `name` NULL: at the end, cursor 0. */
uint64_t hf__scan_next(const hf__scan *scan, const MDB_val *name);

/* Adds an element to the list. false: fatal. */
typedef bool hf__scan_visit(hf__members *list, hf_bytes name, hf_bytes value);
/* Scan the elements of a large hash or sorted set; returns the next cursor. No
 * writes before the reply. */
uint64_t hf__scan_elements(const hf__scan *scan, const hf__record *record,
                           hf__scan_visit *visit, hf__members *list);

/* Begin the reply; an array of the elements must follow. */
void hf__scan_reply_cursor(hf__tx *tx, uint64_t cursor);

#endif
