/* SPDX-License-Identifier: Apache-2.0 */
/*
 * decimal.h - whole numbers as text, in a URL and on the command line. The
 * command includes it too, so it needs no object of the library.
 */
#ifndef HF__UTIL_DECIMAL_H
#define HF__UTIL_DECIMAL_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* Digits, after a '-' if negative; `*rest` is what follows them. false: there
 * are none, or the number does not fit. */
static inline bool hf__decimal_read(const char *text, int64_t *value,
                                    const char **rest)
{
    char first = text[*text == '-'];
    char *end;

    if (first < '0' || first > '9')
        return false;
    errno = 0;
    *value = strtoll(text, &end, 10);
    *rest = end;
    return errno == 0;
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
