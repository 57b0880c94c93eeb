/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.h - output on stdout for people and for the shell.
 *
 * A value is printed as its bytes and a newline, as by redis-cli --raw and
 * etcdctl, and as $(...) and `read` expect; with --raw without the newline.
 */
#ifndef HOLDFAST_CLI_OUTPUT_H
#define HOLDFAST_CLI_OUTPUT_H

#include <stdbool.h>

#include "holdfast/reply.h"
#include "json_line.h"

struct hf_fields; /* holdfast/hash.h */

/* The bytes of a value; nothing if there is none (`data` NULL). */
void out_value(const hf_buffer *value, bool raw);

/*
 * "name<TAB>value". A backslash and bytes that would break the line are written
 * \\, \n, \t, \r or \xHH.
 */
void out_pair(hf_bytes name, hf_bytes value);

/* Such a line for each field, sorted by name. */
void out_fields(struct hf_fields *fields);
/* A line, escaped as those. */
void out_line(hf_bytes text);
/* The same for a word and a text; the word alone if there is no text. */
void out_words(const char *word, hf_bytes text);
void out_fields_json(struct json *json, const char *name,
                     struct hf_fields *fields);

/* A reply as redis-cli prints it on a terminal. */
void out_reply(const hf_reply *reply);

/* A reply, each string as it is on a line. */
void out_reply_raw(const hf_reply *reply);

/* A reply; an error in an array is {"error": "..."}. */
void out_reply_json(struct json *json, const char *name, const hf_reply *reply);

/* Flush stdout; `code`, or EXIT_SYSTEM if that failed, which is reported once.
 */
int out_end(int code);

#endif
