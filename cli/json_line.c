/* SPDX-License-Identifier: Apache-2.0 */
/*
 * json_line.c - JSON of RFC 8259: control characters are escaped, and all is
 * valid UTF-8 (RFC 3629: no overlong forms, no surrogates, nothing above
 * 10FFFF).
 */
#include "json_line.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

/* Length of the UTF-8 sequence that `lead` begins and the range its second
 * byte must be in; 0: not a lead byte. */
static size_t sequence_of(unsigned char lead, unsigned char *low,
                          unsigned char *high)
{
    *low = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    *high = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (lead < 0x80)
        return 1;
    if (lead < 0xc2 || lead > 0xf4)
        return 0;
    return lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
}

static bool is_utf8(hf_bytes text)
{
    const unsigned char *at = text.data;
    const unsigned char *end = at + text.size;

    while (at < end) {
        unsigned char low;
        unsigned char high;
        size_t length = sequence_of(*at, &low, &high);
        size_t i;

        if (length == 0 || (size_t)(end - at) < length)
            return false;
        for (i = 1; i < length; i++) {
            if (at[i] < low || at[i] > high)
                return false;
            low = 0x80;
            high = 0xbf;
        }
        at += length;
    }
    return true;
}

static void put_string(FILE *file, hf_bytes text)
{
    const unsigned char *bytes = text.data;
    size_t i;

    putc('"', file);
    for (i = 0; i < text.size; i++) {
        unsigned char byte = bytes[i];

        if (byte == '"' || byte == '\\') {
            putc('\\', file);
            putc(byte, file);
        } else if (byte == '\n') {
            fputs("\\n", file);
        } else if (byte == '\t') {
            fputs("\\t", file);
        } else if (byte < ' ' || byte == 0x7f) {
            fprintf(file, "\\u%04x", byte);
        } else {
            putc(byte, file);
        }
    }
    putc('"', file);
}

/* RFC 4648, with padding. */
static void put_base64(FILE *file, hf_bytes data)
{
    static const char digits[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *bytes = data.data;
    size_t i;

    for (i = 0; i < data.size; i += 3) {
        size_t left = data.size - i;
        uint32_t group = (uint32_t)bytes[i] << 16;

        group |= left > 1 ? (uint32_t)bytes[i + 1] << 8 : 0;
        group |= left > 2 ? (uint32_t)bytes[i + 2] : 0;
        putc(digits[group >> 18], file);
        putc(digits[group >> 12 & 63], file);
        putc(left > 1 ? digits[group >> 6 & 63] : '=', file);
        putc(left > 2 ? digits[group & 63] : '=', file);
    }
}

static void put_name(struct json *json, const char *name)
{
    if (json->follows)
        putc(',', json->file);
    if (name != NULL) {
        put_string(json->file, hf_str(name));
        putc(':', json->file);
    }
    json->follows = true;
}

static bool printed; /* atomic: several threads write the page's answers */

bool json_was_printed(void)
{
    return __atomic_load_n(&printed, __ATOMIC_RELAXED);
}

void json_begin(struct json *json, FILE *file)
{
    __atomic_store_n(&printed, true, __ATOMIC_RELAXED);
    json->file = file;
    json->follows = false;
    putc('{', file);
}

void json_end(struct json *json)
{
    fputs("}\n", json->file);
}

void json_bytes(struct json *json, const char *name, hf_bytes value)
{
    put_name(json, name);
    if (is_utf8(value)) {
        put_string(json->file, value);
    } else {
        fputs("{\"base64\":\"", json->file);
        put_base64(json->file, value);
        fputs("\"}", json->file);
    }
}

void json_text(struct json *json, const char *name, const char *value)
{
    json_bytes(json, name, hf_str(value));
}

void json_integer(struct json *json, const char *name, int64_t value)
{
    put_name(json, name);
    fprintf(json->file, "%" PRId64, value);
}

void json_number_text(char text[JSON_NUMBER_SIZE], double value)
{
    double read = 0;

    if (value > -1e15 && value < 1e15 && value >= (double)(int64_t)value &&
        value <= (double)(int64_t)value) {
        (void)snprintf(text, JSON_NUMBER_SIZE, "%" PRId64, (int64_t)value);
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        (void)snprintf(text, JSON_NUMBER_SIZE, "%.*g", digits, value);
        read = strtod(text, NULL);
        if (read >= value && read <= value)
            return;
    }
}

void json_number(struct json *json, const char *name, double value)
{
    char text[JSON_NUMBER_SIZE] = "null";

    if (isfinite(value))
        json_number_text(text, value);
    put_name(json, name);
    fputs(text, json->file);
}

void json_bool(struct json *json, const char *name, bool value)
{
    put_name(json, name);
    fputs(value ? "true" : "false", json->file);
}

void json_null(struct json *json, const char *name)
{
    put_name(json, name);
    fputs("null", json->file);
}

void json_known(struct json *json, const char *name, int64_t value)
{
    if (value < 0)
        json_null(json, name);
    else
        json_integer(json, name, value);
}

void json_buffer(struct json *json, const char *name, const hf_buffer *value)
{
    if (value->data == NULL)
        json_null(json, name);
    else
        json_bytes(json, name, hf_view(value->data, value->size));
}

void json_open(struct json *json, const char *name, char bracket)
{
    put_name(json, name);
    putc(bracket, json->file);
    json->follows = false;
}

void json_close(struct json *json, char bracket)
{
    putc(bracket, json->file);
    json->follows = true;
}
