/* SPDX-License-Identifier: Apache-2.0 */
/*
 * limits.h - what a store may hold, one function for each kind of number or
 * text. Whatever lets data in asks these: commands, RESTORE and the loading of
 * dumps; and `store check`. So what one of them accepts, none of the others
 * refuses later.
 */
#ifndef HF__STORE_LIMITS_H
#define HF__STORE_LIMITS_H

#include "holdfast/base.h"

/* Deadline of a field of a hash, Unix ms: Redis's own limit, in the year
 * 4199. A double holds it exactly. */
#define HF__DEADLINE_MAX ((INT64_C(1) << 46) - 1)
static inline bool hf__is_deadline(int64_t unix_ms)
{
    return unix_ms >= 0 && unix_ms <= HF__DEADLINE_MAX;
}

/* Expiry of a key, Unix ms; 0: never. */
static inline bool hf__is_expiry(int64_t unix_ms)
{
    return unix_ms >= 0;
}

/* Score of a member: not NaN, which has no place in an order. */
static inline bool hf__is_score(double score)
{
    return !__builtin_isnan(score);
}

/* Bytes of a string or an element. */
static inline bool hf__is_value_size(uint64_t size)
{
    return size <= HF_VALUE_MAX;
}

/* Number of a bit of a string. */
static inline bool hf__is_bit(int64_t number)
{
    return number >= 0 && number < (int64_t)HF_VALUE_MAX * 8;
}

/* Bytes in the name of a key. Redis allows 512 MiB, which no one uses: a reader
 * of dumps has to hold a whole name. */
#define HF__KEY_SIZE_MAX (512u << 10)
static inline bool hf__is_key_size(uint64_t size)
{
    return size <= HF__KEY_SIZE_MAX;
}

#endif
