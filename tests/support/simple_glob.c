/* SPDX-License-Identifier: Apache-2.0 */
/* simple_glob.c - see simple_glob.h. */
#include "support/simple_glob.h"

#include <stddef.h>

/* The class at `at`, as in stringmatchlen() of Redis 7.0. */
static size_t class_size(const char *at, size_t size, signed char byte,
                         bool *found)
{
    const char *const from = at;
    bool negated = size > 1 && at[1] == '^';

    *found = false;
    at += negated ? 2 : 1;
    for (;; at++) {
        size_t left = size - (size_t)(at - from);

        if (left >= 2 && at[0] == '\\') {
            at++;
            *found = *found || (signed char)*at == byte;
        } else if (left == 0 || *at == ']') {
            *found = *found != negated;
            return (size_t)(at - from) + (left > 0);
        } else if (left >= 3 && at[1] == '-') {
            signed char low = (signed char)at[0], high = (signed char)at[2];

            at += 2;
            if (low > high ? high <= byte && byte <= low
                           : low <= byte && byte <= high)
                *found = true;
        } else if ((signed char)*at == byte) {
            *found = true;
        }
    }
}

/* A part, not a star. */
static size_t part_size(const char *at, size_t size, char byte, bool *found)
{
    *found = true;
    if (*at == '?')
        return 1;
    if (*at == '[')
        return class_size(at, size, (signed char)byte, found);
    if (*at == '\\' && size >= 2) {
        *found = at[1] == byte;
        return 2;
    }
    *found = *at == byte;
    return 1;
}

/* Part by part: which beginnings of the text fit so far? */
bool simple_fits(hf_bytes pattern, hf_bytes text)
{
    bool fit[SIMPLE_TEXT_MAX + 1] = {true};
    const char *at = pattern.data;
    const char *end = at + pattern.size;

    if (text.size == 0)
        return pattern.size == 0;
    while (at < end) {
        size_t used = 1;
        bool found;

        for (size_t i = 1; *at == '*' && i <= text.size; i++)
            fit[i] = fit[i] || fit[i - 1];
        for (size_t i = text.size; *at != '*' && i > 0; i--) {
            used = part_size(at, (size_t)(end - at),
                             ((const char *)text.data)[i - 1], &found);
            fit[i] = fit[i - 1] && found;
        }
        fit[0] = fit[0] && *at == '*';
        at += used;
    }
    return fit[text.size];
}
