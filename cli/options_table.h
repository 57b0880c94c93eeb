/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_table.h - how an option is spelled and what its argument may be.
 */
#ifndef HOLDFAST_CLI_OPTIONS_TABLE_H
#define HOLDFAST_CLI_OPTIONS_TABLE_H

#include <stdint.h>

#include "command_line.h"

enum option_kind {
    KIND_FLAG,     /* no argument */
    KIND_TEXT,     /* any text */
    KIND_DURATION, /* decimal seconds, or with a unit, kept as ms */
    KIND_SECONDS,  /* decimal seconds, kept as ms */
    KIND_INTEGER,  /* a decimal integer */
    KIND_CHOICE    /* one of `choices` */
};

/* Options of the same non-zero rivalry are mutually exclusive. */
enum rivalry {
    RIVAL_NONE,
    RIVAL_WAIT,
    RIVAL_EXISTENCE,
    RIVAL_EXPIRY,
    RIVAL_PRESENT,
    RIVAL_MODE,
    RIVAL_TALK,
    RIVAL_VERSION
};

struct option_spec {
    const char *letters;  /* each is a short form; NULL: none */
    const char *names[3]; /* long forms; the first is used in messages */
    enum option_kind kind;
    enum rivalry rivalry;
    int64_t min;            /* of the number as kept */
    int64_t max;            /* of the number as kept */
    const char *argument;   /* its name in the help; NULL for flags */
    const char *help;       /* one line */
    const char *choices[7]; /* KIND_CHOICE: the words, then NULL */
};

extern const struct option_spec option_table[OPT_COUNT];

#endif
