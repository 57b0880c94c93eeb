/* SPDX-License-Identifier: Apache-2.0 */
/* cluster_test.c - what only a cluster has: slots, and slots that move. */
#include "support/slowness.h"
#include "support/store_fixture.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "support/dump_tape.h"
#include "support/log_lines.h"
#include "support/test_clock.h"

FIXTURE_TESTS();

#define KEYS 1000

/* A waiter polls after a second; this is sooner. */
#define WOKEN_MS 700

/* With the least rights, clients have a prefix (fixture_rights.h). */
static int slot_of(const fixture *f, hf_bytes key)
{
    const char *prefix = f->rights == FIXTURE_RIGHTS_LEAST ? "t" : "";
    char command[64];
    char answer[64];

    (void)snprintf(command, sizeof(command), "CLUSTER KEYSLOT %s%s", prefix,
                   (const char *)key.data);
    assert_true(redis_server_command(redis_cluster_server(f->cluster, 0),
                                     command, answer, sizeof(answer)));
    return (int)strtol(answer + 1, NULL, 10);
}

static void move_slot(const fixture *f, int slot, int from, int to)
{
    assert_true(redis_cluster_open_slot(f->cluster, slot, from, to));
    while (redis_cluster_move_keys(f->cluster, slot, from, to, 100) > 0) {
        continue;
    }
    assert_true(redis_cluster_close_slot(f->cluster, slot, to));
}

static int count_dump(void *user, const void *data, size_t size)
{
    (void)data;
    *(size_t *)user += size;
    return 0;
}

TEST(keys_of_different_slots_are_named)
{
    fixture *f = *state;
    hf_script *script = fixture_script(f, f->client, "return #KEYS");
    hf_bytes keys[] = {fixture_key(f, "a"), fixture_key(f, "b")};
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;

    expect_status(HF_INVALID,
                  hf_script_run(script, keys, 2, NULL, 0, &reply, &err));
    assert_non_null(strstr(err.message, keys[0].data));
    assert_non_null(strstr(err.message, keys[1].data));
    keys[0] = fixture_key(f, "{tag}a");
    keys[1] = fixture_key(f, "{tag}b");
    expect_status(HF_OK, hf_script_run(script, keys, 2, NULL, 0, &reply, ERR));
    assert_int_equal(hf_reply_integer(reply), 2);
    hf_reply_free(reply);
}

/* Not only those that follow the name. */
TEST(keys_of_a_command_in_different_slots_are_named)
{
    fixture *f = *state;
    const hf_bytes set[] = {bytes("MSET"), bytes("a"), bytes("1"), bytes("b"),
                            bytes("2")};
    const hf_bytes unite[] = {bytes("ZUNIONSTORE"), bytes("a"), bytes("1"),
                              bytes("b")};

    expect_status(HF_INVALID, hf_command(f->client, 5, set, NULL, ERR));
    assert_non_null(strstr(expect_message(), "different slots"));
    expect_status(HF_INVALID, hf_command(f->client, 4, unite, NULL, ERR));
    assert_non_null(strstr(expect_message(), "different slots"));
    assert_no_key(f->client, bytes("a"));
}

/* Some on each master, and one slot being migrated. */
TEST(dump_has_the_keys_of_all_masters_or_says_so)
{
    fixture *f = *state;
    hf_client_options patience = HF_CLIENT_OPTIONS_INIT;
    hf_store_dump_options opts = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *hasty;
    hf_status status;
    int tries = 0;
    size_t size = 0;
    char name[32];
    int slot;

    if (f->rights != FIXTURE_RIGHTS_ALL) { /* these do not include dumps */
        skip();
    }
    for (int i = 0; i < KEYS; i++) {
        (void)snprintf(name, sizeof(name), "walked:%d", i);
        put_value(f->client, hf_str(name), hf_str(name), 60000);
    }
    opts.pattern = hf_str("walked:*");
    expect_status(HF_OK, hf_store_dump(f->client, &opts, count_dump, &size,
                                       &result, ERR));
    assert_int_equal(result.keys, KEYS);
    assert_true(result.complete);

    patience.request_ms = slowed_ms(500);
    hasty = fixture_client(f, &patience);
    slot = slot_of(f, hf_str("walked:0"));
    assert_true(redis_cluster_open_slot(
        f->cluster, slot, redis_cluster_owner(f->cluster, 0, slot),
        (redis_cluster_owner(f->cluster, 0, slot) + 1) % 3));
    do { /* on a busy machine the time may be up before it gets there */
        status = hf_store_dump(hasty, &opts, count_dump, &size, NULL, &err);
    } while (strstr(err.message, "being moved") == NULL && ++tries < 10);
    if (status != HF_UNAVAILABLE || strstr(err.message, "being moved") == NULL)
        fail_msg("%s: %s", hf_status_name(status), err.message);
    (void)snprintf(name, sizeof(name), "CLUSTER SETSLOT %d STABLE", slot);
    assert_true(redis_cluster_command(f->cluster, name));
    expect_status(HF_OK, hf_store_dump(f->client, &opts, count_dump, &size,
                                       &result, ERR));
    assert_int_equal(result.keys, KEYS);
}

