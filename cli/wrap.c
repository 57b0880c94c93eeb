/* SPDX-License-Identifier: Apache-2.0 */
/* wrap.c - see wrap.h. */
#include "wrap.h"

#include <stdbool.h>
#include <string.h>

void wrap_text(FILE *file, const char *text, int column, int indent)
{
    bool first = true;

    for (text += strspn(text, " "); *text != '\0'; text += strspn(text, " ")) {
        int size = (int)strcspn(text, " ");

        if (!first && column + 1 + size > WRAP_COLUMNS) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(file, "%s%.*s", first ? "" : " ", size, text);
        column += size + (first ? 0 : 1);
        text += size;
        first = false;
    }
    fputc('\n', file);
}

void wrap_lines(FILE *file, const char *text, int indent)
{
    while (*text != '\0') {
        int size = (int)strcspn(text, "\n");

        fprintf(file, "%*s%.*s\n", size > 0 ? indent : 0, "", size, text);
        text += size;
        text += *text == '\n';
    }
}
