/* SPDX-License-Identifier: Apache-2.0 */
/* place.h - a directory in memory for a store, see support/remove_tree.h. */
#ifndef TESTS_DIFFERENTIAL_PLACE_H
#define TESTS_DIFFERENTIAL_PLACE_H

#include <stdbool.h>

#define PLACE_SIZE 64

/* false, with a line on stderr. */
bool place_make(char path[PLACE_SIZE]);

#endif
