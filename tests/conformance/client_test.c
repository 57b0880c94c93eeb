/* SPDX-License-Identifier: Apache-2.0 */
/*
 * client_test.c - statuses, opening and closing. What only one kind of store
 * does when it is opened is in embedded_open_test.c and redis_open_test.c.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/test_clock.h"
#include "support/told.h"

FIXTURE_TESTS();

static hf_status open_url(const char *url, int64_t connect_ms)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_status status;

    opts.connect_ms = connect_ms;
    status = hf_client_open(url, &opts, &client, ERR);
    if (status == HF_OK) {
        hf_client_close(client);
    } else {
        assert_null(client);
    }
    return status;
}

TEST(status_names_texts_and_kinds)
{
#define CHECK(name, value, text)                                               \
    assert_int_equal(HF_##name, value);                                        \
    assert_string_equal(hf_status_name(HF_##name), #name);                     \
    assert_string_equal(hf_status_text(HF_##name), text);                      \
    assert_int_equal(hf_status_kind(HF_##name), (value) / 100);
    HF_STATUS_MAP(CHECK)
#undef CHECK
}

TEST(status_that_is_not_known_has_a_kind_and_a_name)
{
    assert_string_equal(hf_status_name((hf_status)199), "UNKNOWN");
    assert_non_null(hf_status_text((hf_status)199));
    assert_null(strchr(hf_status_text((hf_status)199), '\n'));
    assert_int_equal(hf_status_kind((hf_status)199), HF_KIND_NO);
    assert_int_equal(hf_status_kind((hf_status)599), HF_KIND_FATAL);
    assert_int_equal(hf_status_kind((hf_status)600), HF_KIND_FATAL);
    assert_int_equal(hf_status_kind((hf_status)-1), HF_KIND_FATAL);
}

TEST(version_is_that_of_the_header)
{
    char version[32];

    (void)snprintf(version, sizeof(version), "%d.%d.%d", HF_VERSION_MAJOR,
                   HF_VERSION_MINOR, HF_VERSION_PATCH);
    assert_string_equal(hf_version(), version);
}

TEST(views_of_strings_and_nothing)
{
    assert_int_equal(hf_str("abc").size, 3);
    assert_int_equal(hf_str("").size, 0);
    assert_int_equal(hf_str(NULL).size, 0);
    assert_null(hf_str(NULL).data);
}

TEST(open_without_a_url_uses_the_environment)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    const char *const urls[] = {NULL, ""};

    put_value(f->client, key, bytes("here"), 0);
    assert_int_equal(setenv("HOLDFAST_STORE", f->url, 1), 0);
    for (size_t i = 0; i < 2; i++) {
        hf_client *client = NULL;

        expect_status(HF_OK, hf_client_open(urls[i], NULL, &client, ERR));
        assert_value(client, key, bytes("here"));
        hf_client_close(client);
    }
    assert_int_equal(setenv("HOLDFAST_STORE", "nonsense", 1), 0);
    expect_status(HF_INVALID, open_url(NULL, 0));
    assert_int_equal(unsetenv("HOLDFAST_STORE"), 0);
}

TEST(open_with_a_wrong_url_is_invalid)
{
    const char *const bad[] = {
        "nonsense",
        "nonsense://host",
        "://host",
        "redis:",
        "redis://",
        "redis://host:port",
        "redis://host:0",
        "redis://host:65536",
        "redis://host/notanumber",
        "redis://host/-1",
        "redis://host/0/1",
        "redis://host?bogus=1",
        "redis://%zz@host",
        "redis+unix:",
        "redis+unix://",
        "redis+unix:///socket?db=x",
        "redis+unix:///socket?bogus=1",
        "file:",
        "file:/nonexistent/x?bogus=1",
        "file:/nonexistent/x?durability=sometimes",
        "file:/nonexistent/x?durability=commit&durability=commit",
        "file:/nonexistent/x?max_size=",
        "file:/nonexistent/x?max_size=0",
        "file:/nonexistent/x?max_size=-1",
        "file:/nonexistent/x?max_size=12Q",
        "file:/nonexistent/x?max_size=99999999999G",
        "volatile:/dev/shm/x?durability=commit",
        "volatile:name?bogus=1",
        "volatile:../escape",
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        expect_status_at(HF_INVALID, open_url(bad[i], 100), bad[i], __FILE__,
                         __LINE__);
    }
}

TEST(open_names_the_part_of_the_url_that_is_wrong)
{
    expect_status(HF_INVALID, open_url("file:/nonexistent/x?bogus=1", 0));
    assert_non_null(strstr(expect_message(), "bogus"));
    expect_status(HF_INVALID, open_url("file:/nonexistent/x?max_size=12Q", 0));
    assert_non_null(strstr(expect_message(), "max_size"));
    expect_status(HF_INVALID, open_url("nonsense://host", 0));
    assert_non_null(strstr(expect_message(), "nonsense"));
    expect_status(HF_INVALID, open_url("redis://u:geheim@host?bogus=1", 0));
    assert_null(strstr(expect_message(), "geheim"));
    expect_status(HF_INVALID, open_url("redis://u:geheim@host:x", 0));
    assert_null(strstr(expect_message(), "geheim"));
}

TEST(open_where_no_server_is_is_unavailable)
{
    int64_t began_ms = test_now_ms();

    expect_status(HF_UNAVAILABLE, open_url("redis://127.0.0.1:1", 500));
    expect_status(HF_UNAVAILABLE, open_url("redis://localhost:1", 500));
    expect_status(HF_UNAVAILABLE, open_url("valkey://[::1]:1", 500));
    expect_status(HF_UNAVAILABLE,
                  open_url("redis+unix:///nonexistent/socket", 500));
    expect_status(HF_UNAVAILABLE, open_url("redis://a.name.invalid", 1000));
    assert_in_time(test_now_ms() - began_ms, 4000);
}

TEST(clients_of_one_store_close_independently)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_client *third = fixture_client(f, NULL);

    put_value(third, key, bytes("1"), 0);
    fixture_close_client(f, third);
    assert_value(f->client, key, bytes("1"));
    assert_value(f->other, key, bytes("1"));
    third = fixture_client(f, NULL);
    assert_value(third, key, bytes("1"));
}

TEST(client_closes_with_a_lock_released_or_expired)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = NULL;

    expect_status(HF_OK, hf_lock_new(client, name, NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    hf_lock_free(lock);
    fixture_close_client(f, client);
    assert_no_key(f->client, name);
    hf_client_close(NULL);
}

TEST(client_opens_and_closes_many_times)
{
    fixture *f = *state;

    for (int i = 0; i < 50; i++) {
        expect_status(HF_OK, open_url(f->url, 0));
    }
}

static hf_client_stats stats_of(hf_client *client)
{
    hf_client_stats stats = HF_CLIENT_STATS_INIT;

    expect_status(HF_OK, hf_client_read_stats(client, &stats, ERR));
    assert_int_equal(stats.struct_size, sizeof(stats));
    return stats;
}

TEST(stats_count_leases)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_client *client = fixture_client(f, NULL);
    hf_lock *lock;

    opts.ttl_ms = slowed_ms(300);
    lock = fixture_lock(f, client, name, &opts);
    assert_int_equal(stats_of(client).leases_granted, 0);
    expect_status(HF_OK, hf_lock_acquire(lock, 10000, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 10000, ERR)); /* re-entry */
    assert_int_equal(stats_of(client).leases_granted, 1);
    for (int64_t until_ms = test_now_ms() + 10000;
         stats_of(client).leases_renewed < 2 && test_now_ms() < until_ms;)
        test_rest();
    assert_true(stats_of(client).leases_renewed >= 2);
    assert_int_equal(stats_of(client).leases_lost, 0);

    expect_status(HF_OK, hf_lock_break(f->other, name, ERR));
    for (int64_t until_ms = test_now_ms() + 10000;
         hf_lock_is_held(lock) && test_now_ms() < until_ms;)
        test_rest();
    assert_int_equal(stats_of(client).leases_lost, 1);
    assert_int_equal(stats_of(client).leases_granted, 1);
}

