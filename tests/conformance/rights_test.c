/* SPDX-License-Identifier: Apache-2.0 */
/*
 * rights_test.c - under the user with least rights of
 * docs/howto/least-rights.md: what the suites that run there leave out, and
 * that the diagnosis reports the rights correctly.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/redisson.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"
#include "support/dump_tape.h"
#include "support/every_call.h"
#include "support/fixture_rights.h"

FIXTURE_TESTS();

#define MEMBERS_STEP 500
#define MEMBERS 5000 /* more than are read at once */

/* What the user may not do, the server's owner does. */
static void as_owner(const fixture *f, const char *command)
{
    assert_true(fixture_server_run(f, 0, command));
}

/* Each call finds what it works on, so that it does all of its work. */
TEST(every_call_is_allowed)
{
    fixture *f = *state;

    fixture_not_quorum(f);
    for (size_t i = 0; i < every_call_count; i++) {
        const every_call *call = &every_calls[i];
        every_place place = {.client = f->client,
                             .key = fixture_key(f, call->name)};
        hf_status status;

        if (call->transfers) {
            continue; /* dump_and_load() */
        }
        expect_status(HF_OK, every_call_prepare(&place, call, ERR));
        expect_status(HF_OK, every_call_fill(&place, call, ERR));
        status = every_call_make(&place, call, call->starts, ERR);
        every_call_done(&place);
        if (call->scans && f->rights != FIXTURE_RIGHTS_DUMP) {
            assert_int_equal(status, HF_DENIED);
        } else if (call->is_newer && status != HF_OK) {
            /* A user of an older server has no such right. */
            assert_true(status == HF_UNSUPPORTED || status == HF_DENIED ||
                        status == HF_NOT_FOUND);
        } else if (hf_status_kind(status) != HF_KIND_OK &&
                   hf_status_kind(status) != HF_KIND_NO) {
            fail_msg("%s: %s", call->name, hf_status_name(status));
        }
    }
}

/* Queue it, with a value to set or field to put if it needs one. */
static void queue(fixture *f, const hf_async *q, const char *name, hf_bytes key,
                  const char *more)
{
    hf_bytes list[] = {hf_str(name), key, hf_str(more), hf_str("1")};

    expect_status(HF_OK, hf_command_start(f->client, more[0] == 'f' ? 4 : 2,
                                          list, NULL, q, ERR));
}

/* Nothing of a transaction is applied if one of its operations is denied: that
 * is asked before; nor if it could not be undone. */
TEST(denied_operation_leaves_nothing_of_a_transaction)
{
    static const char *const last[] = {"UNLINK", "HSET"};
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "{t}a"), b = fixture_key(f, "{t}b");

    fixture_not_quorum(f);
    if (f->rights == FIXTURE_RIGHTS_DUMP)
        return;
    for (size_t i = 0; i < 2; i++) {
        hf_async q = HF_ASYNC_INIT;

        expect_status(HF_OK, hf_txn_new(f->client, NULL, &q.txn, ERR));
        queue(f, &q, i == 0 ? "DEL" : "HSET", a, i == 0 ? "" : "f");
        queue(f, &q, last[i], b, i == 0 ? "" : "f");
        put_hash(f->client, a, words("f", "old"), 0);
        expect_status(HF_DENIED, hf_txn_exec(q.txn, ERR));
        hf_txn_free(q.txn);
        assert_field(f->client, a, bytes("f"), bytes("old"));
    }
    as_owner(f, "ACL SETUSER holdfast +dump +restore +memory|usage");
    for (size_t i = 0; i < 2; i++) {
        hf_async q = HF_ASYNC_INIT;

        expect_status(HF_OK, hf_txn_new(f->client, NULL, &q.txn, ERR));
        queue(f, &q, "HSET", a, "f");
        queue(f, &q, i == 0 ? "GET" : "HSET", i == 0 ? a : b, "f");
        if (f->cluster == NULL)
            expect_status(i == 0 ? HF_INVALID : HF_OK, hf_txn_exec(q.txn, ERR));
        hf_txn_free(q.txn);
    }
    as_owner(f, "ACL SETUSER holdfast -dump -restore -memory|usage");
}

