/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.h - names against patterns, as KEYS and the SCAN commands of Redis 7.0
 * do it.
 */
#ifndef HF__EMBEDDED_GLOB_H
#define HF__EMBEDDED_GLOB_H

#include "holdfast/base.h"

/* `*`, `?`, `[a-z]`, `[^a-z]`, and a backslash before what is meant as it is.
 * Takes the product of both sizes at most. */
bool hf__glob_fits(hf_bytes pattern, hf_bytes text);

#endif
