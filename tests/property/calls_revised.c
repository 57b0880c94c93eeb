/* SPDX-License-Identifier: Apache-2.0 */
/*
 * calls_revised.c - values with a revision. The model counts revisions from 1.
 * The numbers of the store are compared by their order: the next must be
 * greater than all that this trial has seen, and stands for the next of the
 * model.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/store.h"
#include "holdfast/value.h"
#include "property.h"
#include "support/dump_tape.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* ------------------------------------------------ the revisions of a trial */

static struct {
    uint64_t numbers[STEPS_MAX]; /* growing */
    size_t count;
} seen;

/* Which of them it is; 0: an old number that none of them had. */
static size_t place_of(uint64_t revision)
{
    size_t i = 0;

    while (i < seen.count && seen.numbers[i] < revision)
        i++;
    if (i == seen.count && i < STEPS_MAX)
        seen.numbers[seen.count++] = revision;
    return i < STEPS_MAX && seen.numbers[i] == revision ? i + 1 : 0;
}

/* Of the model. */
static void text_revision(text *out, uint64_t revision)
{
    if (revision == 0)
        text_add(out, " none");
    else
        text_add(out, " #%" PRIu64, revision);
}

/* Of the store. */
static void show_revision(text *out, uint64_t revision)
{
    if (revision != 0 && place_of(revision) == 0)
        text_add(out, " an old one");
    else
        text_revision(out, revision == 0 ? 0 : place_of(revision));
}

/* Any, none, or one of the last four of `count`. */
static uint64_t expected_of(const step *s, size_t i, uint64_t count)
{
    unsigned which = s->n[i] % 6;

    if (which == 0)
        return HF_REVISION_ANY;
    return which - 1 > 0 && count >= which - 1 ? count - (which - 2)
                                               : HF_REVISION_NONE;
}

static uint64_t number_of(uint64_t expected)
{
    return expected == HF_REVISION_ANY || expected == HF_REVISION_NONE
               ? expected
               : seen.numbers[expected - 1];
}

/* The name of the key that holds it. */
static hf_bytes stamp_name(size_t key, char *name, size_t size)
{
    return hf_view(name, (size_t)snprintf(name, size, "hf:revision::%s",
                                          (const char *)key_name(key).data));
}

void revisions_empty(hf_client *client)
{
    char name[64];

    seen.count = 0;
    for (size_t i = 0; i < KEYS; i++)
        (void)!hf_value_delete(client, stamp_name(i, name, sizeof(name)), NULL);
}

void revisions_read_store(hf_client *client, text *out)
{
    for (size_t i = 0; i < KEYS; i++) {
        hf_buffer value = HF_BUFFER_INIT;
        char name[64];

        (void)!hf_value_get(client, stamp_name(i, name, sizeof(name)), &value,
                            NULL);
        show_revision(out, value.data == NULL
                               ? 0
                               : strtoull((const char *)value.data, NULL, 10));
        hf_buffer_free(&value);
    }
}

void revisions_read_model(const model *m, text *out)
{
    for (size_t i = 0; i < KEYS; i++)
        text_revision(out, m->stamps[i].revision);
}

/* ------------------------------------------------------------ of the model */

/* false: the value was written in another way. */
static bool current_of(const model *m, size_t key, uint64_t *revision)
{
    const blob *value = &m->keys[key].value;
    const model_stamp *stamp = &m->stamps[key];

    *revision = value->there ? stamp->revision : 0;
    return !value->there ||
           (stamp->revision > 0 &&
            blob_is(&stamp->value, hf_view(value->data, value->size)));
}

/* The next revision, for what the key holds. */
static uint64_t mark(model *m, size_t key)
{
    m->stamps[key] =
        (model_stamp){++m->revisions, m->keys[key].ttl, m->keys[key].value};
    return m->revisions;
}

static void show(text *out, hf_status status, uint64_t revision)
{
    text_status(out, status);
    text_revision(out, revision);
}

/* A value that was deleted in another way: that has a revision of its own,
 * which is not told, unless the call gives the next to a new value. */
static void unstamp_deleted(model *m, size_t key)
{
    if (m->keys[key].type == MODEL_NONE)
        model_unstamp(m, key);
}

/* HF_OK: the value has the expected revision; else it is shown. */
static hf_status compare(model *m, size_t key, uint64_t expected, text *out)
{
    uint64_t revision;
    bool known = current_of(m, key, &revision);
    hf_status status = HF_CONFLICT;

    unstamp_deleted(m, key);
    if (m->keys[key].type == MODEL_HASH)
        status = HF_WRONG_TYPE;
    else if (expected == HF_REVISION_ANY || (known && revision == expected))
        return HF_OK;
    else if (!m->keys[key].value.there)
        status = HF_NOT_FOUND;
    else if (!known)
        revision = mark(m, key);
    show(out, status, status == HF_CONFLICT ? revision : 0);
    return status;
}

/* Cheat "revision": the same bytes again are no new state. */
static void put(model *m, size_t key, hf_bytes value, int ttl, text *out)
{
    bool same =
        model_cheats(m, "revision") && blob_is(&m->keys[key].value, value);

    model_delete(&m->keys[key]);
    m->keys[key].type = MODEL_STRING;
    m->keys[key].value = blob_of(value);
    m->keys[key].ttl = ttl;
    show(out, HF_OK, same ? m->stamps[key].revision : mark(m, key));
}

