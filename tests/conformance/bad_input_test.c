/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_input_test.c - input that no call accepts: the status is clear, the
 * message names the culprit, and the key is what it was, its expiry included.
 * One line for each case. Lengths of keys are in name_test.c.
 */
#include <stdio.h>
#include <string.h>

#include "support/every_call.h"
#include "support/store_fixture.h"

#define SHA1_SIZE 40

/* What a key holds and, to 1000 s, its time to live. */
typedef struct digest {
    char text[SHA1_SIZE + 1];
} digest;

static const char reader[] =
    "local c, k = redis.call, KEYS[1] local t, d = c('type', k).ok, '' "
    "if t == 'string' then d = c('get', k) "
    "elseif t == 'hash' then d = c('hgetall', k) "
    "elseif t == 'list' then d = c('lrange', k, 0, -1) "
    "elseif t == 'set' then d = c('smembers', k) "
    "elseif t == 'zset' then d = c('zrange', k, 0, -1, 'withscores') end "
    "return redis.sha1hex(cjson.encode({t, d, "
    "math.ceil(c('pttl', k) / 1000000)}))";

static fixture *here;
static hf_bytes the_key;
static digest before;

/* Run a script with one key; the reply is text of at most SHA1_SIZE bytes, or
 * nothing. */
static digest run(fixture *f, const char *source, hf_bytes key)
{
    hf_script *script = fixture_script(f, f->other, source);
    hf_reply *reply = NULL;
    digest found = {""};
    hf_bytes text;

    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    text = hf_reply_bytes(reply);
    assert_true(text.size <= SHA1_SIZE);
    memcpy(found.text, text.size == 0 ? "" : text.data, text.size);
    hf_reply_free(reply);
    fixture_free_script(f, script);
    return found;
}

static digest read_key(void)
{
    return run(here, reader, the_key);
}

static void watch_key(fixture *f, hf_bytes key)
{
    here = f;
    the_key = key;
    before = read_key();
}

static void refused_at(hf_status want, const char *culprit, hf_status got,
                       const char *call, int line)
{
    expect_status_at(want, got, call, __FILE__, line);
    if (strstr(expect_message(), culprit) == NULL) {
        print_error("%s\n  does not name '%s': %s\n", call, culprit,
                    expect_message());
        _fail(__FILE__, line);
    }
    if (strcmp(read_key().text, before.text) != 0) {
        print_error("%s\n  changed the key\n", call);
        _fail(__FILE__, line);
    }
}

