/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_revised_test.c - values with a revision, which never comes again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/store.h"
#include "holdfast/txn.h"
#include "holdfast/value.h"
#include "support/dump_tape.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define REVISION_MAX ((UINT64_C(1) << 53) - 1)

static hf_status put(fixture *f, hf_bytes key, const char *text,
                     uint64_t expected, uint64_t *revision)
{
    return hf_value_put_revised(f->client, key, hf_str(text), expected, NULL,
                                revision, ERR);
}

/* As another client reads it. */
static uint64_t revision_of(fixture *f, hf_bytes key, const char *text)
{
    hf_buffer value = HF_BUFFER_INIT;
    uint64_t revision = 0;

    expect_status(HF_OK,
                  hf_value_get_revised(f->other, key, &value, &revision, ERR));
    assert_buffer(&value, hf_str(text));
    hf_buffer_free(&value);
    assert_in_range(revision, 1, REVISION_MAX);
    return revision;
}

/* The name of the key of ours that holds it, in `text`. */
static hf_bytes stamp_of(hf_bytes key, char *text, size_t size)
{
    bool tagged = memchr(key.data, '{', key.size) != NULL;
    int end = snprintf(text, size,
                       tagged ? "hf:revision::%.*s" : "hf:revision:{%.*s}",
                       (int)key.size, (const char *)key.data);

    return hf_view(text, (size_t)end);
}

TEST(value_revision_grows_with_each_put)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t last = HF_REVISION_NONE;

    for (int i = 0; i < 20; i++) {
        uint64_t revision = 0;

        expect_status(HF_OK, put(f, key, i % 2 ? "a" : "b", last, &revision));
        assert_true(revision > last);
        last = revision;
        assert_true(revision_of(f, key, i % 2 ? "a" : "b") == last);
    }
}

TEST(value_put_by_an_older_revision_is_a_conflict)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t first = 0, second = 0, current = 0;

    expect_status(HF_NOT_FOUND, put(f, key, "a", 7, &current));
    assert_no_key(f->client, key);
    expect_status(HF_OK, put(f, key, "a", HF_REVISION_NONE, &first));
    expect_status(HF_CONFLICT, put(f, key, "x", HF_REVISION_NONE, &current));
    assert_true(current == first);
    expect_status(HF_OK, put(f, key, "b", first, &second));
    expect_status(HF_CONFLICT, put(f, key, "x", first, &current));
    assert_true(current == second);
    expect_status(HF_CONFLICT, put(f, key, "x", REVISION_MAX, NULL));
    assert_value(f->other, key, bytes("b"));
    assert_true(revision_of(f, key, "b") == second);
    expect_status(HF_OK, put(f, key, "c", HF_REVISION_ANY, &current));
    assert_true(current > second);
}

/* The digest is the same again, the revision is not. */
TEST(value_revision_tells_the_same_bytes_apart)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t first = 0, current = 0;

    expect_status(HF_OK, put(f, key, "a", HF_REVISION_ANY, &first));
    expect_status(HF_OK, put(f, key, "b", HF_REVISION_ANY, NULL));
    expect_status(HF_OK, put(f, key, "a", HF_REVISION_ANY, NULL));
    expect_status(HF_CONFLICT, put(f, key, "x", first, &current));
    expect_status(HF_OK,
                  hf_value_delete_revised(f->client, key, current, NULL, ERR));
    expect_status(HF_OK, put(f, key, "a", HF_REVISION_NONE, NULL));
    expect_status(HF_CONFLICT, put(f, key, "x", current, &current));
    expect_status(HF_OK, hf_value_delete(f->client, key, ERR));
    put_value(f->client, key, bytes("a"), 0);
    expect_status(HF_CONFLICT, put(f, key, "x", current, &first));
    assert_true(first > current);
}

