/* SPDX-License-Identifier: Apache-2.0 */
/*
 * noscript.h - errors of scripts that call a forbidden or unknown command.
 */
#ifndef HF__ENGINE_NOSCRIPT_H
#define HF__ENGINE_NOSCRIPT_H

#include "holdfast/base.h"

/* The error's text for a command of `count` >= 1 arguments. */
const char *hf__noscript_error(const hf_bytes *words, size_t count);

#endif