/* The call, whose last argument is ERR, is refused; see refused_at(). */
#define refused(want, culprit, call)                                           \
    refused_at((want), (culprit), (call), #call, __LINE__)

/* ------------------------------------------------------------ foreign types */

#define CLEAR "redis.call('del', KEYS[1]) "

static const struct {
    const char *type;
    const char *make;
} foreign[] = {
    {"string", CLEAR "redis.call('set', KEYS[1], 'text', 'ex', 3600)"},
    {"hash", CLEAR "redis.call('hset', KEYS[1], 'f', 'v', 'g', 'w')"},
    {"list", CLEAR "redis.call('rpush', KEYS[1], 'b', 'a', 'b')"},
    {"set", CLEAR "redis.call('sadd', KEYS[1], 'one', 'two')"},
    {"zset", CLEAR "redis.call('zadd', KEYS[1], 1, 'one', 2, 'two')"},
};
#define FOREIGN_COUNT (sizeof(foreign) / sizeof(foreign[0]))

/* Families, by how the names of their calls begin, and the type of their
 * keys; a lock's is a string too, but not any string. */
static bool takes(const every_call *call, const char *type)
{
    static const char *const any[] = {"command", "key", "script", "value set"};

    if (call->keyless || call->needs_held)
        return true;
    if (strcmp(call->name, "value set get") == 0)
        return strcmp(type, "string") == 0;
    for (size_t i = 0; i < sizeof(any) / sizeof(any[0]); i++) {
        if (strncmp(call->name, any[i], strlen(any[i])) == 0)
            return true;
    }
    if (strncmp(call->name, "hash", 4) == 0)
        return strcmp(type, "hash") == 0;
    if (strncmp(call->name, "timeline", 8) == 0)
        return strcmp(type, "zset") == 0;
    return strcmp(type, "string") == 0;
}

static void try_foreign(fixture *f, const every_call *call, bool starts)
{
    every_place place = {.client = f->client, .key = the_key};
    hf_error err = HF_ERROR_INIT;
    hf_status status = every_call_prepare(&place, call, &err);

    if (status == HF_OK)
        status = every_call_make(&place, call, starts, starts ? NULL : &err);
    every_call_done(&place);
    if (status != HF_WRONG_TYPE ||
        (!starts && !call->is_batch && strstr(err.message, "\"t") == NULL))
        fail_msg("%s gave HF_%s: %s", call->name, hf_status_name(status),
                 err.message);
    if (strcmp(read_key().text, before.text) != 0)
        fail_msg("%s changed the key", call->name);
}

static void every_call_leaves_a_foreign_type_alone(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    for (size_t type = 0; type < FOREIGN_COUNT; type++) {
        (void)run(f, foreign[type].make, key);
        watch_key(f, key);
        for (size_t i = 0; i < every_call_count; i++) {
            const every_call *call = &every_calls[i];

            if (takes(call, foreign[type].type))
                continue;
            try_foreign(f, call, false);
            if (call->starts)
                try_foreign(f, call, true);
        }
    }
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
static void try_hostile(fixture *f, const every_call *call, hf_bytes key)
{
    every_place place = {.client = f->client, .key = key};
    hf_error err = HF_ERROR_INIT;
    hf_status status = every_call_fill(&place, call, &err);

    if (status == HF_OK)
        status = every_call_prepare(&place, call, &err);
    if (status == HF_OK)
        status = every_call_make(&place, call, false, &err);
    if (status != HF_OK && status != HF_NOT_FOUND && status != HF_CONFLICT &&
        (status != HF_INVALID || strchr(err.message, '}') == NULL))
        fail_msg("%s gave HF_%s: %s", call->name, hf_status_name(status),
                 err.message);
    if (place.lock != NULL && hf_lock_is_held(place.lock))
        expect_status(HF_OK, hf_lock_release(place.lock, ERR));
    every_call_done(&place);
}

static void every_call_takes_any_bytes_as_a_key(void **state)
{
    fixture *f = *state;

    for (size_t at = 0; at < HOSTILE_COUNT; at++) {
        for (size_t i = 0; i < every_call_count; i++) {
            if (every_calls[i].keyless)
                continue;
            (void)run(f, CLEAR, hostile[at]);
            try_hostile(f, &every_calls[i], hostile[at]);
        }
    }
}

static void fields_and_values_take_any_bytes(void **state)
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

/* --------------------------------------------------- arguments and options */

/* An options structure with some members, as an argument. */
#define WITH(type, ...) (&(type){.struct_size = sizeof(type), __VA_ARGS__})
#define TTL_ABOVE (HF_TTL_MAX_MS + 1)

static const hf_bytes too_big = {"v", (size_t)HF_VALUE_MAX + 1};
static const hf_bytes no_bytes = {NULL, 3};
static const hf_bytes v = {"v", 1};
static const hf_bytes empty = {"", 0};
static char long_name[HF_NAME_MAX + 1];
static const hf_bytes too_long = {long_name, sizeof(long_name)};

static void refused_value_sets(hf_client *c, hf_bytes k)
{
#define SET(...) WITH(hf_value_set_options, __VA_ARGS__), NULL, ERR
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_set(c, k, v, SET(.ttl_ms = -1)));
    refused(HF_INVALID, "ttl_ms is",
            hf_value_set(c, k, v, SET(.ttl_ms = TTL_ABOVE)));
    refused(HF_INVALID, "expires_unix_ms is -5",
            hf_value_set(c, k, v, SET(.expires_unix_ms = -5)));
    refused(HF_INVALID, "expires_unix_ms is",
            hf_value_set(c, k, v, SET(.expires_unix_ms = INT64_MAX)));
    refused(HF_INVALID, "HF_SET_KEEPTTL",
            hf_value_set(c, k, v, SET(.ttl_ms = 1, .flags = HF_SET_KEEPTTL)));
    refused(HF_INVALID, "expires_unix_ms",
            hf_value_set(c, k, v, SET(.ttl_ms = 1, .expires_unix_ms = 1)));
    refused(HF_INVALID, "HF_SET_XX",
            hf_value_set(c, k, v, SET(.flags = HF_SET_NX | HF_SET_XX)));
    refused(HF_UNSUPPORTED, "0x80000000",
            hf_value_set(c, k, v, SET(.flags = 1u << 31)));
    refused(HF_UNSUPPORTED, "hf_value_set_options",
            hf_value_set(c, k, v, SET(.reserved0 = 1)));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_set(c, k, too_big, NULL, NULL, ERR));
    refused(HF_INVALID, "value is NULL",
            hf_value_set(c, k, no_bytes, NULL, NULL, ERR));
    refused(HF_INVALID, "struct_size is 0",
            hf_value_set(c, k, v, &(hf_value_set_options){0}, NULL, ERR));
#undef SET
}

