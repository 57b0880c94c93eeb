/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - the record that identifies an LMDB file as a store of ours.
 */
#ifndef HF__ENGINE_HEADER_H
#define HF__ENGINE_HEADER_H

#include <lmdb.h>

#include "engine/files/files.h"
#include "engine/files/pages.h"

/* The newest format that is known, and that of a new store. One that gets a
 * field with a deadline becomes 2, one that gets a key in another database than
 * 0, a stream or a large sorted set with counts becomes 3, one that gets a
 * string in chunks 4, and one that gets a library of functions 5; earlier
 * versions of the library refuse it. No other record differs. */
#define HF__FORMAT_VERSION 5u
#define HF__FORMAT_FIRST 1u
#define HF__FORMAT_DEADLINES 2u
#define HF__FORMAT_DATABASES 3u
#define HF__FORMAT_STREAMS 3u
#define HF__FORMAT_COUNTS 3u
#define HF__FORMAT_CHUNKS 4u
#define HF__FORMAT_FUNCTIONS 5u

#define HF__HEADER_MAGIC "HOLDFAST"

/* As it is stored. */
typedef struct hf__header {
    char magic[8];
    uint32_t version;
    uint32_t mode;
    unsigned char store_id[16];
} hf__header;

/* HF_INVALID if the settings ask for another mode. */
hf_status hf__header_check_mode(uint32_t mode, const hf__settings *settings,
                                hf_error *err);

/* Read the header from a data file without LMDB. `memory` has room for one
 * page. Allocates nothing. false: not of this format; see `found`. */
bool hf__header_read(int fd, const hf__meta *meta, unsigned char *memory,
                     hf__header *head, hf__finding *found);

/*
 * Check that the data file, after hf__files_check_data(), is a store of the
 * mode that is asked for. HF_INVALID: not a store of ours, or of another mode;
 * HF_UNSUPPORTED: a newer format; HF_CORRUPT.
 */
hf_status hf__header_probe(int dir_fd, const hf__settings *settings,
                           hf_error *err);

/* Put the header: into a new store, and after a FLUSHDB. */
int hf__header_put(MDB_txn *txn, MDB_dbi dbi, uint32_t mode);

/* MDB_CORRUPTED: there is none of this size. */
int hf__header_get(MDB_txn *txn, MDB_dbi dbi, hf__header *head);

/* Put it again as it is: LMDB gives no number to a transaction that changes
 * nothing. */
int hf__header_put_again(MDB_txn *txn, MDB_dbi dbi);

#endif
