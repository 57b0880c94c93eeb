/* SPDX-License-Identifier: Apache-2.0 */
/* every_value.c - the calls of values, hashes and caches, for every_call.c. */
#include "holdfast/cache.h"
#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "support/every_define.h"

/* ------------------------------------------------------------------- values */

DEFINE(value_get)
{
    return CALL(hf_value_get, p->client, p->key, &p->result.buffer);
}

DEFINE(value_set)
{
    return CALL(hf_value_set, p->client, p->key, one(), NULL, NULL);
}

DEFINE(value_set_nx)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.flags = HF_SET_NX;
    return CALL(hf_value_set, p->client, p->key, one(), &options, NULL);
}

DEFINE(value_set_get)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.flags = HF_SET_GET;
    return CALL(hf_value_set, p->client, p->key, one(), &options,
                &p->result.buffer);
}

DEFINE(value_append)
{
    return CALL(hf_value_append, p->client, p->key, one(), NULL);
}

DEFINE(value_delete)
{
    return CALL(hf_value_delete, p->client, p->key);
}

DEFINE(value_cas)
{
    hf_bytes expected = one();

    return CALL(hf_value_cas, p->client, p->key, &expected, one(), NULL,
                &p->result.buffer);
}

DEFINE(value_cas_at_most_once)
{
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_bytes expected = one();

    options.flags = HF_CAS_ONCE;
    return CALL(hf_value_cas, p->client, p->key, &expected, one(), &options,
                &p->result.buffer);
}

DEFINE(value_delete_if)
{
    return CALL(hf_value_delete_if, p->client, p->key, one(),
                &p->result.buffer);
}

DEFINE(value_get_expire)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;

    options.ttl_ms = 1000;
    return CALL(hf_value_get_expire, p->client, p->key, &options,
                &p->result.buffer);
}

DEFINE(value_expire_if)
{
    hf_value_expire_options options = HF_VALUE_EXPIRE_OPTIONS_INIT;

    options.expires_unix_ms = 1;
    return CALL(hf_value_expire_if, p->client, p->key, one(), &options,
                &p->result.buffer);
}

DEFINE(value_get_versioned)
{
    return CALL(hf_value_get_versioned, p->client, p->key, &p->result.buffer,
                &p->result.version);
}

/* SHA-1 of "1" */
static hf_bytes version_of_one(void)
{
    return hf_str("356a192b7913b04c54574d18c28d46e6395428ab");
}

DEFINE(value_cas_versioned)
{
    hf_bytes expected = version_of_one();

    return CALL(hf_value_cas_versioned, p->client, p->key, &expected, one(),
                NULL, &p->result.buffer);
}

DEFINE(value_delete_versioned)
{
    return CALL(hf_value_delete_versioned, p->client, p->key, version_of_one(),
                &p->result.buffer);
}

DEFINE(value_get_revised)
{
    return CALL(hf_value_get_revised, p->client, p->key, &p->result.buffer,
                &p->result.token);
}

DEFINE(value_put_revised)
{
    return CALL(hf_value_put_revised, p->client, p->key, one(), HF_REVISION_ANY,
                NULL, &p->result.token);
}

DEFINE(value_delete_revised)
{
    return CALL(hf_value_delete_revised, p->client, p->key, HF_REVISION_ANY,
                &p->result.token);
}

DEFINE(value_changes_after)
{
    return CALL(hf_value_changes_after, p->client, p->key, 0, 0,
                &p->result.changed);
}

DEFINE(value_put_fenced)
{
    return CALL(hf_value_put_fenced, p->client, p->key, one(), 7, NULL,
                &p->result.token);
}

DEFINE(value_add)
{
    return CALL(hf_value_add, p->client, p->key, 1, NULL, &p->result.number);
}

DEFINE(value_get_many)
{
    hf_bytes keys[] = {p->key};

    return CALL(hf_value_get_many, p->client, keys, 1, &p->result.buffer,
                &p->result.status);
}

DEFINE(value_set_many)
{
    hf_value_set_item item = {p->key, one()};

    return CALL(hf_value_set_many, p->client, &item, 1, NULL,
                &p->result.status);
}

DEFINE(value_cas_many)
{
    hf_bytes expected = one();
    hf_value_cas_item item = {p->key, &expected, one(), &p->result.buffer};

    return CALL(hf_value_cas_many, p->client, &item, 1, NULL,
                &p->result.status);
}

