/* SPDX-License-Identifier: Apache-2.0 */
/* percent.c - see percent.h. */
#include "util/percent.h"

#include <stdio.h>

size_t hf__percent_put(char *at, hf_bytes bytes,
                       bool (*is_plain)(unsigned char byte))
{
    const unsigned char *from = bytes.data;
    size_t size = 0;

    for (size_t i = 0; i < bytes.size; i++) {
        if (is_plain(from[i]))
            at[size++] = (char)from[i];
        else
            size += (size_t)snprintf(at + size, 4, "%%%02X", from[i]);
    }
    at[size] = '\0';
    return size;
}

/* -1: none that we write. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

size_t hf__percent_take(char *text, size_t size)
{
    size_t kept = 0;

    for (size_t i = 0; i < size; i++) {
        if (text[i] == '%' && size - i > 2 && digit_of(text[i + 1]) >= 0 &&
            digit_of(text[i + 2]) >= 0) {
            text[kept++] =
                (char)(digit_of(text[i + 1]) << 4 | digit_of(text[i + 2]));
            i += 2;
        } else {
            text[kept++] = text[i];
        }
    }
    text[kept] = '\0';
    return kept;
}
