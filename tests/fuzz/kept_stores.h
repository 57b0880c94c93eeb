/* SPDX-License-Identifier: Apache-2.0 */
/* kept_stores.h - the two stores of support/kept.h, for a fuzz target. */
#ifndef TESTS_FUZZ_KEPT_STORES_H
#define TESTS_FUZZ_KEPT_STORES_H

#include "support/kept.h"

/* Both, in a folder of their own; closed and removed at exit. The one under
 * test is of `scheme`, "file" or "volatile". */
kept *kept_stores_open(const char *scheme);

/* Abort unless the store keeps what it has accepted, by kept_holds() or by
 * kept_loads(). */
void kept_stores_check(kept *stores, bool whole);

/* Which of them: one input in four is checked as a whole, by two bits of its
 * first byte. */
#define KEPT_STORES_WHOLE(choice) (((choice)&0x18) == 0)

/* Delete all keys of the store under test. */
void kept_stores_empty(kept *stores);

#endif
