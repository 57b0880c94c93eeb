/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz_glob.c - a pattern up to the first newline, and a text behind it that is
 * repeated for some hundred bytes: both matchers must agree.
 */
#include <string.h>

#include "fuzz.h"
#include "support/simple_glob.h"
#include "util/glob.h"

#define PATTERN_MAX 400
#define TEXT_MAX 300

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *line = size > 0 ? memchr(data, '\n', size) : NULL;
    char text[TEXT_MAX];
    hf_bytes pattern;
    size_t unit, length;

    if (line == NULL)
        return 0;
    pattern = hf_view(data, (size_t)(line - data));
    unit = size - pattern.size - 1;
    /* More takes the simple matcher too long. */
    if (unit > sizeof(text) || pattern.size > PATTERN_MAX)
        return 0;
    for (length = 0; unit > 0 && length + unit <= sizeof(text); length += unit)
        memcpy(text + length, line + 1, unit);
    PROMISE(hf__glob_fits(pattern, hf_view(text, unit)) ==
            simple_fits(pattern, hf_view(text, unit)));
    PROMISE(hf__glob_fits(pattern, hf_view(text, length)) ==
            simple_fits(pattern, hf_view(text, length)));
    return 0;
}
