/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.h - from a failing list of operations to a short one. */
#ifndef TESTS_DIFFERENTIAL_SHRINK_H
#define TESTS_DIFFERENTIAL_SHRINK_H

#include "trial.h"

/*
 * Shorten the list, and its operations, as long as some difference remains;
 * `*found` is then the one of the new list. false: the list does not fail when
 * it is run again, and is unchanged.
 */
bool shrink(pair *both, op_list *list, difference *found);

#endif