TEST(value_written_in_another_way_gets_a_revision)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t first, second, third = 0;

    put_value(f->other, key, bytes("a"), 60000);
    first = revision_of(f, key, "a");
    assert_true(revision_of(f, key, "a") == first);
    assert_ttl(f->client, key, 60000);
    put_value(f->other, key, bytes("b"), 60000);
    expect_status(HF_CONFLICT, put(f, key, "x", first, &third));
    second = revision_of(f, key, "b");
    assert_true(second > first && third == second);
    put_value(f->other, key, bytes("c"), 60000);
    expect_status(HF_CONFLICT,
                  hf_value_delete_revised(f->client, key, second, &third, ERR));
    assert_true(third > second);
    expect_status(HF_OK, put(f, key, "d", third, &second));
    assert_true(second > third);
}

TEST(value_delete_by_revision)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    char text[256];
    hf_bytes stamp = stamp_of(key, text, sizeof(text));
    uint64_t first = 0, second = 0, current = 0;

    expect_status(
        HF_NOT_FOUND,
        hf_value_delete_revised(f->client, key, HF_REVISION_ANY, NULL, ERR));
    expect_status(HF_OK, put(f, key, "a", HF_REVISION_ANY, &first));
    expect_status(HF_OK, put(f, key, "b", HF_REVISION_ANY, &second));
    expect_status(HF_CONFLICT, hf_value_delete_revised(f->client, key, first,
                                                       &current, ERR));
    assert_true(current == second);
    expect_status(
        HF_OK, hf_value_delete_revised(f->client, key, second, &current, ERR));
    assert_true(current > second);
    assert_no_key(f->client, key);
    assert_no_key(f->client, stamp);
    expect_status(HF_NOT_FOUND,
                  hf_value_delete_revised(f->client, key, second, NULL, ERR));
    expect_status(HF_OK, put(f, key, "c", HF_REVISION_NONE, &first));
    assert_true(first > current);
}

TEST(value_revision_lives_as_long_as_the_value)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    char text[256];
    hf_bytes stamp = stamp_of(key, text, sizeof(text));
    hf_value_set_options opts = HF_VALUE_SET_OPTIONS_INIT;
    uint64_t revision = 0;

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        skip(); /* `stamp` has a prefix */
    opts.ttl_ms = 60000;
    expect_status(HF_OK,
                  hf_value_put_revised(f->client, key, bytes("a"),
                                       HF_REVISION_ANY, &opts, NULL, ERR));
    assert_ttl(f->client, key, 60000);
    assert_ttl(f->client, stamp, 60000);
    opts.ttl_ms = 0;
    opts.flags = HF_SET_KEEPTTL;
    expect_status(HF_OK,
                  hf_value_put_revised(f->client, key, bytes("b"),
                                       HF_REVISION_ANY, &opts, &revision, ERR));
    assert_ttl(f->client, stamp, 60000);
    expect_status(HF_OK, hf_key_expire(f->client, key, -1, ERR));
    assert_no_ttl(f->client, stamp);
    expect_status(HF_OK, hf_key_expire(f->client, key, 50000, ERR));
    assert_ttl(f->client, stamp, 50000);
    assert_true(revision_of(f, key, "b") == revision);
    expect_status(HF_OK, put(f, key, "c", revision, NULL));
    assert_no_ttl(f->client, key);
    assert_no_ttl(f->client, stamp);
    expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    assert_no_key(f->client, stamp);
    opts.flags = 0;
    opts.expires_unix_ms = 1;
    expect_status(HF_OK,
                  hf_value_put_revised(f->client, key, bytes("a"),
                                       HF_REVISION_NONE, &opts, NULL, ERR));
    assert_no_key(f->client, key);
    assert_no_key(f->client, stamp);
}

/* A key that went back to the revision of another would have it twice. */
TEST(value_that_is_renamed_or_copied_gets_a_new_revision)
{
    fixture *f = *state;
    hf_bytes from = fixture_key(f, "a{t}"), to = fixture_key(f, "b{t}");
    uint64_t first = 0, second = 0, third = 0;

    expect_status(HF_OK, put(f, from, "x", HF_REVISION_ANY, &first));
    expect_status(HF_OK, put(f, to, "x", HF_REVISION_ANY, &second));
    expect_status(HF_OK,
                  hf_key_copy(f->client, from, to, HF_COPY_REPLACE, ERR));
    third = revision_of(f, to, "x");
    assert_true(third > second);
    assert_true(revision_of(f, from, "x") == first);
    expect_status(HF_OK, hf_key_rename(f->client, from, to, 0, ERR));
    assert_true(revision_of(f, to, "x") > third);
    expect_status(HF_OK, put(f, from, "y", HF_REVISION_NONE, &first));
    assert_true(first > third);
}

