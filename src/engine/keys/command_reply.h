/* SPDX-License-Identifier: Apache-2.0 */
/*
 * command_reply.h - what a command replies. Error texts are Redis 7.0's.
 */
#ifndef HF__ENGINE_COMMAND_REPLY_H
#define HF__ENGINE_COMMAND_REPLY_H

#include <string.h>

#include "engine/commit/tx.h"
#include "engine/keys/command_out.h"
#include "util/order.h"

static inline void hf__reply_nil(hf__tx *tx)
{
    tx->out->ops->nil(tx->out);
}
/* Instead of an array. */
static inline void hf__reply_nil_array(hf__tx *tx)
{
    tx->out->ops->nil_array(tx->out);
}
static inline void hf__reply_integer(hf__tx *tx, int64_t value)
{
    tx->out->ops->integer(tx->out, value);
}
static inline void hf__reply_bytes(hf__tx *tx, const void *data, size_t size)
{
    tx->out->ops->bytes(tx->out, data, size);
}
static inline void hf__reply_word(hf__tx *tx, const char *text)
{
    tx->out->ops->bytes(tx->out, text, strlen(text));
}
/* Seconds and microseconds. */
static inline void hf__reply_instant(hf__tx *tx, int64_t unix_us)
{
    tx->out->ops->instant(tx->out, unix_us);
}
static inline void hf__reply_line(hf__tx *tx, const char *text)
{
    tx->out->ops->line(tx->out, text);
}
static inline void hf__reply_array(hf__tx *tx, size_t count)
{
    tx->out->ops->array(tx->out, count);
}
/* Without RESP3 a flat array: keys and values by turns. */
static inline void hf__reply_map(hf__tx *tx, size_t count)
{
    if (tx->out->resp3)
        tx->out->ops->map(tx->out, count);
    else
        hf__reply_array(tx, 2 * count);
}
/* Without RESP3 an array. */
static inline void hf__reply_set(hf__tx *tx, size_t count)
{
    if (tx->out->resp3)
        tx->out->ops->set(tx->out, count);
    else
        hf__reply_array(tx, count);
}
/* An array of pairs, each begun by hf__reply_pair(). Without RESP3 it is flat.
 */
static inline void hf__reply_pairs(hf__tx *tx, size_t count)
{
    hf__reply_array(tx, tx->out->resp3 ? count : 2 * count);
}
static inline void hf__reply_pair(hf__tx *tx)
{
    if (tx->out->resp3)
        hf__reply_array(tx, 2);
}
/* Text for people. Without RESP3 a string. */
static inline void hf__reply_verbatim(hf__tx *tx, const void *data, size_t size)
{
    if (tx->out->resp3)
        tx->out->ops->verbatim(tx->out, data, size);
    else
        hf__reply_bytes(tx, data, size);
}
/* Without RESP3 a string. */
void hf__reply_double(hf__tx *tx, double value);
/* The text begins with its code, such as "ERR". Each returns false, for what
 * reads arguments to return. */
__attribute__((format(printf, 2, 3))) bool
hf__reply_error(hf__tx *tx, const char *format, ...);

/* An argument for "%.*s" of it; Redis shows it up to a NUL. */
#define HF__SHOWN(arg)                                                         \
    (int)hf__at_most((int64_t)(arg).size, HF__OUT_ERROR_SIZE),                 \
        (arg).size > 0 ? (const char *)(arg).data : ""

bool hf__reply_wrong_type(hf__tx *tx);
bool hf__reply_arity(hf__tx *tx, const char *name);
/* Of a subcommand with other words than it takes. */
bool hf__reply_words(hf__tx *tx, const char *command, hf_bytes name);

#define HF__ERROR_SYNTAX "ERR syntax error"
#define HF__ERROR_DATABASE "ERR DB index is out of range"
#define HF__ERROR_INTEGER "ERR value is not an integer or out of range"
#define HF__ERROR_POSITIVE "ERR value is out of range, must be positive"
#define HF__ERROR_KEY_COUNT "ERR numkeys should be greater than 0"
#define HF__ERROR_FLOAT "ERR value is not a valid float"
#define HF__ERROR_TOO_LONG                                                     \
    "ERR string exceeds maximum allowed size (proto-max-bulk-len)"
/* Of a pattern's size and HF__GLOB_MAX. */
#define HF__ERROR_PATTERN "ERR pattern is %zu bytes; at most %d"
#define HF__ERROR_OVERFLOW "ERR increment or decrement would overflow"

#endif
