/* SPDX-License-Identifier: Apache-2.0 */
/*
 * output.c - values, fields and replies as text.
 *
 * Errors of stdout remain in stdio's error flag and are reported once, by
 * out_end().
 */
#include "output.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "complain.h"
#include "exit.h"
#include "holdfast/hash.h"

/* Deeper than the nesting limit of the Lua-to-reply conversion in Redis
 * (luaMaxCStack guards it at 200); a reply cannot be this deep. */
#define REPLY_DEPTH_MAX 256

void out_value(const hf_buffer *value, bool raw)
{
    if (value->data == NULL)
        return;
    fwrite(value->data, 1, value->size, stdout);
    if (!raw)
        putchar('\n');
}

/* One byte with C's escapes; `quote` is escaped as well unless it is 0. */
static void put_escaped(unsigned char byte, char quote)
{
    if (byte == '\\' || (quote != 0 && byte == (unsigned char)quote))
        printf("\\%c", byte);
    else if (byte == '\n')
        fputs("\\n", stdout);
    else if (byte == '\t')
        fputs("\\t", stdout);
    else if (byte == '\r')
        fputs("\\r", stdout);
    else if (byte < ' ' || byte == 0x7f)
        printf("\\x%02x", byte);
    else
        putchar(byte);
}

static void put_line_part(hf_bytes text)
{
    const unsigned char *bytes = text.data;
    size_t i;

    for (i = 0; i < text.size; i++)
        put_escaped(bytes[i], 0);
}

void out_line(hf_bytes text)
{
    put_line_part(text);
    putchar('\n');
}

void out_pair(hf_bytes name, hf_bytes value)
{
    put_line_part(name);
    putchar('\t');
    put_line_part(value);
    putchar('\n');
}

static int compare_names(const void *left, const void *right)
{
    const hf_bytes *a = &((const hf_field *)left)->name;
    const hf_bytes *b = &((const hf_field *)right)->name;
    int order = memcmp(a->data, b->data, a->size < b->size ? a->size : b->size);

    if (order != 0)
        return order;
    return (a->size > b->size) - (a->size < b->size);
}

static void sort_fields(hf_fields *fields)
{
    if (fields->count > 1)
        qsort(fields->items, fields->count, sizeof(*fields->items),
              compare_names);
}

void out_fields(hf_fields *fields)
{
    size_t i;

    sort_fields(fields);
    for (i = 0; i < fields->count; i++)
        out_pair(fields->items[i].name, fields->items[i].value);
}

void out_words(const char *word, hf_bytes text)
{
    fputs(word, stdout);
    if (text.data != NULL)
        putchar('\t');
    put_line_part(text);
    putchar('\n');
}

void out_fields_json(struct json *json, const char *name, hf_fields *fields)
{
    size_t i;

    sort_fields(fields);
    json_open(json, name, '[');
    for (i = 0; i < fields->count; i++) {
        json_open(json, NULL, '{');
        json_bytes(json, "name", fields->items[i].name);
        json_bytes(json, "value", fields->items[i].value);
        json_close(json, '}');
    }
    json_close(json, ']');
}

static void put_quoted(hf_bytes text)
{
    const unsigned char *bytes = text.data;
    size_t i;

    putchar('"');
    for (i = 0; i < text.size; i++)
        if (bytes[i] >= 0x80)
            printf("\\x%02x", bytes[i]);
        else
            put_escaped(bytes[i], '"');
    fputs("\"\n", stdout);
}

static void put_bare(hf_bytes text)
{
    fwrite(text.data, 1, text.size, stdout);
    putchar('\n');
}

static void put_reply(const hf_reply *reply, int indent, int depth);

/* Elements are numbered; those after the first are indented to the first. */
static void put_array(const hf_reply *reply, int indent, int depth)
{
    size_t count = hf_reply_count(reply);
    int width = snprintf(NULL, 0, "%zu", count);
    size_t i;

    if (count == 0)
        fputs("(empty array)\n", stdout);
    for (i = 0; i < count; i++) {
        printf("%*s%*zu) ", i == 0 ? 0 : indent, "", width, i + 1);
        put_reply(hf_reply_at(reply, i), indent + width + 2, depth + 1);
    }
}

static void put_reply(const hf_reply *reply, int indent, int depth)
{
    if (depth > REPLY_DEPTH_MAX) {
        fputs("(too deep)\n", stdout);
        return;
    }
    switch (hf_reply_type(reply)) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        fputs("(nil)\n", stdout);
        break;
    case HF_REPLY_INTEGER:
        printf("(integer) %" PRId64 "\n", hf_reply_integer(reply));
        break;
    case HF_REPLY_STRING:
        put_quoted(hf_reply_bytes(reply));
        break;
    case HF_REPLY_STATUS:
        put_bare(hf_reply_bytes(reply));
        break;
    case HF_REPLY_ERROR:
        fputs("(error) ", stdout);
        put_bare(hf_reply_bytes(reply));
        break;
    case HF_REPLY_ARRAY:
        put_array(reply, indent, depth);
        break;
    }
}

void out_reply(const hf_reply *reply)
{
    put_reply(reply, 0, 0);
}

static void put_reply_raw(const hf_reply *reply, int depth)
{
    size_t i;

    switch (hf_reply_type(reply)) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        putchar('\n');
        break;
    case HF_REPLY_INTEGER:
        printf("%" PRId64 "\n", hf_reply_integer(reply));
        break;
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        put_bare(hf_reply_bytes(reply));
        break;
    case HF_REPLY_ARRAY:
        for (i = 0; depth < REPLY_DEPTH_MAX && i < hf_reply_count(reply); i++)
            put_reply_raw(hf_reply_at(reply, i), depth + 1);
        break;
    }
}

void out_reply_raw(const hf_reply *reply)
{
    put_reply_raw(reply, 0);
}

static void put_reply_json(struct json *json, const char *name,
                           const hf_reply *reply, int depth)
{
    size_t i;

    switch (hf_reply_type(reply)) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        json_null(json, name);
        break;
    case HF_REPLY_INTEGER:
        json_integer(json, name, hf_reply_integer(reply));
        break;
    case HF_REPLY_STRING:
    case HF_REPLY_STATUS:
        json_bytes(json, name, hf_reply_bytes(reply));
        break;
    case HF_REPLY_ERROR:
        json_open(json, name, '{');
        json_bytes(json, "error", hf_reply_bytes(reply));
        json_close(json, '}');
        break;
    case HF_REPLY_ARRAY:
        json_open(json, name, '[');
        for (i = 0; depth < REPLY_DEPTH_MAX && i < hf_reply_count(reply); i++)
            put_reply_json(json, NULL, hf_reply_at(reply, i), depth + 1);
        json_close(json, ']');
        break;
    }
}

void out_reply_json(struct json *json, const char *name, const hf_reply *reply)
{
    put_reply_json(json, name, reply, 0);
}

int out_end(int code)
{
    static bool reported;

    if (fflush(stdout) == 0 && ferror(stdout) == 0)
        return code;
    if (!reported)
        complain(NULL, "standard output: %s", strerror(errno));
    reported = true;
    return EXIT_SYSTEM;
}