/* ------------------------------------------------------- dumps, other writers
 */

static dump_tape dump(hf_client *client, const char *pattern)
{
    hf_store_dump_options options = HF_STORE_DUMP_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;
    dump_tape tape = {.data = NULL};

    options.pattern = hf_str(pattern);
    expect_status(HF_OK, hf_store_dump(client, &options, dump_tape_put, &tape,
                                       &result, ERR));
    return tape;
}

/* From the beginning of the tape. */
static void load(hf_client *client, dump_tape *tape)
{
    hf_store_load_options options = HF_STORE_LOAD_OPTIONS_INIT;
    hf_store_transfer result = HF_STORE_TRANSFER_INIT;

    tape->at = 0;
    options.flags = HF_LOAD_REPLACE;
    expect_status(HF_OK, hf_store_load(client, &options, dump_tape_take, tape,
                                       &result, ERR));
}

TEST(value_that_is_loaded_elsewhere_gets_a_greater_revision)
{
    fixture *f = *state;
    hf_client *there = fixture_elsewhere(f, "elsewhere", NULL);
    hf_bytes key = fixture_key(f, "k");
    dump_tape tape;
    uint64_t first = 0;

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        skip(); /* a load needs more */
    /* Decades ahead of the clock of the other store. */
    put_value(there, bytes("hf:token"), bytes("5000000000000000"), 600000);
    expect_status(HF_OK,
                  hf_value_put_revised(there, key, bytes("a"), HF_REVISION_NONE,
                                       NULL, &first, ERR));
    tape = dump(there, "*");
    load(f->client, &tape);
    assert_true(revision_of(f, key, "a") > first);
    expect_status(HF_CONFLICT, put(f, key, "b", first, NULL));
    free(tape.data);
}

TEST(value_of_an_old_dump_gets_a_new_revision)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    uint64_t first = 0, second = 0, third;
    dump_tape tape;

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        skip(); /* a load needs more */
    expect_status(HF_OK, put(f, key, "a", HF_REVISION_NONE, &first));
    tape = dump(f->client, key.data);
    expect_status(HF_OK, put(f, key, "b", first, &second));
    load(f->client, &tape);
    expect_status(HF_CONFLICT, put(f, key, "c", second, NULL));
    expect_status(HF_CONFLICT, put(f, key, "c", first, NULL));
    third = revision_of(f, key, "a");
    assert_true(third > second);
    expect_status(HF_OK,
                  hf_value_delete_revised(f->client, key, third, &second, ERR));
    load(f->client, &tape);
    third = revision_of(f, key, "a");
    assert_true(third > second);
    expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    load(f->client, &tape);
    assert_true(revision_of(f, key, "a") > third);
    free(tape.data);
}

/* A command with up to five words; its reply. */
static hf_reply *command(fixture *f, size_t count, const hf_bytes *words)
{
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_command(f->client, count, words, &reply, ERR));
    return reply;
}

TEST(value_that_commands_bring_back_gets_a_new_revision)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "a{t}"), other = fixture_key(f, "b{t}");
    const hf_bytes dumped[] = {bytes("DUMP"), key};
    const hf_bytes renamed[] = {bytes("RENAME"), other, key};
    uint64_t first = 0, second = 0, third;
    hf_reply *bytes_of;

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        skip(); /* DUMP, RENAME */
    expect_status(HF_OK, put(f, key, "x", HF_REVISION_NONE, &first));
    bytes_of = command(f, 2, dumped);
    expect_status(HF_OK, put(f, key, "y", first, &second));
    {
        const hf_bytes restored[] = {bytes("RESTORE"), key, bytes("0"),
                                     hf_reply_bytes(bytes_of),
                                     bytes("REPLACE")};

        hf_reply_free(command(f, 5, restored));
    }
    expect_status(HF_CONFLICT, put(f, key, "z", second, &third));
    assert_true(third > second);
    assert_true(revision_of(f, key, "x") == third);
    expect_status(HF_OK, put(f, other, "y", HF_REVISION_NONE, &first));
    hf_reply_free(command(f, 3, renamed));
    assert_true(revision_of(f, key, "y") > first);
    hf_reply_free(bytes_of);
}

