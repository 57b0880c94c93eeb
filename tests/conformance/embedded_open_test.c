/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_open_test.c - what opening an embedded store does to a directory,
 * and which directories it refuses. Runs on the embedded stores.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "support/await_child.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define PROCESSES (SLOWER > 1 ? 60 : 300)

static void make_url(const fixture *f, const char *name,
                     char url[FIXTURE_PATH_SIZE])
{
    fixture_embedded_url(f, name, "4M", url);
}

static hf_status open_url(const char *url, hf_client **client)
{
    *client = NULL;
    return hf_client_open(url, NULL, client, ERR);
}

static void write_file(const char *path, size_t size)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    for (size_t i = 0; i < size; i++) {
        assert_int_equal(fputc((int)(i * 7 % 251), file), (int)(i * 7 % 251));
    }
    assert_int_equal(fclose(file), 0);
}

TEST(store_outlives_its_clients)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    hf_client *client;
    hf_lock *lock = NULL;
    uint64_t token;

    make_url(f, "outlives", url);
    expect_status(HF_OK, open_url(url, &client));
    put_value(client, bytes("v"), bytes("1"), 60000);
    put_hash(client, bytes("h"), words("a", "1"), 0);
    expect_status(HF_OK, hf_lock_new(client, bytes("l"), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    token = hf_lock_token(lock);
    hf_lock_free(lock);
    hf_client_close(client);
    expect_status(HF_OK, open_url(url, &client));
    assert_value(client, bytes("v"), bytes("1"));
    assert_ttl(client, bytes("v"), 60000);
    assert_field(client, bytes("h"), bytes("a"), bytes("1"));
    expect_status(HF_OK, hf_lock_new(client, bytes("l"), NULL, &lock, ERR));
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_true(hf_lock_token(lock) > token);
    hf_lock_free(lock);
    hf_client_close(client);
}

/* LMDB still has the pages of the long one. */
TEST(long_value_made_short_in_one_step_is_no_damage)
{
    fixture *f = *state;
    hf_bytes key = bytes("v");
    char url[FIXTURE_PATH_SIZE];
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    hf_client *client;

    make_url(f, "shortened", url);
    expect_status(HF_OK, open_url(url, &client));
    expect_status(
        HF_OK,
        hf_script_load(client,
                       bytes("redis.call('set', KEYS[1], "
                             "string.rep('x', 100000)) "
                             "return redis.call('set', KEYS[1], 'short')"),
                       &script, ERR));
    expect_status(HF_OK, hf_script_run(script, &key, 1, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    hf_script_free(script);
    hf_client_close(client);
    expect_status(HF_OK, open_url(url, &client));
    assert_value(client, key, bytes("short"));
    expect_status(HF_OK, hf_key_delete(client, key, ERR));
    hf_client_close(client);
    expect_status(HF_OK, open_url(url, &client));
    hf_client_close(client);
}

TEST(value_expires_while_no_process_has_the_store_open)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    hf_client *client;
    int64_t until_ms;

    make_url(f, "expires", url);
    expect_status(HF_OK, open_url(url, &client));
    put_value(client, bytes("v"), bytes("1"), 50);
    hf_client_close(client);
    until_ms = test_now_ms() + 60;
    expect_soon(test_now_ms() > until_ms, 1000);
    expect_status(HF_OK, open_url(url, &client));
    assert_no_key(client, bytes("v"));
    hf_client_close(client);
}

TEST(files_are_for_their_owner_only)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    char command[2 * FIXTURE_PATH_SIZE];
    char path[FIXTURE_PATH_SIZE];
    hf_client *client;
    mode_t mask = umask(0);

    make_url(f, "private", url);
    expect_status(HF_OK, open_url(url, &client));
    put_value(client, bytes("v"), bytes("1"), 0);
    hf_client_close(client);
    (void)umask(mask);
    fixture_path(f, "private", path);
    (void)snprintf(command, sizeof(command),
                   "test -z \"$(find '%s' -perm /077)\"", path);
    assert_int_equal(system(command), 0);
}

TEST(foreign_directory_is_left_alone)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    char path[FIXTURE_PATH_SIZE];
    struct stat info;
    hf_client *client;

    fixture_path(f, "foreign", path);
    assert_int_equal(mkdir(path, 0700), 0);
    fixture_path(f, "foreign/data.mdb", path);
    write_file(path, 5000);
    make_url(f, "foreign", url);
    expect_status(HF_INVALID, open_url(url, &client));
    assert_non_null(strstr(expect_message(), "/foreign\": "));
    assert_null(strstr(expect_message(), ": :"));
    assert_null(client);
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_size, 5000);
}

static int overwrite(const char *path, const struct stat *info, int kind,
                     struct FTW *place)
{
    (void)place;
    if (kind == FTW_F && info->st_size > 0) {
        write_file(path, (size_t)info->st_size);
    }
    return 0;
}

/* Less than the size of the value in open_after(). */
#define KEPT_SIZE 16384

static int cut(const char *path, const struct stat *info, int kind,
               struct FTW *place)
{
    (void)place;
    return kind == FTW_F && info->st_size > KEPT_SIZE
               ? truncate(path, KEPT_SIZE)
               : 0;
}

typedef int (*damage_fn)(const char *, const struct stat *, int, struct FTW *);

/* Open a damaged store in a child, because it must not crash. 0: HF_CORRUPT; 1:
 * HF_INVALID, not recognised as a store; 2: anything else. */
