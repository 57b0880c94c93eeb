/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.h - generating single words, by kind:
 *
 *   K  one of the round's keys        F  field               V  any value
 *   I  integer                        D  score               B  bound of scores
 *   R  rank                           N  count               C  channel
 *   T  P  time to live in s, ms, long or refused
 *   S  M  instant in s, ms, far or past
 *   X  bound of members              J  pattern             Y  name of a type
 *   W  BY of SORT, the same for all   Q  ... or not         O  U  one such each
 *   G  GET of SORT                    A  SHA-1              L  Lua
 *   E  one of 20 000 numbers          H  bytes of a HyperLogLog
 *   Z  degrees
 *
 * Each kind also yields some invalid words.
 */
#ifndef TESTS_DIFFERENTIAL_WORDS_H
#define TESTS_DIFFERENTIAL_WORDS_H

#include "holdfast/base.h"
#include "support/prng.h"
#include "util/arena.h"

typedef struct maker {
    prng random;
    hf__arena *arena; /* of the words */
    const hf_bytes *keys;
    size_t key_count;
    /* Most keys are this one, by its index, so that commands of one type use
     * the same. Too large: none. */
    size_t favourite;
    /* No instant twice: the store keeps them on another clock, and the same one
     * may differ by 1 ms from one call to the next. */
    bool distinct_instants;
} maker;

/* The number of keys that a round chooses from. */
size_t word_key_count(void);
hf_bytes word_key(hf__arena *arena, size_t index);

hf_bytes word_make(maker *make, char kind);

#endif
