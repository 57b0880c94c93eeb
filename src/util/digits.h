/* SPDX-License-Identifier: Apache-2.0 */
/*
 * digits.h - numbers and digits as text, in a URL and on the command line. The
 * command includes it too, so it needs no object of the library.
 */
#ifndef HF__UTIL_DIGITS_H
#define HF__UTIL_DIGITS_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static inline bool hf__is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Of a hexadecimal digit; -1: it is none. */
static inline int hf__hex_value(char c)
{
    if (hf__is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The same, of the digits that we write: no capital letter is one. */
static inline int hf__lower_hex_value(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : hf__hex_value(c);
}

/* Digits, after a '-' if negative; `*rest` is what follows them. false: there
 * are none, or the number does not fit. */
static inline bool hf__decimal_read(const char *text, int64_t *value,
                                    const char **rest)
{
    char *end;

    if (!hf__is_digit(text[*text == '-']))
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    *rest = end;
    return errno == 0;
}

/* All of a text, as Redis reads an integer: no other text of the same number is
 * one. */
static inline bool hf__decimal_exact(const char *digit, size_t left,
                                     int64_t *value)
{
    bool negative;
    int64_t sum = 0;

    if (left == 1 && *digit == '0') {
        *value = 0;
        return true;
    }
    negative = left > 0 && *digit == '-';
    if (negative) {
        digit++;
        left--;
    }
    /* 19 digits may exceed INT64_MAX; more always do. */
    if (left == 0 || left > 19 || *digit < '1' || *digit > '9')
        return false;
    for (; left > 0; left--, digit++) {
        /* Summed as negatives: there is one more of them. */
        if (!hf__is_digit(*digit) || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_sub_overflow(sum, *digit - '0', &sum))
            return false;
    }
    if (!negative && sum == INT64_MIN)
        return false;
    *value = negative ? sum : -sum;
    return true;
}

/* Room for any int64_t, with its NUL. */
#define HF__DECIMAL_SIZE 24

/* Write a number and a NUL; returns the size without the NUL. printf takes some
 * ten times as long. */
static inline size_t hf__decimal_put(char text[HF__DECIMAL_SIZE], int64_t value)
{
    static const char pairs[] = "0001020304050607080910111213141516171819"
                                "2021222324252627282930313233343536373839"
                                "4041424344454647484950515253545556575859"
                                "6061626364656667686970717273747576777879"
                                "8081828384858687888990919293949596979899";
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    char digits[HF__DECIMAL_SIZE];
    char *at = digits + sizeof(digits);
    size_t size;

    /* Not by memcpy(): hardened, it is a call for each two bytes. */
    for (; left >= 100; left /= 100) {
        *--at = pairs[2 * (left % 100) + 1];
        *--at = pairs[2 * (left % 100)];
    }
    *--at = pairs[2 * left + 1];
    if (left >= 10)
        *--at = pairs[2 * left];
    if (value < 0)
        *--at = '-';
    size = (size_t)(digits + sizeof(digits) - at);
    memcpy(text, at, size);
    text[size] = '\0';
    return size;
}

/* The whole text is such a number, of bytes, or with a suffix K, M or G (powers
 * of 1024). */
static inline bool hf__decimal_size(const char *text, int64_t *size)
{
    static const char suffixes[] = "KMG";
    const char *rest, *at;

    if (!hf__decimal_read(text, size, &rest))
        return false;
    if (*rest == '\0')
        return true;
    at = strchr(suffixes, *rest);
    return at != NULL && rest[1] == '\0' &&
           !__builtin_mul_overflow(*size, INT64_C(1024) << 10 * (at - suffixes),
                                   size);
}

#endif
