/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_labels.c - see timeline_labels.h. */
#include "data/timeline_labels.h"

#include <endian.h>
#include <math.h>
#include <string.h>

#include "util/bytes.h"
#include "util/digits.h"
#include "util/error.h"

#define SIGN (UINT64_C(1) << 63)

static const char hex[] = "0123456789abcdef";

/* ----------------------------------------------------------------- checking */

hf_status hf__check_attribute_name(hf_bytes name, hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];

    if (name.data == NULL && name.size > 0)
        return hf__fail(err, HF_INVALID, "attribute name is NULL");
    if (name.size < 1 || name.size > HF_ATTRIBUTE_NAME_MAX)
        return hf__fail(err, HF_INVALID,
                        "attribute name has %zu bytes; it must have 1..%d",
                        name.size, HF_ATTRIBUTE_NAME_MAX);
    if (memchr(name.data, '\0', name.size) == NULL)
        return HF_OK;
    return hf__fail(err, HF_INVALID, "attribute name %s has a NUL",
                    hf__quoted(quoted, name));
}

hf_status hf__check_attribute(const hf_attribute *attribute, hf_error *err)
{
    hf_status status = hf__check_attribute_name(attribute->name, err);
    char quoted[HF__QUOTED_SIZE];

    if (status != HF_OK)
        return status;
    hf__quoted(quoted, attribute->name);
    switch (attribute->kind) {
    case HF_ATTRIBUTE_NUMBER:
        if (isfinite(attribute->number))
            return HF_OK;
        return hf__fail(err, HF_INVALID, "attribute %s is not a finite number",
                        quoted);
    case HF_ATTRIBUTE_TEXT:
        if (attribute->text.data == NULL && attribute->text.size > 0)
            return hf__fail(err, HF_INVALID, "text of attribute %s is NULL",
                            quoted);
        if (attribute->text.size <= HF_ATTRIBUTE_TEXT_MAX)
            return HF_OK;
        return hf__fail(err, HF_INVALID,
                        "attribute %s has %zu bytes; it may have %d", quoted,
                        attribute->text.size, HF_ATTRIBUTE_TEXT_MAX);
    }
    return hf__fail(err, HF_INVALID, "attribute %s has no known kind", quoted);
}

static hf_status check_all(const hf_attribute *attributes, size_t count,
                           hf_error *err)
{
    char quoted[HF__QUOTED_SIZE];
    hf_status status;

    if (count > HF_ATTRIBUTE_COUNT_MAX)
        return hf__fail(err, HF_INVALID, "%zu attributes; there may be %d",
                        count, HF_ATTRIBUTE_COUNT_MAX);
    status = hf__check_out(attributes, "attributes", err);
    for (size_t i = 0; i < count && status == HF_OK; i++) {
        status = hf__check_attribute(&attributes[i], err);
        for (size_t j = 0; j < i && status == HF_OK; j++) {
            if (hf__bytes_same(attributes[i].name, attributes[j].name))
                return hf__fail(err, HF_INVALID, "attribute %s is given twice",
                                hf__quoted(quoted, attributes[i].name));
        }
    }
    return status;
}

/* ------------------------------------------------------------------ writing */

char *hf__label_put_number(char *at, double number)
{
    uint64_t bits;

    number += 0.0; /* -0 becomes 0 */
    memcpy(&bits, &number, sizeof(bits));
    bits = (bits & SIGN) != 0 ? ~bits : bits | SIGN;
    for (int shift = 60; shift >= 0; shift -= 4)
        *at++ = hex[(bits >> shift) & 15];
    return at;
}

char *hf__label_put_time(char *at, int64_t at_ms)
{
    int64_t us = at_ms * 1000;

    for (size_t i = HF__LABEL_DIGITS; i-- > 0; us /= 10)
        at[i] = (char)('0' + us % 10);
    return at + HF__LABEL_DIGITS;
}

static char *put_text(char *at, hf_bytes text)
{
    const char *bytes = text.data;

    for (size_t i = 0; i < text.size; i++) {
        *at++ = bytes[i];
        if (bytes[i] == '\0')
            *at++ = '\1';
    }
    return at;
}

char *hf__label_put(char *at, const hf_attribute *attribute)
{
    bool number = attribute->kind == HF_ATTRIBUTE_NUMBER;

    memcpy(at, attribute->name.data, attribute->name.size);
    at += attribute->name.size;
    *at++ = '\0';
    *at++ = number ? HF__LABEL_NUMBER : HF__LABEL_TEXT;
    at = number ? hf__label_put_number(at, attribute->number)
                : put_text(at, attribute->text);
    *at++ = '\0';
    *at++ = '\0';
    return at;
}

