/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - matching names with patterns, as KEYS and SCAN of Redis 7.0 do.
 */
#ifndef HF__UTIL_GLOB_H
#define HF__UTIL_GLOB_H

#include "holdfast/base.h"

/* `*`, `?`, `[a-z]`, `[^a-z]`, and backslash as escape. Time: the product of
 * both sizes at most. */
bool hf__glob_fits(hf_bytes pattern, hf_bytes text);

#endif
