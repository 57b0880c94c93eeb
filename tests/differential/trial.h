/* SPDX-License-Identifier: Apache-2.0 */
/* trial.h - running a list of operations on both sides. */
#ifndef TESTS_DIFFERENTIAL_TRIAL_H
#define TESTS_DIFFERENTIAL_TRIAL_H

#include "op.h"
#include "side.h"

typedef struct pair {
    side tested;
    side server;
} pair;

#define ANSWER_TEXT_SIZE 4000

typedef struct difference {
    size_t index; /* of the operation */
    char tested[ANSWER_TEXT_SIZE];
    char server[ANSWER_TEXT_SIZE];
} difference;

/* Run the list on two empty stores, to the end or to the first difference.
 * true: `*found` is filled. */
bool trial_differs(pair *both, const op_list *list, difference *found);

#endif
