/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_lockfile.c - files of a store that are deleted, replaced, truncated,
 * renamed or made unreadable by a third party, while it is open and before.
 *
 * Two processes must never work on different files while they believe they
 * share a lock, nor on one file under different locks. Opening returns an error
 * and raises no signal. The read-only file system needs its own mount; where
 * that is not allowed, only a read-only directory is tested.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fault_place.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/test.h"
#include "support/test_clock.h"

/* The library promises 10 ms; the machine may be busy. */
#define NOTICE_MS 1000

static place at;

static int set_up_volatile(void **state)
{
    (void)state;
    place_make(&at, "volatile", "?max_size=8M");
    place_open(&at);
    assert_int_equal(set_number(at.client, 1), HF_OK);
    return 0;
}

static int set_up_file(void **state)
{
    (void)state;
    place_make(&at, "file", "?max_size=8M");
    place_open(&at);
    assert_int_equal(set_number(at.client, 1), HF_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    place_remove(&at);
    return 0;
}

EACH_TEST_WITH(set_up_volatile, tear_down);

#define BOTH_STORES_TEST(name)                                                 \
    TEST_VARIANT(name, _volatile, set_up_volatile, tear_down);                 \
    TEST_VARIANT(name, _file, set_up_file, tear_down);                         \
    TEST_FUNCTION(name)

static bool is_file_store(void)
{
    return strncmp(at.url, "file", 4) == 0;
}

static void shell(const char *command_line)
{
    char text[512];

    (void)snprintf(text, sizeof(text), "cd %s && %s", at.folder, command_line);
    assert_int_equal(system(text), 0);
}

static hf_status lock_status(hf_client *client)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_status status;
    hf_lock *lock;

    opts.flags = HF_LOCK_NO_RENEW;
    assert_int_equal(hf_lock_new(client, hf_str("job"), &opts, &lock, NULL),
                     HF_OK);
    status = hf_lock_try(lock, NULL);
    hf_lock_free(lock);
    return status;
}

/* The client notices that its files are no longer the store, and keeps using
 * them. */
static void expect_noticed(void)
{
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;

    expect_soon(set_number(at.client, 7) == HF_CORRUPT, NOTICE_MS);
    assert_int_equal(lock_status(at.client), HF_CORRUPT);
    assert_int_equal(hf_value_get(at.client, hf_str("a"), &value, &err),
                     HF_CORRUPT);
    assert_non_null(strstr(err.message, "while it is in use"));
    test_rest();
    assert_int_equal(lock_status(at.client), HF_CORRUPT);
}

/* ---------------------------------------------------------------- directory */

BOTH_STORES_TEST(removed_directory_is_noticed)
{
    shell("rm -rf s");
    expect_noticed();
    /* Another process creates a new store; we use it only after opening again.
     */
    expect_other(&at, HF_OK, "");
    expect_noticed();
    place_close(&at);
    place_open(&at);
    assert_int_equal(get_number(at.client), 0);
}

/* The new store exists before the old one's user checks again. */
BOTH_STORES_TEST(replaced_directory_is_noticed)
{
    shell("rm -rf s");
    expect_other(&at, HF_OK, "");
    expect_noticed();
    assert_int_equal(try_open(at.url, NULL), HF_OK);
    expect_noticed();
}

BOTH_STORES_TEST(renamed_directory_is_noticed)
{
    shell("mv s t");
    expect_noticed();
    shell("mv t s");
    expect_soon(set_number(at.client, 5) == HF_OK, NOTICE_MS);
    expect_other(&at, HF_OK, "");
    assert_int_equal(get_number(at.client), 6);
    shell("mv s t");
    expect_other(&at, HF_OK, "");
    expect_noticed();
}

/* --------------------------------------------------------------- data file */

BOTH_STORES_TEST(deleted_data_is_noticed)
{
    assert_int_equal(unlink(place_file(&at, "data.mdb")), 0);
    expect_other(&at, HF_CORRUPT, "missing");
    expect_noticed();
    assert_int_equal(try_open(at.url, NULL), HF_CORRUPT);
    expect_noticed();
}

