/* SPDX-License-Identifier: Apache-2.0 */
/* timeline_labels.c - see timeline_labels.h. */
#include "data/timeline_labels.h"

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

static bool read_number(const char *at, size_t size, double *number)
{
    uint64_t bits = 0;

    if (size != HF__LABEL_DIGITS)
        return false;
    for (size_t i = 0; i < size; i++) {
        unsigned digit = (unsigned)(at[i] - '0');

        if (digit > 9) {
            digit = (unsigned)(at[i] - 'a') + 10;
            if (digit < 10 || digit > 15)
                return false;
        }
        bits = bits << 4 | digit;
    }
    bits = (bits & SIGN) != 0 ? bits & ~SIGN : ~bits;
    memcpy(number, &bits, sizeof(bits));
    return isfinite(*number);
}

/* The first two NULs; memmem() first prepares for longer texts. */
static const char *two_nuls(hf_bytes text)
{
    const char *at = text.data;
    const char *last = at + text.size - 1;

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

/* Where the first label ends, and its value begins, which is read if it is a
 * number. NULL: it is no label. */
static const char *end_of_label(hf_bytes labels, const char **value,
                                double *number)
{
    const char *name = labels.data;
    const char *end = two_nuls(labels);

    if (end == NULL)
        return NULL;
    *value = memchr(name, '\0', (size_t)(end - name));
    if (*value == NULL || *value == name)
        return NULL;
    *value += 2;
    switch ((*value)[-1]) {
    case HF__LABEL_NUMBER:
        return read_number(*value, (size_t)(end - *value), number) ? end : NULL;
    case HF__LABEL_TEXT:
        return end;
    default:
        return NULL;
    }
}

size_t hf__labels_count(hf_bytes labels)
{
    size_t count = 0;

    while (labels.size > 0) {
        const char *value;
        double number;
        const char *end = end_of_label(labels, &value, &number);
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

hf_attribute hf__label_take(hf_bytes *labels, char **at)
{
    const char *name = labels->data;
    hf_attribute attribute = {.kind = HF_ATTRIBUTE_NUMBER};
    const char *value;
    const char *end = end_of_label(*labels, &value, &attribute.number);

    attribute.name = take_text(at, name, value - 2);
    if (value[-1] == HF__LABEL_TEXT) {
        attribute.kind = HF_ATTRIBUTE_TEXT;
        attribute.text = take_text(at, value, end);
    }
    *labels = hf_view(end + 2, labels->size - (size_t)(end + 2 - name));
    return attribute;
}
