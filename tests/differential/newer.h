/* SPDX-License-Identifier: Apache-2.0 */
/* newer.h - where newer servers are known to differ from Redis 7.0. */
#ifndef TESTS_DIFFERENTIAL_NEWER_H
#define TESTS_DIFFERENTIAL_NEWER_H

#include "op.h"
#include "store/store.h"

/* Remember the server's version, from its reply to INFO. false: older than
 * Redis 7.0, or newer than those whose differences are known. */
bool newer_knows(const char *info);

/* Has the server commands on the deadlines of fields, as the store has? */
bool newer_has_deadlines(void);
/* Is this one of them, which it has not? */
bool newer_lacks(const char *command);

/* Remove what is not tested at all. */
void newer_filter(op_list *list);

/* What to run instead of a script, on both sides. */
const char *newer_source(const char *source, hf__arena *arena);

/* Do two texts mean the same in the wording of both? */
bool newer_same_text(hf_bytes tested, hf_bytes server);

/* Is this an error that only one of the two returns here? */
bool newer_reads_otherwise(const op *asked, const char *error);

/* Is what this mutation changes a known difference? Then it is not found. */
bool newer_hides(const char *mutation);

/* Are rows of COMMAND about this command known to differ? "a" or "a|b". */
bool newer_has_other_row(const char *command);

#endif
