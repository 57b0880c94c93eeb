/* SPDX-License-Identifier: Apache-2.0 */
/*
 * glob.c - matching names with patterns.
 *
 * On a mismatch only the last star is retried, one byte further: what an
 * earlier star could match, the last one can match as well. So no pattern needs
 * recursion.
 */
#include "util/glob.h"

typedef struct pattern {
    const char *at;
    const char *end;
} pattern;

static size_t left(const pattern *rest)
{
    return (size_t)(rest->end - rest->at);
}

/* One item of a class: a byte, an escaped byte, or a range of them. Bytes are
 * signed in ranges, which is how Redis compares them on most machines. */
static bool item_fits(pattern *rest, char byte)
{
    const signed char value = (signed char)byte;
    signed char low = (signed char)rest->at[0];
    signed char high;

    if (left(rest) >= 2 && rest->at[0] == '\\') {
        rest->at += 2;
        return rest->at[-1] == byte;
    }
    if (left(rest) < 3 || rest->at[1] != '-') {
        rest->at++;
        return low == value;
    }
    high = (signed char)rest->at[2];
    rest->at += 3;
    return low <= high ? low <= value && value <= high
                       : high <= value && value <= low;
}

/* A class, after its '['. One without a ']' ends with the pattern. */
static bool class_fits(pattern *rest, char byte)
{
    bool negated = rest->at < rest->end && *rest->at == '^';
    bool found = false;

    if (negated)
        rest->at++;
    while (rest->at < rest->end && *rest->at != ']') {
        if (item_fits(rest, byte))
            found = true;
    }
    if (rest->at < rest->end)
        rest->at++;
    return found != negated;
}

/* Does the pattern's next part, not a star, match the byte? Skips it. */
static bool part_fits(pattern *rest, char byte)
{
    if (rest->at == rest->end)
        return false;
    switch (*rest->at) {
    case '?':
        rest->at++;
        return true;
    case '[':
        rest->at++;
        return class_fits(rest, byte);
    case '\\':
        if (left(rest) >= 2)
            rest->at++;
        break;
    default:
        break;
    }
    return *rest->at++ == byte;
}

static void skip_stars(pattern *rest)
{
    while (rest->at < rest->end && *rest->at == '*')
        rest->at++;
}

bool hf__glob_fits(hf_bytes glob, hf_bytes text)
{
    pattern rest = {glob.data, (const char *)glob.data + glob.size};
    pattern behind_star = {NULL, NULL};
    const char *at = text.data;
    const char *end = at + text.size;
    const char *retry = at;

    /* As in Redis: then the pattern is not looked at, not even a star. */
    if (text.size == 0)
        return glob.size == 0;
    while (at < end) {
        if (rest.at < rest.end && *rest.at == '*') {
            skip_stars(&rest);
            behind_star = rest;
            retry = at;
        } else if (part_fits(&rest, *at)) {
            at++;
        } else if (behind_star.at != NULL) {
            rest = behind_star;
            at = ++retry;
        } else {
            return false;
        }
    }
    skip_stars(&rest);
    return rest.at == rest.end;
}
