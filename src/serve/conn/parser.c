/* SPDX-License-Identifier: Apache-2.0 */
/* parser.c - see parser.h. */
#include "serve/conn/parser.h"

#include <stdio.h>
#include <string.h>

#include "util/digits.h"
#include "util/mem.h"

/* Longest line with a number. */
#define COUNT_LINE_MAX HF__PARSER_LINE_MAX

static hf__parse fail_parse(hf__parser *parser, const char *error)
{
    parser->error = error;
    return HF__PARSE_BROKEN;
}

static bool add_span(hf__parser *parser, size_t at, size_t size)
{
    if (parser->count == parser->capacity) {
        size_t capacity = parser->capacity == 0 ? 8 : parser->capacity * 2;
        hf__span *spans = hf__realloc(parser->spans, capacity * sizeof(*spans));

        if (spans == NULL)
            return false;
        parser->spans = spans;
        parser->capacity = capacity;
    }
    parser->spans[parser->count++] = (hf__span){at, size};
    return true;
}

/* ------------------------------------------------------------------ numbers */

/* The line from `at` on, without its end. */
static hf__parse take_line(hf__parser *parser, const unsigned char *bytes,
                           size_t size, const char *too_long, hf_bytes *line)
{
    const unsigned char *from = bytes + parser->at;
    size_t left = size - parser->at;
    const unsigned char *end = memchr(from, '\r', left);

    if (end == NULL)
        return left > COUNT_LINE_MAX ? fail_parse(parser, too_long)
                                     : HF__PARSE_MORE;
    if ((size_t)(end - from) + 2 > left)
        return HF__PARSE_MORE;
    *line = hf_view(from, (size_t)(end - from));
    parser->at += line->size + 2;
    return HF__PARSE_DONE;
}

/* Decimal, as Redis reads it. */
static bool read_number(hf_bytes text, int64_t *value)
{
    const char *digits = text.data;
    bool minus = text.size > 0 && digits[0] == '-';
    size_t at = minus ? 1 : 0;
    int64_t number = 0;

    if (text.size == at || text.size - at > 18 ||
        (digits[at] == '0' && text.size > 1))
        return false;
    for (; at < text.size; at++) {
        if (digits[at] < '0' || digits[at] > '9')
            return false;
        number = number * 10 + (digits[at] - '0');
    }
    *value = minus ? -number : number;
    return true;
}

/* ------------------------------------------------------------------- arrays */

static hf__parse read_count(hf__parser *parser, const unsigned char *bytes,
                            size_t size, const hf__parser_limits *limits)
{
    hf_bytes line;
    int64_t count;
    hf__parse result =
        take_line(parser, bytes, size,
                  "Protocol error: too big mbulk count string", &line);

    if (result != HF__PARSE_DONE)
        return result;
    line = hf_view((const char *)line.data + 1, line.size - 1);
    if (!read_number(line, &count) || count > HF__PARSER_WORDS_MAX)
        return fail_parse(parser, "Protocol error: invalid multibulk length");
    if (limits->stranger && count > HF__PARSER_STRANGER_WORDS)
        return fail_parse(parser, "Protocol error: unauthenticated multibulk "
                                  "length");
    parser->begun = true;
    parser->left = count > 0 ? (size_t)count : 0;
    return HF__PARSE_DONE;
}

static hf__parse read_bulk_size(hf__parser *parser, const unsigned char *bytes,
                                size_t size, const hf__parser_limits *limits)
{
    hf_bytes line;
    int64_t bulk;
    hf__parse result =
        take_line(parser, bytes, size,
                  "Protocol error: too big bulk count string", &line);
    const char *text = (const char *)bytes + parser->at;

    if (result != HF__PARSE_DONE)
        return result;
    text = line.data;
    if (text[0] != '$') {
        (void)snprintf(parser->error_text, sizeof(parser->error_text),
                       "Protocol error: expected '$', got '%c'", text[0]);
        return fail_parse(parser, parser->error_text);
    }
    if (!read_number(hf_view(text + 1, line.size - 1), &bulk) || bulk < 0 ||
        (uint64_t)bulk > limits->bulk_max)
        return fail_parse(parser, "Protocol error: invalid bulk length");
    if (limits->stranger && bulk > HF__PARSER_STRANGER_BULK)
        return fail_parse(parser,
                          "Protocol error: unauthenticated bulk length");
    parser->bulk = (size_t)bulk;
    parser->in_bulk = true;
    return HF__PARSE_DONE;
}

static hf__parse go_array(hf__parser *parser, const unsigned char *bytes,
                          size_t size, const hf__parser_limits *limits)
{
    hf__parse result = HF__PARSE_DONE;

    if (!parser->begun)
        result = read_count(parser, bytes, size, limits);
    while (result == HF__PARSE_DONE && parser->left > 0) {
        if (!parser->in_bulk) {
            if (parser->at == size)
                return HF__PARSE_MORE;
            result = read_bulk_size(parser, bytes, size, limits);
            continue;
        }
        if (size - parser->at < parser->bulk + 2)
            return HF__PARSE_MORE;
        if (!add_span(parser, parser->at, parser->bulk))
            return fail_parse(parser, "out of memory");
        parser->at += parser->bulk + 2;
        parser->in_bulk = false;
        parser->left--;
    }
    return result;
}

