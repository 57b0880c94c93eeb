/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hash_test.c - hf_hash_put() with all its options, and reading, removing and
 * deleting. Compare-and-set of a field is in hash_cas_test.c.
 */
#include <stdio.h>

#include "holdfast/hash.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Put field, value, ... with flags and a time to live; both may be 0. */
static hf_status put(fixture *f, hf_bytes key, const char *const *list,
                     uint32_t flags, int64_t ttl_ms)
{
    hf_hash_put_options opts = HF_HASH_PUT_OPTIONS_INIT;
    hf_field fields[8];
    size_t count = 0;

    for (; list[2 * count] != NULL; count++) {
        fields[count].name = hf_str(list[2 * count]);
        fields[count].value = hf_str(list[2 * count + 1]);
    }
    opts.flags = flags;
    opts.ttl_ms = ttl_ms;
    return hf_hash_put(f->client, key, fields, count, &opts, ERR);
}

static size_t count_fields(fixture *f, hf_bytes key)
{
    hf_fields fields = HF_FIELDS_INIT;
    size_t count;

    expect_status(HF_OK, hf_hash_get_all(f->client, key, &fields, ERR));
    count = fields.count;
    hf_fields_free(&fields);
    return count;
}

TEST(hash_put_is_seen_by_another_client)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const hf_field fields[] = {{bytes("a"), bytes("1")},
                               {bytes("b"), bytes("2")}};

    expect_status(HF_OK, hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    assert_field(f->other, key, bytes("a"), bytes("1"));
    assert_field(f->other, key, bytes("b"), bytes("2"));
    assert_no_ttl(f->other, key);
}

TEST(hash_put_sets_fields_and_ttl_together)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    expect_status(HF_OK, put(f, key, words("a", "1", "b", "2"), 0, 60000));
    assert_int_equal(count_fields(f, key), 2);
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_merges_and_keeps_the_ttl_by_default)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const hf_field more[] = {{bytes("b"), bytes("20")},
                             {bytes("c"), bytes("3")}};

    put_hash(f->client, key, words("a", "1", "b", "2"), 60000);
    expect_status(HF_OK, hf_hash_put(f->client, key, more, 2, NULL, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
    assert_field(f->client, key, bytes("b"), bytes("20"));
    assert_field(f->client, key, bytes("c"), bytes("3"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_with_ttl_shortens_and_lengthens)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_OK, put(f, key, words("a", "2"), 0, 30000));
    assert_ttl(f->client, key, 30000);
    expect_status(HF_OK, put(f, key, words("a", "3"), 0, HF_TTL_MAX_MS));
    assert_ttl(f->client, key, HF_TTL_MAX_MS);
}

TEST(hash_goes_away_whole_and_starts_afresh)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer value = HF_BUFFER_INIT;

    put_hash(f->client, key, words("old", "1", "old2", "1"), 30);
    expect_soon(key_is_gone(f->other, key), 1000);
    expect_status(HF_NOT_FOUND,
                  hf_hash_get(f->client, key, bytes("old"), &value, ERR));
    put_hash(f->client, key, words("new", "2"), 0);
    assert_int_equal(count_fields(f, key), 1);
    assert_no_ttl(f->client, key);
}

TEST(hash_put_persist_removes_the_ttl)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_OK, put(f, key, words("b", "2"), HF_HASH_PERSIST, 0));
    assert_no_ttl(f->client, key);
    assert_int_equal(count_fields(f, key), 2);
}

