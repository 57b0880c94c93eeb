/* SPDX-License-Identifier: Apache-2.0 */
/* order.h - the lesser and the greater of two numbers. */
#ifndef HF__UTIL_ORDER_H
#define HF__UTIL_ORDER_H

#include <stdint.h>

static inline int64_t hf__at_most(int64_t value, int64_t high)
{
    return value < high ? value : high;
}

static inline int64_t hf__at_least(int64_t value, int64_t low)
{
    return value > low ? value : low;
}

#endif
