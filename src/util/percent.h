/* SPDX-License-Identifier: Apache-2.0 */
/* percent.h - bytes as %XX. */
#ifndef HF__UTIL_PERCENT_H
#define HF__UTIL_PERCENT_H

#include <stdbool.h>
#include <stddef.h>

#include "holdfast/base.h"

/* Each byte that is not plain becomes %XX. `at` has room for 3 bytes each and a
 * NUL. Returns the size without the NUL. */
size_t hf__percent_put(char *at, hf_bytes bytes,
                       bool (*is_plain)(unsigned char byte));
/* Back again, in place; other uses of % stay. Returns the size; a NUL
 * follows. */
size_t hf__percent_take(char *text, size_t size);

#endif
