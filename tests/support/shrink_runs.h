/* SPDX-License-Identifier: Apache-2.0 */
/* shrink_runs.h - making a failing list shorter: delta debugging (Zeller,
 * Hildebrandt, 2002) over its elements. */
#ifndef TESTS_SUPPORT_SHRINK_RUNS_H
#define TESTS_SUPPORT_SHRINK_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Leave out runs of a list of `count` elements, ever shorter ones. `without`
 * leaves out `count` of them from `from` on if the list still fails then, and
 * returns how many are left. Did it get shorter?
 */
bool shrink_runs(size_t count,
                 size_t (*without)(void *user, size_t from, size_t count),
                 void *user);

#endif
