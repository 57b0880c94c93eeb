/* SPDX-License-Identifier: Apache-2.0 */
/*
 * near_test.c - hf_near_*(): values come from memory, and not once they have
 * changed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/near.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

static hf_near *open_near(hf_client *client, int64_t max_bytes,
                          const char *prefix)
{
    hf_near_options options = HF_NEAR_OPTIONS_INIT;
    hf_near *near = NULL;

    options.max_bytes = max_bytes;
    options.prefix = prefix;
    expect_status(HF_OK, hf_near_open(client, &options, &near, ERR));
    return near;
}

static hf_near_stats stats_of(hf_near *near)
{
    hf_near_stats stats = HF_NEAR_STATS_INIT;

    expect_status(HF_OK, hf_near_read_stats(near, &stats, ERR));
    return stats;
}

static void assert_near(hf_near *near, hf_bytes key, hf_bytes want)
{
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_OK, hf_near_get(near, key, &value, ERR));
    assert_buffer(&value, want);
}

static bool is_near(hf_near *near, hf_bytes key, hf_bytes want)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_near_get(near, key, &value, NULL);
    bool same = status == HF_OK && value.size == want.size &&
                memcmp(value.data, want.data, want.size) == 0;

    hf_buffer_free(&value);
    return same;
}

static bool is_absent(hf_near *near, hf_bytes key)
{
    hf_buffer value = HF_BUFFER_INIT;

    if (hf_near_get(near, key, &value, NULL) == HF_NOT_FOUND)
        return true;
    hf_buffer_free(&value);
    return false;
}

/* A change that came before may still be reported on a server. */
static bool is_hit(hf_near *near, hf_bytes key)
{
    uint64_t hits = stats_of(near).hits;

    (void)is_absent(near, key);
    return stats_of(near).hits > hits;
}

TEST(near_keeps_values_and_their_absence)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), none = fixture_key(f, "none");
    hf_near *near = open_near(f->client, 0, NULL);

    put_value(f->other, key, bytes("a\0b"), 0);
    expect_soon(is_hit(near, key), 5000);
    assert_near(near, key, bytes("a\0b"));
    expect_soon(is_hit(near, none), 5000);
    assert_true(is_absent(near, none));
    assert_int_equal(stats_of(near).entries, 2);
    hf_near_close(near);
}

TEST(near_follows_changes)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_near *near = open_near(f->client, 0, NULL);

    assert_true(is_absent(near, key));
    put_value(f->other, key, bytes("1"), 0);
    expect_soon(is_near(near, key, bytes("1")), 5000);
    expect_soon(is_hit(near, key), 5000);
    put_value(f->client, key, bytes("2"), 0);
    hf_near_forget(near, key);
    assert_near(near, key, bytes("2"));
    expect_status(HF_OK, hf_value_delete(f->other, key, ERR));
    expect_soon(is_absent(near, key), 5000);
    put_hash(f->other, key, words("a", "1"), 0);
    expect_soon(hf_near_get(near, key, &(hf_buffer){0}, NULL) == HF_WRONG_TYPE,
                5000);
    hf_near_close(near);
}

TEST(near_is_never_stale_on_an_embedded_store)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_near *near;
    char text[16];

    fixture_only_embedded(f);
    near = open_near(f->client, 0, NULL);
    for (int i = 0; i < 300; i++) {
        int size = snprintf(text, sizeof(text), "%d", i);

        put_value(i % 2 == 0 ? f->other : f->client, key,
                  hf_view(text, (size_t)size), 0);
        assert_near(near, key, hf_view(text, (size_t)size));
        assert_near(near, key, hf_view(text, (size_t)size));
    }
    assert_int_equal(stats_of(near).hits, 300);
    hf_near_close(near);
}

/* --------------------------------------------------------- other processes */

#define WRITES 1000

/* Write 1, 2, ... and report each once it is written. */
static void write_numbers(const fixture *f, hf_bytes key, int out)
{
    hf_client *client = NULL;
    bool fine = hf_client_open(f->url, NULL, &client, NULL) == HF_OK;

    for (uint32_t i = 1; fine && i <= WRITES; i++) {
        fine = hf_value_set(client, key, hf_view(&i, sizeof(i)), NULL, NULL,
                            NULL) == HF_OK &&
               write(out, &i, sizeof(i)) == sizeof(i);
    }
    hf_client_close(client);
    _exit(fine ? 0 : 1);
}

