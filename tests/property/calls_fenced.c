/* SPDX-License-Identifier: Apache-2.0 */
/* calls_fenced.c - writes with a fencing token, and some fields of a hash. */
#include <inttypes.h>
#include <stdio.h>

#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static uint64_t token_at(const step *s, size_t i)
{
    static const uint64_t tokens[] = {1, 2, 3, 1, 2, (UINT64_C(1) << 53) - 1};

    return s->n[i] % 40 == 39 ? tokens[5] : tokens[s->n[i] % 5];
}

/* HF_OK, and the token is the highest; else the call is refused. */
static hf_status pass(model *m, const step *s, size_t i, text *out)
{
    uint64_t *fence = &m->fences[key_at(s, 0)];

    if (*fence > token_at(s, i) && !model_cheats(m, "fence")) {
        text_add(out, "%s %" PRIu64, hf_status_name(HF_CONFLICT), *fence);
        return HF_CONFLICT;
    }
    return HF_OK;
}

static void run_value(place *at, const step *s, text *out)
{
    uint64_t highest = 0;

    text_status(out,
                CALL(at, hf_value_put_fenced, at->client,
                     key_name(key_at(s, 0)), value_at(s, 1), token_at(s, 3),
                     WITH(hf_value_set_options, .ttl_ms = ttl_ms(ttl_at(s, 2))),
                     &highest));
    text_add(out, " %" PRIu64, highest);
}

static void expect_value(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];

    if (pass(m, s, 3, out) != HF_OK)
        return;
    model_delete(key);
    key->type = MODEL_STRING;
    key->value = blob_of(value_at(s, 1));
    key->ttl = ttl_at(s, 2);
    m->fences[key_at(s, 0)] = token_at(s, 3);
    text_add(out, "%s 0", hf_status_name(HF_OK));
}

static void run_hash(place *at, const step *s, text *out)
{
    const hf_field field = {field_name(field_at(s, 1)), value_at(s, 2)};
    uint64_t highest = 0;

    text_status(out,
                CALL(at, hf_hash_put_fenced, at->client, key_name(key_at(s, 0)),
                     &field, 1, token_at(s, 4),
                     WITH(hf_hash_put_options, .ttl_ms = ttl_ms(ttl_at(s, 3))),
                     &highest));
    text_add(out, " %" PRIu64, highest);
}

static void expect_hash(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];

    if (pass(m, s, 4, out) != HF_OK)
        return;
    if (key->type == MODEL_STRING) {
        text_add(out, "%s 0", hf_status_name(HF_WRONG_TYPE));
        return;
    }
    key->type = MODEL_HASH;
    key->fields[field_at(s, 1)] = blob_of(value_at(s, 2));
    if (ttl_at(s, 3) != TTL_NONE)
        key->ttl = ttl_at(s, 3);
    m->fences[key_at(s, 0)] = token_at(s, 4);
    text_add(out, "%s 0", hf_status_name(HF_OK));
}

/* The field and the one after it. */
static void run_get_fields(place *at, const step *s, text *out)
{
    hf_buffer values[2] = {HF_BUFFER_INIT, HF_BUFFER_INIT};
    const hf_bytes names[] = {field_name(field_at(s, 1)),
                              field_name((field_at(s, 1) + 1) % FIELDS)};

    text_status(out, CALL(at, hf_hash_get_fields, at->client,
                          key_name(key_at(s, 0)), names, 2, values));
    for (size_t i = 0; i < 2; i++)
        text_buffer(out, &values[i]);
}

static void expect_get_fields(model *m, const step *s, text *out)
{
    const model_key *key = &m->keys[key_at(s, 0)];
    const blob *first = &key->fields[field_at(s, 1)];
    const blob *second = &key->fields[(field_at(s, 1) + 1) % FIELDS];

    text_status(out, key->type == MODEL_STRING       ? HF_WRONG_TYPE
                     : first->there || second->there ? HF_OK
                                                     : HF_NOT_FOUND);
    text_add(out, " ");
    text_blob(out, first);
    text_add(out, " ");
    text_blob(out, second);
}

const call fenced_calls[] = {
    {"value put fenced", "kvtn", run_value, expect_value},
    {"hash put fenced", "kfvtn", run_hash, expect_hash},
    {"hash get fields", "kf", run_get_fields, expect_get_fields},
};
const size_t fenced_call_count = COUNT(fenced_calls);

void fences_empty(hf_client *client)
{
    char name[64];

    for (size_t i = 0; i < KEYS; i++) {
        snprintf(name, sizeof(name), "hf:fence::%s",
                 (const char *)key_name(i).data);
        (void)!hf_value_delete(client, hf_str(name), NULL);
    }
}
