/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_checkpoint_test.c - durability=flush: what a power cut leaves, what
 * a kill leaves, and how long a write waits for the disk.
 */
#include "power_image.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "engine/commit/flush_state.h"
#include "support/await_child.h"
#include "util/crc32c.h"
#include "util/mem.h"
#include "util/rand.h"

#define SOON_MS (INT64_C(10000) * SLOWER)
static atomic_bool disk_is_broken;

/* In the place of the C library's. */
int fdatasync(int fd)
{
    if (atomic_load(&disk_is_broken)) {
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_fdatasync, fd);
}

TEST(power_cut_goes_back_to_the_checkpoint)
{
    place at;
    place image;
    hf__env *env;

    make_place(&at, "file", "?durability=flush&max_size=4G");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    for (int round = 1; round <= (SLOWER > 1 ? 5 : 20); round++) {
        char want[TEXT_SIZE], got[TEXT_SIZE], path[160];
        image_file synced;
        uint64_t txn;

        image_change(at.store, round);
        image_describe(at.store, want);
        assert_int_equal(
            hf__flush_checkpoint(env, UINT64_MAX, false, INT64_MAX, NULL),
            HF_OK);
        image_hold(env);
        image_path(&at, "s", "data.mdb", path);
        synced = image_read(path);
        image_path(&at, "s", "checkpoint", path);
        txn = image_newest_txn(path);
        for (int i = 0; i < (int)hf__rand_between(1, 2); i++)
            image_change(at.store, -round);
        image_make(&at, &synced, round % 2 == 0);
        hf__free(synced.data);
        image_path(&at, "image", "checkpoint", path);
        assert_int_equal(image_newest_txn(path), txn);
        (void)snprintf(image.url, sizeof(image.url),
                       "file:%s/image?durability=flush", at.folder);
        image.store = must_open(image.url, NULL);
        image_describe(image.store, got);
        assert_string_equal(got, want);
        (void)snprintf(want, sizeof(want), "s:%d", round);
        expect(image.store, "get round", want);
        /* It continues from there, and new writes are kept. */
        image_change(image.store, 7);
        close_store(image.store);
        image.store = must_open(image.url, NULL);
        expect(image.store, "get round", "s:7");
        close_store(image.store);
    }
    hf__env_unref(env);
    remove_place(&at);
}

/* Nothing is lost when the store was closed. */
TEST(closing_makes_a_checkpoint)
{
    place at;
    image_file synced;
    char path[160];

    make_place(&at, "file", "?durability=flush");
    for (int i = 0; i < 10; i++) {
        at.store = must_open(at.url, NULL);
        image_change(at.store, i);
        close_store(at.store);
        at.store = NULL;
        image_path(&at, "s", "data.mdb", path);
        synced = image_read(path);
        image_path(&at, "s", "checkpoint", path);
        image_make(&at, &synced, false);
        hf__free(synced.data);
        (void)snprintf(path, sizeof(path), "file:%s/image?durability=flush",
                       at.folder);
        at.store = must_open(path, NULL);
        (void)snprintf(path, sizeof(path), "s:%d", i);
        expect(at.store, "get round", path);
        close_store(at.store);
        at.store = NULL;
    }
    remove_place(&at);
}

static void await_checkpoint(hf__env *env, int64_t within_ms)
{
    int64_t until_ms = hf__clock_boot_ms() + within_ms;
    char path[PATH_MAX + 16];

    (void)snprintf(path, sizeof(path), "%s/checkpoint", env->path);
    for (;;) {
        bool reached;

        assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
        reached = env->sidecar.map->flush.checkpoint == hf__flush_last_txn(env);
        hf__env_unlock(env);
        if (reached)
            return;
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
    }
}

TEST(checkpoint_follows_a_write_within_a_second)
{
    place at;
    hf__env *env;

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    for (int i = 0; i < 3; i++) {
        expect(at.store, "set a b", "+:OK");
        await_checkpoint(env, 1000 * SLOWER);
    }
    hf__env_unref(env);
    remove_place(&at);
}

