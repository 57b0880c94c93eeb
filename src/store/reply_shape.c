/* SPDX-License-Identifier: Apache-2.0 */
/* reply_shape.c - see reply_shape.h. Recurses as deep as the shape. */
#include "store/reply_shape.h"

#include <stdio.h>

#define DIGITS_MAX 20

static bool is_digits(const hf_reply *reply)
{
    const char *text = reply->bytes.data;

    if (reply->bytes.size == 0 || reply->bytes.size > DIGITS_MAX)
        return false;
    for (size_t i = 0; i < reply->bytes.size; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
    }
    return true;
}

static bool string_fits(const hf_reply *reply, const hf__shape *shape)
{
    if ((shape->kinds & HF__IS_DIGITS) != 0)
        return is_digits(reply);
    return (shape->kinds & HF__IS_STRING) != 0 &&
           (shape->size == 0 || reply->bytes.size == shape->size);
}

static bool integer_fits(int64_t number, const hf__shape *shape, size_t keys)
{
    int64_t high = shape->high == HF__KEY_COUNT ? (int64_t)keys : shape->high;

    return number >= shape->low && number <= high;
}

/* Most items are what the shape names first. */
static inline bool fits_at_once(const hf_reply *reply, const hf__shape *shape)
{
    const unsigned strings = HF__IS_STRING | HF__IS_DIGITS;

    if (reply->kind == HF_REPLY_INTEGER)
        return (shape->kinds & HF__IS_INTEGER) != 0 &&
               reply->integer >= shape->low && reply->integer <= shape->high;
    return reply->kind == HF_REPLY_STRING &&
           (shape->kinds & strings) == HF__IS_STRING && shape->size == 0;
}

static bool array_fits(const hf_reply *reply, const hf__shape *shape,
                       size_t keys)
{
    size_t count = reply->array.count;
    size_t alone = shape->item_count - shape->repeated;

    if (count < shape->count_min)
        return false;
    if (shape->repeated == 0 && count > alone)
        return false;
    if (count > alone && (count - alone) % shape->repeated != 0)
        return false;
    for (size_t i = 0, at = 0; i < count; i++, at++) {
        if (at == shape->item_count)
            at = alone;
        if (!fits_at_once(&reply->array.items[i], &shape->items[at]) &&
            !hf__reply_fits(&reply->array.items[i], &shape->items[at], keys))
            return false;
    }
    return true;
}

static bool fits_one(const hf_reply *reply, const hf__shape *shape, size_t keys)
{
    if ((shape->kinds & HF__IS_ANY) != 0)
        return true;
    switch (reply->kind) {
    case HF_REPLY_STRING:
        return string_fits(reply, shape);
    case HF_REPLY_INTEGER:
        return (shape->kinds & HF__IS_INTEGER) != 0 &&
               integer_fits(reply->integer, shape, keys);
    case HF_REPLY_ARRAY:
        return (shape->kinds & HF__IS_ARRAY) != 0 &&
               array_fits(reply, shape, keys);
    case HF_REPLY_NIL:
        return (shape->kinds & HF__IS_NIL) != 0;
    case HF_REPLY_STATUS:
        return (shape->kinds & HF__IS_STATUS) != 0;
    case HF_REPLY_NIL_ARRAY:
    case HF_REPLY_ERROR:
        break;
    }
    return false;
}

bool hf__reply_fits(const hf_reply *reply, const hf__shape *shape, size_t keys)
{
    for (; shape != NULL; shape = shape->otherwise) {
        if (fits_one(reply, shape, keys))
            return true;
    }
    return false;
}

const char *hf__reply_text(char text[HF__REPLY_TEXT_SIZE],
                           const hf_reply *reply)
{
    switch (reply->kind) {
    case HF_REPLY_NIL:
    case HF_REPLY_NIL_ARRAY:
        (void)snprintf(text, HF__REPLY_TEXT_SIZE, "nil");
        break;
    case HF_REPLY_INTEGER:
        (void)snprintf(text, HF__REPLY_TEXT_SIZE, "an integer (%lld)",
                       (long long)reply->integer);
        break;
    case HF_REPLY_ARRAY:
        (void)snprintf(text, HF__REPLY_TEXT_SIZE, "an array of %zu",
                       reply->array.count);
        break;
    case HF_REPLY_STRING:
        (void)snprintf(text, HF__REPLY_TEXT_SIZE, "a string of %zu bytes",
                       reply->bytes.size);
        break;
    case HF_REPLY_STATUS:
    case HF_REPLY_ERROR:
        (void)snprintf(text, HF__REPLY_TEXT_SIZE, "a status of %zu bytes",
                       reply->bytes.size);
        break;
    }
    return text;
}
