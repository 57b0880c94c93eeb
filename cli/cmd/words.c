/* SPDX-License-Identifier: Apache-2.0 */
/*
 * words.c - see words.h. Words are written back into the line, where they are
 * never longer than what they are read from.
 */
#include "cmd/words.h"

#include <stdlib.h>

#include "util/digits.h"

struct word_reader {
    const char *at;
    const char *end;
    char *to;
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r';
}

static const char *read_hex(struct word_reader *reader)
{
    int high =
        reader->end - reader->at >= 2 ? hf__hex_value(reader->at[0]) : -1;
    int low = high < 0 ? -1 : hf__hex_value(reader->at[1]);

    if (low < 0)
        return "\\x is not followed by two hexadecimal digits";
    *reader->to++ = (char)(high * 16 + low);
    reader->at += 2;
    return NULL;
}

/* After a backslash. */
static const char *read_escape(struct word_reader *reader)
{
    static const char letters[] = "nrt", values[] = "\n\r\t";
    const char *letter;
    char c;

    if (reader->at == reader->end)
        return "nothing follows the backslash";
    c = *reader->at++;
    if (c == 'x')
        return read_hex(reader);
    letter = strchr(letters, c);
    if (c != '\0' && letter != NULL)
        c = values[letter - letters];
    *reader->to++ = c;
    return NULL;
}

/* After a quote, up to the same one. */
static const char *read_quoted(struct word_reader *reader, char quote)
{
    const char *wrong = NULL;

    while (wrong == NULL && reader->at < reader->end) {
        char c = *reader->at++;

        if (c == quote)
            return NULL;
        if (c == '\\' && quote == '"')
            wrong = read_escape(reader);
        else
            *reader->to++ = c;
    }
    return wrong != NULL ? wrong : "a quote is not closed";
}

static const char *read_word(struct word_reader *reader)
{
    const char *wrong = NULL;

    while (wrong == NULL && reader->at < reader->end &&
           !is_blank(*reader->at)) {
        char c = *reader->at++;

        if (c == '"' || c == '\'')
            wrong = read_quoted(reader, c);
        else if (c == '\\')
            wrong = read_escape(reader);
        else
            *reader->to++ = c;
    }
    return wrong;
}

static bool grow_words(struct words *words)
{
    size_t wanted = words->room == 0 ? 16 : 2 * words->room;
    hf_bytes *items;

    if (words->count < words->room)
        return true;
    items = realloc(words->items, wanted * sizeof(*items));
    if (items == NULL)
        return false;
    words->items = items;
    words->room = wanted;
    return true;
}

const char *words_split(struct words *words, char *line, size_t size)
{
    struct word_reader reader = {line, line + size, line};
    const char *wrong = NULL;

    words->count = 0;
    while (wrong == NULL) {
        char *from = reader.to;

        while (reader.at < reader.end && is_blank(*reader.at))
            reader.at++;
        if (reader.at == reader.end || *reader.at == '#')
            return NULL;
        if (!grow_words(words))
            return "out of memory";
        wrong = read_word(&reader);
        words->items[words->count++] =
            hf_view(from, (size_t)(reader.to - from));
    }
    return wrong;
}

void words_free(struct words *words)
{
    free(words->items);
    *words = (struct words){NULL, 0, 0};
}
