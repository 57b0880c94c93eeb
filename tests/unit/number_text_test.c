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

static void assert_written(int64_t value)
{
    char text[HF__NUMBER_TEXT_SIZE], expected[HF__NUMBER_TEXT_SIZE];
    size_t size = hf__number_put_integer(text, value);
    int64_t read = 0;

    (void)snprintf(expected, sizeof(expected), "%lld", (long long)value);
    assert_string_equal(text, expected);
    assert_int_equal(size, strlen(expected));
    assert_true(hf__number_integer(hf_view(text, size), &read));
    assert_true(read == value);
}

TEST(integers_are_written_as_printf_does_and_read_again)
{
    int64_t power = 1;

    for (int digits = 1; digits <= 19; digits++) {
        for (int64_t near = -1; near <= 1; near++) {
            assert_written(power + near);
            assert_written(-(power + near));
            assert_written(power / 7 + near);
        }
        if (digits < 19)
            power *= 10;
    }
    assert_written(INT64_MAX);
    assert_written(INT64_MIN);
}

TEST(what_is_no_integer_or_too_large_is_not_read)
{
    static const char *const rows[] = {"9223372036854775808",
                                       "-9223372036854775809",
                                       "9999999999999999999",
                                       "18446744073709551616",
                                       "12345678901234567890",
                                       "-0",
                                       "01",
                                       "+1",
                                       "1 ",
                                       "-",
                                       "",
                                       "1:",
                                       "1/"};
    int64_t value = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_false(hf__number_integer(hf_str(rows[i]), &value));
    assert_int_equal(value, 0);
}
