/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_cas_test.c - hf_value_cas() and hf_value_delete_if(): compare, then
 * set or delete, in one step.
 */
#include "support/store_fixture.h"

static hf_status cas(fixture *f, hf_bytes key, const char *expected,
                     hf_bytes value, int64_t ttl_ms, hf_buffer *current)
{
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_bytes old = hf_str(expected);

    opts.ttl_ms = ttl_ms;
    return hf_value_cas(f->client, key, expected == NULL ? NULL : &old, value,
                        &opts, current, ERR);
}

static void value_cas_replaces_the_expected_value(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 0, &current));
    assert_null(current.data);
    assert_value(f->other, key, bytes("2"));
    assert_no_ttl(f->client, key);
}

static void value_cas_returns_the_value_it_found(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("met"), 60000);
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 5000, &current));
    assert_buffer(&current, bytes("met"));
    expect_status(HF_CONFLICT, cas(f, key, "no", bytes("2"), 0, NULL));
    assert_value(f->client, key, bytes("met"));
    assert_ttl(f->client, key, 60000);
}

/* The script returns a number for "done" and bytes for the value it found:
 * values that look like its numbers must not be taken for them. */
static void value_cas_is_not_confused_by_values_0_and_1(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("1"));
    put_value(f->client, key, bytes("0"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes("0"));
    put_value(f->client, key, bytes(""), 0);
    expect_status(HF_CONFLICT, cas(f, key, "2", bytes("3"), 0, &current));
    assert_buffer(&current, bytes(""));
    expect_status(HF_CONFLICT, hf_value_delete_if(f->client, key, bytes("1"),
                                                  &current, ERR));
    assert_buffer(&current, bytes(""));
}

static void value_cas_compares_bytes_not_numbers(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes with_nul = bytes("a\0b");
    hf_bytes other_end = bytes("a\0c");

    put_value(f->client, key, bytes("10"), 0);
    expect_status(HF_CONFLICT, cas(f, key, "1e1", bytes("2"), 0, NULL));
    expect_status(HF_CONFLICT, cas(f, key, "1", bytes("2"), 0, NULL));
    put_value(f->client, key, with_nul, 0);
    expect_status(HF_CONFLICT, hf_value_cas(f->client, key, &other_end,
                                            bytes("2"), NULL, NULL, ERR));
    expect_status(HF_OK, hf_value_cas(f->client, key, &with_nul, bytes("2"),
                                      NULL, NULL, ERR));
    assert_value(f->client, key, bytes("2"));
}

static void value_cas_expecting_absence_creates_once(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 0, NULL));
    assert_no_ttl(f->client, key);
    expect_status(HF_CONFLICT, cas(f, key, NULL, bytes("2"), 0, &current));
    assert_buffer(&current, bytes("1"));
    assert_value(f->client, key, bytes("1"));
}

static void value_cas_absence_and_empty_value_differ(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes empty = bytes("");

    expect_status(HF_NOT_FOUND, hf_value_cas(f->client, key, &empty, bytes("1"),
                                             NULL, NULL, ERR));
    assert_no_key(f->client, key);
    put_value(f->client, key, empty, 0);
    expect_status(HF_CONFLICT, cas(f, key, NULL, bytes("1"), 0, NULL));
    expect_status(HF_OK, cas(f, key, "", bytes("1"), 0, NULL));
    assert_value(f->client, key, bytes("1"));
}

static void value_cas_expecting_a_value_of_a_missing_key(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, &current));
    assert_null(current.data);
    assert_no_key(f->client, key);
}

static void value_cas_keeps_the_time_to_live(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 0, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, hf_value_cas(f->client, key, &(hf_bytes){"2", 1},
                                      bytes("3"), NULL, NULL, ERR));
    assert_ttl(f->client, key, 60000);
}

static void value_cas_sets_the_time_to_live_asked_for(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    expect_status(HF_OK, cas(f, key, NULL, bytes("1"), 60000, NULL));
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK, cas(f, key, "1", bytes("2"), 30000, NULL));
    assert_ttl(f->client, key, 30000);
}

static void value_cas_sees_no_expired_value(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_value(f->client, key, bytes("1"), 20);
    expect_soon(key_is_gone(f->client, key), 1000);
    expect_status(HF_NOT_FOUND, cas(f, key, "1", bytes("2"), 0, NULL));
    expect_status(HF_OK, cas(f, key, NULL, bytes("2"), 0, NULL));
    assert_no_ttl(f->client, key);
}

