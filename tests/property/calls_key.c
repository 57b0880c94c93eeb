/* SPDX-License-Identifier: Apache-2.0 */
/* calls_key.c - the calls of key.h. */
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
    text_status(out, exists ? HF_OK : HF_NOT_FOUND);
}

const call key_calls[] = {
    {"key expire", "kx", run_expire, expect_expire},
};
const size_t key_call_count = COUNT(key_calls);
