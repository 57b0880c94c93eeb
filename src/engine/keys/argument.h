/* SPDX-License-Identifier: Apache-2.0 */
/*
 * argument.h - reading a command's arguments.
 */
#ifndef HF__ENGINE_ARGUMENT_H
#define HF__ENGINE_ARGUMENT_H

#include <string.h>

#include "engine/keys/command_reply.h"
#include "util/names.h"
#include "util/private_api.h"

/* Compare an argument with a lower-case text, ignoring case. */
HF__PRIVATE_API bool hf__arg_same(hf_bytes arg,
                                  const char *text); /* of equal size */
static inline bool hf__arg_is(hf_bytes arg, const char *text)
{
    return arg.size == strlen(text) && hf__arg_same(arg, text);
}
/* Read an integer, or reply with an error. */
bool hf__arg_integer(hf__tx *tx, hf_bytes arg, int64_t *value);
/* The same with `error`. */
bool hf__arg_double(hf__tx *tx, hf_bytes arg, const char *error, double *value);
/* Read an integer; or reply with `error` if it is less than `min`. */
bool hf__arg_from(hf__tx *tx, hf_bytes arg, int64_t min, const char *error,
                  int64_t *value);
/* Read an integer of at least `min`, or reply with `error`. */
bool hf__arg_at_least(hf__tx *tx, hf_bytes arg, int64_t min, const char *error,
                      int64_t *value);
/* May a key have this name? If not, reply with an error. */
bool hf__arg_key(hf__tx *tx, hf_bytes name);
/* Read the number of a database, or reply with an error. */
bool hf__arg_database(hf__tx *tx, hf_bytes arg, uint8_t *database);
/* Read the time limit of a blocking command, seconds, into tx->block. */
bool hf__arg_wait(hf__tx *tx, hf_bytes arg);
/* There is nothing to take in these keys among the arguments. */
void hf__block_on(hf__tx *tx, uint8_t type, size_t first, size_t count);
/* Read an integer other than INT64_MIN. */
bool hf__arg_signed(hf__tx *tx, hf_bytes arg, int64_t *value);

#endif
