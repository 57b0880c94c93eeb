/* SPDX-License-Identifier: Apache-2.0 */
/*
 * header.h - the record that says that an LMDB file is a store of ours.
 */
#ifndef HF__EMBEDDED_HEADER_H
#define HF__EMBEDDED_HEADER_H

#include "store/embedded/env.h"

#define HF__FORMAT_VERSION 1u

/* HF_INVALID if a store of this mode is not what the place asks for. */
hf_status hf__header_check_mode(uint32_t mode, const hf__place *place,
                                hf_error *err);

/*
 * Read the header of the data file, `size` bytes long, without writing a byte:
 * opening it for good would cut or lengthen a file that may not be ours.
 * HF_INVALID: not a store of ours; HF_UNSUPPORTED: of a newer format.
 */
hf_status hf__header_probe(const hf__place *place, uint64_t size,
                           hf_error *err);

/* Put the header; first thing in a store, and after a flush. */
int hf__header_put(const hf__env *env, MDB_txn *txn);
/* The same in a transaction of its own. */
hf_status hf__header_write(const hf__env *env, hf_error *err);

#endif
