/* SPDX-License-Identifier: Apache-2.0 */
/*
 * commands.h - the commands that are compared: how to generate their words and
 * how to compare their replies. A new command is a new row.
 *
 * Words are written in a small language:
 *
 *   set        the word, in any letter case
 *   K V ...    a word of that kind, see words.h
 *   (a b|c)    one of the alternatives
 *   ?x         none or one       *x  0 to 3       +x  1 to 4, rarely many
 */
#ifndef TESTS_DIFFERENTIAL_COMMANDS_H
#define TESTS_DIFFERENTIAL_COMMANDS_H

#include "holdfast/base.h"

typedef enum rule {
    RULE_EXACT,
    RULE_SCORES,    /* exact, but see exceptions.c about scores */
    RULE_UNORDERED, /* an array in any order */
    RULE_PAIRS,     /* the same, in pairs */
    RULE_SECONDS,   /* time left, or an instant, or a negative reply */
    RULE_MS,
    /* A count of keys. Alone in its request, after a server has deleted what is
     * expired, as it counts that until then. */
    RULE_COUNT,
    RULE_SHAPE /* only the kinds of reply: clocks, random choices */
} rule;

/* Whether the words may be misplaced. */
typedef enum spoiling {
    SPOIL_ANY,
    /* Takes a time to live: not if a short one could result, as two stores do
     * not expire at the same instant. */
    SPOIL_TIMED,
    SPOIL_NONE
} spoiling;

typedef struct command_row {
    const char *group;
    unsigned weight; /* how often, relative to the others */
    const char *words;
    rule rule;
    spoiling spoiling;
} command_row;

extern const command_row command_rows[];
extern const size_t command_row_count;

/* The commands that read the state of one key, K; one batch. */
extern const char *const state_commands[];
extern const size_t state_command_count;

/* The rule for a command by its name, in any letter case. */
rule command_rule(hf_bytes name);

#endif