/* --------------------------------------------------------------------- put */

static bool keeps_ttl(const step *s)
{
    return s->n[4] % 3 == 1;
}

static void run_put(place *at, const step *s, text *out)
{
    uint64_t revision = 0;
    hf_status status = CALL(
        at, hf_value_put_revised, at->client, key_name(key_at(s, 0)),
        value_at(s, 1), number_of(expected_of(s, 2, seen.count)),
        WITH(hf_value_set_options, .flags = keeps_ttl(s) ? HF_SET_KEEPTTL : 0,
             .ttl_ms = keeps_ttl(s) ? 0 : ttl_ms(ttl_at(s, 3))),
        &revision);

    text_status(out, status);
    show_revision(out, revision);
}

static void expect_put(model *m, const step *s, text *out)
{
    size_t key = key_at(s, 0);
    int ttl = keeps_ttl(s) ? m->keys[key].ttl : ttl_at(s, 3);

    if (compare(m, key, expected_of(s, 2, m->revisions), out) == HF_OK)
        put(m, key, value_at(s, 1), ttl, out);
}

/* --------------------------------------------------------------------- get */

static void run_get(place *at, const step *s, text *out)
{
    hf_buffer value = HF_BUFFER_INIT;
    uint64_t revision = 0;

    text_status(out, CALL(at, hf_value_get_revised, at->client,
                          key_name(key_at(s, 0)), &value, &revision));
    show_revision(out, revision);
    text_buffer(out, &value);
}

static void expect_get(model *m, const step *s, text *out)
{
    size_t key = key_at(s, 0);
    uint64_t revision;

    unstamp_deleted(m, key);
    if (!current_of(m, key, &revision))
        revision = mark(m, key);
    show(out,
         m->keys[key].type == MODEL_HASH ? HF_WRONG_TYPE
         : revision == 0                 ? HF_NOT_FOUND
                                         : HF_OK,
         revision);
    text_add(out, " ");
    text_blob(out, &m->keys[key].value);
}

/* ------------------------------------------------------------------ delete */

/* There is nothing to delete by "none". */
static uint64_t deleted_at(const step *s, size_t i, uint64_t count)
{
    uint64_t expected = expected_of(s, i, count);

    return expected == HF_REVISION_NONE ? HF_REVISION_ANY : expected;
}

static void run_delete(place *at, const step *s, text *out)
{
    uint64_t revision = 0;

    text_status(out, CALL(at, hf_value_delete_revised, at->client,
                          key_name(key_at(s, 0)),
                          number_of(deleted_at(s, 1, seen.count)), &revision));
    show_revision(out, revision);
}

static void expect_delete(model *m, const step *s, text *out)
{
    size_t key = key_at(s, 0);

    if (compare(m, key, deleted_at(s, 1, m->revisions), out) != HF_OK)
        return;
    if (!m->keys[key].value.there) {
        show(out, HF_NOT_FOUND, 0);
        return;
    }
    model_delete(&m->keys[key]);
    model_unstamp(m, key);
    show(out, HF_OK, ++m->revisions);
}

/* -------------------------------------------------------------------- load */

/* Another value, and then what was dumped before. */
static void run_load(place *at, const step *s, text *out)
{
    hf_store_dump_options dump = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_load_options load = HF_STORE_LOAD_OPTIONS_INIT;
    dump_tape tape = {.data = NULL};
    uint64_t revision = 0;

    dump.pattern = key_name(key_at(s, 0));
    load.flags = HF_LOAD_REPLACE;
    text_status(out, hf_store_dump(at->client, &dump, dump_tape_put, &tape,
                                   NULL, NULL));
    text_add(out, " %s",
             hf_status_name(hf_value_put_revised(
                 at->client, key_name(key_at(s, 0)), value_at(s, 1),
                 HF_REVISION_ANY, NULL, &revision, NULL)));
    show_revision(out, revision);
    text_add(out, " %s",
             hf_status_name(hf_store_load(at->client, &load, dump_tape_take,
                                          &tape, NULL, NULL)));
    free(tape.data);
}

static void expect_load(model *m, const step *s, text *out)
{
    size_t key = key_at(s, 0);
    model_key before = m->keys[key];

    text_add(out, m->lacks_dumps ? "UNSUPPORTED " : "OK ");
    if (compare(m, key, HF_REVISION_ANY, out) == HF_OK)
        put(m, key, value_at(s, 1), TTL_NONE, out);
    if (!m->lacks_dumps && before.type != MODEL_NONE)
        m->keys[key] = before;
    text_add(out, m->lacks_dumps ? " INVALID" : " OK"); /* an empty dump */
}

const call revised_calls[] = {
    {"value put revised", "kvntn", run_put, expect_put},
    {"value get revised", "k", run_get, expect_get},
    {"value delete revised", "kn", run_delete, expect_delete},
    {"value load", "kv", run_load, expect_load},
};
const size_t revised_call_count = COUNT(revised_calls);
