/* SPDX-License-Identifier: Apache-2.0 */
/* trial.c - running a sequence on the store and on the model, and comparing. */
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/value.h"
#include "property.h"
#include "support/test_clock.h"

/* For a key that expires at once to be gone, on an idle machine. */
#define EXPIRY_MS 2000

/* ------------------------------------------------------- what is in the store
 */

static void show_fields(const hf_fields *found, text *out)
{
    for (size_t i = 0; i < FIELDS; i++) {
        hf_bytes name = field_name(i);

        for (size_t at = 0; at < found->count; at++) {
            const hf_field *field = &found->items[at];

            if (field->name.size != name.size ||
                memcmp(field->name.data, name.data, name.size) != 0)
                continue;
            text_add(out, " %zu:", i);
            text_bytes(out, field->value);
        }
    }
    text_add(out, " count=%zu", found->count);
}

static void read_store(hf_client *client, size_t key, text *out)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_fields fields = HF_FIELDS_INIT;
    int64_t left_ms = -1;
    hf_status status = hf_key_ttl(client, key_name(key), &left_ms, NULL);

    if (status == HF_OK)
        status = hf_value_get(client, key_name(key), &value, NULL);
    if (status == HF_OK)
        text_buffer(out, &value);
    else if (status == HF_WRONG_TYPE)
        status = hf_hash_get_all(client, key_name(key), &fields, NULL);
    if (fields.items != NULL)
        show_fields(&fields, out);
    if (status != HF_OK)
        text_status(out, status);
    hf_fields_free(&fields);
    text_ttl(out, left_ms);
}

static void read_model(const model_key *key, text *out)
{
    size_t count = 0;

    if (key->type == MODEL_NONE)
        text_status(out, HF_NOT_FOUND);
    if (key->type == MODEL_STRING) {
        text_add(out, " ");
        text_blob(out, &key->value);
    }
    for (size_t i = 0; i < FIELDS && key->type == MODEL_HASH; i++) {
        if (!key->fields[i].there)
            continue;
        text_add(out, " %zu:", i);
        text_blob(out, &key->fields[i]);
        count++;
    }
    if (key->type == MODEL_HASH)
        text_add(out, " count=%zu", count);
    if (key->ttl != TTL_NONE)
        text_add(out, " ttl=%d", key->ttl);
}

/* Key KEYS is the timeline, the cache, the set, the rank and the revisions. */
static bool agrees(place *at, model *m, size_t key, difference *found)
{
    memset(&found->wanted, 0, sizeof(found->wanted));
    memset(&found->found, 0, sizeof(found->found));
    if (key == KEYS) {
        timeline_read_model(m, &found->wanted);
        timeline_read_store(at->client, &found->found);
        cache_read_model(m, &found->wanted);
        cache_read_store(at->client, &found->found);
        members_read_model(m, &found->wanted);
        members_read_store(at->client, &found->found);
        revisions_read_model(m, &found->wanted);
        revisions_read_store(at->client, &found->found);
    } else {
        text_bytes(&found->wanted, key_name(key));
        text_bytes(&found->found, key_name(key));
        read_model(&m->keys[key], &found->wanted);
        read_store(at->client, key, &found->found);
    }
    return strcmp(found->wanted.at, found->found.at) == 0;
}

/* slowed_ms() takes time itself. */
static bool is_late(int64_t began_ms)
{
    int64_t took_ms = test_now_ms() - began_ms;

    return took_ms > EXPIRY_MS && took_ms > slowed_ms(EXPIRY_MS);
}

/* What expires at once may take the store a moment; a reading of that moment
 * can be of neither state. */
static bool state_differs(place *at, model *m, difference *found)
{
    bool expired = model_expire(m);
    int64_t began_ms = test_now_ms();

    for (size_t key = 0; key <= KEYS; key++) {
        while (!agrees(at, m, key, found)) {
            if (!expired || is_late(began_ms))
                return true;
            test_rest();
        }
    }
    return false;
}

/* ------------------------------------------------------------------- trials */

static bool step_differs(place *at, model *m, const step *s, difference *found)
{
    const call *row = call_at(s->call);

    memset(&found->wanted, 0, sizeof(found->wanted));
    memset(&found->found, 0, sizeof(found->found));
    row->expect(m, s, &found->wanted);
    at->starts = s->starts;
    row->run(at, s, &found->found);
    return strcmp(found->wanted.at, found->found.at) != 0 ||
           state_differs(at, m, found);
}

static void empty_store(hf_client *client)
{
    for (size_t i = 0; i < KEYS; i++) {
        if (hf_value_delete(client, key_name(i), NULL) == HF_WRONG_TYPE)
            (void)!hf_hash_delete(client, key_name(i), NULL);
    }
    timeline_empty(client);
    cache_empty(client);
    fences_empty(client);
    revisions_empty(client);
    members_empty(client);
}

bool trial_differs(place *at, const sequence *steps, const char *cheat,
                   difference *found)
{
    model m = {.lacks_dumps = at->lacks_dumps, .cheat = cheat};

    empty_store(at->client);
    for (size_t i = 0; i < steps->count; i++) {
        found->index = i;
        if (step_differs(at, &m, &steps->steps[i], found))
            return true;
    }
    return false;
}
