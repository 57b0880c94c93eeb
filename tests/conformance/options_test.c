/* SPDX-License-Identifier: Apache-2.0 */
/*
 * options_test.c - every options struct as an older and a newer program would
 * pass it, and values out of range.
 */
#include <stdio.h>

#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/serve.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* A struct of a future header: ours, with more members. */
#define NEWER(type)                                                            \
    struct {                                                                   \
        type ours;                                                             \
        char more[64];                                                         \
    }

static hf_status open_with(fixture *f, const hf_client_options *opts)
{
    hf_client *client = NULL;
    hf_status status = hf_client_open(f->url, opts, &client, ERR);

    hf_client_close(client);
    return status;
}

static hf_status lock_with(fixture *f, const hf_lock_options *opts)
{
    hf_lock *lock = NULL;
    hf_status status =
        hf_lock_new(f->client, fixture_key(f, "l"), opts, &lock, ERR);

    hf_lock_free(lock);
    return status;
}

static hf_status set_with(fixture *f, const hf_value_set_options *opts)
{
    return hf_value_set(f->client, fixture_key(f, "v"), bytes("v"), opts, NULL,
                        ERR);
}

static hf_status put_with(fixture *f, const hf_hash_put_options *opts)
{
    const hf_field field = {bytes("a"), bytes("1")};

    return hf_hash_put(f->client, fixture_key(f, "h"), &field, 1, opts, ERR);
}

static hf_status cas_with(fixture *f, const hf_cas_options *opts)
{
    return hf_value_cas(f->client, fixture_key(f, "c"), NULL, bytes("v"), opts,
                        NULL, ERR);
}

static hf_status hash_cas_with(fixture *f, const hf_cas_options *opts)
{
    return hf_hash_cas(f->client, fixture_key(f, "d"), bytes("a"), NULL,
                       bytes("v"), opts, NULL, ERR);
}

/* Three programs: one that left the size out, one from the future that uses
 * nothing new, one from the future that does. */
#define CHECK_VERSIONS(type, init, call)                                       \
    do {                                                                       \
        NEWER(type) newer = {init, {0}};                                       \
        newer.ours.struct_size = 0;                                            \
        expect_status(HF_INVALID, call(f, &newer.ours));                       \
        newer.ours.struct_size = sizeof(size_t);                               \
        expect_status(HF_INVALID, call(f, &newer.ours));                       \
        newer.ours.struct_size = sizeof(newer);                                \
        expect_status(HF_OK, call(f, &newer.ours));                            \
        newer.more[sizeof(newer.more) - 1] = 1;                                \
        expect_status(HF_UNSUPPORTED, call(f, &newer.ours));                   \
        newer.ours.struct_size = sizeof(type);                                 \
        expect_status(HF_OK, call(f, &newer.ours));                            \
    } while (0)

TEST(client_options_of_every_version)
{
    fixture *f = *state;

    CHECK_VERSIONS(hf_client_options, HF_CLIENT_OPTIONS_INIT, open_with);
}

TEST(lock_options_of_every_version)
{
    fixture *f = *state;

    CHECK_VERSIONS(hf_lock_options, HF_LOCK_OPTIONS_INIT, lock_with);
}

TEST(value_set_options_of_every_version)
{
    fixture *f = *state;

    CHECK_VERSIONS(hf_value_set_options, HF_VALUE_SET_OPTIONS_INIT, set_with);
}

TEST(hash_put_options_of_every_version)
{
    fixture *f = *state;

    CHECK_VERSIONS(hf_hash_put_options, HF_HASH_PUT_OPTIONS_INIT, put_with);
}

TEST(cas_options_of_every_version)
{
    fixture *f = *state;

    /* The second HF_OK of each call finds the value of the first. */
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    NEWER(hf_cas_options) newer = {HF_CAS_OPTIONS_INIT, {0}};

    opts.struct_size = 0;
    expect_status(HF_INVALID, cas_with(f, &opts));
    expect_status(HF_INVALID, hash_cas_with(f, &opts));
    newer.ours.struct_size = sizeof(newer);
    newer.more[0] = 1;
    expect_status(HF_UNSUPPORTED, cas_with(f, &newer.ours));
    expect_status(HF_UNSUPPORTED, hash_cas_with(f, &newer.ours));
    newer.more[0] = 0;
    expect_status(HF_OK, cas_with(f, &newer.ours));
    expect_status(HF_OK, hash_cas_with(f, &newer.ours));
}

TEST(lock_info_of_every_version)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    NEWER(hf_lock_info) newer = {HF_LOCK_INFO_INIT, {0}};

    newer.ours.struct_size = 0;
    expect_status(HF_INVALID,
                  hf_lock_inspect(f->client, name, &newer.ours, ERR));
    put_value(f->client, name, bytes("owner"), 0);
    newer.ours.struct_size = sizeof(newer);
    expect_status(HF_OK, hf_lock_inspect(f->client, name, &newer.ours, ERR));
    assert_int_equal(newer.ours.struct_size, sizeof(newer));
    assert_string_equal(newer.ours.owner, "owner");
}