TEST(hash_put_nx_creates_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    expect_status(HF_OK, put(f, key, words("a", "1"), HF_HASH_NX, 60000));
    expect_status(HF_CONFLICT, put(f, key, words("a", "2"), HF_HASH_NX, 5000));
    expect_status(HF_CONFLICT, put(f, key, words("b", "2"),
                                   HF_HASH_NX | HF_HASH_REPLACE, 5000));
    expect_status(HF_CONFLICT, put(f, key, words("b", "2"),
                                   HF_HASH_NX | HF_HASH_PERSIST, 0));
    assert_field(f->client, key, bytes("a"), bytes("1"));
    assert_int_equal(count_fields(f, key), 1);
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_xx_needs_the_key)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    expect_status(HF_NOT_FOUND, put(f, key, words("a", "1"), HF_HASH_XX, 500));
    assert_no_key(f->client, key);
    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_OK, put(f, key, words("a", "2"), HF_HASH_XX, 60000));
    assert_field(f->client, key, bytes("a"), bytes("2"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_replace_drops_the_other_fields)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_hash(f->client, key, words("a", "1", "b", "2", "c", "3"), 60000);
    expect_status(HF_OK,
                  put(f, key, words("b", "20", "d", "4"), HF_HASH_REPLACE, 0));
    assert_int_equal(count_fields(f, key), 2);
    assert_field(f->client, key, bytes("b"), bytes("20"));
    assert_field(f->client, key, bytes("d"), bytes("4"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_replace_with_nothing_in_common)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(HF_OK, put(f, key, words("b", "2"),
                             HF_HASH_REPLACE | HF_HASH_XX, 30000));
    assert_int_equal(count_fields(f, key), 1);
    assert_ttl(f->client, key, 30000);
    expect_status(HF_OK, put(f, key, words("c", "3"),
                             HF_HASH_REPLACE | HF_HASH_PERSIST, 0));
    assert_field(f->client, key, bytes("c"), bytes("3"));
    assert_no_ttl(f->client, key);
}

TEST(hash_put_the_last_of_equal_fields_wins)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const char *const *twice = words("a", "1", "b", "2", "a", "3");

    expect_status(HF_OK, put(f, key, twice, 0, 0));
    assert_field(f->client, key, bytes("a"), bytes("3"));
    assert_int_equal(count_fields(f, key), 2);
    expect_status(HF_OK, put(f, key, twice, HF_HASH_REPLACE, 0));
    assert_field(f->client, key, bytes("a"), bytes("3"));
    assert_int_equal(count_fields(f, key), 2);
}

TEST(hash_put_on_a_value_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const uint32_t flags[] = {0, HF_HASH_REPLACE, HF_HASH_PERSIST, HF_HASH_XX};

    put_value(f->client, key, bytes("v"), 60000);
    for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
        expect_status(HF_WRONG_TYPE, put(f, key, words("a", "1"), flags[i], 0));
    }
    assert_value(f->client, key, bytes("v"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_put_refuses_bad_options)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const char *const *one = words("a", "1");

    expect_status(HF_INVALID, put(f, key, one, HF_HASH_NX | HF_HASH_XX, 0));
    expect_status(HF_INVALID, put(f, key, one, HF_HASH_PERSIST, 1000));
    expect_status(HF_INVALID, put(f, key, one, 0, -1));
    expect_status(HF_INVALID, put(f, key, one, 0, HF_TTL_MAX_MS + 1));
    assert_no_key(f->client, key);
}

TEST(hash_put_and_delete_fields_refuse_bad_counts)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    static hf_field fields[HF_HASH_FIELDS_MAX + 1];
    static hf_bytes names[HF_HASH_FIELDS_MAX + 1];

    for (size_t i = 0; i < HF_HASH_FIELDS_MAX + 1; i++) {
        fields[i] = (hf_field){bytes("a"), bytes("1")};
        names[i] = bytes("a");
    }
    expect_status(HF_INVALID,
                  hf_hash_put(f->client, key, fields, 0, NULL, ERR));
    expect_status(HF_INVALID, hf_hash_put(f->client, key, fields,
                                          HF_HASH_FIELDS_MAX + 1, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_hash_delete_fields(f->client, key, names, 0, NULL, ERR));
    expect_status(HF_INVALID,
                  hf_hash_delete_fields(f->client, key, names,
                                        HF_HASH_FIELDS_MAX + 1, NULL, ERR));
    assert_no_key(f->client, key);
}

TEST(hash_holds_a_thousand_fields_at_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    static char texts[HF_HASH_FIELDS_MAX][8];
    static hf_field fields[HF_HASH_FIELDS_MAX];
    static hf_bytes names[HF_HASH_FIELDS_MAX];
    size_t deleted = 0;

    for (size_t i = 0; i < HF_HASH_FIELDS_MAX; i++) {
        (void)snprintf(texts[i], sizeof(texts[i]), "f%zu", i);
        names[i] = hf_str(texts[i]);
        fields[i] = (hf_field){names[i], names[i]};
    }
    expect_status(HF_OK, hf_hash_put(f->client, key, fields, HF_HASH_FIELDS_MAX,
                                     NULL, ERR));
    assert_int_equal(count_fields(f, key), HF_HASH_FIELDS_MAX);
    assert_field(f->client, key, bytes("f517"), bytes("f517"));
    expect_status(HF_OK,
                  hf_hash_delete_fields(f->client, key, names,
                                        HF_HASH_FIELDS_MAX, &deleted, ERR));
    assert_int_equal(deleted, HF_HASH_FIELDS_MAX);
    assert_no_key(f->client, key);
}

