/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.h - what a script gets that calls a command which no script may
 * call, or which is not there.
 */
#ifndef HF__EMBEDDED_NOSCRIPT_H
#define HF__EMBEDDED_NOSCRIPT_H

#include "holdfast/base.h"

/* The error's text, for a command of `count` words, 1 or more. */
const char *hf__noscript_error(const hf_bytes *words, size_t count);

#endif
