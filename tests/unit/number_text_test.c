/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_text_test.c - digits as numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/keys/number_text.h"
#include "support/test.h"

#define DIGITS_MAX 16

TEST(digits_of_every_length_are_read)
{
    static const char *const rows[] = {"1234567890123456", "8999999999999999",
                                       "0000000000000009", "9876543210987654"};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t size = 1; size <= DIGITS_MAX; size++) {
            char text[DIGITS_MAX + 1];
            bool exact = size < DIGITS_MAX || rows[i][0] != '9';
            double value = -1;

            (void)snprintf(text, sizeof(text), "%.*s", (int)size, rows[i]);
            assert_true(hf__number_digits(hf_str(text), &value) == exact);
            assert_true(value == (exact ? strtod(text, NULL) : -1));
        }
    }
}

TEST(other_bytes_are_no_digits)
{
    static const unsigned char others[] = {0,   '/', ':',  ' ',  '-',  '.',
                                           'a', 'p', 0x7f, 0x80, 0xb0, 0xff};
    double value;

    for (size_t size = 1; size <= DIGITS_MAX; size++) {
        for (size_t at = 0; at < size; at++) {
            for (size_t i = 0; i < sizeof(others); i++) {
                char text[DIGITS_MAX];

                memset(text, '1', sizeof(text));
                text[at] = (char)others[i];
                assert_false(hf__number_digits(hf_view(text, size), &value));
            }
        }
    }
    assert_false(hf__number_digits(hf_str(""), &value));
    assert_false(hf__number_digits(hf_str("11111111111111111"), &value));
}