/* ------------------------------------------------------------------- kills */

static void write_some_and_die(const char *url)
{
    hf__store *store;
    char text[TEXT_SIZE];
    char line[64];

    if (open_url(url, NULL, &store, NULL) != HF_OK)
        _exit(1);

    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %d", i % 50, i);
        if (command(store, line, text) != HF_OK)
            _exit(1);
    }
    (void)kill(getpid(), SIGKILL);
    _exit(1);
}

/* A child that waits for its turn: it is forked before this process has
 * threads, as ThreadSanitizer wants it. */
typedef struct victim {
    pid_t pid;
    int start_fd;
} victim;

static victim prepare_victim(const char *url)
{
    victim who;
    int ends[2];
    char byte;

    assert_int_equal(pipe(ends), 0);
    who.pid = fork();
    assert_true(who.pid >= 0);
    if (who.pid == 0) {
        if (read(ends[0], &byte, 1) == 1)
            write_some_and_die(url);
        _exit(1);
    }
    close(ends[0]);
    who.start_fd = ends[1];
    return who;
}

static void run_and_kill(const victim *who)
{
    int status;

    assert_int_equal(write(who->start_fd, "", 1), 1);
    close(who->start_fd);
    assert_int_equal(await_child(who->pid, &status), who->pid);
    assert_true(WIFSIGNALED(status));
}

TEST(killed_process_loses_nothing)
{
    place at;

    make_place(&at, "file", "?durability=flush");
    for (int i = 0; i < 5; i++) {
        victim who = prepare_victim(at.url);

        run_and_kill(&who);
        at.store = must_open(at.url, NULL);
        expect(at.store, "get k49", "s:299");
        expect(at.store, "get k0", "s:250");
        expect(at.store, "flushdb", "+:OK");
        close_store(at.store);
        at.store = NULL;
    }
    remove_place(&at);
}

TEST(another_process_makes_up_for_a_killed_one)
{
    victim who[3];
    place at;
    hf__env *env;

    make_place(&at, "file", "?durability=flush");
    for (int i = 0; i < 3; i++)
        who[i] = prepare_victim(at.url);
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    for (int i = 0; i < 3; i++) {
        run_and_kill(&who[i]);
        expect(at.store, "get k49", "s:299");
        await_checkpoint(env, 2000 * SLOWER);
    }
    hf__env_unref(env);
    remove_place(&at);
}

/* ---------------------------------------------------------------- the disk */

TEST(failed_sync_stops_writing_until_it_is_taken_back)
{
    int64_t until_ms;
    place at;
    hf__env *env;
    char text[TEXT_SIZE];

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    expect(at.store, "set a synced", "+:OK");
    await_checkpoint(env, SOON_MS);
    atomic_store(&disk_is_broken, true);
    expect(at.store, "set a unsynced", "+:OK");
    until_ms = hf__clock_boot_ms() + SOON_MS;
    while (__atomic_load_n(&env->sidecar.map->flush.failed, __ATOMIC_SEQ_CST) ==
           0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
    }
    atomic_store(&disk_is_broken, false);
    assert_int_equal(command(at.store, "set a refused", text), HF_SYSTEM);
    expect(at.store, "get a", "s:unsynced");
    hf__env_unref(env);
    close_store(at.store);
    at.store = must_open(at.url, NULL);
    expect(at.store, "get a", "s:synced");
    expect(at.store, "set a again", "+:OK");
    remove_place(&at);
}

/* Leaves a store with two logged writes that no checkpoint has, and a third
 * that failed. */
static void fail_in_a_child(const char *url)
{
    hf__store *store = must_open(url, NULL);
    char text[TEXT_SIZE];

    expect(store, "set a 1", "+:OK");
    expect(store, "set b 2", "+:OK");
    atomic_store(&disk_is_broken, true);
    if (command(store, "set c 3", text) != HF_INDETERMINATE)
        _exit(1);
    if (command(store, "set d 4", text) != HF_SYSTEM)
        _exit(2);
    (void)raise(SIGKILL);
}

