/* SPDX-License-Identifier: Apache-2.0 */
/* config_integer.c - parameters that are integers. */
#include <inttypes.h>
#include <stdio.h>

#include "engine/engine.h"
#include "serve/commands/config.h"

bool hf__config_integer(hf_bytes value, int64_t min, int64_t max,
                        int64_t *number, char error[HF__CONFIG_ERROR_SIZE])
{
    if (!hf__number_integer(value, number)) {
        (void)snprintf(error, HF__CONFIG_ERROR_SIZE,
                       "argument couldn't be parsed into an integer");
        return false;
    }
    if (*number >= min && *number <= max)
        return true;
    (void)snprintf(error, HF__CONFIG_ERROR_SIZE,
                   "argument must be between %" PRId64 " and %" PRId64
                   " inclusive",
                   min, max);
    return false;
}
