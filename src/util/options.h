/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options.h - reading a caller's options struct whatever version of the header
 * it was compiled with. struct_size comes first; a shorter struct is filled
 * with zeros, a longer one is accepted if its unknown tail is zero.
 */
#ifndef HF__UTIL_OPTIONS_H
#define HF__UTIL_OPTIONS_H

#include "holdfast/base.h"

/*
 * Copy `*from` (NULL: all zero) into `*to` of `size` bytes. `smallest` is the
 * size of the struct's first version.
 * HF_INVALID: struct_size too small; HF_UNSUPPORTED: a non-zero unknown tail.
 */
hf_status hf__options_load(void *to, size_t size, size_t smallest,
                           const void *from, const char *what, hf_error *err);

#endif
