/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read_number.c - decimal to integer without floating point, in which 0.29 s
 * could be 289 ms.
 */
#include "read_number.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "util/digits.h"

/* The digits after the point, in ms, rounded up; NULL if there are none. */
static const char *read_fraction(const char *at, int64_t *ms)
{
    int places = 0;
    bool beyond = false;

    *ms = 0;
    for (; hf__is_digit(*at); at++, places++)
        if (places < 3)
            *ms = *ms * 10 + (*at - '0');
        else if (*at != '0')
            beyond = true;
    if (places == 0)
        return NULL;
    for (; places < 3; places++)
        *ms *= 10;
    *ms += beyond ? 1 : 0;
    return at;
}

/* A number with an optional fraction, in thousandths, rounded up; what is
 * behind it. NULL: there is none, or it does not fit. */
static const char *read_decimal(const char *text, int64_t *thousandths)
{
    const char *at = text;
    int64_t whole = 0;
    int64_t fraction = 0;

    if (hf__is_digit(*at) && !hf__decimal_read(text, &whole, &at))
        return NULL;
    if (*at == '.')
        at = read_fraction(at + 1, &fraction);
    else if (at == text)
        return NULL;
    if (whole > (INT64_MAX - fraction) / 1000)
        return NULL;
    *thousandths = whole * 1000 + fraction;
    return at;
}

bool number_seconds(const char *text, int64_t *ms)
{
    const char *at = read_decimal(text, ms);

    return at != NULL && *at == '\0';
}

bool number_duration(const char *text, int64_t *ms)
{
    static const struct {
        const char *name;
        int64_t seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
    const char *unit = read_decimal(text, ms);

    if (unit != NULL && strcmp(unit, "ms") == 0) {
        *ms = *ms / 1000 + (*ms % 1000 != 0);
        return true;
    }
    for (size_t i = 0; unit != NULL && i < sizeof(units) / sizeof(*units);
         i++) {
        if (strcmp(unit, units[i].name) == 0)
            return !__builtin_mul_overflow(*ms, units[i].seconds, ms);
    }
    return false;
}

bool number_integer(const char *text, int64_t *number)
{
    const char *rest;

    return hf__decimal_read(text, number, &rest) && *rest == '\0';
}

bool number_size(const char *text, int64_t *size)
{
    return hf__is_digit(*text) && hf__decimal_size(text, size);
}

void number_print_seconds(int64_t ms, char *text, size_t size)
{
    int fraction = (int)(ms % 1000);
    int places = 3;

    if (fraction == 0) {
        (void)snprintf(text, size, "%" PRId64, ms / 1000);
        return;
    }
    for (; fraction % 10 == 0; fraction /= 10)
        places--;
    (void)snprintf(text, size, "%" PRId64 ".%0*d", ms / 1000, places, fraction);
}