/* A newer program's error struct is filled as far as we know it. */
/* Of a program that was built with a newer header. */
TEST(results_longer_than_ours_are_filled)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE], other[FIXTURE_PATH_SIZE];
    NEWER(hf_store_compaction) compaction = {HF_STORE_COMPACTION_INIT, {7}};
    NEWER(hf_store_salvaged) salvaged = {HF_STORE_SALVAGED_INIT, {7}};
    hf_client *client;

    fixture_only_embedded(f);
    fixture_embedded_url(f, "from", "4M", url);
    fixture_embedded_url(f, "to", "4M", other);
    expect_status(HF_OK, hf_client_open(url, NULL, &client, ERR));
    hf_client_close(client);
    compaction.ours.struct_size = sizeof(compaction);
    expect_status(HF_OK, hf_store_compact(url, &compaction.ours, ERR));
    assert_int_equal(compaction.ours.struct_size, sizeof(compaction));
    assert_int_equal(compaction.more[0], 7);
    if (f->store == FIXTURE_EMBEDDED_VOLATILE)
        return; /* which cannot be salvaged */
    salvaged.ours.struct_size = sizeof(salvaged);
    expect_status(
        HF_OK, hf_store_salvage(url, other, NULL, NULL, &salvaged.ours, ERR));
    assert_int_equal(salvaged.ours.struct_size, sizeof(salvaged));
    assert_int_equal(salvaged.more[0], 7);
}

/* Of an empty embedded store. */
static hf_server *open_server(fixture *f)
{
    hf_server_options options = HF_SERVER_OPTIONS_INIT;
    hf_server *server = NULL;
    char url[FIXTURE_PATH_SIZE], path[FIXTURE_PATH_SIZE];
    char address[FIXTURE_PATH_SIZE + 8];
    const char *const listen[] = {address};

    fixture_only_embedded(f);
    fixture_embedded_url(f, "served", "4M", url);
    fixture_path(f, "socket", path);
    (void)snprintf(address, sizeof(address), "unix:%s", path);
    options.listen = listen;
    options.listen_count = 1;
    expect_status(HF_OK, hf_server_open(url, &options, &server, ERR));
    return server;
}

TEST(server_statistics_of_every_version)
{
    NEWER(hf_server_stats) newer = {HF_SERVER_STATS_INIT, {7}};
    hf_server *server = open_server(*state);

    newer.ours.struct_size = sizeof(newer);
    expect_status(HF_OK, hf_server_read_stats(server, &newer.ours, ERR));
    assert_int_equal(newer.ours.struct_size, sizeof(newer));
    assert_int_equal(newer.more[0], 7);
    expect_status(HF_INVALID, hf_server_read_stats(server, NULL, ERR));
    hf_server_close(server);
}

TEST(server_says_whether_it_has_a_user)
{
    hf_server *server = open_server(*state);
    uint64_t changes = 7, again = 7;

    expect_status(HF_OK, hf_server_find_user(server, "default", &changes, ERR));
    expect_status(HF_NOT_FOUND, hf_server_find_user(server, "page", NULL, ERR));
    expect_status(HF_INVALID, hf_server_find_user(server, NULL, NULL, ERR));
    expect_status(HF_OK, hf_server_reload(server, ERR));
    expect_status(HF_OK, hf_server_find_user(server, "default", &again, ERR));
    assert_int_equal(changes, 0);
    assert_int_equal(again, 1);
    hf_server_close(server);
}

TEST(no_server_is_invalid)
{
    hf_server_stats stats = HF_SERVER_STATS_INIT;

    expect_status(HF_INVALID, hf_server_read_stats(NULL, &stats, ERR));
    expect_status(HF_INVALID, hf_server_reload(NULL, ERR));
    expect_status(HF_INVALID, hf_server_find_user(NULL, "a", NULL, ERR));
    expect_status(HF_INVALID, hf_server_stop(NULL, 0, ERR));
    assert_null(hf_server_address(NULL, 0));
    hf_server_close(NULL);
}

TEST(error_longer_than_ours_is_filled)
{
    fixture *f = *state;
    hf_buffer value = HF_BUFFER_INIT;
    NEWER(hf_error) newer = {HF_ERROR_INIT, {0}};

    memset(newer.more, 0x55, sizeof(newer.more));
    newer.ours.struct_size = sizeof(newer);
    assert_int_equal(hf_value_get(f->client, bytes(""), &value, &newer.ours),
                     HF_INVALID);
    assert_int_equal(newer.ours.struct_size, sizeof(newer));
    assert_int_equal(newer.ours.status, HF_INVALID);
    assert_true(newer.ours.message[0] != '\0');
    assert_int_equal(newer.more[0], 0x55);
}

