/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info.c - see info.h. Untrusted input.
 */
#include "store/info.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hf__info_find(hf_bytes info, const char *name, char *value, size_t size)
{
    const char *line = info.data;
    const char *end = line + info.size;
    size_t length = strlen(name);
    const char *stop;

    value[0] = '\0';
    while (line < end) {
        stop = memchr(line, '\r', (size_t)(end - line));
        if (stop == NULL)
            return false;
        if ((size_t)(stop - line) > length && line[length] == ':' &&
            memcmp(line, name, length) == 0) {
            snprintf(value, size, "%.*s", (int)(stop - line) - (int)length - 1,
                     line + length + 1);
            return true;
        }
        line = stop + (end - stop > 1 ? 2 : 1);
    }
    return false;
}

int64_t hf__info_number(hf_bytes info, const char *name, int64_t missing)
{
    char text[24];
    char *end;
    long long value;

    if (!hf__info_find(info, name, text, sizeof(text)))
        return missing;
    value = strtoll(text, &end, 10);
    return end != text && *end == '\0' ? value : missing;
}