void hf__add_labels(hf_call *call, const hf_attribute *attributes, size_t count)
{
    size_t room = 0;
    char *text;
    char *end;

    if (count == 0)
        hf__add(call, hf_str(""));
    if (count == 0 ||
        !HF__TRY(call, check_all(attributes, count, call->form.err)))
        return;
    for (size_t i = 0; i < count; i++)
        room += attributes[i].name.size + 4 + HF__LABEL_DIGITS +
                2 * attributes[i].text.size;
    text = end = hf__call_alloc(call, room);
    for (size_t i = 0; i < count && text != NULL; i++)
        end = hf__label_put(end, &attributes[i]);
    if (text != NULL)
        hf__add(call, hf_view(text, (size_t)(end - text)));
}

/* ------------------------------------------------------------------ reading */

/* In each byte of the words: */
#define EACH(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight digits at once. */
static bool read_digits(const char *at, uint64_t *bits)
{
    uint64_t text, digits, letters;

    memcpy(&text, at, sizeof(text));
    text = be64toh(text);
    digits = (text & EACH(0x0f)) + (text >> 6 & EACH(1)) * 9;
    letters = (digits + EACH(6)) >> 4 & EACH(1);
    *bits = (digits | digits >> 4) & UINT64_C(0x00ff00ff00ff00ff);
    *bits = (*bits | *bits >> 8) & UINT64_C(0x0000ffff0000ffff);
    *bits = (*bits | *bits >> 16) & UINT32_MAX;
    /* They are what is written for their values, which are below 16. */
    return (digits & EACH(0xf0)) == 0 &&
           digits + EACH('0') + letters * ('a' - '0' - 10) == text;
}

static bool read_number(const char *at, double *number)
{
    uint64_t high, low, bits;

    if (!read_digits(at, &high) || !read_digits(at + 8, &low))
        return false;
    bits = high << 32 | low;
    bits = (bits & SIGN) != 0 ? bits & ~SIGN : ~bits;
    memcpy(number, &bits, sizeof(bits));
    return isfinite(*number);
}

/* The first two NULs from `at` on; memmem() first prepares for longer texts. */
static const char *two_nuls(const char *at, const char *end)
{
    const char *last = end - 1;

    while (at < last) {
        at = memchr(at, '\0', (size_t)(last - at));
        if (at == NULL)
            return NULL;
        if (at[1] == '\0')
            return at;
        at++;
    }
    return NULL;
}

/* Where the first label ends, and its value begins. NULL: it is no label. */
static const char *end_of_label(hf_bytes labels, const char **value)
{
    const char *name = labels.data;
    const char *all = name + labels.size;
    const char *nul = memchr(name, '\0', labels.size);
    const char *end;

    if (nul == NULL || nul == name || all - nul < 4)
        return NULL;
    *value = nul + 2;
    if (nul[1] == HF__LABEL_TEXT)
        return two_nuls(*value, all);
    if (nul[1] != HF__LABEL_NUMBER || all - *value < HF__LABEL_DIGITS + 2)
        return NULL;
    end = *value + HF__LABEL_DIGITS;
    return end[0] == '\0' && end[1] == '\0' ? end : NULL;
}

size_t hf__labels_count(hf_bytes labels)
{
    size_t count = 0;

    while (labels.size > 0) {
        const char *value;
        const char *end = end_of_label(labels, &value);
        size_t size;

        if (end == NULL)
            return SIZE_MAX;
        size = (size_t)(end + 2 - (const char *)labels.data);
        labels = hf_view(end + 2, labels.size - size);
        count++;
    }
    return count;
}

static hf_bytes take_text(char **at, const char *from, const char *end)
{
    char *begin = *at;

    for (; from < end; from++) {
        *(*at)++ = *from;
        if (*from == '\0')
            from++;
    }
    *(*at)++ = '\0';
    return hf_view(begin, (size_t)(*at - begin) - 1);
}

bool hf__label_take(hf_bytes *labels, hf_attribute *attribute, char **at)
{
    const char *name = labels->data;
    const char *value;
    const char *end = end_of_label(*labels, &value);

    *attribute = (hf_attribute){.kind = HF_ATTRIBUTE_NUMBER};
    attribute->name = take_text(at, name, value - 2);
    if (value[-1] == HF__LABEL_TEXT) {
        attribute->kind = HF_ATTRIBUTE_TEXT;
        attribute->text = take_text(at, value, end);
    } else if (!read_number(value, &attribute->number)) {
        return false;
    }
    *labels = hf_view(end + 2, labels->size - (size_t)(end + 2 - name));
    return true;
}
