/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shebang.c - reading the first line of a script or library. Words are
 * separated by blanks and may be quoted; error texts are Redis 7.0's.
 *
 * Only the flag no-writes has an effect: there is no stale replica and no
 * cluster, and a full store cannot be overcommitted.
 */
#include "engine/lua/shebang.h"

#include <stdio.h>
#include <string.h>

#include "engine/keys/argument.h"
#include "util/names.h"

const char *const hf__script_flags[HF__SCRIPT_FLAG_COUNT] = {
    "no-writes", "allow-oom", "allow-stale", "no-cluster",
    "allow-cross-slot-keys"};

static bool is_blank(char letter)
{
    return letter == ' ' || letter == '\t' || letter == '\r' ||
           letter == '\v' || letter == '\f';
}

/* Remove the next word from *line; empty: none. false: an open quote, or text
 * right after a quote. */
static bool next_word(hf_bytes *line, hf_bytes *word)
{
    const char *at = line->data;
    const char *end = at + line->size;
    const char *from;
    char quote = '\0';

    while (at < end && is_blank(*at))
        at++;
    if (at < end && (*at == '"' || *at == '\''))
        quote = *at++;
    for (from = at;
         at < end && (quote != '\0' ? *at != quote : !is_blank(*at));)
        at++;
    *word = hf_view(from, (size_t)(at - from));
    if (quote != '\0' && at++ == end)
        return false;
    *line = hf_view(at, (size_t)(end - at));
    return quote == '\0' || at == end || is_blank(*at);
}

static bool is_text(hf_bytes word, const char *text)
{
    return word.size == strlen(text) && memcmp(word.data, text, word.size) == 0;
}

static bool fail_line(char *text, size_t text_size, const char *why,
                      hf_bytes word)
{
    int size = word.size > 128 ? 128 : (int)word.size;

    (void)snprintf(text, text_size, "%s%.*s", why, size,
                   size > 0 ? (const char *)word.data : "");
    return false;
}

static bool read_flag(hf_bytes flag, hf__shebang *shebang)
{
    for (size_t i = 0; i < HF__SCRIPT_FLAG_COUNT; i++) {
        if (is_text(flag, hf__script_flags[i])) {
            shebang->no_writes |= (1u << i) == HF__SCRIPT_NO_WRITES;
            return true;
        }
    }
    return false;
}

/* Separated by commas; an empty text is no flag. */
static bool read_flags(hf_bytes list, hf__shebang *shebang, char *text,
                       size_t text_size)
{
    const char *at = list.data;
    const char *end = at + list.size;

    while (list.size > 0 && at <= end) {
        const char *comma = memchr(at, ',', (size_t)(end - at));
        const char *stop = comma != NULL ? comma : end;
        hf_bytes flag = hf_view(at, (size_t)(stop - at));

        if (!read_flag(flag, shebang))
            return fail_line(text, text_size,
                             "Unexpected flag in script shebang: ", flag);
        at = stop + 1;
    }
    return true;
}

static bool read_line(hf_bytes line, hf__shebang *shebang, char *text,
                      size_t text_size)
{
    static const char flags[] = "flags=";
    const size_t flags_size = sizeof(flags) - 1;
    hf_bytes rest = line;
    hf_bytes word;
    bool closed = true;

    /* An open quote is reported before a wrong word. */
    do
        closed = next_word(&rest, &word);
    while (closed && word.size > 0);
    if (!closed)
        return fail_line(text, text_size, "Invalid engine in script shebang",
                         hf_view("", 0));
    (void)next_word(&line, &word);
    if (!is_text(word, "#!lua"))
        return fail_line(text, text_size,
                         "Unexpected engine in script shebang: ", word);
    while (next_word(&line, &word) && word.size > 0) {
        if (word.size < flags_size || memcmp(word.data, flags, flags_size) != 0)
            return fail_line(text, text_size,
                             "Unknown lua shebang option: ", word);
        if (!read_flags(hf_view((const char *)word.data + flags_size,
                                word.size - flags_size),
                        shebang, text, text_size))
            return false;
    }
    return true;
}

