/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_full.c - a store on a file system that is full to the last block,
 * that has no inodes left, or whose files may not grow.
 *
 * Writes end in HF_FULL; reads, deletes, renewals and releases work; a new
 * process works or gets an error; what was deleted can be written again; and no
 * process ever gets SIGBUS. Each case runs in a child on a small tmpfs of its
 * own, in user and mount namespaces, so no rights are needed. Where a machine
 * forbids those, RLIMIT_FSIZE replaces the end of the disk, which takes the
 * same path (posix_fallocate() fails); the cases that need a full file system
 * around other processes then check only that limit's refusal, and the program
 * says so.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/test.h"
#include "support/test_clock.h"

#define KEYS_MAX 20000
#define VALUE_SIZE 1000

static place at;
/* Decided once: may processes of this machine mount? */
static bool can_mount;

/* Everything runs in a child: a step that fails ends it with its line number.
 */
#define need(condition)                                                        \
    do {                                                                       \
        if (!(condition)) {                                                    \
            (void)fprintf(stderr, "embedded_full.c:%d: %s\n", __LINE__,        \
                          #condition);                                         \
            return 1;                                                          \
        }                                                                      \
    } while (0)

/* ------------------------------------------------------------------ filling */

static hf_status put(hf_client *client, int i)
{
    char key[16];
    static char value[VALUE_SIZE];
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    (void)snprintf(key, sizeof(key), "k%d", i);
    memset(value, 'a' + i % 26, sizeof(value));
    status = hf_value_set(client, hf_str(key), hf_view(value, sizeof(value)),
                          NULL, NULL, &err);
    if (status != HF_OK && status != HF_FULL)
        (void)fprintf(stderr, "%s: %s\n", hf_status_name(status), err.message);
    return status;
}

static bool is_there(hf_client *client, int i)
{
    char key[16];
    hf_buffer value = HF_BUFFER_INIT;
    const char *bytes;
    bool right;

    (void)snprintf(key, sizeof(key), "k%d", i);
    if (hf_value_get(client, hf_str(key), &value, NULL) != HF_OK)
        return false;
    bytes = value.data;
    right = value.size == VALUE_SIZE && bytes[0] == 'a' + i % 26 &&
            bytes[VALUE_SIZE - 1] == bytes[0];
    hf_buffer_free(&value);
    return right;
}

static hf_status drop(hf_client *client, int i)
{
    char key[16];

    (void)snprintf(key, sizeof(key), "k%d", i);
    return hf_value_delete(client, hf_str(key), NULL);
}

/* How many keys fitted; -1: it did not end in HF_FULL. */
static int fill(hf_client *client)
{
    int count = 0;
    hf_status status = HF_OK;

    while (status == HF_OK && count < KEYS_MAX) {
        status = put(client, count);
        count += status == HF_OK ? 1 : 0;
    }
    return status == HF_FULL ? count : -1;
}

/* Take every block that is left. */
static bool fill_folder(const place *here)
{
    static char noise[65536];
    char path[128];
    ssize_t size = sizeof(noise);
    int fd;

    (void)snprintf(path, sizeof(path), "%s/ballast", here->folder);
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0)
        return false;
    while (size > 0)
        size = write(fd, noise, sizeof(noise));
    size = size < 0 && errno == ENOSPC ? 0 : -1;
    close(fd);
    return size == 0;
}

/* Or a smaller limit, where there are no mounts. */
static bool create_small(const place *here)
{
    struct rlimit limit = {3u << 20, 3u << 20};

    return can_mount ? own_tmpfs(here, "size=3m")
                     : setrlimit(RLIMIT_FSIZE, &limit) == 0;
}

static bool make_full(const place *here)
{
    return !can_mount || fill_folder(here);
}

/* ---------------------------------------------------------------- full store
 */

/* What a full store can still do, repeatedly: a lock is renewed, inspected,
 * released and acquired again, values are read. */
static int live_on(hf_client *client, hf_lock *lock, int count)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    for (int i = 0; i < 200; i++) {
        need(hf_lock_renew(lock, NULL) == HF_OK);
        need(hf_lock_inspect(client, hf_str("job"), &info, NULL) == HF_OK);
        need(hf_lock_is_held(lock));
        need(is_there(client, i * 7 % count));
        need(put(client, KEYS_MAX + i) == HF_FULL);
    }
    return 0;
}

static int empty_and_fill_again(hf_client *client, int count)
{
    int again = 0;

    for (int i = 0; i < count; i++)
        need(drop(client, i) == HF_OK);
    for (int i = 0; i < count / 2; i++)
        again += put(client, i) == HF_OK ? 1 : 0;
    need(again == count / 2);
    for (int i = 0; i < again; i++)
        need(is_there(client, i));
    return 0;
}

