/* SPDX-License-Identifier: Apache-2.0 */
/* calls_key.c - the calls of key.h. */
#include "holdfast/key.h"
#include "property.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static void run_expire(place *at, const step *s, text *out)
{
    int ttl = ttl_at(s, 1);

    text_status(out, CALL(at, hf_key_expire, at->client, key_name(key_at(s, 0)),
                          ttl == TTL_NONE ? -1 : ttl_ms(ttl)));
}

static void expect_expire(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];
    bool exists = key->type != MODEL_NONE;

    if (exists && (ttl_at(s, 1) != TTL_NONE || !model_cheats(m, "persist")))
        key->ttl = ttl_at(s, 1);
    m->stamps[key_at(s, 0)].ttl = ttl_at(s, 1);
    text_status(out, exists ? HF_OK : HF_NOT_FOUND);
}

static void run_delete(place *at, const step *s, text *out)
{
    text_status(out,
                CALL(at, hf_key_delete, at->client, key_name(key_at(s, 0))));
}

static void expect_delete(model *m, const step *s, text *out)
{
    model_key *key = &m->keys[key_at(s, 0)];

    text_status(out, key->type != MODEL_NONE ? HF_OK : HF_NOT_FOUND);
    model_unstamp(m, key_at(s, 0));
    model_delete(key);
}

static void run_rename(place *at, const step *s, text *out)
{
    text_status(out, CALL(at, hf_key_rename, at->client, key_name(key_at(s, 0)),
                          key_name(key_at(s, 1)), 0));
}

static void run_copy(place *at, const step *s, text *out)
{
    text_status(out, CALL(at, hf_key_copy, at->client, key_name(key_at(s, 0)),
                          key_name(key_at(s, 1)), HF_COPY_REPLACE));
}

static void expect_copy(model *m, const step *s, text *out)
{
    size_t from = key_at(s, 0), to = key_at(s, 1);
    bool exists = m->keys[from].type != MODEL_NONE;

    text_status(out, exists ? HF_OK : HF_NOT_FOUND);
    if (!exists)
        return;
    m->keys[to] = m->keys[from];
    if (to != from)
        model_unstamp(m, to);
    if (m->fences[to] < m->fences[from])
        m->fences[to] = m->fences[from];
}

static void expect_rename(model *m, const step *s, text *out)
{
    size_t from = key_at(s, 0), to = key_at(s, 1);
    bool exists = m->keys[from].type != MODEL_NONE;

    expect_copy(m, s, out);
    if (!exists)
        return;
    model_unstamp(m, from);
    model_unstamp(m, to);
    if (from != to)
        model_delete(&m->keys[from]);
}

const call key_calls[] = {
    {"key expire", "kx", run_expire, expect_expire},
    {"key delete", "k", run_delete, expect_delete},
    {"key rename", "kk", run_rename, expect_rename},
    {"key copy", "kk", run_copy, expect_copy},
};
const size_t key_call_count = COUNT(key_calls);
