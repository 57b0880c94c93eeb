/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watch_fault_test.c - watches and near caches where allocations fail, and
 * where writers are killed: a change is reported or covered by a gap, and a
 * near cache returns what the store has.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "embedded_store.h"
#include "holdfast/near.h"
#include "holdfast/value.h"
#include "holdfast/watch.h"
#include "support/await_child.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "util/mem.h"

#define TRIES_MAX 500
#define WAIT_MS 20000

/* HF_TEST_KILLS is for long runs. */
#define KILLS 12
#define KEYS_MAX 2000000

static redis_server *server;
static place volatile_place, file_place;

/* LMDB writes a meta page by this, and then the number of the transaction. */
static bool killed_at_meta_page;

__attribute__((visibility("default"))) ssize_t pwrite(int fd, const void *data,
                                                      size_t size, off_t offset)
{
    ssize_t written = syscall(SYS_pwrite64, fd, data, size, offset);

    if (killed_at_meta_page && size < 512 && offset < 8192)
        (void)raise(SIGKILL);
    return written;
}

static hf_client *must_open_client(const char *url)
{
    hf_client *client = NULL;
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(url, NULL, &client, &err) != HF_OK)
        fail_msg("%s: %s", url, err.message);
    return client;
}

static void must_set(hf_client *client, const char *key)
{
    while (hf_value_set(client, hf_str(key), hf_str("1"), NULL, NULL, NULL) !=
           HF_OK)
        hf__alloc_fail_after(-1);
}

/* --------------------------------------------------------------- no memory */

/* A watch that was opened reports the change, or a gap. */
static void watch_once(hf_client *client, hf_client *other)
{
    hf_watch *watch = NULL;
    hf_change change = HF_CHANGE_INIT;
    hf_status status = hf_watch_open(client, hf_str("k"), NULL, &watch, NULL);

    if (status != HF_OK) {
        assert_true(status == HF_NO_MEMORY || status == HF_UNAVAILABLE);
        return;
    }
    must_set(other, "k");
    do
        status = hf_watch_next(watch, &change, WAIT_MS, NULL);
    while (status == HF_NO_MEMORY);
    assert_int_equal(status, HF_OK);
    assert_true(change.kind == HF_CHANGE_GAP || change.key.size == 1);
    hf_change_free(&change);
    hf_watch_close(watch);
}

static void near_once(hf_client *client, hf_client *other)
{
    hf_near *near = NULL;
    hf_buffer value = HF_BUFFER_INIT;
    hf_status status = hf_near_open(client, NULL, &near, NULL);

    if (status != HF_OK) {
        assert_true(status == HF_NO_MEMORY || status == HF_UNAVAILABLE);
        return;
    }
    must_set(other, "k");
    for (int i = 0; i < 3; i++) {
        status = hf_near_get(near, hf_str("k"), &value, NULL);
        assert_true(status == HF_OK || status == HF_NO_MEMORY);
        hf_buffer_free(&value);
    }
    hf_near_close(near);
}

static void fail_each(const char *url, void (*once)(hf_client *, hf_client *))
{
    hf_client *other = must_open_client(url);
    bool reached = true;

    for (long n = 0; reached && n < TRIES_MAX; n++) {
        hf_client *client = must_open_client(url);

        hf__alloc_fail_after(n);
        once(client, other);
        reached = hf__alloc_fail_after(-1) < 0;
        hf_client_close(client);
    }
    assert_false(reached);
    hf_client_close(other);
}

TEST(watches_survive_without_memory)
{
    fail_each(volatile_place.url, watch_once);
    fail_each(redis_server_unix_url(server), watch_once);
}

TEST(near_caches_survive_without_memory)
{
    fail_each(volatile_place.url, near_once);
    fail_each(redis_server_unix_url(server), near_once);
}

/* ---------------------------------------------------------- killed writers */

/* Write "w:0", "w:1", ..., and the number to "last". */
static void write_until_killed(int from)
{
    hf_client *client = must_open_client(volatile_place.url);
    char key[24];

    for (int i = from;; i++) {
        int size = snprintf(key, sizeof(key), "w:%d", i);

        if (hf_value_set(client, hf_view(key, (size_t)size), hf_str("1"), NULL,
                         NULL, NULL) != HF_OK ||
            hf_value_set(client, hf_str("last"), hf_view(key, (size_t)size),
                         NULL, NULL, NULL) != HF_OK)
            _exit(1);
    }
}

static pid_t start_writer(int from)
{
    pid_t child = fork();

    if (child == 0)
        write_until_killed(from);
    return child;
}

/* How many of "w:..." there are. */
static int count_written(hf_client *client, int from)
{
    hf_buffer value = HF_BUFFER_INIT;
    char key[24];

    for (;; from++) {
        snprintf(key, sizeof(key), "w:%d", from);
        if (hf_value_get(client, hf_str(key), &value, NULL) != HF_OK)
            return from;
        hf_buffer_free(&value);
    }
}

/* Every key from..to-1 is reported, or there is a gap. No one writes now. */
static void expect_reported(hf_watch *watch, int from, int to)
{
    static bool seen[KEYS_MAX];
    hf_change change = HF_CHANGE_INIT;
    int missing = to - from;

    assert_true(to <= KEYS_MAX);
    while (missing > 0) {
        long number;

        if (hf_watch_next(watch, &change, WAIT_MS, NULL) != HF_OK)
            fail_msg("%d of %d changes are missing", missing, to - from);
        if (change.kind == HF_CHANGE_GAP)
            break;
        number = strtol((const char *)change.key.data + 2, NULL, 10);
        assert_true(number >= 0 && number < KEYS_MAX);
        missing -= number >= from && number < to && !seen[number];
        seen[number] = true;
    }
    hf_change_free(&change);
}

