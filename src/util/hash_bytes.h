/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_bytes.h - a hash of bytes that is the same in all processes: files
 * contain what depends on it.
 */
#ifndef HF__UTIL_HASH_BYTES_H
#define HF__UTIL_HASH_BYTES_H

#include "holdfast/base.h"

uint64_t hf__hash(hf_bytes bytes, uint64_t seed);

#endif
