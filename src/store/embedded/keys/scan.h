/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scan.h - what SCAN, HSCAN and ZSCAN share: cursors, options, the answer.
 *
 * What is there from a scan's first call to its last is given at least once.
 */
#ifndef HF__EMBEDDED_SCAN_H
#define HF__EMBEDDED_SCAN_H

#include "store/embedded/keys/keyspace.h"
#include "store/embedded/keys/members.h"

/*
 * A cursor is a hash of the name of the record at which the scan goes on; the
 * environment remembers the names of the latest ones. One that it does not know
 * is looked for among all records; if its record is gone, the scan begins anew.
 * It has 46 bits: 14 digits, which Lua's numbers keep even when they are made
 * into text.
 */
#define HF__SCAN_BITS 46

/* Scans that go on quickly at the same time, from whichever thread. */
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
    uint64_t count;  /* records to look at */
    bool filter;
    hf_bytes pattern;
    bool by_type;
    hf_bytes type; /* only of keys of this type */
} hf__scan;

/* Read the cursor. false: an error was said. */
bool hf__scan_cursor(hf__scan *scan, hf__tx *tx, hf_bytes arg);
/* Read the options; TYPE only if `types`. false: an error was said. */
bool hf__scan_options(hf__scan *scan, const hf_bytes *args, size_t count,
                      bool types);
/* Does the name fit MATCH? */
bool hf__scan_fits(const hf__scan *scan, hf_bytes name);

/* The name of the record to go on at, if it is remembered and begins with
 * `prefix`; 0: it is not. */
size_t hf__scan_position_name(const hf__scan *scan, hf_bytes prefix,
                              unsigned char name[HF__LMDB_KEY_MAX]);
/* Is this the record to go on at? */
bool hf__scan_is_at(const hf__scan *scan, const MDB_val *name);
/* The cursor with which to go on at this record, remembered instead of the
 * scan's own; NULL: at the end, which is 0. */
uint64_t hf__scan_next(const hf__scan *scan, const MDB_val *name);

/* Puts what fits of an element into the list. false: fatal. */
typedef bool hf__scan_visit(const hf__scan *scan, hf_bytes name, hf_bytes value,
                            hf__members *list);
/* Look at the elements of a large hash or sorted set; the next cursor. Write
 * nothing before the answer is said. */
uint64_t hf__scan_elements(const hf__scan *scan, const hf__record *record,
                           hf__scan_visit *visit, hf__members *list);

/* Say how the answer begins; an array of what was found must follow. */
void hf__scan_reply_cursor(hf__tx *tx, uint64_t cursor);
/* The answer if there is no such key. */
void hf__scan_reply_empty(hf__tx *tx);

#endif