static int open_after(fixture *f, const char *name, damage_fn damage)
{
    hf_status status;
    char url[FIXTURE_PATH_SIZE];
    char path[FIXTURE_PATH_SIZE];
    static char value[200000];
    hf_client *client;
    pid_t pid;
    int how = 0;

    make_url(f, name, url);
    expect_status(HF_OK, open_url(url, &client));
    put_value(client, bytes("v"), hf_view(value, sizeof(value)), 0);
    hf_client_close(client);
    fixture_path(f, name, path);
    assert_int_equal(nftw(path, damage, 8, FTW_PHYS), 0);
    (void)fflush(NULL);
    pid = fork();
    if (pid == 0) {
        status = hf_client_open(url, NULL, &client, NULL);
        _exit(status == HF_CORRUPT ? 0 : status == HF_INVALID ? 1 : 2);
    }
    assert_int_equal(await_child(pid, &how), pid);
    assert_true(WIFEXITED(how));
    return WEXITSTATUS(how);
}

TEST(overwritten_store_is_refused)
{
    assert_in_range(open_after(*state, "overwritten", overwrite), 0, 1);
}

TEST(shortened_store_is_corrupt)
{
    assert_int_equal(open_after(*state, "shortened", cut), 0);
}

TEST(path_that_is_no_directory_is_an_error)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    char path[FIXTURE_PATH_SIZE];
    hf_client *client;

    fixture_path(f, "plain", path);
    write_file(path, 10);
    make_url(f, "plain", url);
    expect_status(HF_INVALID, open_url(url, &client));
    make_url(f, "plain/below", url);
    expect_status(HF_INVALID, open_url(url, &client));
    make_url(f, "no/such/parent", url);
    expect_status(HF_INVALID, open_url(url, &client));
}

/* As a user without permission; root has to become another user for that. */
TEST(directory_of_another_user_is_denied)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    hf_client *client;
    pid_t pid;
    int how = 0;

    if (geteuid() != 0) {
        skip();
    }
    make_url(f, "roots", url);
    expect_status(HF_OK, open_url(url, &client));
    hf_client_close(client);
    (void)fflush(NULL);
    pid = fork();
    if (pid == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0) {
            _exit(2);
        }
        _exit(hf_client_open(url, NULL, &client, NULL) == HF_DENIED ? 0 : 1);
    }
    assert_int_equal(await_child(pid, &how), pid);
    assert_true(WIFEXITED(how));
    assert_int_equal(WEXITSTATUS(how), 0);
}

/* A child that waits for the end of the pipe's input, and opens the store. */
static pid_t start_opening(const char *url, const int ends[2])
{
    pid_t pid = fork();
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    char byte;

    if (pid != 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    close(ends[1]);
    (void)!read(ends[0], &byte, 1);
    if (hf_client_open(url, NULL, &client, &err) != HF_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    _exit(0);
}

TEST(hundreds_of_processes_open_it_at_once)
{
    fixture *f = *state;
    char url[FIXTURE_PATH_SIZE];
    size_t failed = 0;
    int ends[2];
    pid_t pids[PROCESSES];

    make_url(f, "together", url);
    assert_int_equal(pipe(ends), 0);
    for (size_t i = 0; i < PROCESSES; i++) {
        pids[i] = start_opening(url, ends);
        assert_true(pids[i] > 0);
    }
    close(ends[0]);
    close(ends[1]);
    for (size_t i = 0; i < PROCESSES; i++) {
        int status;

        assert_int_equal(await_child(pids[i], &status), pids[i]);
        failed += status != 0;
    }
    assert_int_equal(failed, 0);
}

TEST(durability_is_accepted_on_disk)
{
    static const char *const kinds[] = {"commit", "flush"};
    fixture *f = *state;
    bool is_volatile = f->store == FIXTURE_EMBEDDED_VOLATILE;
    char path[FIXTURE_PATH_SIZE];
    char url[2 * FIXTURE_PATH_SIZE];
    hf_client *client;

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        fixture_path(f, kinds[i], path);
        (void)snprintf(url, sizeof(url), "%s:%s?max_size=4M&durability=%s",
                       is_volatile ? "volatile" : "file", path, kinds[i]);
        if (is_volatile) {
            expect_status(HF_INVALID, open_url(url, &client));
            continue;
        }
        expect_status(HF_OK, open_url(url, &client));
        put_value(client, bytes("v"), bytes("1"), 0);
        hf_client_close(client);
    }
}

TEST(named_volatile_stores_are_told_apart)
{
    fixture *f = *state;
    hf_client *one = NULL;
    hf_client *two = NULL;

    if (f->store != FIXTURE_EMBEDDED_VOLATILE) {
        skip();
    }
    assert_int_equal(setenv("XDG_RUNTIME_DIR", f->directory, 1), 0);
    expect_status(HF_OK, open_url("volatile:one?max_size=4M", &one));
    expect_status(HF_OK, open_url("volatile:two?max_size=4M", &two));
    put_value(one, bytes("v"), bytes("1"), 0);
    assert_no_key(two, bytes("v"));
    hf_client_close(two);
    expect_status(HF_OK, open_url("volatile:one?max_size=4M", &two));
    assert_value(two, bytes("v"), bytes("1"));
    hf_client_close(two);
    hf_client_close(one);
}
