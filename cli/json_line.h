/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_line.h - write one JSON object on a line.
 *
 * Bytes that are valid UTF-8 become a string, others the object {"base64":
 * "..."}. No memory is allocated.
 */
#ifndef HOLDFAST_CLI_JSON_LINE_H
#define HOLDFAST_CLI_JSON_LINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "holdfast/base.h"

struct json {
    FILE *file;
    bool follows; /* a comma is needed before the next member */
};

/* Begin and end the line. */
void json_begin(struct json *json, FILE *file);
void json_end(struct json *json);

/* Was an object begun on any file? */
bool json_was_printed(void);

/* Members of an object; `name` NULL: an element of an array. */
void json_bytes(struct json *json, const char *name, hf_bytes value);
void json_text(struct json *json, const char *name, const char *value);
void json_integer(struct json *json, const char *name, int64_t value);
void json_number(struct json *json, const char *name, double value);

/* The shortest text that reads back as the number, which is finite; an integer
 * below 10^15 has all its digits. */
#define JSON_NUMBER_SIZE 32
void json_number_text(char text[JSON_NUMBER_SIZE], double value);
void json_bool(struct json *json, const char *name, bool value);
void json_null(struct json *json, const char *name);

/* An integer; null if it is below 0, which means that there is none. */
void json_known(struct json *json, const char *name, int64_t value);

/* A value from a call; null if there was none. */
void json_buffer(struct json *json, const char *name, const hf_buffer *value);

/* Nested values: `bracket` is '{' or '[', then '}' or ']'. */
void json_open(struct json *json, const char *name, char bracket);
void json_close(struct json *json, char bracket);

#endif
