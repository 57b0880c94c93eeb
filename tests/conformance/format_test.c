/* SPDX-License-Identifier: Apache-2.0 */
/*
 * format_test.c - keys and integers as text: what is formatted is stored and
 * read back, and a text that did not fit its buffer is refused by every call,
 * not cut.
 */
#include <stdio.h>
#include <string.h>

#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/hash.h"
#include "holdfast/key.h"
#include "holdfast/latch.h"
#include "holdfast/lock.h"
#include "holdfast/once.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/timeline.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* -------------------------------------------------------------------- texts */

TEST(format_writes_what_snprintf_does)
{
    char buffer[8];
    hf_bytes text = hf_format(buffer, sizeof(buffer), "%s:%d", "key", 12);

    assert_ptr_equal(text.data, buffer);
    assert_bytes(bytes("key:12"), text);
    assert_int_equal(buffer[6], '\0');
    assert_bytes(bytes("1234567"),
                 hf_format(buffer, sizeof(buffer), "%d", 1234567));
    assert_bytes(bytes("seat:7"), HF_FORMAT("seat:%d", 7));
    assert_int_equal(HF_FORMAT("%s", "").size, 0);
    assert_non_null(HF_FORMAT("%s", "").data);
}

TEST(format_that_does_not_fit_has_no_data)
{
    char buffer[8] = "";
    hf_bytes text = hf_format(buffer, sizeof(buffer), "%d", 12345678);

    assert_null(text.data);
    assert_int_equal(text.size, 8);
    text = hf_format(NULL, 0, "%d", 12);
    assert_null(text.data);
    assert_int_equal(text.size, 2);
    assert_non_null(HF_FORMAT("%0*d", HF_FORMAT_SIZE - 1, 0).data);
    text = HF_FORMAT("%0*d", HF_FORMAT_SIZE, 0);
    assert_null(text.data);
    assert_int_equal(text.size, HF_FORMAT_SIZE);
    text = HF_FORMAT("%ls", L"\x4e00"); /* no byte of the locale "C" */
    assert_null(text.data);
    assert_true(text.size > 0);
}

/* ----------------------------------------------------------------- integers */

TEST(integers_are_read_back_as_they_were_stored)
{
    static const int64_t numbers[] = {
        INT64_MIN, INT64_MIN + 1, -10, -1, 0, 1, 10, INT64_MAX - 1, INT64_MAX};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "n");

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        hf_buffer value = HF_BUFFER_INIT;
        int64_t number = numbers[i] ^ 1;

        expect_status(HF_OK, hf_value_set(f->client, key, HF_INT(numbers[i]),
                                          NULL, NULL, ERR));
        expect_status(HF_OK, hf_value_get(f->other, key, &value, ERR));
        expect_status(HF_OK, hf_buffer_int(&value, &number, ERR));
        assert_true(number == numbers[i]);
        hf_buffer_free(&value);
        expect_status(HF_OK,
                      hf_value_add(f->client, key, 0, NULL, &number, ERR));
        assert_true(number == numbers[i]);
    }
}

/* A counter and hf_bytes_int() agree on what is an integer. */
TEST(integers_are_those_that_can_be_counted)
{
    static const char *const texts[] = {"",
                                        "-",
                                        "+1",
                                        " 1",
                                        "1 ",
                                        "01",
                                        "-01",
                                        "00",
                                        "-0",
                                        "1.0",
                                        "1e3",
                                        "0x10",
                                        "--1",
                                        "a",
                                        "1a",
                                        "1\n",
                                        "9223372036854775808",
                                        "-9223372036854775809",
                                        "18446744073709551616",
                                        "99999999999999999999"};
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "n");

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int64_t number = 7;

        expect_status(HF_WRONG_TYPE,
                      hf_bytes_int(hf_str(texts[i]), &number, ERR));
        assert_int_equal(number, 7);
        expect_status(HF_OK, hf_value_set(f->client, key, hf_str(texts[i]),
                                          NULL, NULL, ERR));
        expect_status(HF_WRONG_TYPE,
                      hf_value_add(f->client, key, 0, NULL, &number, ERR));
    }
}

TEST(integers_are_bounded_by_the_size_of_their_text)
{
    static const char digits[] = {'1', '2', '3'};
    int64_t number = 0;

    expect_status(HF_OK, hf_bytes_int(hf_view(digits, 2), &number, ERR));
    assert_int_equal(number, 12);
    expect_status(HF_WRONG_TYPE,
                  hf_bytes_int(hf_view("12\0", 3), &number, ERR));
}

