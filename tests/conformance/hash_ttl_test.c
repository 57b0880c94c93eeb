/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_ttl_test.c - the time to live of fields: hf_hash_expire_fields(),
 * hf_hash_ttl_fields(), `field_ttl_ms` of hf_hash_put(). A server without
 * HPEXPIRE refuses all of it and writes nothing.
 */
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"

FIXTURE_TESTS();

#define MINUTE_MS 60000
#define FEW_MS 40

static const hf_bytes names[] = {{"a", 1}, {"b", 1}, {"none", 4}};

/* HF_OK, or what a store refuses a time to live of a field with. */
static hf_status supported(fixture *f, hf_bytes key)
{
    hf_status status =
        hf_hash_expire_fields(f->client, key, MINUTE_MS, names, 2, NULL, ERR);

    if (status == HF_NOT_FOUND)
        return HF_OK;
    /* Only an old server may. */
    assert_true(status == HF_OK || (status == HF_UNSUPPORTED &&
                                    (f->server != NULL || f->cluster != NULL)));
    return status;
}

static hf_status put(fixture *f, hf_bytes key, const char *value,
                     uint32_t flags, int64_t field_ttl_ms)
{
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_field fields[] = {{names[0], hf_str(value)}, {names[1], hf_str(value)}};

    opts.flags = flags;
    opts.field_ttl_ms = field_ttl_ms;
    return hf_hash_put(f->client, key, fields, 2, &opts, ERR);
}

static void expect_ttls(fixture *f, hf_bytes key, int64_t a_ms, int64_t b_ms)
{
    int64_t wanted[] = {a_ms, b_ms, -2};
    int64_t found[3];

    expect_status(HF_OK,
                  hf_hash_ttl_fields(f->other, key, names, 3, found, ERR));
    for (size_t i = 0; i < 3; i++) {
        if (wanted[i] < 0)
            assert_int_equal(found[i], wanted[i]);
        else
            assert_true(found[i] > wanted[i] - MINUTE_MS / 2 &&
                        found[i] <= wanted[i]);
    }
}

TEST(unsupported_ttl_of_fields_writes_nothing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    int64_t ttls_ms[] = {7, 7};

    if (supported(f, key) == HF_OK)
        return;
    expect_status(HF_UNSUPPORTED, put(f, key, "1", 0, MINUTE_MS));
    assert_no_key(f->client, key);
    expect_status(HF_OK, put(f, key, "1", 0, 0));
    expect_status(HF_UNSUPPORTED, put(f, key, "2", HF_HASH_REPLACE, MINUTE_MS));
    assert_field(f->client, key, names[0], bytes("1"));
    expect_status(HF_UNSUPPORTED, hf_hash_expire_fields(f->client, key, -1,
                                                        names, 2, NULL, ERR));
    expect_status(HF_UNSUPPORTED,
                  hf_hash_ttl_fields(f->client, key, names, 2, ttls_ms, ERR));
    assert_int_equal(ttls_ms[0], 7);
}

TEST(fields_get_keep_and_lose_a_ttl)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    size_t found = 77;

    if (supported(f, key) != HF_OK)
        return;
    expect_status(HF_OK, put(f, key, "1", 0, 0));
    expect_ttls(f, key, -1, -1);
    expect_status(HF_OK, hf_hash_expire_fields(f->client, key, MINUTE_MS,
                                               names + 1, 2, &found, ERR));
    assert_int_equal(found, 1);
    expect_ttls(f, key, -1, MINUTE_MS);
    assert_no_ttl(f->client, key);
    expect_status(HF_OK,
                  hf_hash_add(f->client, key, names[1], 1, NULL, NULL, ERR));
    expect_ttls(f, key, -1, MINUTE_MS);
    expect_status(HF_OK, hf_hash_expire_fields(f->client, key, -1, names, 3,
                                               &found, ERR));
    assert_int_equal(found, 2);
    expect_ttls(f, key, -1, -1);
    expect_status(HF_OK, put(f, key, "2", HF_HASH_REPLACE, 2 * MINUTE_MS));
    expect_ttls(f, key, 2 * MINUTE_MS, 2 * MINUTE_MS);
    expect_status(HF_OK, put(f, key, "3", 0, 0));
    expect_ttls(f, key, -1, -1);
}

