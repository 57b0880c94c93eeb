/* SPDX-License-Identifier: Apache-2.0 */
/* colour.c - see colour.h. Sequences of ECMA-48, SGR. */
#include "colour.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_wanted(FILE *file)
{
    const char *no = getenv("NO_COLOR");
    const char *terminal = getenv("TERM");

    return (no == NULL || no[0] == '\0') && terminal != NULL &&
           strcmp(terminal, "dumb") != 0 && isatty(fileno(file)) == 1;
}

const char *colour(FILE *file, enum colour which)
{
    static const char *const sequences[] = {"\033[0m", "\033[1m", "\033[1;31m",
                                            "\033[33m", "\033[32m"};

    return is_wanted(file) ? sequences[which] : "";
}
