/* SPDX-License-Identifier: Apache-2.0 */
/* calls_value.c - the calls of value.h. */
#include "holdfast/value.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static model_key *key_of(model *m, const step *s)
{
    return &m->keys[key_at(s, 0)];
}

/* HF_OK, or why there is no value to be had. */
static hf_status value_there(const model_key *key)
{
    if (key->type == MODEL_NONE)
        return HF_NOT_FOUND;
    return key->type == MODEL_STRING ? HF_OK : HF_WRONG_TYPE;
}

/* TTL_NONE keeps what the key has. */
static void write_value(model_key *key, hf_bytes value, int ttl)
{
    key->type = MODEL_STRING;
    key->value = blob_of(value);
    if (ttl != TTL_NONE)
        key->ttl = ttl;
}

/* ---------------------------------------------------------------------- set */

/* Without a time to live where the flags keep it. */
static int set_ttl_at(const step *s)
{
    return (set_flags_at(s, 3) & HF_SET_KEEPTTL) != 0 ? TTL_NONE : ttl_at(s, 2);
}

static void run_set(place *at, const step *s, text *out)
{
    hf_buffer previous = HF_BUFFER_INIT;

    text_status(out,
                CALL(at, hf_value_set, at->client, key_name(key_at(s, 0)),
                     value_at(s, 1),
                     WITH(hf_value_set_options, .flags = set_flags_at(s, 3),
                          .ttl_ms = ttl_ms(set_ttl_at(s))),
                     &previous));
    text_buffer(out, &previous);
}

static void expect_set(model *m, const step *s, text *out)
{
    uint32_t flags = set_flags_at(s, 3);
    model_key *key = key_of(m, s);
    bool exists = key->type != MODEL_NONE;
    blob previous = {0};
    hf_status status = HF_OK;

    if ((flags & HF_SET_GET) != 0 && key->type == MODEL_HASH)
        status = HF_WRONG_TYPE;
    else if ((flags & HF_SET_NX) != 0 && exists)
        status = HF_CONFLICT;
    else if ((flags & HF_SET_XX) != 0 && !exists)
        status = HF_NOT_FOUND;
    if ((flags & HF_SET_GET) != 0 && key->type == MODEL_STRING)
        previous = key->value;
    if (status == HF_OK) {
        int kept = (flags & HF_SET_KEEPTTL) != 0 ? key->ttl : set_ttl_at(s);

        model_delete(key);
        write_value(key, value_at(s, 1),
                    model_cheats(m, "keepttl") ? set_ttl_at(s) : kept);
    }
    text_status(out, status);
    text_add(out, " ");
    text_blob(out, &previous);
}

static void run_set_past(place *at, const step *s, text *out)
{
    text_status(out,
                CALL(at, hf_value_set, at->client, key_name(key_at(s, 0)),
                     value_at(s, 1),
                     WITH(hf_value_set_options, .expires_unix_ms = 1), NULL));
}

static void expect_set_past(model *m, const step *s, text *out)
{
    model_delete(key_of(m, s));
    text_status(out, HF_OK);
}

/* Of two keys. */
static void run_set_many(place *at, const step *s, text *out)
{
    size_t key = key_at(s, 0);
    const hf_value_set_item items[] = {
        {key_name(key), value_at(s, 1)},
        {key_name((key + 1) % KEYS), value_at(s, 3)}};
    hf_status statuses[2] = {HF_OK, HF_OK};

    text_status(out, hf_value_set_many(
                         at->client, items, 2,
                         WITH(hf_value_set_options, .flags = set_flags_at(s, 4),
                              .ttl_ms = (set_flags_at(s, 4) & HF_SET_KEEPTTL)
                                            ? 0
                                            : ttl_ms(ttl_at(s, 2))),
                         statuses, NULL));
    for (size_t i = 0; i < 2; i++)
        text_add(out, " %s", hf_status_name(statuses[i]));
}

static void expect_set_many(model *m, const step *s, text *out)
{
    step each = *s;
    text words[2] = {{.size = 0}, {.size = 0}};

    each.n[3] = s->n[4];
    expect_set(m, &each, &words[0]);
    each.n[0] = (uint8_t)((key_at(s, 0) + 1) % KEYS);
    each.n[1] = s->n[3];
    expect_set(m, &each, &words[1]);
    for (size_t i = 0; i < 2; i++) {
        char *blank = words[i].at;

        while (*blank != ' ')
            blank++;
        *blank = '\0';
    }
    text_add(out, "%s %s %s",
             words[0].at[0] == 'W' || words[1].at[0] == 'W' ? "WRONG_TYPE"
                                                            : "OK",
             words[0].at, words[1].at);
}

/* -------------------------------------------------------------- get, delete */

static void run_get(place *at, const step *s, text *out)
{
    hf_buffer value = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_value_get, at->client, key_name(key_at(s, 0)),
                          &value));
    text_buffer(out, &value);
}

static void expect_get(model *m, const step *s, text *out)
{
    text_status(out, value_there(key_of(m, s)));
    text_add(out, " ");
    text_blob(out, &key_of(m, s)->value);
}

