/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fuzz.h - what a fuzz target is: one function that takes any bytes and ends
 * the program if a promise is broken. libFuzzer calls it, and so does
 * replay.c.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* End the program unless a promise is kept. */
#define PROMISE(condition)                                                     \
    do {                                                                       \
        if (!(condition)) {                                                    \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__,         \
                    #condition);                                               \
            abort();                                                           \
        }                                                                      \
    } while (0)

#endif
