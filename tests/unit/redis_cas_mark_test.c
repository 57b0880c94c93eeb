/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_cas_mark_test.c - the dedup records by which a repeated compare-and-set
 * is recognised: how many there are, for how long, and their effect. What the
 * calls return when replies are lost is in tests/fault/redis_replies.
 */
#include "redis_driver.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/client.h"
#include "holdfast/hash.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/redis_server.h"

#define REQUEST_MS 1000
#define CALLS 200
#define THREADS 8

static redis_server *server;
static hf_client *client;

static long ask(const char *source)
{
    hf_script *script;
    hf_reply *reply;
    long number;

    assert_int_equal(hf_script_load(client, hf_str(source), &script, NULL),
                     HF_OK);
    assert_int_equal(hf_script_run(script, NULL, 0, NULL, 0, &reply, NULL),
                     HF_OK);
    number = (long)hf_reply_integer(reply);
    hf_reply_free(reply);
    hf_script_free(script);
    return number;
}

static void order(const char *command)
{
    char answer[256];

    assert_true(redis_server_command(server, command, answer, sizeof(answer)));
    if (answer[0] != '+')
        fail_msg("%s: %s", command, answer);
}

static long marks(void)
{
    return ask("return #redis.call('keys', 'hf:cas:*')");
}

/* The longest life of a record, ms. */
static long mark_ttl_ms(void)
{
    return ask("local most = 0 "
               "for _, mark in ipairs(redis.call('keys', 'hf:cas:*')) do "
               "most = math.max(most, redis.call('pttl', mark)) end "
               "return most");
}

/* Of each form a call that takes effect; of one, also one that does not. */
static void use_each_form(const char *name, uint32_t flags)
{
    hf_cas_options opts = HF_CAS_OPTIONS_INIT;
    hf_bytes key = hf_str(name), a = hf_str("a"), b = hf_str("b");
    hf_bytes hash = hf_str("hash");
    hf_field field = {hf_str("f"), a};

    opts.flags = flags;
    assert_int_equal(hf_value_set(client, key, a, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_hash_put(client, hash, &field, 1, NULL, NULL), HF_OK);
    assert_int_equal(hf_value_cas(client, key, &a, b, &opts, NULL, NULL),
                     HF_OK);
    assert_int_equal(hf_value_cas(client, key, &a, b, &opts, NULL, NULL),
                     HF_CONFLICT);
    assert_int_equal(
        hf_hash_cas(client, hash, hf_str("f"), &a, b, &opts, NULL, NULL),
        HF_OK);
}

TEST(calls_in_a_row_share_one_mark)
{
    hf_bytes value = hf_str("v");
    hf_bytes key = hf_str("deleted");

    for (int i = 0; i < CALLS; i++) {
        char name[16];

        snprintf(name, sizeof(name), "k%d", i);
        use_each_form(name, 0);
    }
    assert_int_equal(marks(), 1);
    assert_in_range(mark_ttl_ms(), 1, 2 * REQUEST_MS);
    assert_int_equal(hf_value_set(client, key, value, NULL, NULL, NULL), HF_OK);
    assert_int_equal(hf_value_delete_if(client, key, value, NULL, NULL), HF_OK);
    assert_int_equal(marks(), 1);
}

TEST(once_and_refused_calls_leave_none)
{
    hf_bytes a = hf_str("a"), b = hf_str("b");

    order("FLUSHALL");
    use_each_form("once", HF_CAS_ONCE);
    assert_int_equal(
        hf_value_cas(client, hf_str("once"), &a, b, NULL, NULL, NULL),
        HF_CONFLICT);
    assert_int_equal(hf_value_delete_if(client, hf_str("none"), a, NULL, NULL),
                     HF_NOT_FOUND);
    assert_int_equal(marks(), 0);
}

static void *run_calls(void *user)
{
    (void)user;
    for (int i = 0; i < CALLS; i++) {
        hf_bytes a = hf_str("a");

        (void)!hf_value_cas(client, hf_str("busy"), NULL, a, NULL, NULL, NULL);
        (void)!hf_value_delete_if(client, hf_str("busy"), a, NULL, NULL);
    }
    return NULL;
}

TEST(there_are_as_many_marks_as_calls_at_once)
{
    pthread_t threads[THREADS];

    order("FLUSHALL");
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_calls, NULL), 0);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    assert_in_range(marks(), 1, THREADS);
    assert_in_range(client->cas_sessions.count, 1, THREADS);
}

