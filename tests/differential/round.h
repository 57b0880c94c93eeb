/* SPDX-License-Identifier: Apache-2.0 */
/*
 * round.h - a round: some hundred operations on a few keys, from one seed,
 * beginning with two empty stores. Rounds are independent.
 */
#ifndef TESTS_DIFFERENTIAL_ROUND_H
#define TESTS_DIFFERENTIAL_ROUND_H

#include "op.h"

typedef struct round_options {
    const char *groups; /* of commands, separated by commas; NULL: all */
    bool distinct_instants;
    /* Some rounds include waits until short expiries are over. */
    bool waits;
} round_options;

/* Fill the empty list, including the commands that read the final state. */
void round_make(const round_options *options, uint64_t seed, op_list *list);

/* Does any command belong to the group? For checking the user's input. */
bool round_knows_group(const char *name, size_t size);

/* "a, b, c" */
void round_list_groups(char *text, size_t size);

/* How long after the last short expiry both stores have passed it, ms. */
#define ROUND_WAIT_MS 30

#endif