TEST(stats_count_calls)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_client_stats stats;
    told stored = {0};
    hf_async async = tell(&stored);

    expect_status(HF_OK,
                  hf_value_set_start(client, fixture_key(f, "k"), bytes("v"),
                                     NULL, NULL, &async, ERR));
    stats = stats_of(client);
    assert_int_equal(stats.calls_running, 1);
    assert_true(stats.calls_bytes > 0);
    assert_int_equal(stats.calls_completed, 0);
    await_told(client, &stored, 1);
    stats = stats_of(client);
    assert_int_equal(stats.calls_running, 0);
    assert_int_equal(stats.calls_bytes, 0);
    assert_int_equal(stats.calls_completed, 1);
}

/* A program of an older header reads what it knows. */
TEST(stats_of_a_smaller_struct_are_written_to_its_end)
{
    fixture *f = *state;
    hf_client_stats stats = HF_CLIENT_STATS_INIT;

    stats.struct_size = offsetof(hf_client_stats, leases_lost);
    stats.leases_lost = 7;
    expect_status(HF_OK, hf_client_read_stats(f->client, &stats, ERR));
    assert_int_equal(stats.leases_lost, 7);
    stats.struct_size = 0;
    expect_status(HF_INVALID, hf_client_read_stats(f->client, &stats, ERR));
    expect_status(HF_INVALID, hf_client_read_stats(f->client, NULL, ERR));
}