/* One that cannot revert the store must leave the log to one that can. */
TEST(failed_sync_of_a_log_loses_nothing_that_was_acknowledged)
{
    char text[TEXT_SIZE], path[160];
    int fd, status = 0;
    pid_t pid;
    place at;

    make_place(&at, "file", "?durability=log");
    close_store(must_open(at.url, NULL));
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        fail_in_a_child(at.url);
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFSIGNALED(status));
    image_path(&at, "s", "data.mdb", path);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    assert_int_equal(flock(fd, LOCK_SH), 0);
    at.store = must_open(at.url, NULL);
    expect(at.store, "get b", "s:2");
    assert_int_equal(command(at.store, "set e 5", text), HF_SYSTEM);
    close_store(at.store);
    close(fd);
    for (int i = 0; i < 2; i++) {
        at.store = must_open(at.url, NULL);
        expect(at.store, "get a", "s:1");
        expect(at.store, "get b", "s:2");
        expect(at.store, "exists c d", "i:0");
        expect(at.store, "set e 5", "+:OK");
        close_store(at.store);
    }
    at.store = NULL;
    remove_place(&at);
}

/* A process that can have no reader's slot syncs before each write. */
TEST(write_without_a_pin_waits_for_the_disk)
{
    static MDB_txn *readers[1200];
    place at;
    hf__env *env;
    size_t count = 0;

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    while (count < 1200 &&
           mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &readers[count]) == 0)
        count++;
    assert_in_range(count, 900, 1199);
    for (int i = 1; i < 20; i++) {
        char want[32];

        (void)snprintf(want, sizeof(want), "i:%d", i);
        expect(at.store, "incr n", want);
        assert_true(env->flush->pinless);
        assert_true(env->sidecar.map->flush.checkpoint + 1 >=
                    hf__flush_last_txn(env));
    }
    while (count > 0)
        mdb_txn_abort(readers[--count]);
    expect(at.store, "incr n", "i:20");
    expect(at.store, "incr n", "i:21");
    assert_false(env->flush->pinless);
    hf__env_unref(env);
    remove_place(&at);
}

/* Pages that the checkpoint needs are not used again; so that the file does
 * not grow without end, there are more checkpoints. */
TEST(overwriting_stays_within_the_largest_size)
{
    place at;
    char line[256];

    make_place(&at, "file", "?durability=flush&max_size=4M");
    at.store = must_open(at.url, NULL);
    for (int i = 0; i < 20000 / SLOWER; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %0150d", i % 100, i);
        expect(at.store, line, "+:OK");
    }
    remove_place(&at);
}

/* A pin of another process may move between the failure of a write and the next
 * look at the pins. */
TEST(full_store_is_tried_again_when_a_pin_has_moved)
{
    int64_t deadline_ms = hf__clock_boot_ms() + SOON_MS;
    uint64_t oldest;
    hf__env *env;
    place at;

    make_place(&at, "file", "?max_size=4M&durability=flush");
    at.store = must_open(at.url, NULL);
    expect(at.store, "set a 1", "+:OK");
    env = open_env(at.url);
    assert_int_equal(
        hf__flush_checkpoint(env, UINT64_MAX, false, deadline_ms, NULL), HF_OK);
    oldest = hf__flush_last_txn(env);
    assert_true(hf__flush_make_room(env, true, oldest - 1, deadline_ms));
    hf__env_unlock(env);
    assert_false(hf__flush_make_room(env, true, oldest, deadline_ms));
    hf__env_unref(env);
    remove_place(&at);
}

/* Pages pinned by the checkpoint are freed before a write is refused. */
TEST(full_store_can_be_emptied)
{
    char text[TEXT_SIZE];
    hf_status status = HF_OK;
    char line[64];
    place at;
    int count = 0;

    make_place(&at, "file", "?durability=flush&max_size=1M");
    at.store = must_open(at.url, NULL);
    for (; status == HF_OK; count++) {
        assert_true(count < 2000);
        (void)snprintf(line, sizeof(line), "setrange k%d 2000 v", count);
        status = command(at.store, line, text);
    }
    assert_int_equal(status, HF_FULL);
    for (int i = 0; i < count - 1; i++) {
        (void)snprintf(line, sizeof(line), "del k%d", i);
        expect(at.store, line, "i:1");
    }
    expect(at.store, "dbsize", "i:0");
    remove_place(&at);
}