typedef struct reading {
    hf_near *near;
    hf_bytes key;
    atomic_uint written; /* and acknowledged */
    atomic_bool stale;
    atomic_bool over;
} reading;

static uint32_t read_number(reading *self)
{
    hf_buffer value = HF_BUFFER_INIT;
    uint32_t number = 0;

    if (hf_near_get(self->near, self->key, &value, NULL) == HF_OK &&
        value.size == sizeof(number))
        memcpy(&number, value.data, sizeof(number));
    hf_buffer_free(&value);
    return number;
}

static void *read_numbers(void *user)
{
    reading *self = user;

    while (!atomic_load(&self->over)) {
        unsigned least = atomic_load(&self->written);

        if (read_number(self) < least)
            atomic_store(&self->stale, true);
    }
    return NULL;
}

/* What a read returns is not older than what was acknowledged before it, on
 * embedded stores; on a server it is the last value in the end. */
TEST(near_follows_another_process)
{
    fixture *f = *state;
    reading all = {.key = fixture_key(f, "k")};
    pthread_t threads[2];
    uint32_t number;
    int pipes[2], outcome;
    pid_t child;

    assert_int_equal(pipe(pipes), 0);
    child = fork();
    if (child == 0)
        write_numbers(f, all.key, pipes[1]);
    close(pipes[1]);
    all.near = open_near(f->client, 0, NULL);
    for (size_t i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, read_numbers, &all);
    while (read(pipes[0], &number, sizeof(number)) == sizeof(number))
        atomic_store(&all.written, number);
    assert_int_equal(await_child(child, &outcome), child);
    assert_int_equal(outcome, 0);
    expect_soon(read_number(&all) == WRITES, 10000);
    atomic_store(&all.over, true);
    for (size_t i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_false(atomic_load(&all.stale) && fixture_is_embedded(f));
    close(pipes[0]);
    hf_near_close(all.near);
}

/* ------------------------------------------------------------------ losses */

TEST(near_obeys_expiry)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), later = fixture_key(f, "later");
    hf_near *near = open_near(f->client, 0, NULL);

    put_value(f->other, later, bytes("1"), 60000);
    expect_soon(is_hit(near, later), 5000);
    put_value(f->other, key, bytes("1"), 100);
    (void)is_near(near, key, bytes("1"));
    expect_soon(key_is_gone(f->other, key), 5000);
    assert_true(is_absent(near, key));
    assert_near(near, later, bytes("1"));
    hf_near_close(near);
}

TEST(near_is_empty_after_its_connection_was_cut)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_near *near;
    int number = 0;

    fixture_only_redis(f);
    near = open_near(f->client, 0, NULL);
    put_value(f->other, key, bytes("1"), 0);
    expect_soon(is_hit(near, key), 5000);
    while (fixture_server_run(f, number, "CLIENT KILL TYPE normal"))
        number++;
    put_value(f->other, key, bytes("2"), 0);
    expect_soon(is_near(near, key, bytes("2")), 10000);
    expect_soon(is_hit(near, key), 10000);
    hf_near_close(near);
}

TEST(near_is_empty_after_all_keys_were_removed)
{
    fixture *f = *state;
    hf_bytes keys[] = {fixture_key(f, "a"), fixture_key(f, "b")};
    hf_near *near = open_near(f->client, 0, NULL);
    hf_script *flush =
        fixture_script(f, f->other, "return redis.call('flushall')");
    hf_reply *reply = NULL;

    for (size_t i = 0; i < 2; i++) {
        put_value(f->other, keys[i], bytes("1"), 0);
        expect_soon(is_hit(near, keys[i]), 5000);
    }
    /* In a cluster it is one node's keys. */
    expect_status(HF_OK, hf_script_run(flush, keys, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_soon(is_absent(near, keys[0]), 5000);
    hf_near_close(near);
}

static hf_near *open_aging(hf_client *client, int64_t max_age_ms)
{
    hf_near_options options = HF_NEAR_OPTIONS_INIT;
    hf_near *near = NULL;

    options.max_age_ms = max_age_ms;
    expect_status(HF_OK, hf_near_open(client, &options, &near, ERR));
    return near;
}

TEST(near_asks_again_after_its_greatest_age)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), none = fixture_key(f, "none");
    hf_near *near = open_aging(f->client, 200);

    put_value(f->other, key, bytes("1"), 60000);
    expect_soon(is_hit(near, key), 5000);
    expect_soon(is_hit(near, none), 5000);
    expect_soon(!is_hit(near, key), 1000);
    expect_soon(is_hit(near, key), 5000);
    expect_soon(!is_hit(near, none), 1000);
    hf_near_close(near);
}

