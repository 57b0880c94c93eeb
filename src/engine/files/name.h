/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.h - names of any size within LMDB's limit on keys, and the order of
 * records.
 *
 * A name that fits is stored as it is. A longer one becomes its beginning and
 * the SHA-1 of the whole name, together of exactly the largest size, which no
 * name that fits has: so the two kinds never collide, and names are ordered by
 * their beginnings.
 */
#ifndef HF__ENGINE_NAME_H
#define HF__ENGINE_NAME_H

#include <lmdb.h>

#include "holdfast/base.h"

/* Hexadecimal digits of a SHA-1. */
#define HF__NAME_DIGITS 40u

/* Write `name` to `to`, which has `room` bytes, more than 40. Returns the bytes
 * written: `room` if the name was folded, else fewer. */
size_t hf__name_fold(unsigned char *to, size_t room, hf_bytes name);

/*
 * For mdb_set_compare(): LMDB's own order, that of memcmp(), in fewer
 * instructions, as names are short. Others that open the file need not set it.
 */
int hf__name_compare(const MDB_val *one, const MDB_val *other);
/* Open a file's records, in this order. Returns an error of LMDB's. */
int hf__name_open(MDB_txn *txn, MDB_dbi *dbi);

#endif
