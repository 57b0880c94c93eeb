/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command.h - the commands, and what they use to answer.
 *
 * A command is a row in the table of its type's file. Its function reads the
 * words, says exactly one answer or one error, and returns. Replies and error
 * texts are Redis 7.0's.
 */
#ifndef HF__EMBEDDED_COMMAND_H
#define HF__EMBEDDED_COMMAND_H

#include <string.h>

#include "store/embedded/keys/keyspace.h"
#include "store/embedded/keys/out.h"
#include "store/embedded/keys/records.h"

enum {
    HF__COMMAND_WRITES = 1u << 0,
    HF__COMMAND_GROWS = 1u << 1,     /* refused when the store is full */
    HF__COMMAND_NO_SCRIPT = 1u << 2, /* not from a script */
    HF__COMMAND_MACHINE = 1u << 3,   /* needs the Lua machine */
    HF__COMMAND_EVAL = 1u << 4       /* is a script; see eval.h */
};

typedef struct hf__command {
    const char *name; /* lower case; NULL ends a table */
    /* Words, the name included; negative: at least so many. */
    int arity;
    unsigned flags;
    /* NULL for HF__COMMAND_EVAL. */
    void (*run)(hf__tx *tx, const hf_bytes *words, size_t count);
} hf__command;

/* One table per file in commands/. */
extern const hf__command hf__commands_string[];
extern const hf__command hf__commands_string_part[];
extern const hf__command hf__commands_getex[];
extern const hf__command hf__commands_bit[];
extern const hf__command hf__commands_bitfield[];
extern const hf__command hf__commands_lcs[];
extern const hf__command hf__commands_key[];
extern const hf__command hf__commands_copy[];
extern const hf__command hf__commands_keyspace_scan[];
extern const hf__command hf__commands_expire[];
extern const hf__command hf__commands_hash[];
extern const hf__command hf__commands_hash_scan[];
extern const hf__command hf__commands_incrbyfloat[];
extern const hf__command hf__commands_zset[];
extern const hf__command hf__commands_zrange[];
extern const hf__command hf__commands_zset_scan[];
extern const hf__command hf__commands_zset_remove[];
extern const hf__command hf__commands_zset_algebra[];
extern const hf__command hf__commands_list[];
extern const hf__command hf__commands_list_move[];
extern const hf__command hf__commands_set[];
extern const hf__command hf__commands_set_algebra[];
extern const hf__command hf__commands_set_scan[];
extern const hf__command hf__commands_sort[];
extern const hf__command hf__commands_server[];
/* All of them; ends with NULL. */
extern const hf__command *const hf__command_tables[];

/* Any letter case; NULL: no such command. */
const hf__command *hf__command_find(hf_bytes name);
bool hf__command_arity_fits(const hf__command *command, size_t count);
/* Run it; the arity has been checked. */
void hf__command_run(hf__tx *tx, const hf__command *command,
                     const hf_bytes *words, size_t count);
/* Redis's text for an unknown command. */
void hf__unknown_text(char text[HF__OUT_ERROR_SIZE], const hf_bytes *words,
                      size_t count);
void hf__say_arity(hf__tx *tx, const char *name);

/* What is meant by an error text: its status. `script`: raised inside one. */
hf_status hf__error_status(const char *text, bool script);

/* ---------------------------------------------------------------- answers */

static inline void hf__say_nil(hf__tx *tx)
{
    tx->out->ops->nil(tx->out);
}
static inline void hf__say_integer(hf__tx *tx, int64_t value)
{
    tx->out->ops->integer(tx->out, value);
}
static inline void hf__say_bytes(hf__tx *tx, const void *data, size_t size)
{
    tx->out->ops->bytes(tx->out, data, size);
}
/* Seconds and microseconds. */
static inline void hf__say_instant(hf__tx *tx, int64_t unix_us)
{
    tx->out->ops->instant(tx->out, unix_us);
}
static inline void hf__say_line(hf__tx *tx, const char *text)
{
    tx->out->ops->line(tx->out, text);
}
static inline void hf__say_array(hf__tx *tx, size_t count)
{
    tx->out->ops->array(tx->out, count);
}
void hf__say_double(hf__tx *tx, double value);
/* The text begins with its code, such as "ERR". */
__attribute__((format(printf, 2, 3))) void
hf__say_error(hf__tx *tx, const char *format, ...);

void hf__say_wrong_type(hf__tx *tx);

#define HF__ERROR_SYNTAX "ERR syntax error"
#define HF__ERROR_INTEGER "ERR value is not an integer or out of range"
#define HF__ERROR_POSITIVE "ERR value is out of range, must be positive"
#define HF__ERROR_KEY_COUNT "ERR numkeys should be greater than 0"
#define HF__ERROR_FLOAT "ERR value is not a valid float"
#define HF__ERROR_TOO_LONG                                                     \
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
#define HF__ERROR_OVERFLOW "ERR increment or decrement would overflow"

/* ------------------------------------------------------------------- words */

/* Compare a word with a lower-case text, any letter case. */
bool hf__word_same(hf_bytes word, const char *text); /* of one size */
static inline bool hf__word_is(hf_bytes word, const char *text)
{
    return word.size == strlen(text) && hf__word_same(word, text);
}
/* Read a number, or say that it is none. */
bool hf__word_integer(hf__tx *tx, hf_bytes word, int64_t *value);
/* The same with `error`. */
bool hf__word_double(hf__tx *tx, hf_bytes word, const char *error,
                     double *value);
/* Read a number of at least `min`, or say `error`: that it is none or less. */
bool hf__word_at_least(hf__tx *tx, hf_bytes word, int64_t min,
                       const char *error, int64_t *value);
/* Read a number whose negative is one too. */
bool hf__word_signed(hf__tx *tx, hf_bytes word, int64_t *value);

/*
 * The key, NULL in *record if it does not exist. false: it has another type,
 * which was said, or fatal.
 */
bool hf__key_of_type(hf__tx *tx, hf_bytes key, hf__type type,
                     hf__record **record);

/* As TYPE says it. */
const char *hf__type_name(hf__type type);

/* Units of an expiry, and whether it counts from now. */
typedef struct hf__expiry {
    bool seconds;
    bool absolute; /* Unix time */
} hf__expiry;
/*
 * The instant on the store's clock for `value`, never 0. false: out of range,
 * which was said. `positive`: refuse what is not above 0, as SET does.
 */
bool hf__expiry_instant(hf__tx *tx, hf__expiry expiry, int64_t value,
                        bool positive, int64_t *expire_ms);

#endif
