/* SPDX-License-Identifier: Apache-2.0 */
/*
 * nearest.c - edit distance of two short words (Levenshtein), one row at a
 * time.
 */
#include "nearest.h"

#include <string.h>

/* Longer than every word of our own. */
#define WORD_MAX 24

/* More wrong letters are not a typing error. */
#define DISTANCE_MAX 2

static size_t least_of(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;

    return ab < c ? ab : c;
}

static size_t distance_of(const char *a, const char *b)
{
    size_t row[WORD_MAX + 1];
    size_t width = strlen(b);
    size_t i;
    size_t j;

    for (j = 0; j <= width; j++)
        row[j] = j;
    for (i = 0; a[i] != '\0'; i++) {
        size_t corner = row[0];

        row[0] = i + 1;
        for (j = 0; j < width; j++) {
            size_t above = row[j + 1];
            size_t change = a[i] == b[j] ? 0 : 1;

            row[j + 1] = least_of(corner + change, above + 1, row[j] + 1);
            corner = above;
        }
    }
    return row[width];
}

void nearest_offer(struct nearest *nearest, const char *candidate)
{
    size_t distance;
    size_t length = strlen(nearest->word);

    if (length > WORD_MAX || strlen(candidate) > WORD_MAX)
        return;
    distance = distance_of(nearest->word, candidate);
    if (distance > DISTANCE_MAX || distance >= length)
        return;
    if (nearest->best == NULL || distance < nearest->distance) {
        nearest->best = candidate;
        nearest->distance = distance;
    }
}
