/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bad_arguments_test.c - arguments and options that no call accepts: the status
 * is clear, the message names the culprit, and the key is what it was. One line
 * for each case.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/timeline.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/watched_key.h"

FIXTURE_TESTS();

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

static void refused_counters(hf_client *c, hf_bytes k)
{
    const hf_add_options none = {.struct_size = sizeof(none)};
#define ADD(...) WITH(hf_add_options, __VA_ARGS__), NULL, ERR
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_add(c, k, 1, ADD(.ttl_ms = -1)));
    refused(HF_INVALID, "ttl_ms is",
            hf_value_add(c, k, 1, ADD(.ttl_ms = TTL_ABOVE)));
    refused(HF_INVALID, "min",
            hf_value_add(
                c, k, 1,
                ADD(.flags = HF_ADD_MIN | HF_ADD_MAX, .min = 2, .max = 1)));
    refused(HF_UNSUPPORTED, "0x80", hf_value_add(c, k, 1, ADD(.flags = 0x80)));
    refused(HF_WRONG_TYPE, "\"t", hf_value_add(c, k, 1, &none, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_add(c, k, empty, 1, &none, NULL, ERR));
    refused(HF_INVALID, "4097 bytes",
            hf_hash_add(c, k, too_long, 1, &none, NULL, ERR));
    refused(HF_WRONG_TYPE, "\"",
            hf_hash_add(c, k, hf_str("f"), 1, &none, NULL, ERR));
#undef ADD
#define EXPIRY(...) WITH(hf_value_expire_options, __VA_ARGS__)
    refused(HF_INVALID, "ttl_ms",
            hf_value_get_expire(c, k, NULL, &(hf_buffer){NULL, 0}, ERR));
    refused(HF_INVALID, "ttl_ms",
            hf_value_get_expire(c, k, EXPIRY(0), &(hf_buffer){NULL, 0}, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_get_expire(c, k, EXPIRY(.ttl_ms = -1),
                                &(hf_buffer){NULL, 0}, ERR));
    refused(HF_INVALID, "ttl_ms",
            hf_value_get_expire(c, k,
                                EXPIRY(.ttl_ms = 1, .flags = HF_EXPIRE_PERSIST),
                                &(hf_buffer){NULL, 0}, ERR));
    refused(HF_INVALID, "value is NULL",
            hf_value_get_expire(c, k, EXPIRY(.ttl_ms = 1), NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_expire_if(c, k, too_big, EXPIRY(.ttl_ms = 1), NULL, ERR));
    refused(
        HF_INVALID, "expires_unix_ms is -1",
        hf_value_expire_if(c, k, v, EXPIRY(.expires_unix_ms = -1), NULL, ERR));
#undef EXPIRY
}

static void refused_adds(hf_client *c, hf_bytes k)
{
    const double numbers[] = {NAN, INFINITY, -INFINITY};
    const hf_attribute unnamed = hf_attribute_number(empty, 1);
    const hf_attribute nameless = hf_attribute_number(no_bytes, 1);
    const hf_attribute textless = hf_attribute_text(v, no_bytes);
    const hf_attribute nul = hf_attribute_number(bytes("a\0"), 1);
    const hf_attribute long_text =
        hf_attribute_text(v, hf_view(long_name, 256));
    const hf_attribute twice[] = {unnamed, hf_attribute_number(v, 1),
                                  hf_attribute_text(v, v)};

#define ADD(...) WITH(hf_timeline_add_options, __VA_ARGS__), ERR
#define LIST(list, n) .attributes = (list), .attribute_count = (n)
    refused(HF_INVALID, "id has 0 bytes",
            hf_timeline_add(c, k, empty, v, 1000, NULL, ERR));
    refused(HF_INVALID, "id has 513 bytes",
            hf_timeline_add(c, k, hf_view(long_name, 513), v, 1000, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_timeline_add(c, k, v, too_big, 1000, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is 0",
            hf_timeline_add(c, k, v, v, 0, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_timeline_add(c, k, v, v, -1, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is",
            hf_timeline_add(c, k, v, v, TTL_ABOVE, NULL, ERR));
    refused(HF_INVALID, "at_ms is -1",
            hf_timeline_add(c, k, v, v, 1000, ADD(.at_ms = -1)));
    refused(HF_INVALID, "at_ms is",
            hf_timeline_add(c, k, v, v, 1000,
                            ADD(.at_ms = HF_TIMELINE_AT_MAX_MS + 1)));
    refused(HF_INVALID, "id is NULL",
            hf_timeline_add(c, k, no_bytes, v, 1000, NULL, ERR));
    refused(HF_INVALID, "value is NULL",
            hf_timeline_add(c, k, v, no_bytes, 1000, NULL, ERR));
    refused(HF_INVALID, "NULL",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&nameless, 1))));
    refused(HF_INVALID, "NULL",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&textless, 1))));
    refused(HF_UNSUPPORTED, "0x80",
            hf_timeline_add(c, k, v, v, 1000, ADD(.flags = 0x80)));
    refused(HF_INVALID, "17",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(twice, 17))));
    refused(HF_INVALID, "attributes is NULL",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(NULL, 1))));
    refused(HF_INVALID, "attribute name has 0 bytes",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&unnamed, 1))));
    refused(HF_INVALID, "NUL",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&nul, 1))));
    refused(HF_INVALID, "256 bytes",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&long_text, 1))));
    refused(HF_INVALID, "\"v\"",
            hf_timeline_add(c, k, v, v, 1000, ADD(LIST(twice + 1, 2))));
    for (size_t i = 0; i < 3; i++) {
        hf_attribute number = hf_attribute_number(v, numbers[i]);

        refused(HF_INVALID, "\"v\"",
                hf_timeline_add(c, k, v, v, 1000, ADD(LIST(&number, 1))));
    }
