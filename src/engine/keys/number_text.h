/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_text.h - numbers as text, read and written exactly as Redis 7.0 does.
 */
#ifndef HF__ENGINE_NUMBER_TEXT_H
#define HF__ENGINE_NUMBER_TEXT_H

#include "holdfast/base.h"
#include "util/private_api.h"

/* Enough for any number, with its NUL. */
#define HF__NUMBER_TEXT_SIZE 40

/* Decimal without spaces, "+" or leading zeros. */
HF__PRIVATE_API bool hf__number_integer(hf_bytes text, int64_t *value);

/* The same for few digits without a sign, as a double has them exactly, with
 * leading zeros too: up to 15 of them, or 16 below 9 * 10^15, as instants in us
 * and fencing tokens have. false: another number, or none. */
bool hf__number_digits(hf_bytes text, double *value);
/* A script's number as an integer reply: without its fraction. */
int64_t hf__number_truncated(double value);

/* strtod() on a text of any size, which need not end with a NUL: the number,
 * the bytes read, and errno. false: out of memory. */
bool hf__number_scan(hf_bytes text, double *value, size_t *used);
static inline bool hf__number_ends(hf_bytes text, size_t used)
{
    return used == text.size || ((const char *)text.data)[used] == '\0';
}

/* What strtod() accepts as a whole, with "inf", without NaN and blanks. HF_OK,
 * HF_INVALID or HF_NO_MEMORY. */
hf_status hf__number_double(hf_bytes text, double *value);

/* Both return the size without the NUL. */
HF__PRIVATE_API size_t hf__number_put_integer(char text[HF__NUMBER_TEXT_SIZE],
                                              int64_t value);
/* 17 significant digits. */
HF__PRIVATE_API size_t hf__number_put_double(char text[HF__NUMBER_TEXT_SIZE],
                                             double value);

#endif
