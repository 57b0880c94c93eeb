/* SPDX-License-Identifier: Apache-2.0 */
/*
 * error_line.c - from the error text of a server, or of the embedded store,
 * which has the same texts, to the message for the user: without the code ERR,
 * and with the script's line at the end.
 */
#include "store/error_line.h"

#include <string.h>

#include "util/error.h"

/* Of a function, as in Redis. */
#define NAME_MAX_SIZE 256u

bool hf__text_begins(hf_bytes text, const char *with)
{
    size_t size = strlen(with);

    return text.size >= size && memcmp(text.data, with, size) == 0;
}

hf_bytes hf__text_skip(hf_bytes text, size_t size)
{
    return hf_view((const char *)text.data + size, text.size - size);
}

/* Digits at the front, as a number; 0 if there are none or too many. */
static unsigned leading_number(hf_bytes text, size_t *digits)
{
    const char *data = text.data;
    unsigned number = 0;
    size_t at = 0;

    while (at < text.size && at < 9 && data[at] >= '0' && data[at] <= '9')
        number = number * 10 + (unsigned)(data[at++] - '0');
    *digits = at;
    return number;
}

static bool is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_';
}

/* Bytes at the front that the name of a function, or a SHA-1, may have. */
static size_t name_size(hf_bytes text)
{
    const char *data = text.data;
    size_t size = 0;

    while (size < text.size && size < NAME_MAX_SIZE && is_word(data[size]))
        size++;
    return size;
}

/* Where the line's number is in " script: <sha1>, on @user_script:<line>.", or
 * without the SHA-1, as Valkey 9.1 has it, or in
 * " script: <name>, on @user_function:<line>."; 0: not such a tail. */
static size_t find_line(hf_bytes tail)
{
    static const char mark[] = " script: ";
    static const char script[] = ", on @user_script:";
    static const char function[] = ", on @user_function:";
    size_t at = sizeof(mark) - 1;
    size_t size;

    if (!hf__text_begins(tail, mark))
        return 0;
    tail = hf__text_skip(tail, at);
    if (hf__text_begins(tail, script + 2))
        return at + sizeof(script) - 3;
    size = name_size(tail);
    tail = hf__text_skip(tail, size);
    at += size;
    if (size == 40 && hf__text_begins(tail, script))
        return at + sizeof(script) - 1;
    if (size > 0 && hf__text_begins(tail, function))
        return at + sizeof(function) - 1;
    return 0;
}

/* Cut it off the end and return the line; 0: there is none. */
static unsigned cut_tail(hf_bytes *text)
{
    /* " script: ", a name, ", on @user_function:", ten digits, the full stop */
    const size_t longest = 9 + NAME_MAX_SIZE + 20 + 11;
    size_t at = text->size > longest ? text->size - longest : 0;
    hf_bytes tail;
    size_t line_at;
    size_t digits;

    for (; at < text->size; at++) {
        tail = hf__text_skip(*text, at);
        line_at = find_line(tail);
        if (line_at > 0) {
            text->size = at;
            return leading_number(hf__text_skip(tail, line_at), &digits);
        }
    }
    return 0;
}

/* Cut "user_script:<line>: ", or "user_function:<line>: ", off the front, where
 * Lua's error() puts it. */
static unsigned cut_place(hf_bytes *text)
{
    static const char script[] = "user_script:";
    static const char function[] = "user_function:";
    const char *mark = hf__text_begins(*text, script) ? script : function;
    hf_bytes rest;
    size_t digits;
    unsigned line;

    if (!hf__text_begins(*text, mark))
        return 0;
    rest = hf__text_skip(*text, strlen(mark));
    line = leading_number(rest, &digits);
    rest = hf__text_skip(rest, digits);
    if (digits == 0 || !hf__text_begins(rest, ": "))
        return 0;
    *text = hf__text_skip(rest, 2);
    return line;
}

/* Enough: messages are cut to HF_ERROR_MESSAGE_SIZE. */
static int printed_size(hf_bytes text)
{
    return text.size > HF_ERROR_MESSAGE_SIZE ? HF_ERROR_MESSAGE_SIZE
                                             : (int)text.size;
}

/* Codes that the status says as well. */
static hf_bytes skip_code(hf_bytes text)
{
    static const char *const codes[] = {"ERR ", "HFHELD ", "HFINVALID ",
                                        "HFLATE "};

    for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        if (hf__text_begins(text, codes[i]))
            return hf__text_skip(text, strlen(codes[i]));
    }
    return text;
}

hf_status hf__error_line(hf_error *err, hf_status status, hf_bytes text,
                         const char *hint)
{
    unsigned line = cut_tail(&text);
    unsigned place;

    text = skip_code(text);
    place = cut_place(&text);
    if (place != 0)
        line = place;
    if (text.size == 0 || *(const char *)text.data == '\0')
        text = hf_str("an error without a text");
    if (hint != NULL)
        return hf__fail(err, status, "%.*s; %s", printed_size(text),
                        (const char *)text.data, hint);
    if (line != 0)
        return hf__fail(err, status, "%.*s (line %u)", printed_size(text),
                        (const char *)text.data, line);
    return hf__fail(err, status, "%.*s", printed_size(text),
                    (const char *)text.data);
}