BOTH_STORES_TEST(replaced_data_is_noticed)
{
    shell("cp s/data.mdb new && mv new s/data.mdb");
    expect_other(&at, HF_CORRUPT, "while it is in use");
    expect_noticed();
    /* This process cannot open it a second time either, and the attempt has not
     * dropped the signs that it is in use. */
    assert_int_equal(try_open(at.url, NULL), HF_CORRUPT);
    expect_other(&at, HF_CORRUPT, "while it is in use");
    place_close(&at);
    expect_other(&at, HF_OK, "");
    place_open(&at);
    assert_int_equal(get_number(at.client), 2);
}

static int cut_and_use(const place *here)
{
    hf_client *client;
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(here->url, NULL, &client, &err) != HF_OK)
        return 1;
    if (truncate(place_file(here, "data.mdb"), 8192) != 0)
        return 2;
    /* Nothing is touched until the next check is due. */
    for (int64_t until_ms = test_now_ms() + 30; test_now_ms() < until_ms;)
        test_rest();
    if (set_number(client, 2) != HF_CORRUPT || get_number(client) != -2)
        return 3;
    /* Zeros in place of the content are not a store either. */
    if (truncate(place_file(here, "data.mdb"), 1 << 20) != 0)
        return 4;
    for (int64_t until_ms = test_now_ms() + 30; test_now_ms() < until_ms;)
        test_rest();
    if (set_number(client, 2) != HF_CORRUPT || get_number(client) != -2)
        return 5;
    if (truncate(place_file(here, "data.mdb"), 8192) != 0)
        return 6;
    hf_client_close(client);
    return 0;
}

BOTH_STORES_TEST(cut_file_is_noticed_when_idle)
{
    place_close(&at);
    assert_int_equal(in_child(cut_and_use, &at), 0);
    expect_other(&at, HF_CORRUPT, "truncated");
}

/* That it is open. */
static const char *sign_of(const place *here)
{
    static char path[96];

    (void)snprintf(path, sizeof(path), "%s/open", here->folder);
    return path;
}

static int use_until_broken(const place *here)
{
    hf_status status = HF_OK;
    hf_client *client;
    int fd;

    (void)alarm(60); /* SIGALRM would be a failure */
    if (hf_client_open(here->url, NULL, &client, NULL) != HF_OK)
        return 1;
    fd = open(sign_of(here), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0)
        return 3;
    close(fd);
    while (status == HF_OK)
        status = set_number(client, 3);
    return status == HF_CORRUPT ? 0 : 2;
}

/* In the middle of its work it may get SIGBUS, which no program that maps a
 * file is spared, but nothing else. */
TEST(cut_file_ends_a_busy_process)
{
    place_close(&at);
    for (int i = 0; i < 20; i++) {
        int status;
        pid_t pid;

        place_remove(&at);
        place_make(&at, i % 2 == 0 ? "volatile" : "file", "");
        pid = start_child(use_until_broken, &at);
        expect_soon(access(sign_of(&at), F_OK) == 0, 5000);
        for (int64_t until_ms = test_now_ms() + 20; test_now_ms() < until_ms;)
            test_rest();
        assert_int_equal(truncate(place_file(&at, "data.mdb"), 0), 0);
        assert_int_equal(await_child(pid, &status), pid);
        if (status != 0 && (!WIFSIGNALED(status) || WTERMSIG(status) != SIGBUS))
            fail_msg("round %d: wait status %x", i, (unsigned)status);
    }
}

/* ----------------------------------------------------- lock file and sidecar
 */

/* Processes that have it open keep working; no other can open it until the last
 * has closed. */
BOTH_STORES_TEST(deleted_lock_file_keeps_others_out)
{
    assert_int_equal(unlink(place_file(&at, "lock.mdb")), 0);
    expect_other(&at, HF_CORRUPT, "while it is in use");
    assert_int_equal(set_number(at.client, 4), HF_OK);
    assert_int_equal(lock_status(at.client), HF_OK);
    assert_int_equal(try_open(at.url, NULL), HF_OK); /* shares the open one */
    place_close(&at);
    expect_other(&at, HF_OK, "");
    place_open(&at);
    assert_int_equal(get_number(at.client), 5);
}

