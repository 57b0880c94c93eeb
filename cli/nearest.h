/* SPDX-License-Identifier: Apache-2.0 */
/* nearest.h - what the user may have meant by an unknown word. */
#ifndef HOLDFAST_CLI_NEAREST_H
#define HOLDFAST_CLI_NEAREST_H

#include <stddef.h>

/* The best candidate so far for `word`. Start with {word, NULL, 0}. */
struct nearest {
    const char *word;
    const char *best; /* NULL: nothing is near */
    size_t distance;
};

/* Keep `candidate` if it is nearer. */
void nearest_offer(struct nearest *nearest, const char *candidate);

#endif
