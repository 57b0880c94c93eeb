/* SPDX-License-Identifier: Apache-2.0 */
/*
 * known_commands.h - what is known about the commands of Redis and Valkey:
 * how many words they take, which of these are keys, and what they do to data
 * and to the connection. known_table.c has a row for each.
 */
#ifndef HF__STORE_KNOWN_COMMANDS_H
#define HF__STORE_KNOWN_COMMANDS_H

#include <stdint.h>
#include <string.h>

#include "holdfast/base.h"

enum {
    /* Changes nothing: may be sent twice. */
    HF__KNOWN_READS = 1u << 0,
    /* Changes the state of its connection, or is about it. */
    HF__KNOWN_BINDS = 1u << 1,
    /* Without keys, and about none. */
    HF__KNOWN_PURE = 1u << 2,
    /* Reaches more than its keys. */
    HF__KNOWN_WIDE = 1u << 3,
    /* Scripts may not call it; of a command with subcommands: not all. */
    HF__KNOWN_NOSCRIPT = 1u << 4,
    /* Waits for an element, so long as one of its words says. */
    HF__KNOWN_WAITS = 1u << 5
};

/* Where the keys are. */
enum {
    HF__KEYS_RANGE,
    HF__KEYS_COUNTED,
    HF__KEYS_SORT,
    HF__KEYS_GEO,
    HF__KEYS_STREAM
};

/* As in access lists, in the order of their names in acl_table.c. */
enum {
    HF__CATEGORY_KEYSPACE = 1u << 0,
    HF__CATEGORY_READ = 1u << 1,
    HF__CATEGORY_WRITE = 1u << 2,
    HF__CATEGORY_SET = 1u << 3,
    HF__CATEGORY_SORTEDSET = 1u << 4,
    HF__CATEGORY_LIST = 1u << 5,
    HF__CATEGORY_HASH = 1u << 6,
    HF__CATEGORY_STRING = 1u << 7,
    HF__CATEGORY_BITMAP = 1u << 8,
    HF__CATEGORY_HYPERLOGLOG = 1u << 9,
    HF__CATEGORY_GEO = 1u << 10,
    HF__CATEGORY_STREAM = 1u << 11,
    HF__CATEGORY_PUBSUB = 1u << 12, /* its words are channels */
    HF__CATEGORY_ADMIN = 1u << 13,
    HF__CATEGORY_FAST = 1u << 14,
    HF__CATEGORY_SLOW = 1u << 15,
    HF__CATEGORY_BLOCKING = 1u << 16,
    HF__CATEGORY_DANGEROUS = 1u << 17,
    HF__CATEGORY_CONNECTION = 1u << 18,
    HF__CATEGORY_TRANSACTION = 1u << 19,
    HF__CATEGORY_SCRIPTING = 1u << 20
};

typedef struct hf__known_command {
    const char *name; /* lower case; of a subcommand "config|get" */
    /* Number of words with the name; negative: at least so many; 0: not needed,
     * as neither the engine nor its server has the command. */
    int8_t arity;
    uint8_t place;
    /* Of a range: words, those below 0 counted from the end. Of counted keys:
     * the word that has their number, and one more key before it, or 0. */
    int8_t first, last, step;
    /* r, w or both: done to the first key, and behind a comma to the others if
     * that differs. Nothing: only whether there is such a key is revealed. Then
     * what a write does, as Redis says it: i inserts, u updates, d deletes; and
     * what it needs: o overwrites and m removes without reading, b reads and
     * writes although only r is there. */
    const char *access;
    uint32_t categories; /* 0: access lists cannot name it */
    uint8_t flags;
} hf__known_command;

/* All rows; the last one has no name. */
extern const hf__known_command hf__known_table[];

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
/* The same of a subcommand. */
const hf__known_command *hf__known_find_sub(hf_bytes name, hf_bytes sub);
/* The same of "config|get". */
const hf__known_command *hf__known_find_row(hf_bytes name);

/* Of the words of a request: the subcommand, or else the command. */
const hf__known_command *hf__known_find_words(const hf_bytes *words,
                                              size_t count);

static inline bool hf__known_has_subs(const hf__known_command *known)
{
    return known[1].name != NULL && strchr(known[1].name, '|') != NULL;
}

/* Is it a subcommand? */
static inline bool hf__known_is_sub(const hf__known_command *known)
{
    return strchr(known->name, '|') != NULL;
}

static inline bool hf__known_arity_fits(int arity, size_t count)
{
    return arity >= 0 ? count == (size_t)arity : count >= (size_t)-arity;
}

/* `words` begin with the name, of which there may be nothing else. Of an
 * unknown command, NULL, the first word after the name is the key. */
void hf__known_keys(const hf__known_command *known, const hf_bytes *words,
                    size_t count, hf__key_words *keys);

/* Would it change the state of its connection, or is it about it? */
bool hf__known_binds(const hf__known_command *known, const hf_bytes *words,
                     size_t count);

/* How long it may wait for an element, ms; INT64_MAX: without a limit, or so
 * long as only the store can read; 0: it does not wait. */
int64_t hf__known_wait_ms(const hf__known_command *known, const hf_bytes *words,
                          size_t count);

/* Does it read what is added from the moment on: XREAD with `$`? */
bool hf__known_reads_new(const hf__known_command *known, const hf_bytes *words,
                         size_t count);

/* Is there more to finding its keys than a range; is their number a word? */
bool hf__known_is_movable(const hf__known_command *known);
bool hf__known_is_counted(const hf__known_command *known);

/* Does it reach only the keys among its words? */
bool hf__known_is_confined(const hf__known_command *known,
                           const hf_bytes *words, size_t count);

#endif