#undef ADD
#undef LIST
}

static void refused_pages(hf_client *c, hf_bytes k)
{
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;
    const double nan = NAN;

#define PAGE(...)                                                              \
    hf_timeline_page(c, k, WITH(hf_timeline_page_options, __VA_ARGS__), &page, \
                     ERR)
    refused(HF_INVALID, "limit is 1001", PAGE(.limit = 1001));
    refused(HF_INVALID, "offset is 10001", PAGE(.offset = 10001));
    refused(HF_UNSUPPORTED, "0x80", PAGE(.flags = 0x80));
    refused(HF_INVALID, "cursor", PAGE(.cursor = bytes("no cursor")));
    refused(HF_INVALID, "cursor", PAGE(.cursor = bytes("\xff\0")));
    refused(HF_INVALID, "65 bytes", PAGE(.order_by = hf_view(long_name, 65)));
    refused(HF_INVALID, "order_by", PAGE(.min = &(double){1}));
    refused(HF_INVALID, "min", PAGE(.min = &nan, .order_by = v));
    refused(HF_INVALID, "max", PAGE(.max = &nan, .order_by = v));
    refused(HF_INVALID, "from_ms is -1", PAGE(.from_ms = -1));
    refused(HF_INVALID, "to_ms is", PAGE(.to_ms = INT64_MAX));
    refused(HF_INVALID, "is NULL", hf_timeline_page(c, k, NULL, NULL, ERR));
    refused(HF_INVALID, "from_ms is",
            hf_timeline_range(c, k, INT64_MIN, 0, 1, &page, ERR));
    refused(HF_INVALID, "is NULL", hf_timeline_count(c, k, NULL, ERR));
    refused(HF_INVALID, "is NULL", hf_timeline_get(c, k, v, NULL, ERR));
    refused(HF_INVALID, "id has 0 bytes",
            hf_timeline_get(c, k, empty, &page, ERR));
    refused(HF_INVALID, "id has 0 bytes", hf_timeline_remove(c, k, empty, ERR));
#undef PAGE
}

