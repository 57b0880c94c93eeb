/* SPDX-License-Identifier: Apache-2.0 */
/*
 * name_set.h - a set of names, each remembered by a digest of 16 bytes: with
 * the table's slack 24 on average, however long the name. A digest is the first
 * 128 bits of SHA-1: no two names have the same by chance.
 */
#ifndef HF__UTIL_NAME_SET_H
#define HF__UTIL_NAME_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/base.h"

typedef struct hf__name_digest {
    uint64_t words[2]; /* both 0: an empty place */
} hf__name_digest;

/* Start with zeros. */
typedef struct hf__name_set {
    hf__name_digest *places;
    size_t count;
    size_t room; /* a power of two */
} hf__name_set;

/* *fresh: it was not in the set before. */
hf_status hf__name_set_add(hf__name_set *set, hf_bytes name, bool *fresh,
                           hf_error *err);

bool hf__name_set_has(const hf__name_set *set, hf_bytes name);

void hf__name_set_done(hf__name_set *set);

#endif