static void value_cas_of_a_hash_is_wrong_type(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_WRONG_TYPE, cas(f, key, "1", bytes("2"), 0, NULL));
    expect_status(HF_WRONG_TYPE, cas(f, key, NULL, bytes("2"), 0, NULL));
    expect_status(HF_WRONG_TYPE,
                  hf_value_delete_if(f->client, key, bytes("1"), NULL, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
}

static void value_cas_refuses_bad_values_and_times(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes huge = hf_view("x", (size_t)HF_VALUE_MAX + 1);

    expect_status(HF_INVALID, cas(f, key, NULL, bytes("2"), -1, NULL));
    expect_status(HF_INVALID,
                  cas(f, key, NULL, bytes("2"), HF_TTL_MAX_MS + 1, NULL));
    expect_status(HF_INVALID, cas(f, key, NULL, huge, 0, NULL));
    expect_status(HF_INVALID, hf_value_cas(f->client, key, &huge, bytes("2"),
                                           NULL, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_value_delete_if(f->client, key, huge, NULL, ERR));
    assert_no_key(f->client, key);
}

static void value_delete_if_deletes_the_expected_value(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes with_nul = bytes("a\0b");

    put_value(f->client, key, with_nul, 60000);
    expect_status(HF_CONFLICT,
                  hf_value_delete_if(f->client, key, bytes("a"), NULL, ERR));
    expect_status(HF_OK,
                  hf_value_delete_if(f->client, key, with_nul, NULL, ERR));
    assert_no_key(f->client, key);
}

static void value_delete_if_leaves_another_value(void **state)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_buffer current = HF_BUFFER_INIT;

    put_value(f->client, key, bytes("1"), 60000);
    expect_status(HF_CONFLICT, hf_value_delete_if(f->client, key, bytes("2"),
                                                  &current, ERR));
    assert_buffer(&current, bytes("1"));
    assert_value(f->client, key, bytes("1"));
    assert_ttl(f->client, key, 60000);
}

static void value_delete_if_of_a_missing_key_is_not_found(void **state)
{
    fixture *f = *state;
    hf_buffer current = HF_BUFFER_INIT;

    expect_status(HF_NOT_FOUND,
                  hf_value_delete_if(f->client, fixture_key(f, "k"), bytes("1"),
                                     &current, ERR));
    assert_null(current.data);
}

/* The dedup record of one call does not affect other calls, whatever the key.
 */
static void value_cas_takes_each_call_for_itself(void **state)
{
    static const char *const names[] = {"k", "}", "{", "a}b{", "{tag}k"};
    fixture *f = *state;
    hf_bytes old = bytes("1");
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_buffer current = HF_BUFFER_INIT;

    opts.ttl_ms = 60000;
    for (size_t i = 0; i < 4 * sizeof(names) / sizeof(names[0]); i++) {
        hf_bytes key = fixture_key(f, names[i / 4]);

        opts.flags = i % 2 == 0 ? 0 : HF_CAS_ONCE;
        put_value(f->client, key, old, 0);
        expect_status(HF_OK, hf_value_cas(f->client, key, &old, bytes("2"),
                                          &opts, &current, ERR));
        assert_value(f->other, key, bytes("2"));
        assert_ttl(f->client, key, 60000);
        expect_status(HF_CONFLICT,
                      hf_value_cas(f->client, key, &old, bytes("3"), &opts,
                                   &current, ERR));
        assert_buffer(&current, bytes("2"));
        expect_status(
            HF_OK, hf_value_delete_if(f->client, key, bytes("2"), NULL, ERR));
        expect_status(HF_NOT_FOUND, hf_value_cas(f->client, key, &old,
                                                 bytes("2"), &opts, NULL, ERR));
    }
}

static void value_cas_refuses_unknown_flags(void **state)
{
    fixture *f = *state;
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;

    for (unsigned bit = 1; bit < 32; bit++) {
        opts.flags = 1u << bit;
        expect_status(HF_UNSUPPORTED,
                      hf_value_cas(f->client, fixture_key(f, "k"), NULL,
                                   bytes("3"), &opts, NULL, ERR));
    }
    assert_no_key(f->client, fixture_key(f, "k"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(value_cas_replaces_the_expected_value),
        fixture_test(value_cas_returns_the_value_it_found),
        fixture_test(value_cas_is_not_confused_by_values_0_and_1),
        fixture_test(value_cas_compares_bytes_not_numbers),
        fixture_test(value_cas_expecting_absence_creates_once),
        fixture_test(value_cas_absence_and_empty_value_differ),
        fixture_test(value_cas_expecting_a_value_of_a_missing_key),
        fixture_test(value_cas_keeps_the_time_to_live),
        fixture_test(value_cas_sets_the_time_to_live_asked_for),
        fixture_test(value_cas_sees_no_expired_value),
        fixture_test(value_cas_of_a_hash_is_wrong_type),
        fixture_test(value_cas_refuses_bad_values_and_times),
        fixture_test(value_cas_takes_each_call_for_itself),
        fixture_test(value_cas_refuses_unknown_flags),
        fixture_test(value_delete_if_deletes_the_expected_value),
        fixture_test(value_delete_if_leaves_another_value),
        fixture_test(value_delete_if_of_a_missing_key_is_not_found),
    };

    return fixture_run(tests);
}
