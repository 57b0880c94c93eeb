/* SPDX-License-Identifier: Apache-2.0 */
/*
 * number_text.c - numbers as text, as Redis 7.0 reads and prints them. Scripts
 * compare these texts, so every digit matters.
 */
#include "engine/keys/number_text.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store/limits.h"
#include "util/digits.h"
#include "util/mem.h"

/* Every integer of so many digits fits a double. */
#define DIGITS_MAX 15u
/* One more digit, if the first is not greater: below 2^53. */
#define LONG_FIRST_MAX '8'

/* Eight digits, the first in the lowest byte. */
#define EIGHT_ZEROS UINT64_C(0x3030303030303030)

bool hf__number_integer(hf_bytes text, int64_t *value)
{
    return hf__decimal_exact(text.data, text.size, value);
}

static uint64_t load_eight(const char *text)
{
    uint64_t eight;

    memcpy(&eight, text, sizeof(eight));
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return eight ^ EIGHT_ZEROS;
}

/* Is a byte more than 9? */
static bool is_no_digit(uint64_t eight)
{
    return ((eight | (eight + UINT64_C(0x7676767676767676))) &
            UINT64_C(0x8080808080808080)) != 0;
}

/* Their number: first those of each pair of bytes, then of each four. */
static uint64_t sum_eight(uint64_t eight)
{
    eight = (eight * 10 + (eight >> 8)) & UINT64_C(0x00ff00ff00ff00ff);
    eight = (eight * 100 + (eight >> 16)) & UINT64_C(0x0000ffff0000ffff);
    return (eight * 10000 + (eight >> 32)) & UINT32_MAX;
}

/* 9 to 16 digits, as instants and tokens have. */
static bool read_long(const char *digits, size_t size, double *value)
{
    uint64_t high = load_eight(digits) << 8 * (16 - size);
    uint64_t low = load_eight(digits + size - 8);

    if (is_no_digit(high) || is_no_digit(low))
        return false;
    *value = (double)(sum_eight(high) * 100000000 + sum_eight(low));
    return true;
}

bool hf__number_digits(hf_bytes text, double *value)
{
    const char *digits = text.data;
    int64_t sum = 0;

    if (text.size == 0 || text.size > DIGITS_MAX + 1 ||
        (text.size > DIGITS_MAX && digits[0] > LONG_FIRST_MAX))
        return false;
    if (text.size > 8)
        return read_long(digits, text.size, value);
    for (size_t i = 0; i < text.size; i++) {
        if (digits[i] < '0' || digits[i] > '9')
            return false;
        sum = 10 * sum + (digits[i] - '0');
    }
    *value = (double)sum;
    return true;
}

int64_t hf__number_truncated(double value)
{
    /* Undefined in C; this is Redis's result on x86-64. */
    if (!(value >= -9223372036854775808.0 && value < 9223372036854775808.0))
        return INT64_MIN;
    return (int64_t)value;
}

bool hf__number_scan(hf_bytes text, double *value, size_t *used)
{
    char small[128];
    char *copy = small;
    char *end;

    if (text.size >= sizeof(small)) {
        copy = hf__memdup(text.data, text.size);
        if (copy == NULL)
            return false;
    } else {
        if (text.size > 0)
            memcpy(small, text.data, text.size);
        small[text.size] = '\0';
    }
    errno = 0;
    *value = strtod(copy, &end);
    *used = (size_t)(end - copy);
    if (copy != small) {
        int number = errno;

        hf__free(copy);
        errno = number;
    }
    return true;
}

hf_status hf__number_double(hf_bytes text, double *value)
{
    const char *first = text.data;
    double number;
    size_t used;

    /* strtod() would skip it. */
    if (text.size == 0 || *first == ' ' || (*first >= '\t' && *first <= '\r'))
        return HF_INVALID;
    if (!hf__number_scan(text, &number, &used))
        return HF_NO_MEMORY;
    if (used != text.size || !hf__is_score(number))
        return HF_INVALID;
    if (errno == ERANGE && (fabs(number) == HUGE_VAL || number == 0))
        return HF_INVALID;
    *value = number;
    return HF_OK;
}

size_t hf__number_put_integer(char text[HF__NUMBER_TEXT_SIZE], int64_t value)
{
    return hf__decimal_put(text, value);
}

size_t hf__number_put_double(char text[HF__NUMBER_TEXT_SIZE], double value)
{
    /* Below this %.17g prints all digits of an integer, too. */
    const double whole = 1e16;

    if (isinf(value)) {
        return (size_t)snprintf(text, HF__NUMBER_TEXT_SIZE, "%s",
                                value > 0 ? "inf" : "-inf");
    }
    if (value > -whole && value < whole && value == (double)(int64_t)value &&
        (value != 0 || !signbit(value)))
        return hf__number_put_integer(text, (int64_t)value);
    return (size_t)snprintf(text, HF__NUMBER_TEXT_SIZE, "%.17g", value);
}