static int count_bytes(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

TEST(a_dump_leaves_marks_out)
{
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    size_t size = 0;

    order("FLUSHALL");
    use_each_form("k", 0);
    assert_int_equal(marks(), 1);
    assert_int_equal(
        hf_store_dump(client, NULL, count_bytes, &size, &result, NULL), HF_OK);
    assert_int_equal(result.keys, 2); /* the value and the hash */
}

TEST(marks_end_by_themselves)
{
    int64_t until_ms = hf__clock_boot_ms() + 5 * REQUEST_MS;

    use_each_form("k", 0);
    assert_true(marks() > 0);
    while (marks() > 0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 10);
    }
}

/* A request that was delayed on its way, after a later call of its session. */
TEST(an_overtaken_sending_has_no_effect)
{
    const hf__script *script = &hf__scripts[HF__SCRIPT_VALUE_CAS_ONCE];
    char lane[] = "hf:cas:lane";
    const struct {
        const char *expected, *value, *number, *there;
        int64_t answer;
    } rows[] = {
        {"a", "b", "5", "b", 1},  /* done */
        {"a", "b", "5", "b", 1},  /* again: as before */
        {"b", "a", "6", "a", 1},  /* the next call */
        {"a", "b", "5", "a", -1}, /* the first, late: not applied again */
        {"b", "c", "6", "a", 1},  /* the second again */
        {"a", "b", "10", "b", 1}, /* numbers, not texts */
        {"b", "c", "9", "b", -1},
    };
    hf_bytes value_key = hf_str("value");

    assert_int_equal(
        hf_value_set(client, value_key, hf_str("a"), NULL, NULL, NULL), HF_OK);
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        hf_bytes words[] = {hf_str(lane),
                            value_key,
                            hf_str("1"),
                            hf_str(rows[i].expected),
                            hf_str(rows[i].value),
                            hf_str("0"),
                            hf_str(rows[i].number),
                            hf_str("60000")};
        hf_buffer there = HF_BUFFER_INIT;
        hf__request request;

        hf__request_script(&request, script, words, 8, 2);
        request.began_ms = hf__clock_boot_ms();
        request.deadline_ms = INT64_MAX;
        client->store->ops->perform(client->store, &request);
        assert_int_equal(request.status, HF_OK);
        assert_int_equal(request.reply.integer, rows[i].answer);
        hf__request_done(&request);
        assert_int_equal(hf_value_get(client, value_key, &there, NULL), HF_OK);
        assert_string_equal(there.data, rows[i].there);
        hf_buffer_free(&there);
    }
}

/* A deletion makes room; lack of room for the record must not prevent it. */
TEST(a_full_server_deletes_all_the_same)
{
    hf_bytes a = hf_str("a"), key = hf_str("full");
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(hf_value_set(client, key, a, NULL, NULL, NULL), HF_OK);
    order("CONFIG SET maxmemory 1");
    assert_int_equal(
        hf_value_cas(client, key, &a, hf_str("b"), NULL, NULL, NULL), HF_FULL);
    assert_int_equal(hf_value_delete_if(client, key, a, NULL, &err), HF_OK);
    assert_int_equal(hf_value_delete_if(client, key, a, NULL, &err),
                     HF_NOT_FOUND);
    order("CONFIG SET maxmemory 0");
}

static int set_up(void **state)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;

    (void)state;
    server = redis_server_start(NULL);
    if (server == NULL)
        return -1;
    options.request_ms = REQUEST_MS;
    return hf_client_open(redis_server_unix_url(server), &options, &client,
                          NULL) == HF_OK
               ? 0
               : -1;
}

static int tear_down(void **state)
{
    (void)state;
    hf_client_close(client);
    redis_server_stop(server);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);
