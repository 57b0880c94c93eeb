/* SPDX-License-Identifier: Apache-2.0 */
/* calls_counter.c - adding to a value and to a field, exact in 64 bits. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What the store holds, if it is an integer in the form that INCRBY takes: the
 * one in which it would be printed. */
static bool number_of(const blob *from, int64_t *number)
{
    char digits[BLOB_SIZE + 1] = "", again[32];

    *number = 0;
    if (!from->there)
        return true;
    memcpy(digits, from->data, from->size);
    errno = 0;
    *number = strtoll(digits, NULL, 10);
    snprintf(again, sizeof(again), "%" PRId64, *number);
    return errno == 0 && strlen(again) == from->size &&
           memcmp(again, digits, from->size) == 0;
}

/* The new number, or why there is none; adds what the call gives. */
static hf_status add(const blob *from, int64_t delta, hf_add_options bounds,
                     blob *to, text *out)
{
    char digits[32];
    int64_t before, after;

    if (!number_of(from, &before)) {
        text_add(out, "%s 0", hf_status_name(HF_WRONG_TYPE));
        return HF_WRONG_TYPE;
    }
    if (__builtin_add_overflow(before, delta, &after) ||
        ((bounds.flags & HF_ADD_MIN) != 0 && after < bounds.min) ||
        ((bounds.flags & HF_ADD_MAX) != 0 && after > bounds.max)) {
        text_add(out, "%s %" PRId64, hf_status_name(HF_CONFLICT), before);
        return HF_CONFLICT;
    }
    text_add(out, "%s %" PRId64, hf_status_name(HF_OK), after);
    snprintf(digits, sizeof(digits), "%" PRId64, after);
    *to = blob_of(hf_str(digits));
    return HF_OK;
}

static hf_add_options options_of(const step *s, size_t bounds, size_t ttl)
{
    hf_add_options opts = bounds_at(s, bounds);

    opts.ttl_ms = ttl_ms(ttl_at(s, ttl));
    return opts;
}

static void run_value_add(place *at, const step *s, text *out)
{
    hf_add_options opts = options_of(s, 2, 3);
    int64_t value = 0;

    text_status(out, CALL(at, hf_value_add, at->client, key_name(key_at(s, 0)),
                          delta_at(s, 1), &opts, &value));
    text_add(out, " %" PRId64, value);
}

static void expect_value_add(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];
    bool creates = key->type == MODEL_NONE;

    if (key->type == MODEL_HASH)
        text_add(out, "%s 0", hf_status_name(HF_WRONG_TYPE));
    else if (add(&key->value, delta_at(s, 1), bounds_at(s, 2), &key->value,
                 out) == HF_OK) {
        key->type = MODEL_STRING;
        if (creates ||
            (model_cheats(m, "counter") && ttl_at(s, 3) != TTL_BRIEF))
            key->ttl = ttl_at(s, 3);
    }
}

static void run_hash_add(place *at, const step *s, text *out)
{
    hf_add_options opts = options_of(s, 3, 4);
    int64_t value = 0;

    text_status(out, CALL(at, hf_hash_add, at->client, key_name(key_at(s, 0)),
                          field_name(field_at(s, 1)), delta_at(s, 2), &opts,
                          &value));
    text_add(out, " %" PRId64, value);
}

static void expect_hash_add(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];
    blob *field = &key->fields[field_at(s, 1)];
    bool creates = key->type == MODEL_NONE;

    if (key->type == MODEL_STRING)
        text_add(out, "%s 0", hf_status_name(HF_WRONG_TYPE));
    else if (add(field, delta_at(s, 2), bounds_at(s, 3), field, out) == HF_OK) {
        key->type = MODEL_HASH;
        if (creates)
            key->ttl = ttl_at(s, 4);
    }
}

const call counter_calls[] = {
    {"value add", "kdbt", run_value_add, expect_value_add},
    {"hash add", "kfdbt", run_hash_add, expect_hash_add},
};
const size_t counter_call_count = COUNT(counter_calls);
