/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_txn.c - a transaction: a condition on one key, a value set on another,
 * and an operation on a third, which may fail; and values by their version.
 */
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The last operation: a row and the numbers of its arguments after the key. */
static const struct {
    const char *name;
    uint8_t n[ARGUMENTS];
} lasts[] = {
    {"key expire", {0, 2}},
    {"hash put", {0, 0, 0, 0, 0, 0}},
    {"value add", {0, 0, 0, 0}},
    {"value delete", {0}},
};

static size_t last_at(const step *s)
{
    return s->n[5] % COUNT(lasts);
}

static hf_status add_condition(hf_txn *txn, const step *s)
{
    const hf_bytes *expected = expected_at(s, 1);
    hf_bytes key = key_name(key_at(s, 0));

    return expected == NULL ? hf_txn_if_absent(txn, key, NULL)
                            : hf_txn_if_value(txn, key, *expected, NULL);
}

static hf_status add_last(place *at, const step *s, const hf_async *queue)
{
    const hf_field fields[] = {{field_name(0), hf_str("a")},
                               {field_name(1), hf_str("a")}};
    hf_bytes key = key_name(key_at(s, 4));
    const step zero = {.n = {0}};

    switch (last_at(s)) {
    case 0:
        return hf_key_expire_start(at->client, key, ttl_ms(1), queue, NULL);
    case 1:
        return hf_hash_put_start(at->client, key, fields, 2, NULL, queue, NULL);
    case 2:
        return hf_value_add_start(at->client, key, delta_at(&zero, 1), NULL,
                                  NULL, queue, NULL);
    default:
        return hf_value_delete_start(at->client, key, queue, NULL);
    }
}

static void show_outcome(const hf_txn *txn, hf_status status, text *out)
{
    text_status(out, status);
    for (size_t i = 0; i < 2 && status == HF_OK; i++)
        text_add(out, " %s", hf_status_name(hf_txn_status(txn, i, NULL)));
}

static void run_txn(place *at, const step *s, text *out)
{
    hf_async queue = HF_ASYNC_INIT;
    hf_status status = hf_txn_new(at->client, NULL, &queue.txn, NULL);

    if (status == HF_OK)
        status = add_condition(queue.txn, s);
    if (status == HF_OK)
        status = hf_value_set_start(at->client, key_name(key_at(s, 2)),
                                    value_at(s, 3), NULL, NULL, &queue, NULL);
    if (status == HF_OK)
        status = add_last(at, s, &queue);
    if (status == HF_OK)
        status = CALL(at, hf_txn_exec, queue.txn);
    show_outcome(queue.txn, status, out);
    hf_txn_free(queue.txn);
}

/* What a row does to the model; its status as text. */
static void apply(model *m, const char *name, const step *s, text *out)
{
    size_t i = 0;

    while (strcmp(call_at(i)->name, name) != 0)
        i++;
    call_at(i)->expect(m, s, out);
    out->at[strcspn(out->at, " ")] = '\0';
}

static hf_status condition(const model_key *key, const hf_bytes *expected)
{
    if (expected == NULL)
        return key->type == MODEL_NONE ? HF_OK : HF_CONFLICT;
    if (key->type == MODEL_HASH)
        return HF_WRONG_TYPE;
    return blob_is(&key->value, *expected) ? HF_OK : HF_CONFLICT;
}

/* Cheat "txn": what was done before the failure remains. */
static void expect_txn(model *m, const step *s, text *out)
{
    step first = {.n = {(uint8_t)key_at(s, 2), s->n[3]}};
    step last = {.n = {0}};
    text words[2] = {{.size = 0}, {.size = 0}};
    hf_status status = condition(&m->keys[key_at(s, 0)], expected_at(s, 1));
    model before = *m;

    if (status != HF_OK) {
        text_status(out, status);
        return;
    }
    memcpy(last.n, lasts[last_at(s)].n, sizeof(last.n));
    last.n[0] = (uint8_t)key_at(s, 4);
    apply(m, "value set", &first, &words[0]);
    apply(m, lasts[last_at(s)].name, &last, &words[1]);
    if (strcmp(words[1].at, "WRONG_TYPE") != 0) {
        text_add(out, "OK %s %s", words[0].at, words[1].at);
        return;
    }
    text_add(out, "WRONG_TYPE");
    if (!model_cheats(m, "txn"))
        *m = before;
}

/* ----------------------------------------------------------------- versions */

/* Compare with the current version, with none, or with that of no value. */
static void run_versioned(place *at, const step *s, text *out)
{
    hf_bytes key = key_name(key_at(s, 0));
    hf_buffer value = HF_BUFFER_INIT, version = HF_BUFFER_INIT;
    hf_bytes expected = hf_str("0123456789012345678901234567890123456789");
    hf_status status =
        CALL(at, hf_value_get_versioned, at->client, key, &value, &version);
    size_t which = s->n[1] % 3;

    text_status(out, status);
    text_buffer(out, &value);
    if (which == 0)
        expected = hf_view(version.data, version.size);
    if (status != HF_WRONG_TYPE)
        status = CALL(
            at, hf_value_cas_versioned, at->client, key,
            which == 1 || expected.size == 0 ? NULL : &expected, value_at(s, 2),
            WITH(hf_cas_options, .ttl_ms = ttl_ms(ttl_at(s, 3))), NULL);
    text_add(out, " %s", hf_status_name(status));
    hf_buffer_free(&version);
}

static void expect_versioned(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];
    bool exists = key->type == MODEL_STRING;
    size_t which = s->n[1] % 3;
    hf_status status = HF_OK;

    text_status(out, key->type == MODEL_HASH ? HF_WRONG_TYPE
                     : exists                ? HF_OK
                                             : HF_NOT_FOUND);
    text_add(out, " ");
    text_blob(out, &key->value);
    if (key->type == MODEL_HASH)
        status = HF_WRONG_TYPE;
    else if (which == 2 && !exists)
        status = HF_NOT_FOUND;
    else if (which != 0 && exists)
        status = HF_CONFLICT;
    text_add(out, " %s", hf_status_name(status));
    if (status != HF_OK)
        return;
    key->type = MODEL_STRING;
    key->value = blob_of(value_at(s, 2));
    if (ttl_at(s, 3) != TTL_NONE)
        key->ttl = ttl_at(s, 3);
}

const call txn_calls[] = {
    {"txn", "kekvkn", run_txn, expect_txn},
    {"txn", "kekvkn", run_txn, expect_txn},
    {"value versioned", "knvt", run_versioned, expect_versioned},
};
const size_t txn_call_count = COUNT(txn_calls);