bool hf__shebang_read(hf_bytes source, hf__shebang *shebang, char *text,
                      size_t text_size)
{
    const char *end;

    memset(shebang, 0, sizeof(*shebang));
    if (source.size < 2 || memcmp(source.data, "#!", 2) != 0)
        return true;
    end = memchr(source.data, '\n', source.size);
    if (end == NULL)
        return fail_line(text, text_size, "Invalid script shebang",
                         hf_view("", 0));
    shebang->present = true;
    shebang->size = (size_t)(end - (const char *)source.data);
    return read_line(hf_view(source.data, shebang->size), shebang, text,
                     text_size);
}

/* ---------------------------------------------------------------- libraries */

#define NAME "name="
#define NAME_SIZE (sizeof(NAME) - 1)

bool hf__function_is_name(hf_bytes name)
{
    const char *at = name.data;

    for (size_t i = 0; i < name.size; i++) {
        char letter = hf__lower(at[i]);

        if (!(letter >= 'a' && letter <= 'z') &&
            !(letter >= '0' && letter <= '9') && letter != '_')
            return false;
    }
    return name.size > 0 && name.size <= HF__FUNCTION_NAME_MAX;
}

static bool is_named(hf_bytes word)
{
    return word.size >= NAME_SIZE &&
           hf__arg_is(hf_view(word.data, NAME_SIZE), NAME);
}

/* Quotes may begin within a word, but here no blank is in them. */
static hf_bytes strip_quotes(hf_bytes word)
{
    const char *at = word.data;

    if (word.size > 1 && (at[0] == '"' || at[0] == '\'') &&
        at[word.size - 1] == at[0])
        return hf_view(at + 1, word.size - 2);
    return word;
}

static bool is_closed(hf_bytes word)
{
    const char *at = word.data;
    size_t first = 0;

    while (first < word.size && at[first] != '"' && at[first] != '\'')
        first++;
    return first == word.size ||
           (first + 1 < word.size && at[word.size - 1] == at[first]);
}

/* The words after the first. */
static bool read_name(hf_bytes line, hf_bytes *name, char *text,
                      size_t text_size)
{
    hf_bytes word;

    *name = hf_view(NULL, 0);
    while (next_word(&line, &word) && word.size > 0) {
        if (!is_named(word))
            return fail_line(text, text_size,
                             "Invalid metadata value given: ", word);
        if (name->data != NULL)
            return fail_line(text, text_size,
                             "Invalid metadata value, name argument was given "
                             "multiple times",
                             hf_view("", 0));
        *name = strip_quotes(hf_view((const char *)word.data + NAME_SIZE,
                                     word.size - NAME_SIZE));
    }
    if (name->data == NULL)
        return fail_line(text, text_size, "Library name was not given",
                         hf_view("", 0));
    if (!hf__function_is_name(*name))
        return fail_line(text, text_size, HF__ERROR_FUNCTION_NAME,
                         hf_view("", 0));
    return true;
}

bool hf__shebang_library(hf_bytes source, hf_bytes *name, size_t *line_size,
                         char *text, size_t text_size)
{
    const char *end;
    hf_bytes line, rest, engine, word;
    char quoted[160];
    bool closed;

    if (source.size < 2 || memcmp(source.data, "#!", 2) != 0)
        return fail_line(text, text_size, "Missing library metadata",
                         hf_view("", 0));
    end = memchr(source.data, '\n', source.size);
    if (end == NULL)
        return fail_line(text, text_size, "Invalid library metadata",
                         hf_view("", 0));
    *line_size = (size_t)(end - (const char *)source.data);
    line = hf_view(source.data, *line_size);
    rest = line;
    do
        closed = next_word(&rest, &word) && is_closed(word);
    while (closed && word.size > 0);
    if (!closed)
        return fail_line(text, text_size, "Invalid library metadata",
                         hf_view("", 0));
    (void)next_word(&line, &engine);
    engine = hf_view((const char *)engine.data + 2, engine.size - 2);
    if (!read_name(line, name, text, text_size))
        return false;
    if (hf__arg_is(engine, "lua"))
        return true;
    (void)snprintf(quoted, sizeof(quoted), "Engine '%.*s' not found",
                   engine.size > 100 ? 100 : (int)engine.size,
                   (const char *)engine.data);
    return fail_line(text, text_size, quoted, hf_view("", 0));
}