static void read_last(hf_near *near)
{
    hf_buffer value = HF_BUFFER_INIT;

    (void)!hf_near_get(near, hf_str("last"), &value, NULL);
    hf_buffer_free(&value);
}

/* The near cache has what the store has. */
static void expect_current(hf_client *client, hf_near *near)
{
    hf_buffer ours = HF_BUFFER_INIT, theirs = HF_BUFFER_INIT;

    assert_int_equal(hf_value_get(client, hf_str("last"), &theirs, NULL) ==
                         HF_OK,
                     hf_near_get(near, hf_str("last"), &ours, NULL) == HF_OK);
    assert_int_equal(ours.size, theirs.size);
    assert_int_equal(
        ours.size == 0 || memcmp(ours.data, theirs.data, ours.size) == 0, 1);
    hf_buffer_free(&ours);
    hf_buffer_free(&theirs);
}

TEST(killed_writers_leave_nothing_unreported)
{
    const char *long_run = getenv("HF_TEST_KILLS");
    int kills = long_run == NULL ? KILLS : (int)strtol(long_run, NULL, 10);
    hf_watch_options options = HF_WATCH_OPTIONS_INIT;
    hf_client *client;
    hf_watch *watch = NULL;
    hf_near *near = NULL;
    prng random;
    int from = 0;

    client = must_open_client(volatile_place.url);
    options.max_bytes = 64 << 20;
    assert_int_equal(
        hf_watch_open(client, hf_str("w:*"), &options, &watch, NULL), HF_OK);
    assert_int_equal(hf_near_open(client, NULL, &near, NULL), HF_OK);
    random.state = (uint64_t)getpid();
    for (int i = 0; i < kills && from < KEYS_MAX / 2; i++) {
        pid_t child = start_writer(from);
        int to, outcome;

        usleep((useconds_t)(5000 + prng_below(&random, 10000)));
        for (int k = 0; k < 100; k++)
            read_last(near);
        kill(child, SIGKILL);
        assert_int_equal(await_child(child, &outcome), child);
        assert_true(WIFSIGNALED(outcome));
        expect_current(client, near);
        to = count_written(client, from);
        expect_reported(watch, from, to);
        expect_current(client, near);
        from = to;
    }
    hf_near_close(near);
    hf_watch_close(watch);
    hf_client_close(client);
}

static void expect_near(hf_near *near, const char *key, const char *wanted)
{
    hf_buffer value = HF_BUFFER_INIT;

    assert_int_equal(hf_near_get(near, hf_str(key), &value, NULL), HF_OK);
    assert_string_equal(value.data, wanted);
    hf_buffer_free(&value);
}

static void kill_writer_at_meta_page(const char *key, const char *value)
{
    pid_t child = fork();
    int outcome;

    if (child == 0) {
        hf_client *client = must_open_client(file_place.url);

        killed_at_meta_page = true;
        (void)!hf_value_set(client, hf_str(key), hf_str(value), NULL, NULL,
                            NULL);
        _exit(1);
    }
    assert_int_equal(await_child(child, &outcome), child);
    assert_true(WIFSIGNALED(outcome));
}

TEST(writers_killed_within_a_commit_leave_no_stale_value)
{
    hf_client *client = must_open_client(file_place.url);
    hf_change change = HF_CHANGE_INIT;
    hf_watch *watch = NULL;
    hf_near *near = NULL;

    must_set(client, "torn");
    assert_int_equal(hf_near_open(client, NULL, &near, NULL), HF_OK);
    assert_int_equal(hf_watch_open(client, hf_str("torn"), NULL, &watch, NULL),
                     HF_OK);
    expect_near(near, "torn", "1");
    kill_writer_at_meta_page("torn", "2");
    assert_int_equal(hf_watch_next(watch, &change, WAIT_MS, NULL), HF_OK);
    expect_near(near, "torn", "2");
    must_set(client, "other");
    expect_near(near, "torn", "2");
    hf_change_free(&change);
    hf_near_close(near);
    hf_watch_close(watch);
    hf_client_close(client);
}

#define WATCHERS_MAX 64

TEST(killed_watchers_leave_room_for_others)
{
    hf_client *client;
    hf_near *near = NULL;
    int outcome;

    for (int i = 0; i < WATCHERS_MAX; i++) {
        pid_t child = fork();

        if (child == 0) {
            client = must_open_client(volatile_place.url);
            if (hf_near_open(client, NULL, &near, NULL) == HF_OK)
                (void)raise(SIGKILL);
            _exit(1);
        }
        assert_int_equal(await_child(child, &outcome), child);
        assert_true(WIFSIGNALED(outcome));
    }
    client = must_open_client(volatile_place.url);
    assert_int_equal(hf_near_open(client, NULL, &near, NULL), HF_OK);
    hf_near_close(near);
    hf_client_close(client);
}

static int open_stores(void **state)
{
    (void)state;
    make_place(&volatile_place, "volatile", "");
    make_place(&file_place, "file", "");
    server = redis_server_start(NULL);
    return server == NULL ? -1 : 0;
}

static int close_stores(void **state)
{
    (void)state;
    redis_server_stop(server);
    remove_place(&volatile_place);
    remove_place(&file_place);
    return 0;
}

ALL_TESTS_WITH(open_stores, close_stores);
