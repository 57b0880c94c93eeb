/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - matching names with patterns, as KEYS and SCAN of Redis 7.0 do.
 */
#ifndef HF__UTIL_GLOB_H
#define HF__UTIL_GLOB_H

#include "holdfast/base.h"

/* Bytes of a pattern: a name and, each byte escaped, a prefix. With more the
 * time that a pattern costs for each name would be without a bound. */
#define HF__GLOB_MAX 8192

/* `*`, `?`, `[a-z]`, `[^a-z]`, and backslash as escape. A pattern longer than
 * HF__GLOB_MAX fits nothing. Time: a constant for each byte of both. */
bool hf__glob_fits(hf_bytes pattern, hf_bytes text);

#endif
