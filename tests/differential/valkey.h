/* SPDX-License-Identifier: Apache-2.0 */
/* valkey.h - where Valkey is known to differ from Redis 7.0. */
#ifndef TESTS_DIFFERENTIAL_VALKEY_H
#define TESTS_DIFFERENTIAL_VALKEY_H

#include "op.h"
#include "store/store.h"

/* From now on the server is one. Without it nothing below is true. */
void valkey_is_server(void);

/* Take out what is not asked at all. */
void valkey_filter(op_list *list);

/* What to run instead of a script, on both sides. */
const char *valkey_source(const char *source, hf__arena *arena);

/* Do two texts say the same in the words of both? */
bool valkey_same_text(hf_bytes tested, hf_bytes server);

/* Is this an error that only one of the two makes here? */
bool valkey_reads_otherwise(const op *asked, const char *error);

#endif
