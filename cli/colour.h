/* SPDX-License-Identifier: Apache-2.0 */
/* colour.h - colour, on a terminal only. */
#ifndef HOLDFAST_CLI_COLOUR_H
#define HOLDFAST_CLI_COLOUR_H

#include <stdio.h>

enum colour {
    COLOUR_END,
    COLOUR_BOLD,
    COLOUR_RED,
    COLOUR_YELLOW,
    COLOUR_GREEN
};

/* The sequence to print; "" unless `file` is a terminal, which is not "dumb",
 * and $NO_COLOR is empty (https://no-color.org). */
const char *colour(FILE *file, enum colour which);

#endif
