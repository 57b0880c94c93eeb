/* SPDX-License-Identifier: Apache-2.0 */
/*
 * native_text.c - numbers and texts of scripts, with Lua 5.1's conversions: a
 * number as text has 14 digits, and a text is a number as strtod() reads it.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine/keys/number_text.h"
#include "engine/keys/packed.h"
#include "engine/native/native_code.h"
#include "util/sha1.h"

/* Less than this, an integer is written without an exponent. */
#define PLAIN_MAX 1e14
#define EXACT_MAX 9007199254740992.0 /* 2^53 */

static const char *kind_name(hf__nv value)
{
    return hf__native_type(value).text;
}

hf__nv hf__native_type(hf__nv value)
{
    static const char *const names[] = {"nil",    "boolean", "boolean",
                                        "number", "string",  "string",
                                        "table",  "table",   "table"};
    const char *name = names[value.tag];

    return hf__nv_text(name, strlen(name));
}

/* -------------------------------------------------------- texts to numbers */

/* As Lua reads one: up to a NUL, with blanks around, also hexadecimal. */
static bool read_text(hf__native *run, hf__nv text, double *number)
{
    const char *copy;
    char *end;

    if (hf__number_digits(hf__nv_word(text), number))
        return true;
    copy = hf__native_copy(run, text.text, text.size).text;
    *number = strtod(copy, &end);
    if (end == copy)
        return false;
    if (*end == 'x' || *end == 'X')
        *number = (double)strtoul(copy, &end, 16);
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0';
}

double hf__native_to_number(hf__native *run, hf__nv value)
{
    double number;

    if (value.tag == HF__NV_SCORE)
        return value.number;
    if (value.tag != HF__NV_TEXT || !read_text(run, value, &number))
        hf__native_raise(run, "attempt to perform arithmetic on a %s value",
                         kind_name(value));
    return number;
}

static hf__nv number_in_base(hf__native *run, hf__nv value, int base)
{
    const char *copy;
    char *end;
    unsigned long number;

    value = hf__native_text(run, value);
    copy = hf__native_copy(run, value.text, value.size).text;
    number = strtoul(copy, &end, base);
    if (end == copy)
        return hf__nv_nil();
    while (isspace((unsigned char)*end))
        end++;
    return *end == '\0' ? hf__nv_number((double)number) : hf__nv_nil();
}

hf__nv hf__native_tonumber(hf__native *run, hf__nv value, int base)
{
    double number;

    if (base != 10)
        return number_in_base(run, value, base);
    if (value.tag == HF__NV_NUMBER)
        return value;
    if (value.tag == HF__NV_SCORE)
        return hf__nv_number(value.number);
    if (value.tag == HF__NV_TEXT && read_text(run, value, &number))
        return hf__nv_number(number);
    return hf__nv_nil();
}

/* ---------------------------------------------------------------- comparing */

double hf__native_compared(hf__native *run, hf__nv value)
{
    if (value.tag != HF__NV_NUMBER)
        hf__native_raise(run, "attempt to compare number with %s",
                         kind_name(value));
    return value.number;
}

/* Lua uses strcoll(); what scripts compare are digits. */
static int compare_values(hf__native *run, hf__nv one, hf__nv other)
{
    uint32_t size;
    int order;

    if (one.tag == HF__NV_NUMBER && other.tag == HF__NV_NUMBER)
        return (one.number > other.number) - (one.number < other.number);
    if (!hf__nv_is_text(one) || !hf__nv_is_text(other))
        hf__native_raise(run, "attempt to compare %s with %s", kind_name(one),
                         kind_name(other));
    one = hf__native_text(run, one);
    other = hf__native_text(run, other);
    size = one.size < other.size ? one.size : other.size;
    order = memcmp(one.text, other.text, size);
    return order != 0 ? order
                      : (one.size > other.size) - (one.size < other.size);
}

bool hf__native_less(hf__native *run, hf__nv one, hf__nv other)
{
    return compare_values(run, one, other) < 0;
}

bool hf__native_at_most(hf__native *run, hf__nv one, hf__nv other)
{
    return compare_values(run, one, other) <= 0;
}

/* -------------------------------------------------------- numbers to texts */

static hf__nv number_text(hf__native *run, double number)
{
    char text[HF__NUMBER_TEXT_SIZE];
    size_t size;

    if (fabs(number) < PLAIN_MAX && number == (double)(int64_t)number &&
        (number != 0 || !signbit(number)))
        size = hf__number_put_integer(text, (int64_t)number);
    else
        size = (size_t)snprintf(text, sizeof(text), "%.14g", number);
    return hf__native_copy(run, text, size);
}

static hf__nv score_text(hf__native *run, double number)
{
    char text[HF__NUMBER_TEXT_SIZE];

    return hf__native_copy(run, text, hf__number_put_double(text, number));
}

static hf_bytes text_of(hf__nv value, char text[HF__NUMBER_TEXT_SIZE])
{
    if (value.tag == HF__NV_TEXT)
        return hf__nv_word(value);
    return hf_view(text, hf__number_put_double(text, value.number));
}