static void run_delete(place *at, const step *s, text *out)
{
    text_status(out,
                CALL(at, hf_value_delete, at->client, key_name(key_at(s, 0))));
}

static void expect_delete(model *m, const step *s, text *out)
{
    hf_status status = value_there(key_of(m, s));

    if (status == HF_OK)
        model_delete(key_of(m, s));
    if (status != HF_WRONG_TYPE)
        model_unstamp(m, key_at(s, 0));
    text_status(out, status);
}

/* -------------------------------------------------------------- comparisons */

static void run_cas(place *at, const step *s, text *out)
{
    hf_buffer current = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_value_cas, at->client, key_name(key_at(s, 0)),
                          expected_at(s, 1), value_at(s, 2),
                          WITH(hf_cas_options, .ttl_ms = ttl_ms(ttl_at(s, 3)),
                               .flags = s->n[4] % 2 == 0 ? 0 : HF_CAS_ONCE),
                          &current));
    text_buffer(out, &current);
}

/* Compare what is there with what is expected; adds the current value. */
static hf_status compare(const blob *current, const hf_bytes *expected,
                         text *out)
{
    blob none = {0};
    hf_status status = HF_CONFLICT;

    if (expected != NULL && !current->there)
        status = HF_NOT_FOUND;
    else if (expected == NULL ? !current->there : blob_is(current, *expected))
        status = HF_OK;
    text_add(out, "%s ", hf_status_name(status));
    text_blob(out, status == HF_CONFLICT ? current : &none);
    return status;
}

static void expect_cas(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);

    if (key->type == MODEL_HASH) {
        text_add(out, "%s none", hf_status_name(HF_WRONG_TYPE));
        return;
    }
    if (compare(&key->value, expected_at(s, 1), out) != HF_OK)
        return;
    if (model_cheats(m, "cas"))
        key->ttl = TTL_NONE;
    write_value(key, value_at(s, 2), ttl_at(s, 3));
}

static void run_delete_if(place *at, const step *s, text *out)
{
    hf_buffer current = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_value_delete_if, at->client,
                          key_name(key_at(s, 0)), value_at(s, 1), &current));
    text_buffer(out, &current);
}

static void expect_delete_if(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);
    hf_bytes expected = value_at(s, 1);

    if (key->type == MODEL_HASH)
        text_add(out, "%s none", hf_status_name(HF_WRONG_TYPE));
    else if (compare(&key->value, &expected, out) == HF_OK)
        model_delete(key);
}

/* --------------------------------------------------------------- expiry */

/* "x": none is HF_EXPIRE_PERSIST. */
static hf_value_expire_options expiry_at(const step *s, size_t i)
{
    hf_value_expire_options opts = HF_VALUE_EXPIRE_OPTIONS_INIT;

    opts.ttl_ms = ttl_ms(ttl_at(s, i));
    opts.flags = opts.ttl_ms == 0 ? HF_EXPIRE_PERSIST : 0;
    return opts;
}

static void run_get_expire(place *at, const step *s, text *out)
{
    hf_value_expire_options opts = expiry_at(s, 1);
    hf_buffer value = HF_BUFFER_INIT;

    text_status(out, CALL(at, hf_value_get_expire, at->client,
                          key_name(key_at(s, 0)), &opts, &value));
    text_buffer(out, &value);
}

static void expect_get_expire(model *m, const step *s, text *out)
{
    expect_get(m, s, out);
    if (key_of(m, s)->type == MODEL_STRING)
        key_of(m, s)->ttl = ttl_at(s, 1);
}

static void run_expire_if(place *at, const step *s, text *out)
{
    hf_value_expire_options opts = expiry_at(s, 2);
    hf_buffer current = HF_BUFFER_INIT;

    text_status(out,
                CALL(at, hf_value_expire_if, at->client, key_name(key_at(s, 0)),
                     value_at(s, 1), &opts, &current));
    text_buffer(out, &current);
}

static void expect_expire_if(model *m, const step *s, text *out)
{
    model_key *key = key_of(m, s);
    hf_bytes expected = value_at(s, 1);

    if (key->type == MODEL_HASH)
        text_add(out, "%s none", hf_status_name(HF_WRONG_TYPE));
    else if (compare(&key->value, &expected, out) == HF_OK)
        key->ttl = ttl_at(s, 2);
}

const call value_calls[] = {
    {"value set", "kvts", run_set, expect_set},
    {"value set past", "kv", run_set_past, expect_set_past},
    {"value set many", "kvtvs", run_set_many, expect_set_many},
    {"value get", "k", run_get, expect_get},
    {"value delete", "k", run_delete, expect_delete},
    {"value cas", "kevtn", run_cas, expect_cas},
    {"value delete if", "kv", run_delete_if, expect_delete_if},
    {"value get expire", "kx", run_get_expire, expect_get_expire},
    {"value expire if", "kvx", run_expire_if, expect_expire_if},
};
const size_t value_call_count = COUNT(value_calls);
