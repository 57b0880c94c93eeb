/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - the record that says that an LMDB file is a store of ours.
 */
#ifndef HF__EMBEDDED_HEADER_H
#define HF__EMBEDDED_HEADER_H

#include <lmdb.h>

#include "store/embedded/files/files.h"
#include "store/embedded/files/pages.h"

#define HF__FORMAT_VERSION 1u

#define HF__HEADER_MAGIC "HOLDFAST"

/* As it is stored. */
typedef struct hf__header {
    char magic[8];
    uint32_t version;
    uint32_t mode;
    unsigned char store_id[16];
} hf__header;

/* HF_INVALID if a store of this mode is not what the place asks for. */
hf_status hf__header_check_mode(uint32_t mode, const hf__settings *settings,
                                hf_error *err);

/* Read the header out of a data file without LMDB. `memory` is for one page.
 * Allocates nothing. false: `found` says why it is not one of this format. */
bool hf__header_read(int fd, const hf__meta *meta, unsigned char *memory,
                     hf__header *head, hf__finding *found);

/*
 * Is the data file a store of the kind that is asked for? It was judged by
 * hf__files_check_data(). HF_INVALID: not a store of ours, or of the other
 * mode; HF_UNSUPPORTED: of a newer format; HF_CORRUPT.
 */
hf_status hf__header_probe(int dir_fd, const hf__settings *settings,
                           hf_error *err);

/* Put the header; first thing in a store, and after a flush. */
int hf__header_put(MDB_txn *txn, MDB_dbi dbi, uint32_t mode);

#endif