bool hf__nv_same_score(hf__nv one, hf__nv other)
{
    char texts[2][HF__NUMBER_TEXT_SIZE];
    hf_bytes a = text_of(one, texts[0]), b = text_of(other, texts[1]);

    return hf__bytes_same(a, b);
}

hf__nv hf__native_tostring(hf__native *run, hf__nv value)
{
    if (value.tag == HF__NV_TEXT)
        return value;
    if (value.tag == HF__NV_SCORE)
        return score_text(run, value.number);
    if (value.tag == HF__NV_NUMBER)
        return number_text(run, value.number);
    if (value.tag == HF__NV_TRUE)
        return hf__nv_text("true", 4);
    if (value.tag == HF__NV_FALSE)
        return hf__nv_text("false", 5);
    return hf__native_type(value);
}

hf__nv hf__native_to_text(hf__native *run, hf__nv value)
{
    if (value.tag != HF__NV_SCORE && value.tag != HF__NV_NUMBER)
        hf__native_raise(run, "bad argument (string expected, got %s)",
                         kind_name(value));
    return hf__native_tostring(run, value);
}

hf__nv hf__native_digits(hf__native *run, double number, int base, int width)
{
    char text[400];
    int size;

    if (base == 16)
        size = snprintf(text, sizeof(text), "%0*llx", width,
                        (unsigned long long)number);
    else if (width == 0 && fabs(number) < EXACT_MAX &&
             number == (double)(int64_t)number && number != 0)
        size = (int)hf__number_put_integer(text, (int64_t)number);
    else
        size = snprintf(text, sizeof(text), "%0*.0f", width, number);
    return hf__native_copy(run, text, (size_t)size);
}

/* -------------------------------------------------------------------- texts */

hf__nv hf__native_concat(hf__native *run, const hf__nv *parts, size_t count)
{
    hf__nv texts[16];
    size_t size = 0;
    char *all, *at;

    for (size_t i = 0; i < count; i++) {
        if (!hf__nv_is_text(parts[i]) && parts[i].tag != HF__NV_NUMBER)
            hf__native_raise(run, "attempt to concatenate a %s value",
                             kind_name(parts[i]));
        texts[i] = hf__native_tostring(run, parts[i]);
        size += texts[i].size;
    }
    all = at = hf__native_alloc(run, size + 1);
    for (size_t i = 0; i < count; i++) {
        memcpy(at, texts[i].text, texts[i].size);
        at += texts[i].size;
    }
    return hf__nv_text(all, size);
}

hf__nv hf__native_sub(hf__native *run, hf__nv text, double from, double to)
{
    double size;

    text = hf__native_text(run, text);
    size = text.size;
    from = from < 0 ? from + size + 1 : from;
    to = to < 0 ? to + size + 1 : to;
    from = from < 1 ? 1 : from;
    to = to > size ? size : to;
    if (from > to)
        return hf__nv_text("", 0);
    return hf__nv_text(text.text + (size_t)from - 1,
                       (size_t)to - (size_t)from + 1);
}

hf__nv hf__native_byte(hf__native *run, hf__nv text)
{
    text = hf__native_text(run, text);
    return text.size > 0 ? hf__nv_number((unsigned char)text.text[0])
                         : hf__nv_nil();
}

hf__nv hf__native_char(hf__native *run, hf__nv code)
{
    char letter = (char)(int)hf__native_number(run, code);

    return hf__native_copy(run, &letter, 1);
}

hf__nv hf__native_lower(hf__native *run, hf__nv text)
{
    char *lower;

    text = hf__native_text(run, text);
    lower = hf__native_alloc(run, (size_t)text.size + 1);
    for (uint32_t i = 0; i < text.size; i++)
        lower[i] = (char)tolower((unsigned char)text.text[i]);
    return hf__nv_text(lower, text.size);
}

hf__nv hf__native_sha1hex(hf__native *run, hf__nv text)
{
    char digits[HF__SHA1_HEX_SIZE];

    text = hf__native_text(run, text);
    hf__sha1_hex(text.text, text.size, digits);
    return hf__native_copy(run, digits, HF__SHA1_HEX_SIZE - 1);
}

/* memmem() first prepares for longer texts. */
static const char *find_text(const char *text, size_t size, hf__nv what)
{
    const char *at = text;
    const char *end = text + size;

    if (what.size != 2)
        return memmem(text, size, what.text, what.size);
    while (end - at >= 2) {
        at = memchr(at, what.text[0], (size_t)(end - at) - 1);
        if (at == NULL || at[1] == what.text[1])
            return at;
        at++;
    }
    return NULL;
}

double hf__native_find(hf__native *run, hf__nv text, hf__nv what, double from)
{
    const char *found;
    size_t skipped;

    text = hf__native_text(run, text);
    what = hf__native_text(run, what);
    if (!(from >= 1 && from <= text.size + 1.0))
        return 0;
    skipped = (size_t)from - 1;
    found = find_text(text.text + skipped, text.size - skipped, what);
    return found != NULL ? (double)(found - text.text + 1) : 0;
}