/* -------------------------------------------------------------------- lines */

static bool is_blank(unsigned char byte)
{
    return byte == ' ' || (byte >= '\t' && byte <= '\r');
}

static unsigned char escaped_byte(unsigned char letter)
{
    static const char letters[] = "nrtba";
    static const char bytes[] = "\n\r\t\b\a";
    const char *at = letter == 0 ? NULL : strchr(letters, letter);

    return at != NULL ? (unsigned char)bytes[at - letters] : letter;
}

/* One byte within double quotes, at `from`; the number of bytes read. */
static size_t unquote_byte(const unsigned char *from, const unsigned char *end,
                           unsigned char *byte)
{
    *byte = *from;
    if (*from != '\\' || end - from < 2)
        return 1;
    if (end - from >= 4 && from[1] == 'x' &&
        hf__hex_value((char)from[2]) >= 0 &&
        hf__hex_value((char)from[3]) >= 0) {
        *byte = (unsigned char)(hf__hex_value((char)from[2]) * 16 +
                                hf__hex_value((char)from[3]));
        return 4;
    }
    *byte = escaped_byte(from[1]);
    return 2;
}

/* A word at `from`, into parser->line. NULL: quotes are not balanced. */
static const unsigned char *read_word(hf__parser *parser,
                                      const unsigned char *from,
                                      const unsigned char *end)
{
    unsigned char quote = 0, byte;

    for (; from < end; from++) {
        if (quote == 0 && is_blank(*from))
            return from;
        if (quote == 0 && (*from == '"' || *from == '\'')) {
            quote = *from;
            continue;
        }
        if (quote != 0 && *from == quote) {
            if (from + 1 < end && !is_blank(from[1]))
                return NULL;
            return from + 1;
        }
        byte = *from;
        if (quote == '"')
            from += unquote_byte(from, end, &byte) - 1;
        else if (quote == '\'' && end - from >= 2 && from[0] == '\\' &&
                 from[1] == '\'')
            byte = *++from;
        if (!hf__buf_append(&parser->line, &byte, 1))
            return NULL;
    }
    return quote == 0 ? from : NULL;
}

static hf__parse split_line(hf__parser *parser, const unsigned char *from,
                            const unsigned char *end)
{
    hf__buf_init(&parser->line, HF__PARSER_LINE_MAX);
    for (;;) {
        size_t at = hf__buf_size(&parser->line);

        while (from < end && is_blank(*from))
            from++;
        if (from == end)
            return HF__PARSE_DONE;
        from = read_word(parser, from, end);
        if (from == NULL ||
            !add_span(parser, at, hf__buf_size(&parser->line) - at))
            return fail_parse(parser,
                              "Protocol error: unbalanced quotes in request");
    }
}

static hf__parse go_line(hf__parser *parser, const unsigned char *bytes,
                         size_t size)
{
    const unsigned char *end = memchr(bytes, '\n', size);

    if (end == NULL)
        return size > HF__PARSER_LINE_MAX
                   ? fail_parse(parser,
                                "Protocol error: too big inline request")
                   : HF__PARSE_MORE;
    parser->at = (size_t)(end - bytes) + 1;
    parser->is_line = true;
    return split_line(parser, bytes, end);
}

/* ------------------------------------------------------------------- public */

hf__parse hf__parser_go(hf__parser *parser, const unsigned char *bytes,
                        size_t size, const hf__parser_limits *limits)
{
    if (size == 0)
        return HF__PARSE_MORE;
    if (bytes[0] == '*')
        return go_array(parser, bytes, size, limits);
    return go_line(parser, bytes, size);
}

void hf__parser_next(hf__parser *parser)
{
    parser->count = 0;
    parser->left = 0;
    parser->at = 0;
    parser->begun = false;
    parser->in_bulk = false;
    if (parser->is_line)
        hf__buf_done(&parser->line);
    parser->is_line = false;
}

void hf__parser_words(const hf__parser *parser, const unsigned char *bytes,
                      hf_bytes *words)
{
    if (parser->is_line)
        bytes = hf__buf_front(&parser->line);
    for (size_t i = 0; i < parser->count; i++)
        words[i] = hf_view(bytes + parser->spans[i].at, parser->spans[i].size);
}

size_t hf__parser_missing(const hf__parser *parser, size_t size)
{
    size_t end = parser->at + parser->bulk + 2;

    return parser->in_bulk && end > size ? end - size : 0;
}

void hf__parser_done(hf__parser *parser)
{
    hf__parser_next(parser);
    hf__free(parser->spans);
    memset(parser, 0, sizeof(*parser));
}
