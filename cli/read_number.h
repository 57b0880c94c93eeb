/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_number.h - numbers of the command line, read exactly.
 */
#ifndef HOLDFAST_CLI_READ_NUMBER_H
#define HOLDFAST_CLI_READ_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Seconds with an optional fraction ("30", "0.5", ".25") to milliseconds,
 * rounded up, so that only 0 gives 0. False for a sign, an exponent, a space,
 * or a number that does not fit.
 */
bool number_seconds(const char *text, int64_t *ms);

/* The same, or with a unit behind it: ms, s, m, h, d. */
bool number_duration(const char *text, int64_t *ms);

/* Decimal digits, after a '-' if negative. False for anything else, or a number
 * that does not fit. */
bool number_integer(const char *text, int64_t *number);

/* Bytes, or with a suffix K, M, G as in a store's URL. */
bool number_size(const char *text, int64_t *size);

/* Room for any value of number_print_seconds(), the NUL included. */
#define NUMBER_SECONDS_SIZE 32

/* Milliseconds as seconds, without zeros at the end: 1500 is "1.5". */
void number_print_seconds(int64_t ms, char *text, size_t size);

#endif
