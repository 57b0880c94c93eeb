/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_input_test.c - keys of a foreign type, hostile names, no client: every
 * call has a clear status, and the key is what it was. Arguments are in
 * bad_arguments_test.c, lengths of keys in name_test.c.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/hash.h"
#include "holdfast/value.h"
#include "support/every_call.h"
#include "support/redisson_peer.h"
#include "support/watched_key.h"

FIXTURE_TESTS();

/* ------------------------------------------------------------ foreign types */

/* The type of a family's keys, by how the names of its calls begin; NULL: any.
 * The first row that fits counts. Those of a lock or a
 * limiter are strings too, but not any. */
static const struct {
    const char *family;
    const char *type;
} families[] = {
    {"value set get", "string"},
    {"value set", NULL},
    {"value put revised", "string"},
    {"value put", NULL},
    {"value", "string"},
    {"hash", "hash"},
    {"cache invalidate", NULL}, /* its key is a tag */
    {"cache", "string"},
    {"timeline", "zset"},
    {"set", "set"},
    {"rank", "zset"},
    {"limiter", "string"},
    {"ids", "string"},
    {"barrier", "zset"},
    {"latch", "hash"},
    {"lock holders", NULL},
    {"lock acquire all", NULL}, /* readers are no string: HF_HELD */
    {"lock", "string"},
    {"semaphore", "zset"},
    {"queue", "queue"},       /* a sorted set, but not any */
    {"election", "election"}, /* a hash, but not any */
    {"once", "once"},         /* likewise */
    {"key", NULL},
    {"script", NULL},
    {"command", NULL},
    {"txn", NULL},
    {"watch", NULL},
    {"redisson lock inspect", "hash"}, /* any may be one */
    {"redisson lock holders", "hash"},
    {"redisson", "none"},
};

static bool takes(const every_call *call, const char *type)
{
    if (call->keyless || call->needs_held)
        return true;
    /* The members may be readers or permits that have expired. */
    if (strcmp(type, "zset") == 0 && strncmp(call->name, "lock", 4) == 0)
        return true;
    for (size_t i = 0; i < sizeof(families) / sizeof(families[0]); i++) {
        const char *family = families[i].family;

        if (strncmp(call->name, family, strlen(family)) == 0)
            return families[i].type == NULL ||
                   strcmp(families[i].type, type) == 0;
    }
    fail_msg("of which type are the keys of %s?", call->name);
    return false;
}

static void try_foreign(hf_client *client, hf_bytes key, const every_call *call,
                        bool starts)
{
    every_place place = {.client = client, .key = key};
    hf_error err = HF_ERROR_INIT;
    hf_status status = every_call_prepare(&place, call, &err);

    if (status == HF_OK)
        status = every_call_make(&place, call, starts, starts ? NULL : &err);
    every_call_done(&place);
    if ((status != HF_WRONG_TYPE &&
         (status != HF_UNSUPPORTED || !call->is_newer)) ||
        (status == HF_WRONG_TYPE && !starts && !call->is_batch &&
         strstr(err.message, "\"t") == NULL))
        fail_msg("%s gave HF_%s: %s", call->name, hf_status_name(status),
                 err.message);
    if (watched_key_has_changed())
        fail_msg("%s changed the key", call->name);
}

static void try_each_foreign(fixture *f, hf_client *client,
                             const every_call *calls, size_t count)
{
    hf_bytes key = fixture_key(f, "k");

    for (size_t type = 0; type < WATCHED_TYPES; type++) {
        watch_key(f, key, &watched_types[type]);
        for (size_t i = 0; i < count; i++) {
            if (takes(&calls[i], watched_types[type].type))
                continue;
            try_foreign(client, key, &calls[i], false);
            if (calls[i].starts)
                try_foreign(client, key, &calls[i], true);
        }
    }
}

TEST(every_call_leaves_a_foreign_type_alone)
{
    fixture *f = *state;

    try_each_foreign(f, f->client, every_calls, every_call_count);
    if (redisson_is_here(f))
        try_each_foreign(f, redisson_client(f, NULL), every_redisson_calls,
                         every_redisson_count);
}

/* ------------------------------------------------------------------ no client
 */