static bool has_field(fixture *f, hf_bytes key, hf_bytes name)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_hash_get(f->other, key, name, &value, ERR);

    hf_buffer_free(&value);
    assert_true(status == HF_OK || status == HF_NOT_FOUND);
    return status == HF_OK;
}

/* Of a and b only b expires. */
static void expire_b(fixture *f, hf_bytes key)
{
    expect_status(HF_OK, put(f, key, "1", 0, 0));
    expect_status(HF_OK, hf_hash_expire_fields(f->client, key, FEW_MS,
                                               names + 1, 1, NULL, ERR));
    expect_soon(!has_field(f, key, names[1]), 2 * FEW_MS);
}

TEST(expired_field_is_returned_by_nothing)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer value = HF_BUFFER_INIT;
    hf_fields fields = HF_FIELDS_INIT;
    hf_bytes old = bytes("1");
    size_t deleted = 77;

    if (supported(f, key) != HF_OK)
        return;
    expire_b(f, key);
    expect_status(HF_NOT_FOUND,
                  hf_hash_get(f->client, key, names[1], &value, ERR));
    expect_status(HF_OK, hf_hash_get_all(f->client, key, &fields, ERR));
    assert_int_equal(fields.count, 1);
    hf_fields_free(&fields);
    expect_ttls(f, key, -1, -2);
    expect_status(HF_OK, hf_hash_delete_fields(f->client, key, names + 1, 1,
                                               &deleted, ERR));
    assert_int_equal(deleted, 0);
    expect_status(HF_NOT_FOUND, hf_hash_cas(f->client, key, names[1], &old,
                                            bytes("2"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_hash_cas(f->client, key, names[1], NULL, bytes("2"),
                                     NULL, NULL, ERR));
    expect_ttls(f, key, -1, -1);
}

TEST(key_is_gone_with_its_last_field)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    int64_t left_ms;

    if (supported(f, key) != HF_OK)
        return;
    expect_status(HF_OK, put(f, key, "1", 0, FEW_MS));
    expect_soon(!has_field(f, key, names[0]), 2 * FEW_MS);
    /* A server deletes it a little later. */
    if (f->server != NULL || f->cluster != NULL)
        expect_soon(hf_key_ttl(f->client, key, &left_ms, ERR) == HF_NOT_FOUND,
                    2000);
    assert_no_key(f->client, key);
    expect_status(HF_NOT_FOUND, put(f, key, "1", HF_HASH_XX, 0));
    expect_status(HF_OK, put(f, key, "1", HF_HASH_NX, 0));
}

TEST(ttl_of_fields_refuses_bad_input)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_field one = {names[0], hf_str("1")};
    int64_t bad[] = {0, -2, INT64_MIN, HF_TTL_MAX_MS + 1};
    int64_t ttl_ms;

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_status(HF_INVALID, hf_hash_expire_fields(f->client, key, bad[i],
                                                        names, 1, NULL, ERR));
        opts.field_ttl_ms = bad[i];
        if (bad[i] != 0)
            expect_status(HF_INVALID,
                          hf_hash_put(f->client, key, &one, 1, &opts, ERR));
    }
    expect_status(HF_INVALID, hf_hash_expire_fields(f->client, key, 1, names, 0,
                                                    NULL, ERR));
    expect_status(HF_INVALID,
                  hf_hash_expire_fields(f->client, key, 1, names,
                                        HF_HASH_FIELDS_MAX + 1, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_hash_ttl_fields(f->client, key, NULL, 1, &ttl_ms, ERR));
    expect_status(HF_INVALID,
                  hf_hash_ttl_fields(f->client, key, names, 1, NULL, ERR));
    assert_no_key(f->client, key);
    if (supported(f, key) != HF_OK)
        return;
    expect_status(HF_NOT_FOUND,
                  hf_hash_ttl_fields(f->client, key, names, 1, &ttl_ms, ERR));
    put_value(f->client, key, bytes("v"), 0);
    expect_status(HF_WRONG_TYPE, hf_hash_expire_fields(f->client, key, 1, names,
                                                       1, NULL, ERR));
    expect_status(HF_WRONG_TYPE,
                  hf_hash_ttl_fields(f->client, key, names, 1, &ttl_ms, ERR));
    expect_status(HF_WRONG_TYPE, put(f, key, "1", 0, 1));
    assert_value(f->client, key, bytes("v"));
}