TEST(integers_of_no_value_are_not_found)
{
    const hf_buffer nothing = HF_BUFFER_INIT;
    int64_t number = 7;

    expect_status(HF_NOT_FOUND, hf_buffer_int(&nothing, &number, ERR));
    expect_status(HF_INVALID, hf_bytes_int(hf_view(NULL, 1), &number, ERR));
    expect_status(HF_INVALID, hf_bytes_int(bytes("1"), NULL, ERR));
    assert_int_equal(number, 7);
}

/* --------------------------------------------------- texts that did not fit */

static const hf_bytes k = {"k", 1};
static const hf_bytes v = {"v", 1};

/* The call, whose last argument is ERR, says that it got NULL. */
#define refused(call)                                                          \
    do {                                                                       \
        expect_status(HF_INVALID, (call));                                     \
        if (strstr(expect_message(), "NULL") == NULL)                          \
            fail_msg("%s: %s", #call, expect_message());                       \
    } while (0)

static int report_key(void *user, hf_bytes key)
{
    (void)user;
    (void)key;
    return 0;
}

static void refuse_in_values(hf_client *c, hf_bytes lost)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_cache_options cached = HF_CACHE_OPTIONS_INIT;
    const hf_field named = {lost, v};
    const hf_field filled = {v, lost};

    cached.ttl_ms = 1000;
    refused(hf_value_set(c, lost, v, NULL, NULL, ERR));
    assert_non_null(strstr(expect_message(), "key is NULL, of 9 bytes"));
    assert_non_null(strstr(expect_message(), "hf_format()"));
    refused(hf_value_set(c, k, lost, NULL, NULL, ERR));
    refused(hf_value_cas(c, k, &lost, v, NULL, NULL, ERR));
    refused(hf_hash_put(c, k, &named, 1, NULL, ERR));
    refused(hf_hash_put(c, k, &filled, 1, NULL, ERR));
    refused(hf_hash_get(c, k, lost, &value, ERR));
    refused(hf_key_rename(c, k, lost, 0, ERR));
    refused(hf_cache_put(c, k, lost, &cached, ERR));
    refused(hf_cache_invalidate(c, lost, ERR));
    refused(hf_key_list(c, lost, 0, report_key, NULL, ERR));
}

static void refuse_in_words(fixture *f, hf_bytes lost)
{
    hf_script *script = fixture_script(f, f->client, "return 1");
    const hf_bytes words[] = {bytes("SET"), k, lost};
    hf_client *c = f->client;
    hf_reply *reply = NULL;
    hf_txn *txn = NULL;

    refused(hf_command(c, 3, words, &reply, ERR));
    refused(hf_script_run(script, &lost, 1, NULL, 0, &reply, ERR));
    refused(hf_script_run(script, NULL, 0, &lost, 1, &reply, ERR));
    expect_status(HF_INVALID, hf_script_load(c, lost, &script, ERR));
    expect_status(HF_OK, hf_txn_new(c, NULL, &txn, ERR));
    refused(hf_txn_if_value(txn, k, lost, ERR));
    hf_txn_free(txn);
}

static void refuse_in_timelines(hf_client *c, hf_bytes lost)
{
    hf_timeline_add_options opts = HF_TIMELINE_ADD_OPTIONS_INIT;
    hf_attribute attribute = hf_attribute_text(lost, v);

    refused(hf_timeline_add(c, k, lost, v, 1000, NULL, ERR));
    refused(hf_timeline_add(c, k, v, lost, 1000, NULL, ERR));
    opts.attributes = &attribute;
    opts.attribute_count = 1;
    refused(hf_timeline_add(c, k, v, v, 1000, &opts, ERR));
    attribute = hf_attribute_text(v, lost);
    refused(hf_timeline_add(c, k, v, v, 1000, &opts, ERR));
}

static void refuse_in_leases(hf_client *c, hf_bytes lost)
{
    hf_lock *lock = NULL;
    int64_t left;

    refused(hf_lock_new(c, lost, NULL, &lock, ERR));
    refused(hf_election_new(c, k, lost, NULL, &lock, ERR));
    refused(hf_once_new(c, lost, NULL, NULL, &lock, ERR));
    refused(hf_latch_arrive(c, k, lost, 1, &left, ERR));
    assert_null(lock);
}

TEST(texts_that_did_not_fit_are_refused)
{
    fixture *f = *state;
    char buffer[4];
    hf_bytes lost = hf_format(buffer, sizeof(buffer), "%s", "lost text");

    assert_null(lost.data);
    refuse_in_values(f->client, lost);
    refuse_in_words(f, lost);
    refuse_in_timelines(f->client, lost);
    refuse_in_leases(f->client, lost);
    expect_status(HF_NOT_FOUND,
                  hf_value_get(f->client, k, &(hf_buffer){NULL, 0}, ERR));
}
