/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query_reply.h - commands of a query, and their replies as JSON.
 *
 * An answer is bounded: of long strings only the beginning is sent, and it gets
 * no further elements once it has 1 MiB, which `cut` of the call says.
 */
#ifndef HOLDFAST_CLI_HTTP_QUERY_REPLY_H
#define HOLDFAST_CLI_HTTP_QUERY_REPLY_H

#include "holdfast/command.h"
#include "http/query.h"

#define WORD(text) hf_str(text)

/* Of a string in an answer, bytes; of one that is a text of many lines, such as
 * INFO. */
#define STRING_MAX 1024
#define TEXT_MAX 262144

/* Returns the status; the answer is the reason. */
hf_status fail_query(struct http_call *call, hf_status status, const char *why);

/* An argument as a string. false: it is too long for it, or has a NUL. */
bool copy_text(hf_bytes word, char *text, size_t size);

/* Most bytes of a text in UTF-8, of which there are more, that end no character
 * early. */
size_t whole_characters(hf_bytes text, size_t most);

/* A long one as {"cut": its beginning, "size": all its bytes}. */
void put_string(struct json *json, const char *name, hf_bytes bytes,
                size_t most);

/* Each string of the reply with `most` bytes. */
void put_reply(struct http_call *call, const char *name, const hf_reply *reply,
               size_t most);

/* Run one command whose reply is the member "reply". */
hf_status put_command(struct http_call *call, size_t count,
                      const hf_bytes *words, size_t most);

/* An integer that a command replies. */
hf_status ask_integer(struct http_call *call, size_t count,
                      const hf_bytes *words, int64_t *number);

#endif