TEST(flags_that_are_not_known_are_unsupported)
{
    fixture *f = *state;
    hf_lock_options lock = HF_LOCK_OPTIONS_INIT;
    hf_value_set_options set = HF_VALUE_SET_OPTIONS_INIT;
    hf_hash_put_options put = HF_HASH_PUT_OPTIONS_INIT;

    for (uint32_t bit = 4; bit < 32; bit++) {
        lock.flags = UINT32_C(1) << bit;
        set.flags = UINT32_C(1) << bit;
        put.flags = UINT32_C(1) << bit;
        expect_status(HF_UNSUPPORTED, lock_with(f, &lock));
        assert_int_equal(
            hf_value_set(f->client, bytes("k"), bytes("v"), &set, NULL, NULL),
            HF_UNSUPPORTED);
        assert_int_equal(hf_hash_put(f->client, bytes("k"),
                                     &(hf_field){bytes("a"), bytes("1")}, 1,
                                     &put, NULL),
                         HF_UNSUPPORTED);
    }
    assert_no_key(f->client, bytes("k"));
}

/* A newer header may give them a meaning. */
TEST(reserved_words_and_unknown_numbers_are_refused)
{
    fixture *f = *state;
    hf_lock_options lock = HF_LOCK_OPTIONS_INIT;
    hf_value_set_options set = HF_VALUE_SET_OPTIONS_INIT;
    hf_hash_put_options put = HF_HASH_PUT_OPTIONS_INIT;

    lock.gaps = 3;
    set.reserved0 = 1;
    put.reserved0 = 1;
    assert_int_equal(hf_status_kind(lock_with(f, &lock)), HF_KIND_USAGE);
    assert_int_equal(hf_status_kind(set_with(f, &set)), HF_KIND_USAGE);
    assert_int_equal(hf_status_kind(put_with(f, &put)), HF_KIND_USAGE);
}

TEST(client_options_outside_their_range_are_invalid)
{
    fixture *f = *state;
    const int64_t bad_ms[] = {-1, INT64_MIN, 3600001, INT64_MAX};
    hf_client_options opts;

    for (size_t i = 0; i < 4; i++) {
        opts = (hf_client_options)HF_CLIENT_OPTIONS_INIT;
        opts.request_ms = bad_ms[i];
        expect_status(HF_INVALID, open_with(f, &opts));
        opts.request_ms = 0;
        opts.connect_ms = bad_ms[i];
        expect_status(HF_INVALID, open_with(f, &opts));
        opts.connect_ms = 0;
        opts.script_budget_ms = bad_ms[i];
        expect_status(HF_INVALID, open_with(f, &opts));
    }
    assert_non_null(strstr(expect_message(), "script_budget_ms"));
}

TEST(client_options_at_their_limits_are_accepted)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    char prefix[1025];

    memset(prefix, 'p', sizeof(prefix));
    prefix[1024] = '\0';
    opts.prefix = prefix;
    opts.request_ms = 3600000;
    opts.connect_ms = 3600000;
    opts.script_budget_ms = HF_SCRIPT_BUDGET_MAX_MS;
    expect_status(HF_OK, open_with(f, &opts));
    opts.prefix = "";
    opts.script_budget_ms = 1;
    expect_status(HF_OK, open_with(f, &opts));
}

TEST(client_prefix_is_checked)
{
    fixture *f = *state;
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    char prefix[1026];

    memset(prefix, 'p', sizeof(prefix));
    prefix[1025] = '\0';
    opts.prefix = prefix;
    expect_status(HF_INVALID, open_with(f, &opts));
    assert_non_null(strstr(expect_message(), "prefix"));
    opts.prefix = "a{b";
    expect_status(HF_INVALID, open_with(f, &opts));
    opts.prefix = "a}b";
    expect_status(HF_INVALID, open_with(f, &opts));
}

TEST(lock_options_outside_their_range_are_invalid)
{
    fixture *f = *state;
    const hf_lock_options bad[] = {
        {.ttl_ms = -1},
        {.ttl_ms = HF_LOCK_TTL_MIN_MS - 1},
        {.ttl_ms = HF_LOCK_TTL_MAX_MS + 1},
        {.ttl_ms = INT64_MAX},
        {.max_hold_ms = -1},
        {.lost_margin_ms = -1},
        {.ttl_ms = 1000, .lost_margin_ms = 501},
        {.lost_margin_ms = 15001},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        hf_lock_options opts = bad[i];

        opts.struct_size = sizeof(opts);
        expect_status(HF_INVALID, lock_with(f, &opts));
    }
    assert_non_null(strstr(expect_message(), "lost_margin_ms"));
}

TEST(lock_options_at_their_limits_are_accepted)
{
    fixture *f = *state;
    const hf_lock_options good[] = {
        {.ttl_ms = HF_LOCK_TTL_MIN_MS},
        {.ttl_ms = HF_LOCK_TTL_MAX_MS},
        {.ttl_ms = 1000, .lost_margin_ms = 500},
        {.max_hold_ms = INT64_MAX},
    };

    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        hf_lock_options opts = good[i];
        hf_lock *lock;

        opts.struct_size = sizeof(opts);
        lock = fixture_lock(f, f->client, fixture_key(f, "l"), &opts);
        /* The shortest lease may be over before a disk has replied. */
        if (opts.ttl_ms != HF_LOCK_TTL_MIN_MS)
            expect_status(HF_OK, hf_lock_try(lock, ERR));
        fixture_free_lock(f, lock);
    }
}
