/* SPDX-License-Identifier: Apache-2.0 */
/* calls_hash.c - the calls of hash.h. */
#include "holdfast/hash.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static model_key *key_of(model *m, const step *s)
{
    return &m->keys[key_at(s, 0)];
}

static hf_status hash_there(const model_key *key)
{
    if (key->type == MODEL_NONE)
        return HF_NOT_FOUND;
    return key->type == MODEL_HASH ? HF_OK : HF_WRONG_TYPE;
}

/* ---------------------------------------------------------------------- put */

static uint32_t flags_of(const step *s)
{
    return put_flags_at(s, 3);
}

static int put_ttl_at(const step *s)
{
    return (flags_of(s) & HF_HASH_PERSIST) != 0 ? TTL_NONE : ttl_at(s, 4);
}

/* The field and the one after it. */
static void run_put(place *at, const step *s, text *out)
{
    size_t field = field_at(s, 1);
    const hf_field fields[] = {
        {field_name(field), value_at(s, 2)},
        {field_name((field + 1) % FIELDS), value_at(s, 5)}};

    text_status(out, CALL(at, hf_hash_put, at->client, key_name(key_at(s, 0)),
                          fields, 2,
                          WITH(hf_hash_put_options, .flags = flags_of(s),
                               .ttl_ms = ttl_ms(put_ttl_at(s)))));
}

static hf_status put_allowed(const model_key *key, uint32_t flags)
{
    if (hash_there(key) == HF_WRONG_TYPE)
        return HF_WRONG_TYPE;
    if ((flags & HF_HASH_NX) != 0 && key->type != MODEL_NONE)
        return HF_CONFLICT;
    if ((flags & HF_HASH_XX) != 0 && key->type == MODEL_NONE)
        return HF_NOT_FOUND;
    return HF_OK;
}

static void expect_put(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);
    size_t field = field_at(s, 1);
    hf_status status = put_allowed(key, flags_of(s));

    text_status(out, status);
    if (status != HF_OK)
        return;
    for (size_t i = 0; i < FIELDS; i++) {
        if ((flags_of(s) & HF_HASH_REPLACE) != 0 && !model_cheats(m, "replace"))
            key->fields[i].there = false;
    }
    key->type = MODEL_HASH;
    key->fields[field] = blob_of(value_at(s, 2));
    key->fields[(field + 1) % FIELDS] = blob_of(value_at(s, 5));
    if ((flags_of(s) & HF_HASH_PERSIST) != 0)
        key->ttl = TTL_NONE;
    else if (put_ttl_at(s) != TTL_NONE)
        key->ttl = put_ttl_at(s);
}

/* ------------------------------------------------------------------ reading */

static void run_get(place *at, const step *s, text *out)
{
    hf_buffer value = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_hash_get, at->client, key_name(key_at(s, 0)),
                          field_name(field_at(s, 1)), &value));
    text_buffer(out, &value);
}

static void expect_get(model *m, const step *s, text *out)
{
    const model_key *key = key_of(m, s);
    const blob *field = &key->fields[field_at(s, 1)];
    hf_status status = hash_there(key);

    if (status == HF_OK && !field->there)
        status = HF_NOT_FOUND;
    text_status(out, status);
    text_add(out, " ");
    text_blob(out, field);
}

/* ----------------------------------------------------- comparing, deleting */

static void run_cas(place *at, const step *s, text *out)
{
    hf_buffer current = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_hash_cas, at->client, key_name(key_at(s, 0)),
                          field_name(field_at(s, 1)), expected_at(s, 2),
                          value_at(s, 3),
                          WITH(hf_cas_options, .ttl_ms = ttl_ms(ttl_at(s, 4)),
                               .flags = s->n[5] % 2 == 0 ? 0 : HF_CAS_ONCE),
                          &current));
    text_buffer(out, &current);
}

static void expect_cas(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);
    blob *field = &key->fields[field_at(s, 1)];
    const hf_bytes *expected = expected_at(s, 2);
    bool matches = expected == NULL ? !field->there : blob_is(field, *expected);

    if (hash_there(key) == HF_WRONG_TYPE) {
        text_add(out, "%s none", hf_status_name(HF_WRONG_TYPE));
    } else if (expected != NULL && !field->there) {
        text_add(out, "%s none", hf_status_name(HF_NOT_FOUND));
    } else if (!matches) {
        text_add(out, "%s ", hf_status_name(HF_CONFLICT));
        text_blob(out, field);
    } else {
        text_add(out, "%s none", hf_status_name(HF_OK));
        key->type = MODEL_HASH;
        *field = blob_of(value_at(s, 3));
        if (ttl_at(s, 4) != TTL_NONE)
            key->ttl = ttl_at(s, 4);
    }
}

/* The field and the one after it. */
static void run_delete_fields(place *at, const step *s, text *out)
{
    size_t field = field_at(s, 1);
    const hf_bytes names[] = {field_name(field),
                              field_name((field + 1) % FIELDS)};
    size_t deleted = 0;

    text_status(out, CALL(at, hf_hash_delete_fields, at->client,
                          key_name(key_at(s, 0)), names, 2, &deleted));
    text_add(out, " %zu", deleted);
}

static void expect_delete_fields(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);
    size_t deleted = 0;

    if (hash_there(key) == HF_WRONG_TYPE) {
        text_add(out, "%s 0", hf_status_name(HF_WRONG_TYPE));
        return;
    }
    for (size_t i = 0; i < 2; i++) {
        blob *field = &key->fields[(field_at(s, 1) + i) % FIELDS];

        deleted += field->there;
        field->there = false;
    }
    if (!model_cheats(m, "tidy"))
        model_tidy(key);
    text_add(out, "%s %zu", hf_status_name(HF_OK), deleted);
}

static void run_delete(place *at, const step *s, text *out)
{
    text_status(out,
                CALL(at, hf_hash_delete, at->client, key_name(key_at(s, 0))));
}

static void expect_delete(model *m, const step *s, text *out)
{
    hf_status status = hash_there(key_of(m, s));

    if (status == HF_OK)
        model_delete(key_of(m, s));
    text_status(out, status);
}

const call hash_calls[] = {
    {"hash put", "kfvptv", run_put, expect_put},
    {"hash get", "kf", run_get, expect_get},
    {"hash cas", "kfevtn", run_cas, expect_cas},
    {"hash delete fields", "kf", run_delete_fields, expect_delete_fields},
    {"hash delete", "k", run_delete, expect_delete},
};
const size_t hash_call_count = COUNT(hash_calls);
