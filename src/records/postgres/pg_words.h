/* SPDX-License-Identifier: Apache-2.0 */
/* pg_words.h - parameters and results of PostgreSQL in its binary form, and the
 * messages that a commit sends. */
#ifndef HF__RECORDS_PG_WORDS_H
#define HF__RECORDS_PG_WORDS_H

#include "records/backend.h"
#include "util/buf.h"

/* Types of elements, and of arrays of them (pg_type.oid). */
enum {
    HF__PG_BOOL = 16,
    HF__PG_BYTEA = 17,
    HF__PG_INT8 = 20,
    HF__PG_INT4 = 23,
    HF__PG_TEXT = 25,
    HF__PG_BYTEAS = 1001,
    HF__PG_INT4S = 1007,
    HF__PG_TEXTS = 1009,
    HF__PG_INT8S = 1016
};

/* Numbers in network order. false: no memory. */
bool hf__pg_put_int4(hf__buf *buf, int32_t number);
bool hf__pg_put_int8(hf__buf *buf, int64_t number);
int32_t hf__pg_get_int4(const char *bytes);
int64_t hf__pg_get_int8(const char *bytes);

/* An array of so many elements, which follow it. */
bool hf__pg_put_array(hf__buf *buf, int32_t type, size_t count);
bool hf__pg_put_element(hf__buf *buf, hf_bytes bytes);
bool hf__pg_put_element4(hf__buf *buf, int32_t number);
bool hf__pg_put_element8(hf__buf *buf, int64_t number);

/* Reading an array: how many elements it has, 0 if those are more than `most`,
 * then one after the other. Of one that is null, or not there, data is NULL. */
typedef struct hf__pg_reader {
    const char *at;
    const char *end;
} hf__pg_reader;
size_t hf__pg_read_array(hf__pg_reader *reader, hf_bytes bytes, size_t most);
hf_bytes hf__pg_read_element(hf__pg_reader *reader);

/* The channel on which messages to an inbox are sent, and the number of the
 * lock that shows that a client listens on it. */
#define HF__PG_CHANNEL_SIZE 20
void hf__pg_channel(char text[HF__PG_CHANNEL_SIZE], hf_bytes inbox);
int64_t hf__pg_presence(hf_bytes inbox);

/* The longest that NOTIFY takes. */
#define HF__PG_MESSAGE_MAX 7999u
/* Append an element with one message of a commit, and the records that the
 * commit writes if there is room: in base 64, as it must be text. `call` NULL:
 * without records. */
bool hf__pg_put_message(hf__buf *buf, const hf__backend_call *call,
                        hf_bytes text);
/* Read one. false: it is none, and messages may be missing. */
bool hf__pg_take_message(const char *message,
                         const hf__backend_listener *listener);

#endif
