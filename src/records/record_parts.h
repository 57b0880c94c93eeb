/* SPDX-License-Identifier: Apache-2.0 */
/*
 * record_parts.h - the parts of a store of records. They are many, so that
 * locks that have nothing to do with one another do not share the key of their
 * tokens; and they are as in a cluster: the part of a key is that of its hash
 * tag, so that what works on one works on the other.
 */
#ifndef HF__RECORDS_RECORD_PARTS_H
#define HF__RECORDS_RECORD_PARTS_H

#include "store/store.h"

#define HF__RECORD_PARTS 64u

/* See hf__store_ops::shard and tag. */
uint32_t hf__record_part(const hf__store *store, hf_bytes key);
void hf__record_part_tag(uint32_t part, char text[HF__TAG_SIZE]);

#endif
