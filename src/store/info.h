/* SPDX-License-Identifier: Apache-2.0 */
/* info.h - reading the reply to INFO: lines "name:value\r\n". */
#ifndef HF__STORE_INFO_H
#define HF__STORE_INFO_H

#include <stdbool.h>
#include <stdint.h>

#include "holdfast/base.h"

/* Copy the value of `name`, cut to `size` with a NUL; false: missing, and
 * `value` is "". */
bool hf__info_find(hf_bytes info, const char *name, char *value, size_t size);

/* The value as a number; `missing` if it is missing or not a number. */
int64_t hf__info_number(hf_bytes info, const char *name, int64_t missing);

#endif
