/* SPDX-License-Identifier: Apache-2.0 */
/*
 * value_changes_test.c - which values have changed since a revision.
 */
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "holdfast/async.h"
#include "holdfast/command.h"
#include "holdfast/key.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

/* Its keys are in one slot of a cluster. */
static hf_bytes all_of(fixture *f)
{
    return fixture_key(f, "{c}*");
}

static uint64_t put(fixture *f, const char *name, const char *text)
{
    uint64_t revision = 0;

    expect_status(HF_OK, hf_value_put_revised(f->client, fixture_key(f, name),
                                              hf_str(text), HF_REVISION_ANY,
                                              NULL, &revision, ERR));
    return revision;
}

static void put_for(fixture *f, const char *name, int64_t ttl_ms)
{
    hf_value_set_options options = HF_VALUE_SET_OPTIONS_INIT;

    options.ttl_ms = ttl_ms;
    expect_status(HF_OK, hf_value_put_revised(f->client, fixture_key(f, name),
                                              hf_str("v"), HF_REVISION_ANY,
                                              &options, NULL, ERR));
}

static hf_status after(fixture *f, uint64_t revision, int64_t wait_ms,
                       hf_value_changes *changes)
{
    return hf_value_changes_after(f->other, all_of(f), revision, wait_ms,
                                  changes, ERR);
}

static void expect_keys(fixture *f, hf_value_changes *changes,
                        const char *const *names, size_t count)
{
    assert_int_equal(changes->count, count);
    for (size_t i = 0; i < count; i++) {
        assert_bytes(changes->items[i].key, fixture_key(f, names[i]));
        assert_true(i == 0 || changes->items[i].revision >
                                  changes->items[i - 1].revision);
    }
    if (count > 0)
        assert_true(changes->revision == changes->items[count - 1].revision);
    hf_value_changes_free(changes);
}

#define EXPECT_KEYS(f, changes, ...)                                           \
    expect_keys(f, changes, (const char *const[]){__VA_ARGS__},                \
                sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

/* Where the others begin: after a change of this test. */
static uint64_t begin(fixture *f)
{
    return put(f, "{c}first", "v");
}

TEST(changes_come_in_the_order_of_their_revisions)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    (void)put(f, "{c}a", "1");
    (void)put(f, "{c}b", "1");
    (void)put(f, "{c}a", "2");
    expect_status(HF_OK, after(f, first, 0, &changes));
    assert_false(changes.gap);
    EXPECT_KEYS(f, &changes, "{c}b", "{c}a");
}

TEST(changes_of_other_keys_are_not_returned)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    (void)put(f, "x{c}", "1");
    expect_status(HF_TIMEOUT, after(f, first, 0, &changes));
    assert_null(changes.items);
    expect_status(HF_TIMEOUT, after(f, first, 50, &changes));
    (void)put(f, "{c}a", "1");
    (void)put(f, "{c}b", "1");
    expect_status(HF_OK,
                  hf_value_changes_after(f->client, fixture_key(f, "{c}b"),
                                         first, 0, &changes, ERR));
    EXPECT_KEYS(f, &changes, "{c}b");
}

TEST(changes_of_others_come_before_in_any_number)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_bytes begins = fixture_key(f, "{c}");
    char name[64];

    for (int i = 0; i < 250; i++) {
        (void)snprintf(name, sizeof(name), "%.*s%d", (int)begins.size,
                       (const char *)begins.data, i);
        expect_status(HF_OK,
                      hf_value_put_revised(f->client, hf_str(name), hf_str("v"),
                                           HF_REVISION_ANY, NULL, NULL, ERR));
    }
    (void)put(f, "{c}mine", "1");
    expect_status(HF_OK,
                  hf_value_changes_after(f->other, fixture_key(f, "{c}mine"),
                                         first, 0, &changes, ERR));
    EXPECT_KEYS(f, &changes, "{c}mine");
}

TEST(changes_include_what_was_found_deleted)
{
    fixture *f = *state;
    const hf_bytes words[] = {hf_str("DEL"), fixture_key(f, "{c}a")};
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_reply *reply = NULL;
    uint64_t revision = 0, last;

    for (int i = 0; i < 3; i++) {
        last = put(f, "{c}a", "1");
        expect_status(HF_OK, hf_command(f->client, 2, words, &reply, ERR));
        hf_reply_free(reply);
        if (i == 0)
            expect_status(HF_NOT_FOUND,
                          hf_value_get_revised(f->client, words[1], &value,
                                               &revision, ERR));
        else if (i == 1)
            expect_status(HF_NOT_FOUND,
                          hf_value_put_revised(f->client, words[1], hf_str("2"),
                                               last, NULL, &revision, ERR));
        else
            expect_status(HF_NOT_FOUND,
                          hf_value_delete_revised(f->client, words[1], last,
                                                  &revision, ERR));
        expect_status(HF_OK, after(f, last, 0, &changes));
        EXPECT_KEYS(f, &changes, "{c}a");
    }
}