BOTH_STORES_TEST(missing_lock_file_is_created_again)
{
    place_close(&at);
    assert_int_equal(unlink(place_file(&at, "lock.mdb")), 0);
    expect_other(&at, HF_OK, "");
    place_open(&at);
    assert_int_equal(get_number(at.client), 2);
    expect_other(&at, HF_OK, "");
    assert_int_equal(get_number(at.client), 3);
}

BOTH_STORES_TEST(foreign_lock_file_is_refused_or_replaced)
{
    hf_error err = HF_ERROR_INIT;
    hf_status status;

    place_close(&at);
    shell("head -c 70000 /dev/urandom > s/lock.mdb");
    status = try_open(at.url, &err);
    if (status != HF_OK && hf_status_kind(status) != HF_KIND_FATAL)
        fail_msg("%s: %s", hf_status_name(status), err.message);
    shell(": > s/lock.mdb");
    assert_int_equal(try_open(at.url, &err), HF_OK);
}

BOTH_STORES_TEST(deleted_sidecar_keeps_others_out)
{
    assert_int_equal(unlink(place_file(&at, "sidecar")), 0);
    expect_other(&at, HF_CORRUPT, "sidecar");
    assert_int_equal(set_number(at.client, 4), HF_OK);
    assert_int_equal(try_open(at.url, NULL), HF_OK);
    place_close(&at);
    expect_other(&at, is_file_store() ? HF_OK : HF_CORRUPT, "boot");
}

/* Only the data file is left, which looks like a store restored from a copy. */
BOTH_STORES_TEST(lonely_data_in_use_keeps_others_out)
{
    assert_int_equal(unlink(place_file(&at, "sidecar")), 0);
    assert_int_equal(unlink(place_file(&at, "lock.mdb")), 0);
    expect_other(&at, HF_CORRUPT, is_file_store() ? "in use" : "boot");
    assert_int_equal(set_number(at.client, 4), HF_OK);
    expect_other(&at, HF_CORRUPT, is_file_store() ? "in use" : "boot");
    place_close(&at);
    expect_other(&at, is_file_store() ? HF_OK : HF_CORRUPT, "boot");
}

/* A copy has its own writer lock. */
BOTH_STORES_TEST(copied_sidecar_keeps_others_out)
{
    shell("cp s/sidecar new && mv new s/sidecar");
    expect_other(&at, HF_CORRUPT, "in use");
    assert_int_equal(set_number(at.client, 4), HF_OK);
    place_close(&at);
    expect_other(&at, HF_OK, "");
    place_open(&at);
    assert_int_equal(get_number(at.client), 5);
}

BOTH_STORES_TEST(foreign_sidecar_is_refused)
{
    shell("head -c 100000 /dev/urandom > new && mv new s/sidecar");
    expect_other(&at, HF_CORRUPT, "sidecar");
    assert_int_equal(set_number(at.client, 4), HF_OK);
    assert_int_equal(try_open(at.url, NULL), HF_OK);
    shell(": > new && mv new s/sidecar");
    expect_other(&at, HF_CORRUPT, "sidecar");
}

/* A store whose size is no multiple of the growth step. */
TEST(odd_size_is_adopted_by_many)
{
    static char large[100000];
    char key[16];
    hf_status status = HF_OK;

    place_remove(&at);
    place_make(&at, "file", "?max_size=1700K");
    place_open(&at);
    assert_int_equal(set_number(at.client, 1), HF_OK);
    for (int i = 0; i < 100 && status == HF_OK; i++) {
        (void)snprintf(key, sizeof(key), "k%d", i);
        status = hf_value_set(at.client, hf_str(key),
                              hf_view(large, sizeof(large)), NULL, NULL, NULL);
    }
    assert_int_equal(status, HF_FULL);
    place_close(&at);
    shell("rm s/sidecar s/lock.mdb");
    place_open(&at);
    expect_other(&at, HF_OK, "");
    assert_int_equal(get_number(at.client), 2);
}