/* A key that was made is deleted again, so that must be allowed. */
TEST(key_is_not_made_if_it_could_not_be_deleted)
{
    fixture *f = *state;
    hf_bytes made = fixture_key(f, "{t}made"), text = fixture_key(f, "{t}text");
    hf_bytes words[] = {bytes("HSET"), text, bytes("f"), bytes("1")};
    hf_async q = HF_ASYNC_INIT;

    if (f->cluster != NULL || f->rights == FIXTURE_RIGHTS_DUMP)
        return;
    fixture_not_quorum(f);
    put_value(f->client, text, bytes("1"), 0);
    as_owner(f, "ACL SETUSER holdfast +dump +restore +memory|usage -del");
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &q.txn, ERR));
    queue(f, &q, "HSET", made, "f");
    expect_status(HF_OK, hf_command_start(f->client, 4, words, NULL, &q, ERR));
    expect_status(HF_DENIED, hf_txn_exec(q.txn, ERR));
    hf_txn_free(q.txn);
    as_owner(f, "ACL SETUSER holdfast -dump -restore -memory|usage +del");
    assert_no_key(f->client, made);
}

TEST(scripts_may_what_the_user_may)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_bytes key = fixture_key(f, "script");
    hf_script *allowed;
    hf_script *refused;
    hf_reply *reply = NULL;

    fixture_not_quorum(f);
    allowed = fixture_script(f, f->client, "return redis.call('get', KEYS[1])");
    refused =
        fixture_script(f, f->client, "return redis.call('incr', KEYS[1])");
    expect_status(HF_OK, hf_script_run(allowed, &key, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_DENIED,
                  hf_script_run(refused, &key, 1, NULL, 0, &reply, ERR));
    options.prefix = "";
    expect_status(f->rights == FIXTURE_RIGHTS_DUMP ? HF_OK : HF_DENIED,
                  hf_value_set(fixture_client(f, &options), bytes("foreign"),
                               bytes("1"), NULL, NULL, ERR));
}

/* --------------------------------------------------------------- diagnosis */

/* The worst level reported for any server. */
typedef struct rights {
    hf_level locks;
    hf_level data;
    hf_level dump;
    hf_level wakeups;
    hf_level worst;
    unsigned servers;
    unsigned refused; /* servers where no lock could be acquired */
} rights;

static void at_least(hf_level *level, hf_level now)
{
    if (now > *level) {
        *level = now;
    }
}

static void on_remark(void *user, const hf_store_diagnostic *remark)
{
    rights *seen = user;

    if (strcmp(remark->name, "rights for locks") == 0) {
        seen->servers++;
        seen->refused += remark->level == HF_LEVEL_ERROR;
        at_least(&seen->locks, remark->level);
    } else if (strcmp(remark->name, "rights for values, hashes, semaphores") ==
               0) {
        at_least(&seen->data, remark->level);
    } else if (strcmp(remark->name, "rights for dump and load") == 0) {
        at_least(&seen->dump, remark->level);
    } else if (strcmp(remark->name, "wake-ups") == 0) {
        at_least(&seen->wakeups, remark->level);
    }
    at_least(&seen->worst, remark->level);
}

static rights examine(fixture *f)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_store_diagnose_options few = HF_STORE_DIAGNOSE_OPTIONS_INIT;
    hf_client *client;
    rights seen = {0};

    options.prefix = "t";
    options.connect_ms = 10000; /* on a busy machine */
    few.requests = 1;
    client = fixture_client(f, &options);
    expect_status(HF_OK,
                  hf_store_diagnose(client, &few, on_remark, &seen, ERR));
    fixture_close_client(f, client);
    return seen;
}

static unsigned running_servers(const fixture *f)
{
    if (f->store == FIXTURE_QUORUM) {
        return FIXTURE_QUORUM_SIZE - FIXTURE_QUORUM_DEAD;
    }
    return f->cluster != NULL ? (unsigned)redis_cluster_size(f->cluster) : 1;
}

TEST(diagnosis_finds_all_rights_that_are_needed)
{
    fixture *f = *state;
    rights seen = examine(f);

    assert_int_equal(seen.servers, running_servers(f));
    assert_int_equal(seen.locks, HF_LEVEL_OK);
    assert_int_equal(seen.data, HF_LEVEL_OK);
    assert_int_equal(seen.wakeups, HF_LEVEL_OK);
    assert_int_equal(seen.dump, f->rights == FIXTURE_RIGHTS_DUMP
                                    ? HF_LEVEL_OK
                                    : HF_LEVEL_NOTE);
    if (f->store != FIXTURE_QUORUM) { /* where dead servers are errors */
        assert_true(seen.worst <= HF_LEVEL_NOTE);
    }
}