TEST(changes_include_deletions_and_noticed_writes)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    uint64_t revision = 0;

    (void)put(f, "{c}a", "1");
    expect_status(HF_OK,
                  hf_value_delete_revised(f->client, fixture_key(f, "{c}a"),
                                          HF_REVISION_ANY, &revision, ERR));
    expect_status(HF_OK, hf_value_set(f->client, fixture_key(f, "{c}b"),
                                      hf_str("x"), NULL, NULL, ERR));
    expect_status(HF_OK, after(f, first, 0, &changes));
    assert_true(changes.revision == revision);
    EXPECT_KEYS(f, &changes, "{c}a");
    expect_status(HF_OK, hf_value_get_revised(f->client, fixture_key(f, "{c}b"),
                                              &value, &first, ERR));
    hf_buffer_free(&value);
    expect_status(HF_OK, after(f, revision, 0, &changes));
    assert_true(changes.revision == first);
    EXPECT_KEYS(f, &changes, "{c}b");
}

TEST(changes_refused_writes_make_none)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    expect_status(HF_CONFLICT,
                  hf_value_put_revised(f->client, fixture_key(f, "{c}first"),
                                       hf_str("w"), HF_REVISION_NONE, NULL,
                                       NULL, ERR));
    expect_status(HF_NOT_FOUND,
                  hf_value_put_revised(f->client, fixture_key(f, "{c}none"),
                                       hf_str("w"), first, NULL, NULL, ERR));
    expect_status(HF_TIMEOUT, after(f, first, 0, &changes));
}

TEST(changes_include_expired_values)
{
    fixture *f = *state;
    uint64_t first = begin(f), last;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    put_for(f, "{c}a", 150);
    put_for(f, "{c}b", 100000);
    expect_status(HF_OK, after(f, first, 0, &changes));
    last = changes.revision;
    EXPECT_KEYS(f, &changes, "{c}a", "{c}b");
    /* No one writes: the wait ends when it expires. */
    expect_status(HF_OK, after(f, last, 20000, &changes));
    last = changes.revision;
    EXPECT_KEYS(f, &changes, "{c}a");
    expect_status(HF_NOT_FOUND, hf_key_ttl(f->client, fixture_key(f, "{c}a"),
                                           &(int64_t){0}, ERR));
    expect_status(HF_TIMEOUT, after(f, last, 0, &changes));
}

TEST(changes_do_not_include_what_no_longer_expires)
{
    fixture *f = *state;
    uint64_t last;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    put_for(f, "{c}a", 50);
    last = put(f, "{c}a", "stays");
    expect_status(HF_TIMEOUT, after(f, last, 200, &changes));
}

typedef struct waiter {
    fixture *fixture;
    uint64_t from;
    hf_bytes pattern;
    hf_value_changes changes;
    hf_status status;
} waiter;

static void *wait_for_change(void *user)
{
    waiter *self = user;

    self->status =
        hf_value_changes_after(self->fixture->other, self->pattern, self->from,
                               60000, &self->changes, NULL);
    return NULL;
}

TEST(changes_wake_who_waits)
{
    fixture *f = *state;
    waiter self = {.fixture = f, .pattern = all_of(f), .from = begin(f)};
    int64_t began_ms;
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&thread, NULL, wait_for_change, &self),
                         0);
        usleep(100000);
        began_ms = test_now_ms();
        (void)put(f, "{c}a", "v");
        (void)pthread_join(thread, NULL);
        expect_status(HF_OK, self.status);
        /* Not by the poll of 5 s. */
        assert_true(test_now_ms() - began_ms < 4000);
        self.from = self.changes.revision;
        EXPECT_KEYS(f, &self.changes, "{c}a");
    }
}

TEST(changes_wake_who_was_woken_for_another_key)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    waiter self = {.fixture = f, .from = first};
    int64_t began_ms;
    pthread_t thread;

    self.pattern = fixture_key(f, "{c}mine");
    assert_int_equal(pthread_create(&thread, NULL, wait_for_change, &self), 0);
    usleep(100000);
    (void)put(f, "{c}other", "v");
    usleep(100000);
    began_ms = test_now_ms();
    (void)put(f, "{c}mine", "v");
    (void)pthread_join(thread, NULL);
    expect_status(HF_OK, self.status);
    assert_true(test_now_ms() - began_ms < 4000);
    EXPECT_KEYS(f, &self.changes, "{c}mine");
}

