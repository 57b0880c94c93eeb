/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands.h - what is known about the commands of Redis and Valkey:
 * which of their words are keys, and what they do to data and to the
 * connection.
 */
#ifndef HF__STORE_KNOWN_COMMANDS_H
#define HF__STORE_KNOWN_COMMANDS_H

#include "holdfast/base.h"

enum {
    /* Changes nothing: may be sent twice. */
    HF__KNOWN_READS = 1u << 0,
    /* Changes the state of its connection, or keeps it waiting. */
    HF__KNOWN_BINDS = 1u << 1,
    /* Without keys, and about none. */
    HF__KNOWN_PURE = 1u << 2,
    /* Reaches more than its keys. */
    HF__KNOWN_WIDE = 1u << 3
};

typedef struct hf__known_command {
    uint8_t flags;
    uint8_t place; /* where its keys are; of known_commands.c */
    /* Of a range: words, those below 0 counted from the end. Of counted keys:
     * the word that has their number, and one more key before it, or 0. */
    int8_t first, last, step;
    const char *names; /* separated by blanks */
} hf__known_command;

/* Which words are keys: `extra`, unless it is 0; first, first + step, ... up to
 * last. */
typedef struct hf__key_words {
    size_t extra, first, last, step;
} hf__key_words;

/* All of them in turn; 0: no more. */
static inline size_t hf__key_words_next(const hf__key_words *keys, size_t at)
{
    size_t next = at == keys->extra ? keys->first : at + keys->step;

    return next <= keys->last ? next : 0;
}
static inline size_t hf__key_words_begin(const hf__key_words *keys)
{
    return keys->extra != 0 ? keys->extra : hf__key_words_next(keys, 0);
}

/* Ignores case. NULL: unknown. Any thread. */
const hf__known_command *hf__known_find(hf_bytes name);

/* `words` begin with the name, of which there may be nothing else. Of an
 * unknown command, NULL, the first word after the name is the key. */
void hf__known_keys(const hf__known_command *known, const hf_bytes *words,
                    size_t count, hf__key_words *keys);

/* Would it change the state of its connection, or keep it waiting? */
bool hf__known_binds(const hf__known_command *known, const hf_bytes *words,
                     size_t count);

/* Is there more to finding its keys than a range; is their number a word? */
bool hf__known_is_movable(const hf__known_command *known);
bool hf__known_is_counted(const hf__known_command *known);

/* Does it reach only the keys among its words? */
bool hf__known_is_confined(const hf__known_command *known,
                           const hf_bytes *words, size_t count);

#endif
