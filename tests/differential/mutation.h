/* SPDX-License-Identifier: Apache-2.0 */
/*
 * mutation.h - faults put into the tested side on purpose, to see that they are
 * found: the test of the test.
 */
#ifndef TESTS_DIFFERENTIAL_MUTATION_H
#define TESTS_DIFFERENTIAL_MUTATION_H

#include "op.h"
#include "store/reply.h"

typedef struct mutation {
    const char *name;
    const char *what; /* for display */
    /* Change the words of a command before the tested side gets them. */
    void (*before)(op *command, hf__arena *arena);
    /* Change the reply to a command. */
    void (*after)(const op *command, hf_reply *reply, hf__arena *arena);
} mutation;

/* NULL: there is none of that name. */
const mutation *mutation_find(const char *name);

/* "a, b, c" */
void mutation_list(char *text, size_t size);

#endif
