/* SPDX-License-Identifier: Apache-2.0 */
/*
 * out.h - what a command prints on stdout for people and for the shell.
 *
 * A value is its bytes and one newline, as redis-cli --raw and etcdctl print
 * it and as $(...) and `read` expect; --raw leaves the newline out.
 */
#ifndef HOLDFAST_CLI_OUT_H
#define HOLDFAST_CLI_OUT_H

#include <stdbool.h>

#include "holdfast.h"
#include "json.h"

/* The bytes of a value; nothing at all if there is none (`data` NULL). */
void out_value(const hf_buffer *value, bool raw);

/*
 * "name<TAB>value" for each field, sorted by name. A backslash and bytes that
 * would break the line are written \\, \n, \t, \r or \xHH.
 */
void out_fields(hf_fields *fields);
void out_fields_json(struct json *json, const char *name, hf_fields *fields);

/* A script's answer as redis-cli shows it on a terminal. */
void out_reply(const hf_reply *reply);

/* A script's answer, its strings bare, one a line. */
void out_reply_raw(const hf_reply *reply);

/* A script's answer; an error inside an array is {"error": "..."}. */
void out_reply_json(struct json *json, const char *name, const hf_reply *reply);

/* Push out what stdout still holds: `code`, or EXIT_IO if that failed. */
int out_end(int code);

#endif