/* Revoke a right on the last server, or grant it again. */
static void change_right(const fixture *f, char sign, const char *name)
{
    char line[96];

    (void)snprintf(line, sizeof(line), "ACL SETUSER holdfast %c%s", sign, name);
    assert_true(fixture_server_run(f, (int)running_servers(f) - 1, line));
}

/* Each word of the page's command that grants a command is needed: the
 * diagnosis reports it missing, on the server where it is missing. */
TEST(diagnosis_reports_any_missing_right)
{
    fixture *f = *state;
    char line[FIXTURE_RIGHTS_SIZE];
    char *rest = line;
    const char *word;
    unsigned tried = 0;

    assert_true(fixture_rights_read(FIXTURE_RIGHTS_USER, line));
    while ((word = strsep(&rest, " ")) != NULL) {
        rights seen;

        /* APPEND and SADD have no form without effect that would be refused. */
        if (word[0] != '+' || strcmp(word, "+append") == 0 ||
            strcmp(word, "+sadd") == 0) {
            continue;
        }
        change_right(f, '-', word + 1);
        seen = examine(f);
        change_right(f, '+', word + 1);
        if (seen.locks == HF_LEVEL_OK && seen.data == HF_LEVEL_OK &&
            seen.wakeups == HF_LEVEL_OK) {
            fail_msg("the diagnosis does not report %s", word);
        }
        assert_true(seen.refused <= 1);
        tried++;
    }
    assert_true(tried > 20);
}

static void grant_all(const fixture *f, char sign, const char *name)
{
    char line[96];

    (void)snprintf(line, sizeof(line), "ACL SETUSER holdfast %c%s", sign, name);
    for (int i = 0; i < (int)running_servers(f); i++) {
        assert_true(fixture_server_run(f, i, line));
    }
}

TEST(watching_needs_the_right_to_track)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "watched");
    hf_change change = HF_CHANGE_INIT;
    hf_watch *watch = NULL;

    fixture_not_quorum(f);
    expect_status(HF_DENIED, hf_watch_open(f->client, key, NULL, &watch, ERR));
    assert_non_null(strstr(expect_message(), "client|tracking"));
    grant_all(f, '+', "client|tracking");
    expect_status(HF_OK, hf_watch_open(f->client, key, NULL, &watch, ERR));
    put_value(f->other, key, bytes("1"), 0);
    expect_status(HF_OK, hf_watch_next(watch, &change, 10000, ERR));
    assert_int_equal(change.kind, HF_CHANGE_WRITTEN);
    assert_bytes(key, hf_view(change.key.data, change.key.size));
    hf_change_free(&change);
    hf_watch_close(watch);
    grant_all(f, '-', "client|tracking");
}

/* The same for keys and channels. */
TEST(diagnosis_reports_missing_keys_and_channels)
{
    static const struct {
        const char *without;
        bool locks; /* they are refused; otherwise only wake-ups are missed */
    } rows[] = {
        {"resetkeys ~hf:*", true},
        {"resetkeys ~thf:*", true},
        {"resetkeys ~thf-* ~thf:token*", true},
        {"resetkeys ~thf-* ~thf:wait:*", true},
        {"resetchannels", true},
        {"resetchannels &hf:inbox:* &thf:other:*", true},
    };
    fixture *f = *state;
    int last = (int)running_servers(f) - 1;
    char line[128];

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        rights seen;

        (void)snprintf(line, sizeof(line), "ACL SETUSER holdfast %s",
                       rows[i].without);
        assert_true(fixture_server_run(f, last, line));
        seen = examine(f);
        assert_int_equal(seen.locks == HF_LEVEL_ERROR, rows[i].locks);
        assert_int_equal(seen.refused, rows[i].locks);
        assert_true(fixture_server_run(f, last,
                                       f->rights == FIXTURE_RIGHTS_DUMP
                                           ? "ACL SETUSER holdfast resetkeys "
                                             "~* resetchannels &t* &hf:*"
                                           : "ACL SETUSER holdfast resetkeys "
                                             "~t* resetchannels &t*"));
    }
}

/* ------------------------------------------------------------ dump and load */

