/* SPDX-License-Identifier: Apache-2.0 */
/*
 * scripted.h - commands that can only be compared inside a script, which
 * completes a scan, or creates what they are meant for.
 */
#ifndef TESTS_DIFFERENTIAL_SCRIPTED_H
#define TESTS_DIFFERENTIAL_SCRIPTED_H

#include "op.h"
#include "words.h"

typedef struct scripted_row {
    const char *group; /* as in commands.h */
    unsigned weight;
    const char *words; /* its arguments */
    const char *source;
} scripted_row;

extern const scripted_row scripted_rows[];
extern const size_t scripted_row_count;

op scripted_make(maker *make, const scripted_row *row);

#endif