/* Calls of a handle do not take a client. */
static void try_no_client(fixture *f, const every_call *call)
{
    every_place place = {.client = f->client, .key = fixture_key(f, "k")};
    hf_error err = HF_ERROR_INIT;
    hf_status status = every_call_prepare(&place, call, &err);

    if (status == HF_OK) {
        place.client = NULL;
        status = every_call_make(&place, call, false, &err);
        place.client = f->client;
    }
    if (place.lock != NULL && hf_lock_is_held(place.lock))
        expect_status(HF_OK, hf_lock_release(place.lock, ERR));
    every_call_done(&place);
    if (err.status != HF_INVALID && !call->needs_lock && !call->needs_script)
        fail_msg("%s gave HF_%s: %s", call->name, hf_status_name(status),
                 err.message);
}

TEST(every_call_without_a_client_is_invalid)
{
    fixture *f = *state;

    for (size_t i = 0; i < every_call_count; i++)
        try_no_client(f, &every_calls[i]);
    if (!redisson_is_here(f))
        return;
    for (size_t i = 0; i < every_redisson_count; i++)
        try_no_client(f, &every_redisson_calls[i]);
}

/* -------------------------------------------------------------- hostile keys
 */

/* No UTF-8, words of a protocol, format directives, names of our own keys. */
static const hf_bytes hostile[] = {
    {"\xff\xfe\x00\x80", 4},
    {"\xc0\xaf", 2},
    {"\xed\xa0\x80", 3},
    {"\r\n$-1\r\n", 7},
    {"{}}{", 4},
    {"%s%n", 4},
    {"\0", 1},
    {"{a}b}", 5},
    {"*", 1},
};
#define HOSTILE_COUNT (sizeof(hostile) / sizeof(hostile[0]))

/* It works, or the name is refused before anything is sent. */
static void try_hostile(hf_client *client, const every_call *call, hf_bytes key)
{
    every_place place = {.client = client, .key = key};
    hf_error err = HF_ERROR_INIT;
    hf_status status = every_call_fill(&place, call, &err);

    if (status == HF_OK)
        status = every_call_prepare(&place, call, &err);
    if (status == HF_OK)
        status = every_call_make(&place, call, false, &err);
    if (status != HF_OK && status != HF_NOT_FOUND && status != HF_CONFLICT &&
        (status != HF_UNSUPPORTED || !call->is_newer) &&
        (status != HF_INVALID || strchr(err.message, '}') == NULL))
        fail_msg("%s gave HF_%s: %s", call->name, hf_status_name(status),
                 err.message);
    if (place.lock != NULL && hf_lock_is_held(place.lock))
        expect_status(HF_OK, hf_lock_release(place.lock, ERR));
    every_call_done(&place);
}

static void try_each_hostile(fixture *f, hf_client *client,
                             const every_call *calls, size_t count)
{
    for (size_t at = 0; at < HOSTILE_COUNT; at++) {
        for (size_t i = 0; i < count; i++) {
            if (calls[i].keyless)
                continue;
            run_on_key(f, WATCHED_CLEAR, hostile[at]);
            try_hostile(client, &calls[i], hostile[at]);
        }
    }
}

TEST(every_call_takes_any_bytes_as_a_key)
{
    fixture *f = *state;

    try_each_hostile(f, f->client, every_calls, every_call_count);
    if (redisson_is_here(f))
        try_each_hostile(f, redisson_client(f, NULL), every_redisson_calls,
                         every_redisson_count);
}

TEST(fields_and_values_take_any_bytes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes hash = fixture_key(f, "h");

    for (size_t i = 0; i < HOSTILE_COUNT; i++) {
        hf_field field = {hostile[i], hostile[HOSTILE_COUNT - 1 - i]};

        put_value(f->client, key, hostile[i], 0);
        assert_value(f->other, key, hostile[i]);
        expect_status(HF_OK, hf_value_cas(f->client, key, &hostile[i],
                                          field.value, NULL, NULL, ERR));
        expect_status(
            HF_OK, hf_value_delete_if(f->client, key, field.value, NULL, ERR));
        expect_status(HF_OK,
                      hf_hash_put(f->client, hash, &field, 1, NULL, ERR));
        expect_status(HF_OK,
                      hf_hash_cas(f->client, hash, field.name, &field.value,
                                  field.name, NULL, NULL, ERR));
        assert_field(f->other, hash, field.name, field.name);
    }
}
