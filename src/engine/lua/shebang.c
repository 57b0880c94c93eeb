/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shebang.c - reading the first line of a script. Words are separated by blanks
 * and may be quoted; error texts are Redis 7.0's.
 *
 * Only the flag no-writes has an effect: there is no stale replica and no
 * cluster, and a full store cannot be overcommitted.
 */
#include "engine/lua/shebang.h"

#include <stdio.h>
#include <string.h>

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
    if (is_text(flag, "no-writes")) {
        shebang->no_writes = true;
        return true;
    }
    return is_text(flag, "allow-oom") || is_text(flag, "allow-stale") ||
           is_text(flag, "no-cluster") ||
           is_text(flag, "allow-cross-slot-keys");
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