/* Which a server does not report. */
TEST(near_outlasts_swapped_databases_no_longer_than_that)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_near *near, *whole;

    if (f->server == NULL || fixture_is_served(f))
        skip(); /* there is one database */
    near = open_aging(f->client, 300);
    whole = open_aging(f->client, 0);
    put_value(f->other, key, bytes("1"), 0);
    expect_soon(is_hit(near, key) && is_hit(whole, key), 5000);
    assert_true(fixture_server_command(f, "SWAPDB 0 1"));
    assert_no_key(f->client, key);
    expect_soon(is_absent(near, key), 1000);
    hf_near_forget(whole, key);
    assert_true(is_absent(whole, key));
    assert_true(fixture_server_command(f, "SWAPDB 0 1"));
    hf_near_close(whole);
    hf_near_close(near);
}

TEST(near_stays_within_its_bytes)
{
    fixture *f = *state;
    static char large[4000];
    hf_near *near = open_near(f->client, 1 << 20, NULL);
    hf_near_stats stats;
    char name[48];

    for (int i = 0; i < 500; i++) {
        int size = snprintf(name, sizeof(name), "t%u:%d", f->test_number, i);
        hf_bytes key = hf_view(name, (size_t)size);

        put_value(f->other, key, hf_view(large, sizeof(large)), 0);
        assert_near(near, key, hf_view(large, sizeof(large)));
    }
    stats = stats_of(near);
    assert_true(stats.bytes <= 1 << 20);
    assert_true(stats.evictions > 0);
    assert_true(stats.entries > 0 && stats.entries < 300);
    hf_near_close(near);
}

TEST(near_keeps_only_keys_with_its_prefix)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k"), other = fixture_key(f, "other");
    hf_near *near = open_near(f->client, 0, key.data);

    put_value(f->other, other, bytes("1"), 0);
    put_value(f->other, key, bytes("1"), 0);
    expect_soon(is_hit(near, key), 5000);
    assert_near(near, other, bytes("1"));
    put_value(f->other, other, bytes("2"), 0);
    assert_near(near, other, bytes("2"));
    assert_int_equal(stats_of(near).entries, 1);
    hf_near_close(near);
}

TEST(near_outlives_its_client)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_near *near = open_near(client, 0, NULL);
    hf_buffer value = HF_BUFFER_INIT;

    assert_true(is_absent(near, fixture_key(f, "k")));
    fixture_close_client(f, client);
    expect_status(HF_INVALID,
                  hf_near_get(near, fixture_key(f, "k"), &value, ERR));
    hf_near_forget(near, fixture_key(f, "k"));
    hf_near_close(near);
}

TEST(near_open_refuses_bad_options)
{
    fixture *f = *state;
    hf_near_options options = HF_NEAR_OPTIONS_INIT;
    hf_near *near = NULL;

    options.max_bytes = (1 << 20) - 1;
    expect_status(HF_INVALID, hf_near_open(f->client, &options, &near, ERR));
    assert_non_null(strstr(expect_message(), "max_bytes"));
    options = (hf_near_options)HF_NEAR_OPTIONS_INIT;
    options.max_age_ms = -1;
    expect_status(HF_INVALID, hf_near_open(f->client, &options, &near, ERR));
    assert_non_null(strstr(expect_message(), "max_age_ms"));
    expect_status(HF_INVALID, hf_near_open(f->client, NULL, NULL, ERR));
    expect_status(HF_INVALID, hf_near_open(NULL, NULL, &near, ERR));
    hf_near_close(NULL);
    near = open_near(f->client, 0, NULL);
    expect_status(HF_INVALID,
                  hf_near_get(near, bytes(""), &(hf_buffer){0}, ERR));
    expect_status(HF_INVALID, hf_near_get(near, bytes("k"), NULL, ERR));
    hf_near_close(near);
}