TEST(hash_fields_and_values_are_binary_safe)
{
    fixture *f = *state;
    hf_bytes key = bytes("hash\0\xff\r\n");
    const hf_field fields[] = {{bytes("n\0a"), bytes("1\0\r\n")},
                               {bytes("n\0b"), bytes("")}};
    hf_fields all = HF_FIELDS_INIT;

    expect_status(HF_OK, hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    assert_field(f->client, key, bytes("n\0a"), bytes("1\0\r\n"));
    assert_field(f->client, key, bytes("n\0b"), bytes(""));
    expect_status(HF_OK, hf_hash_get_all(f->client, key, &all, ERR));
    assert_int_equal(all.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const char *name = all.items[i].name.data;

        assert_bytes(fields[name[2] == 'a' ? 0 : 1].name, all.items[i].name);
        assert_bytes(fields[name[2] == 'a' ? 0 : 1].value, all.items[i].value);
    }
    hf_fields_free(&all);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
}

TEST(hash_field_names_are_checked)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    static char text[HF_NAME_MAX + 1];
    hf_field fields[2] = {{bytes("a"), bytes("1")}, {bytes(""), bytes("2")}};

    memset(text, 'f', sizeof(text));
    expect_status(HF_INVALID,
                  hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    fields[1].name = hf_view(text, HF_NAME_MAX + 1);
    expect_status(HF_INVALID,
                  hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    fields[1] = (hf_field){bytes("b"), hf_view("x", (size_t)HF_VALUE_MAX + 1)};
    expect_status(HF_INVALID,
                  hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    assert_no_key(f->client, key);
    fields[1] = (hf_field){hf_view(text, HF_NAME_MAX), bytes("2")};
    expect_status(HF_OK, hf_hash_put(f->client, key, fields, 2, NULL, ERR));
    assert_field(f->client, key, hf_view(text, HF_NAME_MAX), bytes("2"));
}

TEST(hash_get_and_delete_fields_refuse_bad_field_names)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer value = HF_BUFFER_INIT;
    hf_bytes names[2] = {bytes("a"), bytes("")};

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_INVALID,
                  hf_hash_get(f->client, key, bytes(""), &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_get(f->client, key, hf_view("x", HF_NAME_MAX + 1),
                              &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_delete_fields(f->client, key, names, 2, NULL, ERR));
    names[1] = hf_view("x", HF_NAME_MAX + 1);
    expect_status(HF_INVALID,
                  hf_hash_delete_fields(f->client, key, names, 2, NULL, ERR));
    assert_field(f->client, key, bytes("a"), bytes("1"));
}

TEST(hash_reading_what_is_not_there_is_not_found)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_buffer value = HF_BUFFER_INIT;
    hf_fields fields = HF_FIELDS_INIT;

    expect_status(HF_NOT_FOUND,
                  hf_hash_get(f->client, key, bytes("a"), &value, ERR));
    expect_status(HF_NOT_FOUND, hf_hash_get_all(f->client, key, &fields, ERR));
    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_NOT_FOUND,
                  hf_hash_get(f->client, key, bytes("b"), &value, ERR));
    assert_null(value.data);
    assert_null(fields.items);
    assert_int_equal(fields.count, 0);
}

TEST(hash_calls_on_a_value_are_wrong_type)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_bytes name = bytes("a");
    hf_buffer value = HF_BUFFER_INIT;
    hf_fields fields = HF_FIELDS_INIT;
    size_t deleted = 77;

    put_value(f->client, key, bytes("v"), 60000);
    expect_status(HF_WRONG_TYPE,
                  hf_hash_get(f->client, key, name, &value, ERR));
    expect_status(HF_WRONG_TYPE, hf_hash_get_all(f->client, key, &fields, ERR));
    expect_status(HF_WRONG_TYPE, hf_hash_delete_fields(f->client, key, &name, 1,
                                                       &deleted, ERR));
    expect_status(HF_WRONG_TYPE, hf_hash_delete(f->client, key, ERR));
    assert_int_equal(deleted, 77);
    assert_value(f->client, key, bytes("v"));
    assert_ttl(f->client, key, 60000);
}