/* A client that gets HF_OK has replaced what it read. */
TEST(value_revisions_count_each_increment_once)
{
    enum { EACH = 50 };
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_client *clients[] = {f->client, f->other};
    uint64_t seen[2] = {0, 0};
    int done = 0, refused = 0;

    expect_status(HF_OK, put(f, key, "0", HF_REVISION_NONE, &seen[0]));
    for (int i = 0; done < EACH; i++) {
        char text[16];
        int turn = i % 3 == 0;
        hf_status status;

        snprintf(text, sizeof(text), "%d", done + 1);
        status = hf_value_put_revised(clients[turn], key, hf_str(text),
                                      seen[turn], NULL, &seen[turn], ERR);
        if (status == HF_OK)
            done++;
        else
            refused++;
        assert_true(status == HF_OK || status == HF_CONFLICT);
    }
    assert_true(refused > 0);
    assert_value(f->other, key, bytes("50"));
}

TEST(value_is_put_by_revision_in_a_transaction)
{
    fixture *f = *state;
    hf_bytes a = fixture_key(f, "a{t}"), b = fixture_key(f, "b{t}");
    hf_async async = HF_ASYNC_INIT;
    uint64_t first = 0, second = 0;
    hf_txn *txn = NULL;

    if (f->rights == FIXTURE_RIGHTS_LEAST)
        skip(); /* two operations need DUMP */
    expect_status(HF_OK, put(f, a, "1", HF_REVISION_ANY, &first));
    expect_status(HF_OK, hf_txn_new(f->client, NULL, &txn, ERR));
    async.txn = txn;
    expect_status(HF_OK,
                  hf_value_put_revised_start(f->client, a, bytes("2"), first,
                                             NULL, &first, &async, ERR));
    expect_status(HF_OK, hf_value_put_revised_start(f->client, b, bytes("3"),
                                                    HF_REVISION_NONE, NULL,
                                                    &second, &async, ERR));
    expect_status(HF_OK, hf_txn_exec(txn, ERR));
    hf_txn_free(txn);
    assert_true(revision_of(f, a, "2") == first);
    assert_true(revision_of(f, b, "3") == second);
    assert_true(second > first);
}

/* One that has a revision can become one. */
TEST(value_with_a_revision_is_no_lock_that_is_held)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_lock *lock;
    uint64_t revision = 0;
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_OK, put(f, key, "a", HF_REVISION_ANY, &revision));
    expect_status(HF_OK,
                  hf_value_delete_revised(f->client, key, revision, NULL, ERR));
    lock = fixture_lock(f, f->client, key, NULL);
    expect_taken(lock);
    expect_status(HF_HELD, put(f, key, "b", HF_REVISION_ANY, NULL));
    expect_status(HF_HELD, put(f, key, "b", revision, NULL));
    expect_status(HF_HELD, hf_value_delete_revised(f->other, key,
                                                   HF_REVISION_ANY, NULL, ERR));
    expect_status(HF_HELD,
                  hf_value_get_revised(f->other, key, &value, &revision, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}

TEST(value_that_another_deleted_and_made_again_has_a_new_revision)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    const hf_bytes deleted[] = {bytes("DEL"), key};
    uint64_t first = 0;
    hf_buffer value = HF_BUFFER_INIT;

    expect_status(HF_OK, put(f, key, "a", HF_REVISION_ANY, &first));
    hf_reply_free(command(f, 2, deleted));
    expect_status(HF_NOT_FOUND, hf_value_get_revised(f->client, key, &value,
                                                     &(uint64_t){0}, ERR));
    expect_status(HF_OK,
                  hf_value_set(f->client, key, hf_str("a"), NULL, NULL, ERR));
    assert_true(revision_of(f, key, "a") > first);
}