static void fill_all_types(const fixture *f)
{
    static const char *const kinds[] = {"RPUSH any-list", "SADD any-set",
                                        "ZADD any-zset", "HSET any-hash"};
    static char command[MEMBERS_STEP * 24];

    as_owner(f, "SET any-string value PX 100000");
    as_owner(f, "XADD any-stream * f v");
    for (size_t kind = 0; kind < 4; kind++) {
        for (int i = 0; i < MEMBERS; i += MEMBERS_STEP) {
            int size = snprintf(command, sizeof(command), "%s", kinds[kind]);

            for (int j = i; j < i + MEMBERS_STEP; j++) {
                size += snprintf(command + size, sizeof(command) - (size_t)size,
                                 kind < 2 ? " m%d" : " %d m%d", j, j);
            }
            as_owner(f, command);
        }
    }
}

TEST(dump_and_load)
{
    fixture *f = *state;
    hf_store_load_options options = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer dumped = HF_STORE_TRANSFER_INIT;
    hf_store_transfer loaded = HF_STORE_TRANSFER_INIT;
    dump_tape dump = {.data = NULL};
    hf_client_options whole = HF_CLIENT_OPTIONS_INIT;
    bool may = f->rights == FIXTURE_RIGHTS_DUMP;

    fixture_not_quorum(f);
    whole.prefix = "";
    as_owner(f, "FLUSHALL");
    if (may) {
        fill_all_types(f);
    }
    expect_status(may ? HF_OK : HF_DENIED,
                  hf_store_dump(fixture_client(f, &whole), NULL, dump_tape_put,
                                &dump, &dumped, ERR));
    if (!may) {
        free(dump.data);
        return;
    }
    assert_int_equal(dumped.keys, 6);
    options.flags = HF_LOAD_REPLACE;
    expect_status(HF_OK, hf_store_load(f->client, &options, dump_tape_take,
                                       &dump, &loaded, ERR));
    assert_int_equal(loaded.keys, 6);
    free(dump.data);
    as_owner(f, "FLUSHALL");
}

/* Acquire it, wait for it in vain, renew and release it. */
static void use_redisson_lock(fixture *f, hf_redisson_kind kind, hf_bytes name)
{
    hf_lock *lock, *waiter;

    expect_status(
        HF_OK, hf_redisson_lock_new(f->client, name, kind, NULL, &lock, ERR));
    expect_status(
        HF_OK, hf_redisson_lock_new(f->client, name, kind, NULL, &waiter, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 1000, ERR));
    expect_status(kind == HF_REDISSON_READ_LOCK ? HF_OK : HF_TIMEOUT,
                  hf_lock_acquire(waiter, 50, ERR));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(waiter);
    hf_lock_free(lock);
}

TEST(redisson_is_allowed_after_what_the_page_adds)
{
    static const char *const names[] = {"lock", "fenced", "fair",
                                        "rw",   "rw",     "permit"};
    fixture *f = *state;
    hf_bytes semaphore = fixture_key(f, "semaphore");
    hf_bytes latch = fixture_key(f, "latch");
    char line[FIXTURE_RIGHTS_SIZE];

    if (f->rights == FIXTURE_RIGHTS_DUMP || f->store == FIXTURE_QUORUM)
        return;
    assert_true(fixture_rights_read("ACL SETUSER holdfast ~redisson_*", line));
    for (int i = 0; i < (int)running_servers(f); i++)
        assert_true(fixture_server_run(f, i, line));
    if (f->cluster != NULL)
        for (int i = 0; i < 3; i++)
            grant_all(f, '+',
                      ((const char *[]){"spublish", "ssubscribe",
                                        "sunsubscribe"})[i]);
    expect_status(HF_OK, hf_redisson_semaphore_set(
                             f->client, fixture_key(f, "permit"), 1, ERR));
    for (int i = 0; i < 6; i++)
        use_redisson_lock(f, (hf_redisson_kind)i, fixture_key(f, names[i]));
    expect_status(HF_OK,
                  hf_redisson_semaphore_release(f->client, semaphore, 1, ERR));
    expect_status(HF_TIMEOUT, hf_redisson_semaphore_acquire(
                                  f->client, semaphore, 2, 50, ERR));
    expect_status(
        HF_OK, hf_redisson_semaphore_acquire(f->client, semaphore, 1, 0, ERR));
    expect_status(HF_OK, hf_redisson_latch_set(f->client, latch, 1, ERR));
    expect_status(HF_TIMEOUT,
                  hf_redisson_latch_await(f->client, latch, 50, ERR));
    expect_status(HF_OK, hf_redisson_latch_arrive(f->client, latch, ERR));
}
