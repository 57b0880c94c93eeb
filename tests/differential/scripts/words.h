/* SPDX-License-Identifier: Apache-2.0 */
/* words.h - random keys and arguments of scripts, by what headers call them. */
#ifndef WORDS_H
#define WORDS_H

#include "script/script.h"
#include "store/request.h"
#include "support/prng.h"

#define WORDS_MAX 64
#define WORD_SIZE 160

typedef struct word_list {
    char text[WORDS_MAX][WORD_SIZE];
    hf_bytes words[WORDS_MAX];
    size_t count, key_count;
} word_list;

/* What the words may name. */
typedef struct world {
    prng chance;
    int64_t clock_us;
    const char *inbox; /* of a client that is there */
} world;

void words_pick(word_list *self, world *from, const hf__script *script);

#endif
