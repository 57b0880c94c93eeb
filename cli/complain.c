/* SPDX-License-Identifier: Apache-2.0 */
/*
 * complain.c - one line on stderr, in one write, so that the lines of several
 * processes do not mix.
 */
#include "complain.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "exit.h"

/* The longest message of the library, a truncated key, and text of our own. */
#define LINE_SIZE 1024

static void print_line(char *line, size_t size)
{
    size_t length = strlen(line);
    size_t i;

    for (i = 0; i < length; i++)
        if ((unsigned char)line[i] < ' ' || line[i] == 0x7f)
            line[i] = '?';
    if (length > size - 2)
        length = size - 2;
    line[length] = '\n';
    line[length + 1] = '\0';
    fputs(line, stderr);
}

void complain(const char *what, const char *format, ...)
{
    char message[LINE_SIZE - 128];
    char line[LINE_SIZE];
    va_list args;

    va_start(args, format);
    (void)vsnprintf(message, sizeof(message), format, args);
    va_end(args);
    if (what == NULL) {
        (void)snprintf(line, sizeof(line), "holdfast: %s", message);
    } else {
        (void)snprintf(line, sizeof(line), "holdfast: %.100s: %s", what,
                       message);
    }
    print_line(line, sizeof(line));
}

int complain_status(const char *what, hf_status status, const hf_error *err)
{
    const char *text = hf_status_text(status);

    if (err != NULL && err->message[0] != '\0')
        text = err->message;
    complain(what, "%s", text);
    return exit_code_of(status);
}