TEST(hash_delete_fields_counts_the_fields_that_were_there)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const hf_bytes names[] = {bytes("a"), bytes("x"), bytes("a"), bytes("b")};
    size_t deleted = 77;

    put_hash(f->client, key, words("a", "1", "b", "2", "c", "3"), 60000);
    expect_status(
        HF_OK, hf_hash_delete_fields(f->client, key, names, 4, &deleted, ERR));
    assert_int_equal(deleted, 2);
    assert_int_equal(count_fields(f, key), 1);
    assert_ttl(f->client, key, 60000);
    expect_status(HF_OK,
                  hf_hash_delete_fields(f->client, key, names, 4, NULL, ERR));
}

TEST(hash_without_fields_is_gone)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    const hf_bytes name = bytes("a");
    size_t deleted = 77;

    put_hash(f->client, key, words("a", "1"), 60000);
    expect_status(
        HF_OK, hf_hash_delete_fields(f->client, key, &name, 1, &deleted, ERR));
    assert_int_equal(deleted, 1);
    assert_no_key(f->client, key);
    expect_status(
        HF_OK, hf_hash_delete_fields(f->client, key, &name, 1, &deleted, ERR));
    assert_int_equal(deleted, 0);
    put_hash(f->client, key, words("a", "1"), 0);
    assert_no_ttl(f->client, key);
}

TEST(hash_delete_removes_once)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");

    put_hash(f->client, key, words("a", "1", "b", "2"), 0);
    expect_status(HF_OK, hf_hash_delete(f->client, key, ERR));
    assert_no_key(f->other, key);
    expect_status(HF_NOT_FOUND, hf_hash_delete(f->client, key, ERR));
}

TEST(fields_free_resets_and_allows_null)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "h");
    hf_fields fields = HF_FIELDS_INIT;

    put_hash(f->client, key, words("a", "1"), 0);
    expect_status(HF_OK, hf_hash_get_all(f->client, key, &fields, ERR));
    hf_fields_free(&fields);
    assert_null(fields.items);
    assert_int_equal(fields.count, 0);
    hf_fields_free(&fields);
    hf_fields_free(NULL);
}

TEST(hash_get_fields_reads_those_that_exist)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes names[] = {hf_str("c"), hf_str("none"), hf_str("a"), hf_str("c")};
    hf_buffer values[4] = {HF_BUFFER_INIT, HF_BUFFER_INIT, HF_BUFFER_INIT,
                           HF_BUFFER_INIT};

    put_hash(f->client, key, words("a", "", "b", "2", "c", "3"), 0);
    expect_status(HF_OK,
                  hf_hash_get_fields(f->client, key, names, 4, values, ERR));
    assert_buffer(&values[0], bytes("3"));
    assert_null(values[1].data);
    assert_buffer(&values[2], bytes(""));
    assert_buffer(&values[3], bytes("3"));
    expect_status(HF_NOT_FOUND, hf_hash_get_fields(f->client, key, &names[1], 1,
                                                   values, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_hash_get_fields(f->client, fixture_key(f, "none"), names,
                                     4, values, ERR));
    assert_null(values[0].data);
}

TEST(hash_get_fields_refuses_bad_input)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_bytes names[HF_HASH_FIELDS_MAX + 1];
    hf_buffer value = HF_BUFFER_INIT;

    for (size_t i = 0; i <= HF_HASH_FIELDS_MAX; i++)
        names[i] = bytes("");
    put_value(f->client, key, bytes("v"), 0);
    expect_status(HF_INVALID,
                  hf_hash_get_fields(f->client, key, names, 1, &value, ERR));
    names[0] = bytes("a");
    expect_status(HF_WRONG_TYPE,
                  hf_hash_get_fields(f->client, key, names, 1, &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_get_fields(f->client, key, names, 0, &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_get_fields(f->client, key, names,
                                     HF_HASH_FIELDS_MAX + 1, &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_get_fields(f->client, key, NULL, 1, &value, ERR));
    expect_status(HF_INVALID,
                  hf_hash_get_fields(f->client, key, names, 1, NULL, ERR));
    assert_null(value.data);
}