static void refused_changes(hf_client *c, hf_bytes k)
{
    const hf_attribute number = hf_attribute_number(v, NAN);
    hf_timeline_trimmed trimmed;

#define CHANGE(...) WITH(hf_timeline_update_options, __VA_ARGS__), ERR
    refused(HF_INVALID, "id has 0 bytes",
            hf_timeline_update(c, k, empty, NULL, ERR));
    refused(HF_INVALID, "id is NULL",
            hf_timeline_update(c, k, no_bytes, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_timeline_update(c, k, v, CHANGE(.payload = &too_big)));
    refused(HF_INVALID, "NULL",
            hf_timeline_update(c, k, v, CHANGE(.payload = &no_bytes)));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_timeline_update(c, k, v, CHANGE(.ttl_ms = -1)));
    refused(HF_INVALID, "at_ms is -1",
            hf_timeline_update(c, k, v, CHANGE(.at_ms = -1)));
    refused(HF_INVALID, "\"v\"",
            hf_timeline_update(
                c, k, v, CHANGE(.attributes = &number, .attribute_count = 1)));
    refused(HF_INVALID, "17",
            hf_timeline_update(
                c, k, v, CHANGE(.attributes = &number, .attribute_count = 17)));
    refused(HF_UNSUPPORTED, "0x80",
            hf_timeline_update(c, k, v, CHANGE(.flags = 0x80)));
#undef CHANGE
    refused(HF_INVALID, "to_ms is -1",
            hf_timeline_trim(c, k, -1, -1, &trimmed, ERR));
    refused(HF_INVALID, "keep is -2",
            hf_timeline_trim(c, k, 0, -2, &trimmed, ERR));
    refused(HF_INVALID, "NULL", hf_timeline_trim(c, k, 1, -1, NULL, ERR));
}