TEST(write_is_not_acknowledged_while_the_disk_is_late)
{
    place at;
    hf__env *env;
    hf_bytes words[2] = {hf_str("incr"), hf_str("n")};
    hf__request request;

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    expect(at.store, "incr n", "i:1");
    await_checkpoint(env, SOON_MS);
    /* No checkpoint can be made. */
    pthread_mutex_lock(&env->flush->mutex);
    expect(at.store, "incr n", "i:2");
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    env->sidecar.map->flush.unsynced_ms = hf__clock_boot_ms() - 1000;
    hf__env_unlock(env);
    hf__request_init(&request);
    request.words = words;
    request.word_count = 2;
    request.deadline_ms = hf__clock_boot_ms() + 50;
    hf__embedded_store_ops.perform(at.store, &request);
    assert_int_equal(request.status, HF_UNAVAILABLE);
    hf__request_done(&request);
    pthread_mutex_unlock(&env->flush->mutex);
    expect(at.store, "incr n", "i:3");
    hf__env_unref(env);
    remove_place(&at);
}

/* -------------------------------------------------------------------- rest */

TEST(durabilities_do_not_mix)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store;
    char url[192];
    place at;

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    (void)snprintf(url, sizeof(url), "file:%s/s", at.folder);
    assert_int_equal(open_url(url, NULL, &store, &err), HF_INVALID);
    assert_non_null(strstr(err.message, "flush"));
    close_store(at.store);
    at.store = NULL;
    assert_int_equal(open_url(url, NULL, &store, &err), HF_INVALID);
    (void)snprintf(url, sizeof(url), "file:%s/t", at.folder);
    close_store(must_open(url, NULL));
    (void)snprintf(url, sizeof(url), "file:%s/t?durability=flush", at.folder);
    assert_int_equal(open_url(url, NULL, &store, &err), HF_INVALID);
    remove_place(&at);
}

TEST(damaged_checkpoint_file_is_refused)
{
    hf_error err = HF_ERROR_INIT;
    hf__store *store;
    image_file file;
    char path[160];
    place at;

    make_place(&at, "file", "?durability=flush");
    close_store(must_open(at.url, NULL));
    image_path(&at, "s", "checkpoint", path);
    file = image_read(path);
    memset(file.data, 0, file.size);
    image_write(path, &file);
    hf__free(file.data);
    assert_int_equal(open_url(at.url, NULL, &store, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "checkpoint"));
    remove_place(&at);
}

TEST(removed_checkpoint_file_is_noticed_by_another)
{
    char path[160];
    place at;
    victim who;
    int status;

    make_place(&at, "file", "?durability=flush");
    who = prepare_victim(at.url);
    at.store = must_open(at.url, NULL);
    image_path(&at, "s", "checkpoint", path);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(write(who.start_fd, "", 1), 1);
    close(who.start_fd);
    assert_int_equal(await_child(who.pid, &status), who.pid);
    assert_false(WIFSIGNALED(status)); /* it could not open the store */
    assert_int_equal(access(path, F_OK), -1);
    close_store(at.store);
    at.store = must_open(at.url, NULL);
    assert_int_equal(access(path, F_OK), 0);
    remove_place(&at);
}

TEST(forked_child_may_close_what_it_inherited)
{
    int status;
    place at;
    pid_t pid;

    make_place(&at, "file", "?durability=flush");
    at.store = must_open(at.url, NULL);
    expect(at.store, "set a b", "+:OK");
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        close_store(at.store);
        _exit(0);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
    expect(at.store, "get a", "s:b");
    expect(at.store, "set a c", "+:OK");
    remove_place(&at);
}
