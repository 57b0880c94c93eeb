/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name.h - names of any size within LMDB's limit on keys.
 *
 * A name that fits stands as it is. A longer one becomes its beginning and the
 * SHA-1 of the whole, exactly filling the room, which no name that fits does:
 * the two kinds never meet, and order is kept up to the beginning.
 */
#ifndef HF__EMBEDDED_NAME_H
#define HF__EMBEDDED_NAME_H

#include "holdfast/base.h"

/* Of the SHA-1. */
#define HF__NAME_DIGITS 40u

/* Write `name` into `to`, which has `room` bytes, more than 40. Returns the
 * bytes written: `room` if it was cut, else fewer. */
size_t hf__name_fold(unsigned char *to, size_t room, hf_bytes name);

/* A hash that is the same in all processes that share a store. */
uint64_t hf__name_hash(hf_bytes name, uint64_t seed);

#endif