TEST(values_are_found_after_their_slot_moved)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "v");
    int slot = slot_of(f, key);
    int owner = redis_cluster_owner(f->cluster, 0, slot);

    put_value(f->client, key, bytes("before"), 60000);
    move_slot(f, slot, owner, (owner + 1) % 3);
    assert_value(f->client, key, bytes("before"));
    put_value(f->other, key, bytes("after"), 60000);
    assert_value(f->client, key, bytes("after"));
}

TEST(slot_that_moved_is_logged)
{
    fixture *f = *state;
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    hf_client *client = fixture_client(f, &options);
    hf_bytes key = fixture_key(f, "v");
    int slot = slot_of(f, key);
    int owner = redis_cluster_owner(f->cluster, 0, slot);

    put_value(client, key, bytes("before"), 60000);
    assert_false(log_lines_has(lines, 0, "slot"));
    move_slot(f, slot, owner, (owner + 1) % 3);
    assert_value(client, key, bytes("before"));
    expect_soon(log_lines_has(lines, HF_LOG_INFO, "cluster: a slot has moved"),
                5000);
    fixture_close_client(f, client);
}

typedef struct waiter {
    hf_lock *lock;
    hf_status status;
    int64_t done_ms;
} waiter;

static void *wait_for_lock(void *user)
{
    waiter *self = user;

    self->status = hf_lock_acquire(self->lock, 20000, NULL);
    self->done_ms = test_now_ms();
    return NULL;
}

/* Its subscription is at the old node when the new one publishes. */
TEST(waiter_is_woken_after_its_slot_moved)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    waiter self = {.lock = fixture_lock(f, f->other, name, NULL)};
    int slot = slot_of(f, name);
    int owner = redis_cluster_owner(f->cluster, 0, slot);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    pthread_t thread;
    int64_t released_ms;

    expect_status(HF_OK, hf_lock_try(holder, ERR));
    assert_int_equal(pthread_create(&thread, NULL, wait_for_lock, &self), 0);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    move_slot(f, slot, owner, (owner + 2) % 3);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    assert_int_equal(pthread_join(thread, NULL), 0);
    expect_status_at(HF_OK, self.status, "waiting", __FILE__, __LINE__);
    assert_in_time(self.done_ms - released_ms, WOKEN_MS);
    expect_status(HF_OK, hf_lock_release(self.lock, ERR));
}

static void make_library(const fixture *f, int at)
{
    char answer[64];

    assert_true(redis_server_command(
        redis_cluster_server(f->cluster, at),
        "FUNCTION LOAD \"#!lua name=spread\\n"
        "redis.register_function('spread', function() return 7 end)\"",
        answer, sizeof(answer)));
    assert_int_equal(answer[0], '$');
}

/* Which is asked first is not known. */
TEST(load_of_functions_that_one_server_refuses_says_how_many_have_them)
{
    static const char *const says[] = {"nothing of the dump was loaded",
                                       "1 of 3 servers have them now",
                                       "2 of 3 servers have them now"};
    fixture *f = *state;
    hf_error err = HF_ERROR_INIT;
    dump_tape tape = {.data = NULL};
    int said[3] = {0};

    if (f->rights != FIXTURE_RIGHTS_ALL) { /* these do not include dumps */
        skip();
    }
    for (int at = 0; at < 3; at++)
        make_library(f, at);
    expect_status(
        HF_OK, hf_store_dump(f->client, NULL, dump_tape_put, &tape, NULL, ERR));
    for (int at = 0; at < 3; at++) {
        assert_true(redis_cluster_command(f->cluster, "FUNCTION FLUSH"));
        make_library(f, at);
        tape.at = 0;
        expect_status(
            HF_CONFLICT,
            hf_store_load(f->client, NULL, dump_tape_take, &tape, NULL, &err));
        for (int i = 0; i < 3; i++)
            said[i] += strstr(err.message, says[i]) != NULL;
    }
    for (int i = 0; i < 3; i++)
        assert_int_equal(said[i], 1);
    assert_true(redis_cluster_command(f->cluster, "FUNCTION FLUSH"));
    free(tape.data);
}
