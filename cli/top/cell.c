/* SPDX-License-Identifier: Apache-2.0 */
/* cell.c - see cell.h. */
#include "top/cell.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <wchar.h>

/* Of one character, or "\xHH". */
#define GLYPH_SIZE 8

/* The next character as it is shown, and its columns; the bytes it has. */
static size_t next_glyph(const char *at, size_t left, char glyph[GLYPH_SIZE],
                         size_t *columns)
{
    mbstate_t state = {0};
    wchar_t character = 0;
    size_t length = mbrtowc(&character, at, left, &state);
    int width = length > 0 && length < GLYPH_SIZE ? wcwidth(character) : -1;

    if (width < 0) {
        snprintf(glyph, GLYPH_SIZE, "\\x%02x", (unsigned char)*at);
        *columns = 4;
        return 1;
    }
    memcpy(glyph, at, length);
    glyph[length] = '\0';
    *columns = (size_t)width;
    return length;
}

size_t cell_text(char *text, size_t size, hf_bytes bytes, size_t columns)
{
    const char *at = bytes.data;
    const char *end = at + bytes.size;
    size_t used = 0, put = 0;
    size_t cut = 0, cut_used = 0; /* where a '+' would still fit */
    char glyph[GLYPH_SIZE];

    while (at < end) {
        size_t width;
        size_t taken = next_glyph(at, (size_t)(end - at), glyph, &width);
        size_t length = strlen(glyph);

        if (used + width > columns || put + length + 2 > size) {
            if (columns > 0 && cut + 2 <= size) {
                text[cut] = '+';
                put = cut + 1;
                used = cut_used + 1;
            }
            break;
        }
        memcpy(text + put, glyph, length);
        put += length;
        used += width;
        at += taken;
        if (used < columns) {
            cut = put;
            cut_used = used;
        }
    }
    text[put] = '\0';
    return used;
}

void cell_time(char text[CELL_TIME_SIZE], int64_t ms)
{
    int64_t s = ms / 1000;

    if (ms < 0)
        snprintf(text, CELL_TIME_SIZE, "-");
    else if (s < 10)
        snprintf(text, CELL_TIME_SIZE, "%d.%ds", (int)s, (int)(ms / 100 % 10));
    else if (s < 60)
        snprintf(text, CELL_TIME_SIZE, "%ds", (int)s);
    else if (s < 3600)
        snprintf(text, CELL_TIME_SIZE, "%dm%02ds", (int)(s / 60),
                 (int)(s % 60));
    else if (s < 86400)
        snprintf(text, CELL_TIME_SIZE, "%dh%02dm", (int)(s / 3600),
                 (int)(s / 60 % 60));
    else
        snprintf(text, CELL_TIME_SIZE, "%" PRId64 "d%02dh", s / 86400,
                 (int)(s / 3600 % 24));
}
