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
    uint64_t sum = 0;
    bool negative;

    if (left == 1 && *digit == '0') {
        *value = 0;
        return true;
    }
    negative = left > 0 && *digit == '-';
    if (negative) {
        digit++;
        left--;
    }
    /* 19 digits always fit 64 bits; more are always too many for an int64_t. */
    if (left == 0 || left > 19 || *digit < '1' || *digit > '9')
        return false;
    for (; left > 0; left--, digit++) {
        unsigned each = (unsigned char)*digit - (unsigned)'0';

        if (each > 9)
            return false;
        sum = 10 * sum + each;
    }
    if (sum > (uint64_t)INT64_MAX + negative)
        return false;
    *value = negative ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}

/* Room for any int64_t, with its NUL. */
#define HF__DECIMAL_SIZE 24

/* The eight digits of a number below 10^8, each in a byte, the first one in the
 * lowest: it is split into halves, these into pairs, and these into digits. The
 * products are divisions by 100 and by 10, exact for so few digits. */
static inline uint64_t hf__decimal_eight(uint64_t value)
{
    uint64_t halves = value / 10000 | value % 10000 << 32;
    uint64_t hundreds = halves * 10486 >> 20 & UINT64_C(0x0000007f0000007f);
    uint64_t pairs = hundreds | (halves - 100 * hundreds) << 16;
    uint64_t tens = pairs * 103 >> 10 & UINT64_C(0x000f000f000f000f);

    return tens | (pairs - 10 * tens) << 8;
}

/* Write digits from the lowest byte on, and what follows them; eight bytes. */
static inline void hf__decimal_store(char *at, uint64_t eight)
{
    eight |= UINT64_C(0x3030303030303030);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    /* Not memcpy(): hardened, it may be a call. */
    __builtin_memcpy(at, &eight, sizeof(eight));
}

/* Write a number and a NUL; returns the size without the NUL. printf takes some
 * ten times as long. */
static inline size_t hf__decimal_put(char text[HF__DECIMAL_SIZE], int64_t value)
{
    static const uint64_t unit = 100000000;
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint64_t high = left / unit, first = left, eight;
    unsigned zeros; /* before its first digit */
    char *at = text;

    if (value < 0)
        *at++ = '-';
    if (high > 0)
        first = high < unit ? high : high / unit;
    eight = hf__decimal_eight(first);
    zeros = first == 0 ? 7 : (unsigned)__builtin_ctzll(eight) / 8;
    hf__decimal_store(at, eight >> 8 * zeros);
    at += 8 - zeros;
    if (high >= unit) {
        hf__decimal_store(at, hf__decimal_eight(high % unit));
        at += 8;
    }
    if (high > 0) {
        hf__decimal_store(at, hf__decimal_eight(left % unit));
        at += 8;
    }
    *at = '\0';
    return (size_t)(at - text);
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