static int use_full_store(const place *here)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_client *client;
    hf_lock *lock;
    int count;

    need(create_small(here));
    need(hf_client_open(here->url, NULL, &client, NULL) == HF_OK);
    opts.flags = HF_LOCK_NO_RENEW;
    need(hf_lock_new(client, hf_str("job"), &opts, &lock, NULL) == HF_OK);
    need(hf_lock_try(lock, NULL) == HF_OK);
    need(make_full(here));
    count = fill(client);
    need(count > 200);
    need(live_on(client, lock, count) == 0);
    need(hf_lock_release(lock, NULL) == HF_OK);
    need(empty_and_fill_again(client, count) == 0);
    need(hf_lock_try(lock, NULL) == HF_OK);
    need(hf_lock_release(lock, NULL) == HF_OK);
    hf_lock_free(lock);
    hf_client_close(client);
    return 0;
}

static int set_up_volatile(void **state)
{
    (void)state;
    place_make(&at, "volatile", "?max_size=64M");
    return 0;
}

static int set_up_file(void **state)
{
    (void)state;
    place_make(&at, "file", "?max_size=64M");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    place_remove(&at);
    return 0;
}

#define BOTH_STORES_TEST(name)                                                 \
    TEST_VARIANT(name, _volatile, set_up_volatile, tear_down);                 \
    TEST_VARIANT(name, _file, set_up_file, tear_down);                         \
    TEST_FUNCTION(name)

BOTH_STORES_TEST(full_store_lives_on)
{
    assert_int_equal(in_child(use_full_store, &at), 0);
}

/* ------------------------------------------------------------ new processes */

static int count_there;

static int read_and_delete(const place *here)
{
    hf_client *client;
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(here->url, NULL, &client, &err) != HF_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        return 1;
    }
    for (int i = 0; i < count_there; i++)
        need(is_there(client, i));
    need(put(client, KEYS_MAX) == HF_FULL);
    for (int i = count_there / 2; i < count_there; i++)
        need(drop(client, i) == HF_OK);
    need(put(client, count_there / 2) == HF_OK);
    hf_client_close(client);
    return 0;
}

static int open_second(const place *here)
{
    place other = *here;
    hf_error err = HF_ERROR_INIT;

    (void)snprintf(other.url, sizeof(other.url), "%.*s:%s/other",
                   here->url[0] == 'f' ? 4 : 8, here->url, here->folder);
    return try_open(other.url, &err) == HF_FULL && err.message[0] == '"' ? 0
                                                                         : 1;
}

/* Whether the store is open elsewhere or not: its pages, the reader table and
 * the sidecar have all their blocks. */
static int come_to_full_store(const place *here)
{
    hf_client *client;

    need(create_small(here));
    need(hf_client_open(here->url, NULL, &client, NULL) == HF_OK);
    need(make_full(here));
    count_there = fill(client);
    need(count_there > 200);
    need(in_child(read_and_delete, here) == 0);
    count_there = count_there / 2 + 1;
    while (put(client, count_there) == HF_OK)
        count_there++;
    hf_client_close(client);
    need(in_child(read_and_delete, here) == 0);
    need(!can_mount || in_child(open_second, here) == 0);
    /* What was begun there left nothing that matters later. */
    need(!can_mount || in_child(open_second, here) == 0);
    return 0;
}

BOTH_STORES_TEST(others_come_to_full_store)
{
    assert_int_equal(in_child(come_to_full_store, &at), 0);
}

/* ---------------------------------------------------- several at a time */

/* A child's findings, as bits of its exit status. */
enum { SAW_ROOM = 4, SAW_FULL = 8, SAW_BOTH = SAW_ROOM | SAW_FULL };

/* A reader that is not scheduled for longer than writers wait for one may keep
 * all pages in use; then a delete returns HF_FULL, too, but not for long. */
static bool drop_soon(hf_client *client, int i)
{
    int64_t until_ms = test_now_ms() + 2000;
    hf_status status;

    do
        status = drop(client, i);
    while (status == HF_FULL && test_now_ms() < until_ms);
    return status == HF_OK || status == HF_NOT_FOUND;
}

/* All write and delete one another's keys, so that there is room now and then;
 * for longer until both were seen. */
static int write_and_delete(const place *here)
{
    int64_t began_ms = test_now_ms();
    hf_client *client;
    int seen = 0;

    need(hf_client_open(here->url, NULL, &client, NULL) == HF_OK);
    for (int i = 0; test_now_ms() < began_ms + (seen == SAW_BOTH ? 700 : 20000);
         i++) {
        hf_status status = put(client, (int)(getpid() % 7 * 500 + i) % 3500);

        need(status == HF_OK || status == HF_FULL);
        seen |= status == HF_OK ? SAW_ROOM : SAW_FULL;
        /* A stopped reader keeps pages in use. */
        for (int j = 0; j < 8; j++)
            (void)is_there(client, (i * 5 + j) % 3500);
        for (int j = 0; status == HF_FULL && j < 4; j++)
            need(drop_soon(client, (i * 7 + j) % 3500));
    }
    hf_client_close(client);
    return seen;
}

static bool have_ended(const pid_t *pids, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        siginfo_t info = {.si_pid = 0};

        if (waitid(P_PID, (id_t)pids[i], &info, WEXITED | WNOHANG | WNOWAIT) !=
                0 ||
            info.si_pid == 0)
            return false;
    }
    return true;
}