DEFINE(value_add_many)
{
    hf_value_add_item item = {p->key, 1, &p->result.number};

    return CALL(hf_value_add_many, p->client, &item, 1, NULL,
                &p->result.status);
}

/* ------------------------------------------------------------------- hashes */

DEFINE(hash_put)
{
    hf_field field = {one(), one()};

    return CALL(hf_hash_put, p->client, p->key, &field, 1, NULL);
}

DEFINE(hash_put_many)
{
    hf_field field = {one(), one()};
    hf_hash_put_item item = {p->key, &field, 1};

    return CALL(hf_hash_put_many, p->client, &item, 1, NULL, &p->result.status);
}

DEFINE(hash_get)
{
    return CALL(hf_hash_get, p->client, p->key, one(), &p->result.buffer);
}

DEFINE(hash_get_all)
{
    return CALL(hf_hash_get_all, p->client, p->key, &p->result.fields);
}

DEFINE(hash_cas)
{
    hf_bytes expected = one();

    return CALL(hf_hash_cas, p->client, p->key, one(), &expected, one(), NULL,
                &p->result.buffer);
}

DEFINE(hash_cas_at_most_once)
{
    hf_cas_options options = HF_CAS_OPTIONS_INIT;
    hf_bytes expected = one();

    options.flags = HF_CAS_ONCE;
    return CALL(hf_hash_cas, p->client, p->key, one(), &expected, one(),
                &options, &p->result.buffer);
}

DEFINE(hash_put_fenced)
{
    hf_field field = {one(), one()};

    return CALL(hf_hash_put_fenced, p->client, p->key, &field, 1, 7, NULL,
                &p->result.token);
}

DEFINE(hash_get_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_get_fields, p->client, p->key, names, 1,
                &p->result.buffer);
}

DEFINE(hash_add)
{
    return CALL(hf_hash_add, p->client, p->key, one(), 1, NULL,
                &p->result.number);
}

DEFINE(hash_expire_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_expire_fields, p->client, p->key, 60000, names, 1,
                &p->result.removed);
}

DEFINE(hash_ttl_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_ttl_fields, p->client, p->key, names, 1,
                &p->result.ttl_ms);
}

DEFINE(hash_delete_fields)
{
    hf_bytes names[] = {one()};

    return CALL(hf_hash_delete_fields, p->client, p->key, names, 1,
                &p->result.removed);
}

DEFINE(hash_delete)
{
    return CALL(hf_hash_delete, p->client, p->key);
}

/* ------------------------------------------------------------------- caches */

static hf_cache_options minute_options(void)
{
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;

    options.ttl_ms = 60000;
    return options;
}

static void fill_one(void *user, hf_cache_fill *fill)
{
    (void)user;
    (void)!hf_cache_fill_done(fill, HF_OK, one(), NULL);
}

DEFINE(cache_get)
{
    return CALL(hf_cache_get, p->client, p->key, NULL, &p->result.buffer);
}

DEFINE(cache_get_or_fill)
{
    hf_cache_options options = minute_options();

    return CALL(hf_cache_get_or_fill, p->client, p->key, fill_one, NULL,
                &options, &p->result.buffer, NULL);
}

DEFINE(cache_get_many)
{
    return CALL(hf_cache_get_many, p->client, &p->key, 1, NULL,
                &p->result.buffer, &p->result.status);
}

DEFINE(cache_put)
{
    hf_cache_options options = minute_options();

    return CALL(hf_cache_put, p->client, p->key, one(), &options);
}

DEFINE(cache_put_many)
{
    hf_cache_put_item item = {p->key, one()};
    hf_cache_options options = minute_options();

    return CALL(hf_cache_put_many, p->client, &item, 1, &options,
                &p->result.status);
}

DEFINE(cache_delete)
{
    return CALL(hf_cache_delete, p->client, p->key);
}

DEFINE(cache_delete_many)
{
    return CALL(hf_cache_delete_many, p->client, &p->key, 1, &p->result.status);
}

DEFINE(cache_invalidate)
{
    return CALL(hf_cache_invalidate, p->client, p->key);
}

DEFINE(cache_invalidate_many)
{
    return CALL(hf_cache_invalidate_many, p->client, &p->key, 1,
                &p->result.status);
}
