/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - a fuzz target: one function that takes any bytes and aborts if a
 * promise is broken. Called by libFuzzer and by replay.c.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Is there a number of seven digits or more? As a length in RESP it allocates
 * megabytes before they arrive, which takes a sanitizer milliseconds. */
static inline bool fuzz_has_long_number(const uint8_t *data, size_t size)
{
    size_t digits = 0;

    for (size_t i = 0; i < size; i++) {
        digits = data[i] >= '0' && data[i] <= '9' ? digits + 1 : 0;
        if (digits > 6)
            return true;
    }
    return false;
}

/* Abort unless a promise is kept. */
#define PROMISE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