static void refused_fenced(hf_client *c, hf_bytes k)
{
    const uint64_t above = UINT64_C(1) << 53;
    const hf_field field = {v, v}, unnamed = {empty, v};
    hf_buffer values[1] = {HF_BUFFER_INIT};

    refused(HF_INVALID, "token is 0",
            hf_value_put_fenced(c, k, v, 0, NULL, NULL, ERR));
    refused(HF_INVALID, "token is 9007199254740992",
            hf_value_put_fenced(c, k, v, above, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_put_fenced(c, k, too_big, 1, NULL, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_put_fenced(c, k, v, 1,
                                WITH(hf_value_set_options, .ttl_ms = -1), NULL,
                                ERR));
    refused(HF_UNSUPPORTED, "0x1",
            hf_value_put_fenced(c, k, v, 1,
                                WITH(hf_value_set_options, .flags = HF_SET_NX),
                                NULL, ERR));
    refused(HF_INVALID, "token is 0",
            hf_hash_put_fenced(c, k, &field, 1, 0, NULL, NULL, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_put_fenced(c, k, &unnamed, 1, 1, NULL, NULL, ERR));
    refused(HF_INVALID, "NULL",
            hf_hash_put_fenced(c, k, NULL, 1, 1, NULL, NULL, ERR));
    refused(HF_UNSUPPORTED, "0x1",
            hf_hash_put_fenced(c, k, &field, 1, 1,
                               WITH(hf_hash_put_options, .flags = HF_HASH_NX),
                               NULL, ERR));
    refused(HF_INVALID, "0", hf_hash_get_fields(c, k, &v, 0, values, ERR));
    refused(HF_INVALID, "1001",
            hf_hash_get_fields(c, k, &v, 1001, values, ERR));
    refused(HF_INVALID, "field name is empty",
            hf_hash_get_fields(c, k, &empty, 1, values, ERR));
    refused(HF_INVALID, "NULL", hf_hash_get_fields(c, k, NULL, 1, values, ERR));
    refused(HF_INVALID, "NULL", hf_hash_get_fields(c, k, &v, 1, NULL, ERR));
}

static void refused_revisions(hf_client *c, hf_bytes k)
{
    const uint64_t above = UINT64_C(1) << 53;
    hf_buffer value = HF_BUFFER_INIT;
    uint64_t revision = 0;

    refused(HF_INVALID, "is NULL",
            hf_value_get_revised(c, k, NULL, &revision, ERR));
    refused(HF_INVALID, "is NULL",
            hf_value_get_revised(c, k, &value, NULL, ERR));
    refused(HF_INVALID, "no hash tag",
            hf_value_get_revised(c, hf_str("a}"), &value, &revision, ERR));
    refused(HF_INVALID, "revision is 9007199254740992",
            hf_value_put_revised(c, k, v, above, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_put_revised(c, k, too_big, 1, NULL, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_put_revised(c, k, v, 1,
                                 WITH(hf_value_set_options, .ttl_ms = -1), NULL,
                                 ERR));
    refused(HF_UNSUPPORTED, "0x1",
            hf_value_put_revised(c, k, v, 1,
                                 WITH(hf_value_set_options, .flags = HF_SET_NX),
                                 NULL, ERR));
    refused(HF_INVALID, "revision is 0",
            hf_value_delete_revised(c, k, HF_REVISION_NONE, NULL, ERR));
    refused(HF_INVALID, "revision is 9007199254740992",
            hf_value_delete_revised(c, k, above, NULL, ERR));
}

static void refused_versions(hf_client *c, hf_bytes k)
{
    const hf_bytes zeros = hf_str("0000000000000000000000000000000000000000");
    hf_buffer value = HF_BUFFER_INIT;

    refused(HF_INVALID, "is NULL",
            hf_value_get_versioned(c, k, NULL, &value, ERR));
    refused(HF_INVALID, "is NULL",
            hf_value_get_versioned(c, k, &value, NULL, ERR));
    refused(HF_INVALID, "version",
            hf_value_cas_versioned(c, k, &v, v, NULL, NULL, ERR));
    refused(HF_INVALID, "version",
            hf_value_cas_versioned(c, k, &empty, v, NULL, NULL, ERR));
    refused(HF_INVALID, "536870913 bytes",
            hf_value_cas_versioned(c, k, &zeros, too_big, NULL, NULL, ERR));
    refused(HF_INVALID, "ttl_ms is -1",
            hf_value_cas_versioned(c, k, &zeros, v,
                                   WITH(hf_cas_options, .ttl_ms = -1), NULL,
                                   ERR));
    refused(HF_INVALID, "version",
            hf_value_delete_versioned(c, k, v, NULL, ERR));
}

static void refused_commands(hf_client *c, hf_bytes k)
{
    const hf_bytes unknown[] = {hf_str("NOSUCH"), k};
    const hf_bytes arity[] = {hf_str("GET"), k, v};
    const hf_bytes word[] = {hf_str("SET"), k, v, hf_str("EX"), hf_str("soon")};
    const hf_bytes null[] = {hf_str("SET"), k, no_bytes};
    const hf_bytes alone[] = {hf_str("GET")};
    hf_reply *reply = NULL;

    refused(HF_INVALID, "its name", hf_command(c, 0, unknown, &reply, ERR));
    refused(HF_INVALID, "its name", hf_command(c, 2, NULL, &reply, ERR));
    refused(HF_INVALID, "NULL", hf_command(c, 3, null, &reply, ERR));
    refused(HF_UNSUPPORTED, "NOSUCH", hf_command(c, 2, unknown, &reply, ERR));
    hf_reply_free(reply);
    refused(HF_INVALID, "number of arguments",
            hf_command(c, 3, arity, &reply, ERR));
    hf_reply_free(reply);
    refused(HF_INVALID, "number of arguments",
            hf_command(c, 1, alone, &reply, ERR));
    hf_reply_free(reply);
    refused(HF_INVALID, "integer", hf_command(c, 5, word, &reply, ERR));
    hf_reply_free(reply);
}

/* Queued in a transaction, which is then executed. */
static hf_status exec_with(hf_client *c, hf_bytes k, hf_bytes expected,
                           hf_bytes field, hf_error *err)
{
    hf_async queue = HF_ASYNC_INIT;
    const hf_field fields[] = {{field, v}};
    hf_status status = hf_txn_new(c, NULL, &queue.txn, err);

    if (status == HF_OK && expected.data != NULL)
        status = hf_txn_if_value(queue.txn, k, expected, err);
    if (status == HF_OK)
        status = hf_value_set_start(c, k, v, NULL, NULL, &queue, err);
    if (status == HF_OK)
        status = hf_hash_put_start(c, k, fields, 1, NULL, &queue, err);
    if (status == HF_OK)
        status = hf_txn_exec(queue.txn, err);
    hf_txn_free(queue.txn);
    return status;
}

static void refused_txns(hf_client *c, hf_bytes k)
{
    hf_txn *txn = NULL;

    expect_status(HF_OK, hf_txn_new(c, NULL, &txn, ERR));
    refused(HF_INVALID, "empty", hf_txn_if_exists(txn, empty, ERR));
    refused(HF_INVALID, "empty", hf_txn_if_absent(txn, empty, ERR));
    refused(HF_INVALID, "536870913", hf_txn_if_value(txn, k, too_big, ERR));
    refused(HF_INVALID, "NULL", hf_txn_if_value(txn, k, no_bytes, ERR));
    refused(HF_INVALID, "version", hf_txn_if_version(txn, k, v, ERR));
    refused(HF_INVALID, "empty", hf_txn_if_field(txn, k, empty, &v, ERR));
    refused(HF_INVALID, "4097", hf_txn_if_field(txn, k, too_long, NULL, ERR));
    refused(HF_INVALID, "token is 0", hf_txn_if_token(txn, k, 0, ERR));
    refused(HF_INVALID, "empty", hf_txn_if_token(txn, empty, 1, ERR));
    refused(HF_INVALID, "token is 0", hf_txn_if_fence(txn, k, 0, ERR));
    refused(HF_INVALID, "NULL", hf_txn_if_held(txn, NULL, ERR));
    hf_txn_free(txn);
    refused(HF_INVALID, "NULL", hf_txn_new(c, NULL, NULL, ERR));
    refused(HF_UNSUPPORTED, "0x80",
            hf_txn_new(c, WITH(hf_txn_options, .flags = 0x80), &txn, ERR));
    refused(HF_INVALID, "empty", exec_with(c, k, hf_view(NULL, 0), empty, ERR));
    refused(HF_WRONG_TYPE, "operation 1",
            exec_with(c, k, hf_view(NULL, 0), v, ERR));
}

/* Beyond the end there is nothing, which is no error. */
TEST(pages_beyond_the_end_are_empty)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_timeline_items page = HF_TIMELINE_ITEMS_INIT;

    for (int round = 0; round < 2; round++) {
        expect_status(
            HF_OK, hf_timeline_page(f->client, key,
                                    WITH(hf_timeline_page_options, .offset = 1),
                                    &page, ERR));
        assert_int_equal(page.count, 0);
        assert_int_equal(page.next.size, 0);
        hf_timeline_items_free(&page);
        expect_status(HF_OK,
                      hf_timeline_add(f->client, key, v, v, 60000, NULL, ERR));
    }
}

TEST(bad_arguments_are_named_and_change_nothing)
{
    fixture *f = *state;
    static void (*const tables[])(hf_client *, hf_bytes) = {
        refused_value_sets, refused_values, refused_hashes,  refused_keys,
        refused_counters,   refused_adds,   refused_pages,   refused_versions,
        refused_commands,   refused_txns,   refused_changes, refused_fenced,
        refused_revisions};
    hf_bytes key = fixture_key(f, "k");

    memset(long_name, 'f', sizeof(long_name));
    for (size_t type = 0; type < WATCHED_TYPES; type++) {
        watch_key(f, key, &watched_types[type]);
        for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
            tables[i](f->client, key);
    }
}