/* Several processes at the end of the disk, which goes away and comes back. */
static int crowd_full_store(const place *here)
{
    char path[128];
    pid_t pids[4];
    int status, seen = 0;

    need(create_small(here));
    need(try_open(here->url, NULL) == HF_OK);
    (void)snprintf(path, sizeof(path), "%s/ballast", here->folder);
    for (int i = 0; i < 4; i++)
        pids[i] = start_child(write_and_delete, here);
    while (!have_ended(pids, 4)) {
        need(make_full(here));
        test_rest();
        (void)unlink(path);
        test_rest();
    }
    for (int i = 0; i < 4; i++) {
        need(await_child(pids[i], &status) == pids[i]);
        need(WIFEXITED(status));
        need((WEXITSTATUS(status) & ~SAW_BOTH) == 0);
        seen |= WEXITSTATUS(status);
    }
    need(seen == SAW_BOTH);
    return try_open(here->url, NULL) == HF_OK ? 0 : 1;
}

BOTH_STORES_TEST(many_share_the_last_blocks)
{
    assert_int_equal(in_child(crowd_full_store, &at), 0);
}

/* ------------------------------------------------------------ opening at all
 */

/* Every amount of room between none and enough: opening works or is refused,
 * and works once there is room. */
static int open_in_little_room(const place *here)
{
    char path[128], command_line[256];
    int refused = 0, opened = 0;

    need(own_tmpfs(here, "size=3m"));
    (void)snprintf(path, sizeof(path), "%s/ballast", here->folder);
    for (int left_kb = 0; left_kb < 1600; left_kb += 32) {
        hf_error err = HF_ERROR_INIT;
        hf_status status;

        need(fill_folder(here));
        (void)snprintf(command_line, sizeof(command_line),
                       "truncate -s -%dK %s", left_kb, path);
        need(system(command_line) == 0);
        status = try_open(here->url, &err);
        need(status == HF_OK || status == HF_FULL);
        refused += status == HF_FULL ? 1 : 0;
        opened += status == HF_OK ? 1 : 0;
        need(unlink(path) == 0);
        need(try_open(here->url, &err) == HF_OK);
        (void)snprintf(command_line, sizeof(command_line), "rm -rf %s",
                       here->dir);
        need(system(command_line) == 0);
    }
    return refused > 0 && opened > 0 ? 0 : 1;
}

static int open_without_inodes(const place *here)
{
    /* The root of the tmpfs is one inode; the store's directory the second. */
    need(own_tmpfs(here, "size=8m,nr_inodes=4"));
    need(try_open(here->url, NULL) == HF_FULL);
    need(try_open(here->url, NULL) == HF_FULL);
    return 0;
}

/* A durable store restored by a tool that makes sparse files. */
static int open_with_holes(const place *here)
{
    char command_line[256];
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_status status;

    need(own_tmpfs(here, "size=3m"));
    need(hf_client_open(here->url, NULL, &client, NULL) == HF_OK);
    for (int i = 0; i < 300; i++)
        need(put(client, i) == HF_OK);
    for (int i = 0; i < 300; i++)
        need(drop(client, i) == HF_OK);
    need(put(client, 1) == HF_OK);
    hf_client_close(client);
    (void)snprintf(command_line, sizeof(command_line),
                   "cd %s && cp -r --sparse=always s t && rm -rf s && mv t s",
                   here->folder);
    need(system(command_line) == 0);
    need(fill_folder(here));
    status = hf_client_open(here->url, NULL, &client, &err);
    if (status == HF_FULL)
        return 0;
    need(status == HF_OK);
    need(is_there(client, 1));
    for (int i = 2; status == HF_OK && i < KEYS_MAX; i++)
        status = put(client, i);
    need(status == HF_FULL);
    need(is_there(client, 1));
    hf_client_close(client);
    return try_open(here->url, &err) == HF_OK ? 0 : 1;
}

static int open_below_a_limit(const place *here)
{
    struct rlimit limit = {1u << 19, 1u << 19};
    hf_error err = HF_ERROR_INIT;

    need(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    return try_open(here->url, &err) == HF_FULL ? 0 : 1;
}

BOTH_STORES_TEST(opening_needs_room)
{
    assert_int_equal(
        in_child(can_mount ? open_in_little_room : open_below_a_limit, &at), 0);
}

BOTH_STORES_TEST(opening_needs_inodes)
{
    assert_int_equal(
        in_child(can_mount ? open_without_inodes : open_below_a_limit, &at), 0);
}

BOTH_STORES_TEST(holes_are_no_surprise)
{
    assert_int_equal(
        in_child(can_mount ? open_with_holes : open_below_a_limit, &at), 0);
}

/* -------------------------------------------------------------------- start */

static int try_mount(const place *here)
{
    return own_tmpfs(here, "size=1m") ? 0 : 1;
}

static int find_out(void **state)
{
    (void)set_up_volatile(state);
    can_mount = in_child(try_mount, &at) == 0;
    place_remove(&at);
    if (!can_mount)
        print_message("mounts are not allowed here: RLIMIT_FSIZE instead\n");
    return 0;
}

ALL_TESTS_WITH(find_out, NULL);