TEST(changes_wait_can_be_interrupted)
{
    fixture *f = *state;
    waiter self = {.fixture = f, .pattern = all_of(f), .from = begin(f)};
    pthread_t thread;

    assert_int_equal(pthread_create(&thread, NULL, wait_for_change, &self), 0);
    usleep(100000);
    expect_status(HF_OK, hf_client_interrupt(f->other, ERR));
    (void)pthread_join(thread, NULL);
    expect_status(HF_CANCELLED, self.status);
}

TEST(changes_beyond_those_kept_are_a_gap)
{
    fixture *f = *state;
    uint64_t first = begin(f), last = first;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_bytes begins = fixture_key(f, "{c}");
    size_t count = 0;
    char name[64];

    for (int i = 0; i < HF_VALUE_CHANGES_KEPT; i++) {
        (void)snprintf(name, sizeof(name), "%.*s%d", (int)begins.size,
                       (const char *)begins.data, i);
        expect_status(HF_OK,
                      hf_value_put_revised(f->client, hf_str(name), hf_str("v"),
                                           HF_REVISION_ANY, NULL, NULL, ERR));
    }
    /* The first was dropped, and nothing after it. */
    expect_status(HF_OK, after(f, first, 0, &changes));
    assert_false(changes.gap);
    hf_value_changes_free(&changes);
    expect_status(HF_OK, after(f, first - 1, 0, &changes));
    assert_true(changes.gap);
    hf_value_changes_free(&changes);
    while (after(f, last, 0, &changes) == HF_OK) {
        assert_false(changes.gap);
        count += changes.count;
        last = changes.revision;
        hf_value_changes_free(&changes);
    }
    assert_int_equal(count, HF_VALUE_CHANGES_KEPT);
    (void)put(f, "{c}more", "v");
    expect_status(HF_OK, after(f, first, 0, &changes));
    assert_true(changes.gap);
    hf_value_changes_free(&changes);
}

/* As after a failover: the last change is not there. */
TEST(changes_that_are_no_longer_there_are_a_gap)
{
    fixture *f = *state;
    uint64_t first = begin(f), last;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    expect_status(HF_OK, after(f, first + 1, 0, &changes));
    assert_true(changes.gap);
    for (last = changes.revision; last < first; last = changes.revision) {
        hf_value_changes_free(&changes);
        expect_status(HF_OK, after(f, last, 0, &changes));
        assert_false(changes.gap);
    }
    hf_value_changes_free(&changes);
    assert_true(last == first);
    expect_status(HF_TIMEOUT, after(f, first, 0, &changes));
}

TEST(changes_that_were_lost_are_a_gap)
{
    fixture *f = *state;
    const hf_bytes words[] = {hf_str("DEL"), hf_str("hf:changes")};
    hf_reply *reply = NULL;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    if (f->cluster != NULL || f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    expect_status(HF_OK, hf_command(f->client, 2, words, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_TIMEOUT, after(f, first, 0, &changes));
    (void)put(f, "{c}a", "v");
    expect_status(HF_OK, after(f, first, 0, &changes));
    assert_true(changes.gap);
    EXPECT_KEYS(f, &changes, "{c}a");
}

static void note_status(void *user, hf_status status, const hf_error *err)
{
    (void)err;
    *(hf_status *)user = status;
}

TEST(changes_wait_can_be_started)
{
    fixture *f = *state;
    uint64_t first = begin(f);
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;
    hf_status status = HF_TIMEOUT;
    size_t running = 0;
    hf_async async = HF_ASYNC_INIT;

    async.done = note_status;
    async.user = &status;
    expect_status(HF_OK,
                  hf_value_changes_after_start(f->other, all_of(f), first,
                                               60000, &changes, &async, ERR));
    usleep(50000);
    (void)put(f, "{c}a", "v");
    while (status == HF_TIMEOUT) {
        expect_status(HF_OK, hf_client_wait(f->other, 10000, ERR));
        expect_status(HF_OK, hf_client_dispatch(f->other, &running, ERR));
    }
    expect_status(HF_OK, status);
    EXPECT_KEYS(f, &changes, "{c}a");
}

TEST(changes_of_bad_arguments_are_refused)
{
    fixture *f = *state;
    hf_value_changes changes = HF_VALUE_CHANGES_INIT;

    expect_status(HF_INVALID, after(f, HF_REVISION_ANY, 0, &changes));
    expect_status(HF_INVALID, after(f, 0, -1, &changes));
    expect_status(HF_INVALID, hf_value_changes_after(f->client, hf_str(""), 0,
                                                     0, &changes, ERR));
    expect_status(HF_INVALID, after(f, 0, 0, NULL));
    if (f->cluster != NULL)
        expect_status(HF_UNSUPPORTED,
                      hf_value_changes_after(f->client, fixture_key(f, "*"), 0,
                                             0, &changes, ERR));
}
