/* SPDX-License-Identifier: Apache-2.0 */
/*
 * long_float.c - long double as text, as Redis 7.0 reads and prints it.
 */
#include "engine/keys/long_float.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool hf__long_float_read(hf_bytes text, long double *value)
{
    char copy[HF__LONG_FLOAT_SIZE]; /* Redis's limit */
    char *end;
    long double number;

    if (text.size == 0 || text.size >= sizeof(copy))
        return false;
    memcpy(copy, text.data, text.size);
    copy[text.size] = '\0';
    /* strtold() would skip it. */
    if (strchr(" \t\n\v\f\r", copy[0]) != NULL)
        return false;
    errno = 0;
    number = strtold(copy, &end);
    if (end != copy + text.size || isnan(number))
        return false;
    if (errno == ERANGE && (isinf(number) || number == 0))
        return false;
    *value = number;
    return true;
}

size_t hf__long_float_put(char text[HF__LONG_FLOAT_SIZE], long double value)
{
    size_t size = (size_t)snprintf(text, HF__LONG_FLOAT_SIZE, "%.17Lf", value);

    while (text[size - 1] == '0')
        size--;
    if (text[size - 1] == '.')
        size--;
    text[size] = '\0';
    if (strcmp(text, "-0") == 0) {
        text[0] = '0';
        text[1] = '\0';
        size = 1;
    }
    return size;
}
