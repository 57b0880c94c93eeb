/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_float.h - the numbers of INCRBYFLOAT: long double, as text.
 */
#ifndef HF__ENGINE_LONG_FLOAT_H
#define HF__ENGINE_LONG_FLOAT_H

#include "holdfast/base.h"

/* What strtold() accepts as a whole, with "inf", without NaN and blanks. */
bool hf__long_float_read(hf_bytes text, long double *value);

/* Room for every finite number. */
#define HF__LONG_FLOAT_SIZE 5120

/* 17 decimal places without trailing zeros; returns the size without the
 * NUL. */
size_t hf__long_float_put(char text[HF__LONG_FLOAT_SIZE], long double value);

#endif