static void refused_values(hf_client *c, hf_bytes k)
{
#define CAS(...) WITH(hf_cas_options, __VA_ARGS__), NULL, ERR
    hf_status status = HF_OK;

    refused(HF_INVALID, "value is NULL", hf_value_get(c, k, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_cas(c, k, &v, v, CAS(.ttl_ms = -1)));
    refused(HF_INVALID, "ttl_ms is",
            hf_value_cas(c, k, &v, v, CAS(.ttl_ms = TTL_ABOVE)));
    refused(HF_UNSUPPORTED, "0x4", hf_value_cas(c, k, &v, v, CAS(.flags = 4)));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_cas(c, k, &v, too_big, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_cas(c, k, &too_big, v, NULL, NULL, ERR));
    refused(HF_INVALID, "is NULL",
            hf_value_cas(c, k, &no_bytes, v, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_delete_if(c, k, too_big, NULL, ERR));
    refused(HF_INVALID, "is NULL",
            hf_value_delete_if(c, k, no_bytes, NULL, ERR));
    refused(HF_INVALID, "items is NULL",
            hf_value_set_many(c, NULL, 1, NULL, &status, ERR));
    refused(HF_INVALID, "keys is NULL",
            hf_value_get_many(c, NULL, 1, NULL, &status, ERR));
    refused(HF_INVALID, "values is NULL",
            hf_value_get_many(c, &k, 1, NULL, &status, ERR));
    refused(HF_INVALID, "statuses is NULL",
            hf_value_get_many(c, &k, 1, &(hf_buffer){NULL, 0}, NULL, ERR));
#undef CAS
}

static void refused_hashes(hf_client *c, hf_bytes k)
{
    const hf_field good = {v, v}, big = {v, too_big}, unnamed = {empty, v};
    const hf_field wide = {too_long, v};

#define PUT(...) WITH(hf_hash_put_options, __VA_ARGS__), ERR
    refused(HF_INVALID, "ttl_ms is -1",
            hf_hash_put(c, k, &good, 1, PUT(.ttl_ms = -1)));
    refused(HF_INVALID, "ttl_ms is",
            hf_hash_put(c, k, &good, 1, PUT(.ttl_ms = TTL_ABOVE)));
    refused(HF_INVALID, "HF_HASH_PERSIST",
            hf_hash_put(c, k, &good, 1,
                        PUT(.ttl_ms = 1, .flags = HF_HASH_PERSIST)));
    refused(HF_INVALID, "HF_HASH_XX",
            hf_hash_put(c, k, &good, 1, PUT(.flags = HF_HASH_NX | HF_HASH_XX)));
    refused(HF_UNSUPPORTED, "0x40000000",
            hf_hash_put(c, k, &good, 1, PUT(.flags = 1u << 30)));
    refused(HF_INVALID, "0", hf_hash_put(c, k, &good, 0, NULL, ERR));
    refused(HF_INVALID, "1001", hf_hash_put(c, k, &good, 1001, NULL, ERR));
    refused(HF_INVALID, "fields is NULL",
            hf_hash_put(c, k, NULL, 1, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_hash_put(c, k, &big, 1, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_put(c, k, &unnamed, 1, NULL, ERR));
    refused(HF_INVALID, "4097 bytes", hf_hash_put(c, k, &wide, 1, NULL, ERR));
    refused(HF_INVALID, "is NULL", hf_hash_get(c, k, v, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_get(c, k, empty, &(hf_buffer){NULL, 0}, ERR));
    refused(HF_INVALID, "fields is NULL", hf_hash_get_all(c, k, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_cas(c, k, empty, &v, v, NULL, NULL, ERR));
    refused(HF_INVALID, "4097 bytes",
            hf_hash_cas(c, k, too_long, &v, v, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_hash_cas(c, k, v, &v, too_big, NULL, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_hash_cas(c, k, v, &v, v, WITH(hf_cas_options, .ttl_ms = -1),
                        NULL, ERR));
    refused(HF_INVALID, "0", hf_hash_delete_fields(c, k, &v, 0, NULL, ERR));
    refused(HF_INVALID, "1001",
            hf_hash_delete_fields(c, k, &v, 1001, NULL, ERR));
    refused(HF_INVALID, "NULL",
            hf_hash_delete_fields(c, k, NULL, 1, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_delete_fields(c, k, &empty, 1, NULL, ERR));
#undef PUT
}

static void refused_keys(hf_client *c, hf_bytes k)
{
    refused(HF_INVALID, "ttl_ms is NULL", hf_key_ttl(c, k, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is 0", hf_key_expire(c, k, 0, ERR));
    refused(HF_INVALID, "ttl_ms is -2", hf_key_expire(c, k, -2, ERR));
    refused(HF_INVALID, "ttl_ms is", hf_key_expire(c, k, INT64_MIN, ERR));
    refused(HF_INVALID, "ttl_ms is", hf_key_expire(c, k, TTL_ABOVE, ERR));
}

static void bad_arguments_are_named_and_change_nothing(void **state)
{
    fixture *f = *state;
    static void (*const tables[])(hf_client *, hf_bytes) = {
        refused_value_sets, refused_values, refused_hashes, refused_keys};
    hf_bytes key = fixture_key(f, "k");

    memset(long_name, 'f', sizeof(long_name));
    for (size_t type = 0; type < 2; type++) {
        (void)run(f, foreign[type].make, key);
        watch_key(f, key);
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
            tables[i](f->client, key);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(every_call_leaves_a_foreign_type_alone),
        fixture_test(every_call_takes_any_bytes_as_a_key),
        fixture_test(fields_and_values_take_any_bytes),
        fixture_test(bad_arguments_are_named_and_change_nothing),
    };

    return fixture_run(tests);
}
