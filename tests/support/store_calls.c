/* SPDX-License-Identifier: Apache-2.0 */
/*
 * store_calls.c - see store_calls.h. What a call returns through pointers is
 * discarded: only its status matters here.
 */
#include "support/store_calls.h"

static hf_status key_ttl(store_subject *s, hf_error *err)
{
    int64_t ttl_ms;

    return hf_key_ttl(s->client, s->key, &ttl_ms, err);
}

static hf_status key_expire(store_subject *s, hf_error *err)
{
    return hf_key_expire(s->client, s->key, 1000, err);
}

static hf_status value_set(store_subject *s, hf_error *err)
{
    return hf_value_set(s->client, s->key, hf_str("v"), NULL, NULL, err);
}

static hf_status value_get(store_subject *s, hf_error *err)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_value_get(s->client, s->key, &value, err);

    hf_buffer_free(&value);
    return status;
}

static hf_status value_delete(store_subject *s, hf_error *err)
{
    return hf_value_delete(s->client, s->key, err);
}

static hf_status value_cas(store_subject *s, hf_error *err)
{
    return hf_value_cas(s->client, s->key, NULL, hf_str("v"), NULL, NULL, err);
}

static hf_status value_delete_if(store_subject *s, hf_error *err)
{
    return hf_value_delete_if(s->client, s->key, hf_str("v"), NULL, err);
}

static hf_status hash_put(store_subject *s, hf_error *err)
{
    const hf_field field = {hf_str("f"), hf_str("v")};

    return hf_hash_put(s->client, s->key, &field, 1, NULL, err);
}

static hf_status hash_get(store_subject *s, hf_error *err)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_hash_get(s->client, s->key, hf_str("f"), &value, err);

    hf_buffer_free(&value);
    return status;
}

static hf_status hash_get_all(store_subject *s, hf_error *err)
{
    hf_fields fields = HF_FIELDS_INIT;
    hf_status status = hf_hash_get_all(s->client, s->key, &fields, err);

    hf_fields_free(&fields);
    return status;
}

static hf_status hash_cas(store_subject *s, hf_error *err)
{
    return hf_hash_cas(s->client, s->key, hf_str("f"), NULL, hf_str("v"), NULL,
                       NULL, err);
}

static hf_status hash_delete_fields(store_subject *s, hf_error *err)
{
    const hf_bytes name = hf_str("f");

    return hf_hash_delete_fields(s->client, s->key, &name, 1, NULL, err);
}

static hf_status hash_delete(store_subject *s, hf_error *err)
{
    return hf_hash_delete(s->client, s->key, err);
}

static hf_status lock_try(store_subject *s, hf_error *err)
{
    return hf_lock_try(s->lock, err);
}

static hf_status lock_acquire(store_subject *s, hf_error *err)
{
    return hf_lock_acquire(s->lock, 50, err);
}

static hf_status lock_renew(store_subject *s, hf_error *err)
{
    return hf_lock_renew(s->lock, err);
}

static hf_status lock_release(store_subject *s, hf_error *err)
{
    return hf_lock_release(s->lock, err);
}

static hf_status lock_inspect(store_subject *s, hf_error *err)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    return hf_lock_inspect(s->client, s->key, &info, err);
}

static hf_status lock_break(store_subject *s, hf_error *err)
{
    return hf_lock_break(s->client, s->key, err);
}

static hf_status script_load(store_subject *s, hf_error *err)
{
    hf_script *script = NULL;
    hf_status status =
        hf_script_load(s->client, hf_str("return 'loaded'"), &script, err);

    hf_script_free(script);
    return status;
}

static hf_status script_run(store_subject *s, hf_error *err)
{
    hf_reply *reply = NULL;
    hf_status status =
        hf_script_run(s->script, &s->key, 1, NULL, 0, &reply, err);

    hf_reply_free(reply);
    return status;
}

const store_call store_calls[] = {
    {"hf_key_ttl", CALL_NEEDS_NOTHING, false, key_ttl},
    {"hf_key_expire", CALL_NEEDS_NOTHING, false, key_expire},
    {"hf_value_set", CALL_NEEDS_NOTHING, true, value_set},
    {"hf_value_get", CALL_NEEDS_NOTHING, false, value_get},
    {"hf_value_delete", CALL_NEEDS_NOTHING, false, value_delete},
    {"hf_value_cas", CALL_NEEDS_NOTHING, true, value_cas},
    {"hf_value_delete_if", CALL_NEEDS_NOTHING, false, value_delete_if},
    {"hf_hash_put", CALL_NEEDS_NOTHING, true, hash_put},
    {"hf_hash_get", CALL_NEEDS_NOTHING, false, hash_get},
    {"hf_hash_get_all", CALL_NEEDS_NOTHING, false, hash_get_all},
    {"hf_hash_cas", CALL_NEEDS_NOTHING, true, hash_cas},
    {"hf_hash_delete_fields", CALL_NEEDS_NOTHING, false, hash_delete_fields},
    {"hf_hash_delete", CALL_NEEDS_NOTHING, false, hash_delete},
    {"hf_lock_try", CALL_NEEDS_LOCK, true, lock_try},
    {"hf_lock_acquire", CALL_NEEDS_LOCK, true, lock_acquire},
    {"hf_lock_renew", CALL_NEEDS_HELD_LOCK, false, lock_renew},
    {"hf_lock_release", CALL_NEEDS_HELD_LOCK, false, lock_release},
    {"hf_lock_inspect", CALL_NEEDS_NOTHING, false, lock_inspect},
    {"hf_lock_break", CALL_NEEDS_NOTHING, false, lock_break},
    {"hf_script_load", CALL_NEEDS_NOTHING, false, script_load},
    {"hf_script_run", CALL_NEEDS_SCRIPT, true, script_run},
};
const size_t store_call_count = sizeof(store_calls) / sizeof(store_calls[0]);

hf_status store_call_prepare(const store_call *call, store_subject *subject,
                             hf_error *err)
{
    hf_status status = HF_OK;

    subject->lock = NULL;
    subject->script = NULL;
    if (call->need == CALL_NEEDS_SCRIPT) {
        return hf_script_load(
            subject->client,
            hf_str("return redis.call('set', KEYS[1], 'v', 'px', 60000)"),
            &subject->script, err);
    }
    if (call->need != CALL_NEEDS_NOTHING) {
        status = hf_lock_new(subject->client, subject->key, NULL,
                             &subject->lock, err);
    }
    if (status == HF_OK && call->need == CALL_NEEDS_HELD_LOCK) {
        status = hf_lock_try(subject->lock, err);
    }
    return status;
}

void store_call_done(store_subject *subject)
{
    hf_lock_free(subject->lock);
    hf_script_free(subject->script);
    subject->lock = NULL;
    subject->script = NULL;
}