/* -------------------------------------------------------------- permissions */

/* As a user to whom file modes apply. */
static void lose_rights(const place *here)
{
    if (geteuid() == 0 &&
        (chown(here->folder, 65534, 65534) != 0 || setuid(65534) != 0))
        _exit(90);
}

static int meet_modes(const place *here)
{
    static const char *const names[] = {"data.mdb", "lock.mdb", "sidecar"};
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    lose_rights(here);
    for (size_t i = 0; i < 4; i++) {
        /* The directory itself comes last. */
        const char *file = i < 3 ? place_file(here, names[i]) : here->dir;
        mode_t mode = i < 3 ? 0600 : 0700;

        if (hf_client_open(here->url, NULL, &client, &err) != HF_OK)
            return 1;
        if (chmod(file, i < 3 ? 0400 : 0) != 0)
            return 2;
        for (int64_t until_ms = test_now_ms() + 30; test_now_ms() < until_ms;)
            test_rest();
        /* What is open stays open. */
        if (set_number(client, 1) != HF_OK || get_number(client) != 1)
            return 3;
        hf_client_close(client);
        if (try_open(here->url, &err) != HF_DENIED)
            return 10 + (int)i;
        if (chmod(file, mode) != 0)
            return 4;
    }
    return try_open(here->url, &err) == HF_OK ? 0 : 5;
}

BOTH_STORES_TEST(modes_of_files_are_denied)
{
    place_remove(&at);
    place_make(&at, is_file_store() ? "file" : "volatile", "");
    assert_int_equal(in_child(meet_modes, &at), 0);
}

static bool is_read_only(const place *here)
{
    hf_client *client;
    bool right;

    if (hf_client_open(here->url, NULL, &client, NULL) != HF_OK)
        return false;
    right = get_number(client) == 1 && set_number(client, 2) == HF_DENIED &&
            lock_status(client) == HF_DENIED && get_number(client) == 1;
    hf_client_close(client);
    return right;
}

/* 40: no file system of our own. */
static int meet_read_only(const place *here)
{
    hf_client *client;

    if (!own_tmpfs(here, "size=8m"))
        return 40;
    if (hf_client_open(here->url, NULL, &client, NULL) != HF_OK ||
        set_number(client, 1) != HF_OK)
        return 1;
    hf_client_close(client);
    if (mount(NULL, here->folder, NULL, MS_REMOUNT | MS_RDONLY, NULL) != 0)
        return 2;
    return is_read_only(here) ? 0 : 3;
}

static int meet_read_only_directory(const place *here)
{
    hf_client *client;

    lose_rights(here);
    if (hf_client_open(here->url, NULL, &client, NULL) != HF_OK ||
        set_number(client, 1) != HF_OK)
        return 1;
    hf_client_close(client);
    if (chmod(here->dir, 0500) != 0)
        return 2;
    return is_read_only(here) ? 0 : 3;
}

/* There is no store yet, and none can be created. */
static int meet_read_only_parent(const place *here)
{
    hf_error err = HF_ERROR_INIT;

    lose_rights(here);
    if (chmod(here->folder, 0500) != 0)
        return 1;
    return try_open(here->url, &err) == HF_DENIED ? 0 : 2;
}

BOTH_STORES_TEST(read_only_directory_is_read)
{
    place_remove(&at);
    place_make(&at, is_file_store() ? "file" : "volatile", "");
    assert_int_equal(in_child(meet_read_only_directory, &at), 0);
}

BOTH_STORES_TEST(store_in_read_only_folder_is_denied)
{
    place_remove(&at);
    place_make(&at, is_file_store() ? "file" : "volatile", "");
    assert_int_equal(in_child(meet_read_only_parent, &at), 0);
}

BOTH_STORES_TEST(read_only_file_system_is_read)
{
    int code;

    place_remove(&at);
    place_make(&at, is_file_store() ? "file" : "volatile", "");
    code = in_child(meet_read_only, &at);
    if (code == 40)
        print_message("mounts are not allowed here\n");
    else
        assert_int_equal(code, 0);
}
