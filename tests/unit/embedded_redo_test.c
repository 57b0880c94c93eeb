/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_redo_test.c - durability=log: after a power cut the log has what the
 * checkpoint lacks; and what a kill, a failed write, an old log leave.
 */
#include "power_image.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/commit/flush_state.h"
#include "engine/commit/redo.h"
#include "engine/commit/redo_format.h"
#include "engine/commit/redo_state.h"
#include "engine/engine.h"
#include "support/await_child.h"
#include "util/mem.h"
#include "util/rand.h"

#define LARGE 700000 /* more than a part of the log has room for */

static place at;
static hf__env *env;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "file", "?durability=log&max_size=4G");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    if (env != NULL)
        hf__env_unref(env);
    env = NULL;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void checkpoint(void)
{
    assert_int_equal(
        hf__flush_checkpoint(env, UINT64_MAX, false, INT64_MAX, NULL), HF_OK);
    image_hold(env);
}

static hf__store *open_image(void)
{
    char url[200];

    (void)snprintf(url, sizeof(url), "file:%s/image?durability=log", at.folder);
    return must_open(url, NULL);
}

/* The data file as it is now, as if it had been synced. */
static image_file data_now(void)
{
    char path[160];

    image_path(&at, "s", "data.mdb", path);
    return image_read(path);
}

static uint64_t checkpoint_in(const char *store)
{
    char path[160];

    image_path(&at, store, "checkpoint", path);
    return image_newest_txn(path);
}

static void set_large(hf__store *store, const char *key, int size)
{
    char text[TEXT_SIZE], line[96];

    (void)snprintf(line, sizeof(line), "setrange %s %d x", key, size - 1);
    assert_int_equal(command(store, line, text), HF_OK);
}

/* The image has all that the store has, now and after one more restart. */
static void expect_all_in_image(int round)
{
    char want[TEXT_SIZE], got[TEXT_SIZE];
    hf__store *image = open_image();

    image_describe(at.store, want);
    image_describe(image, got);
    assert_string_equal(got, want);
    image_change(image, round);
    image_describe(image, want);
    close_store(image);
    image = open_image();
    image_describe(image, got);
    assert_string_equal(got, want);
    close_store(image);
}

TEST(power_cut_loses_nothing)
{
    for (int round = 1; round <= (SLOWER > 1 ? 5 : 20); round++) {
        image_file synced;

        image_change(at.store, round);
        checkpoint();
        synced = data_now();
        for (int i = 0; i < (int)hf__rand_between(0, 2); i++)
            image_change(at.store, -round - i);
        if (round % 4 == 1)
            set_large(at.store, "huge", LARGE + round);
        if (round % 4 == 2)
            expect(at.store, "flushall", "+:OK");
        if (round % 4 == 3)
            expect(at.store, "del huge", "i:0");
        expect(at.store, "set last 1", "+:OK");
        image_make(&at, &synced, round % 2 == 0);
        hf__free(synced.data);
        assert_true(checkpoint_in("image") < hf__flush_last_txn(env));
        expect_all_in_image(round);
    }
}

/* LMDB would not count such a transaction. */
TEST(transaction_that_changes_nothing_is_replayed)
{
    image_file synced;
    char text[TEXT_SIZE];

    checkpoint();
    synced = data_now();
    assert_int_equal(evaluate(at.store,
                              "redis.call('set', 'tmp', 1) "
                              "return redis.call('del', 'tmp')",
                              0, "", text),
                     HF_OK);
    expect(at.store, "set last 1", "+:OK");
    image_make(&at, &synced, false);
    hf__free(synced.data);
    expect_all_in_image(1);
}

/* Both parts are in use, and the overflow. */
TEST(log_that_is_full_is_written_on)
{
    image_file synced;
    char line[96];

    checkpoint();
    synced = data_now();
    for (int i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof(line), "v%d", i);
        set_large(at.store, line, 30000);
        image_hold(env);
    }
    assert_true(env->sidecar.map->redo.parts[HF__REDO_OVERFLOW].end > 0);
    image_make(&at, &synced, false);
    hf__free(synced.data);
    expect_all_in_image(7);
    /* It is empty again once there is a checkpoint. */
    checkpoint();
    assert_false(hf__redo_is_due(env));
}

/* --------------------------------------------------------- damage, old logs */

static uint64_t last_record(const image_file *log, uint64_t base)
{
    uint64_t where = base + sizeof(hf__redo_head), last = 0;
    hf__redo_record record;

    for (;;) {
        memcpy(&record, log->data + where, sizeof(record));
        if (record.txn == 0 || record.size > HF__REDO_PART_SIZE)
            return last;
        last = where;
        where += sizeof(record) + hf__redo_padded(record.size);
    }
}

static void change_image_log(uint64_t where, const void *data, size_t size)
{
    char path[160];
    int fd;

    image_path(&at, "image", "redo", path);
    fd = open(path, O_RDWR | O_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, data, size, (off_t)where), size);
    close(fd);
}

static image_file image_log(void)
{
    char path[160];

    image_path(&at, "image", "redo", path);
    return image_read(path);
}

/* A record that was torn is the end. */
/* What was not applied must not come back. */
static void expect_empty_log(void)
{
    image_file log = image_log();

    for (uint32_t i = 0; i < HF__REDO_PARTS; i++) {
        hf__redo_head head;

        if (hf__redo_base(i) + sizeof(head) > log.size)
            continue;
        memcpy(&head, log.data + hf__redo_base(i), sizeof(head));
        assert_int_equal(head.salt, 0);
    }
    hf__free(log.data);
}

TEST(torn_record_is_the_end_of_the_log)
{
    image_file synced, log;
    hf__store *image;
    uint64_t where;

    expect(at.store, "set a 0", "+:OK");
    checkpoint();
    synced = data_now();
    expect(at.store, "set a 1", "+:OK");
    expect(at.store, "set a 2", "+:OK");
    image_make(&at, &synced, false);
    hf__free(synced.data);
    log = image_log();
    where =
        last_record(&log, env->sidecar.map->redo.current * HF__REDO_PART_SIZE);
    assert_true(where > 0);
    log.data[where + sizeof(hf__redo_record)] ^= 1;
    change_image_log(where, log.data + where, sizeof(hf__redo_record) + 1);
    hf__free(log.data);
    image = open_image();
    expect(image, "get a", "s:1");
    close_store(image);
    expect_empty_log();
}

/* Each record is on the disk before the next is written: what is behind one
 * that does not hold was acknowledged. */
TEST(damage_in_the_middle_of_a_log_is_an_error)
{
    hf_error err = HF_ERROR_INIT;
    hf__redo_record first;
    image_file synced, log;
    hf__store *store;
    uint64_t where;
    char url[200];

    expect(at.store, "set a 0", "+:OK");
    checkpoint();
    synced = data_now();
    expect(at.store, "set a 1", "+:OK");
    expect(at.store, "set b 2", "+:OK");
    expect(at.store, "set c 3", "+:OK");
    image_make(&at, &synced, false);
    hf__free(synced.data);
    where = env->sidecar.map->redo.current * HF__REDO_PART_SIZE +
            sizeof(hf__redo_head);
    log = image_log();
    /* The first is in the checkpoint. */
    memcpy(&first, log.data + where, sizeof(first));
    where += 2 * sizeof(first) + hf__redo_padded(first.size);
    log.data[where] ^= 1;
    change_image_log(where, log.data + where, 1);
    hf__free(log.data);
    (void)snprintf(url, sizeof(url), "file:%s/image?durability=log", at.folder);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(open_url(url, NULL, &store, &err), HF_CORRUPT);
        assert_non_null(strstr(err.message, "it lacks transaction"));
    }
}

/* As a writer leaves it that was killed after its commit: the next makes a
 * checkpoint first. */
TEST(commit_that_the_log_does_not_know_of_is_in_a_checkpoint)
{
    hf__redo_map *map = &env->sidecar.map->redo;
    hf__redo_map before;
    image_file synced;

    checkpoint();
    synced = data_now();
    expect(at.store, "set a 1", "+:OK");
    before = *map;
    expect(at.store, "set a 2", "+:OK");
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    before.serial = map->serial;
    *map = before;
    assert_true(hf__redo_is_full(env));
    hf__env_unlock(env);
    expect(at.store, "set b 3", "+:OK");
    assert_int_equal(map->last_txn, hf__flush_last_txn(env));
    assert_int_equal(env->sidecar.map->flush.checkpoint + 1, map->last_txn);
    hf__free(synced.data);
    synced = data_now();
    image_make(&at, &synced, false);
    hf__free(synced.data);
    expect_all_in_image(3);
}

TEST(store_without_its_log_is_refused)
{
    image_file synced;
    char path[160], url[200];
    hf_error err = HF_ERROR_INIT;
    hf__store *store = NULL;

    expect(at.store, "set a 0", "+:OK");
    checkpoint();
    synced = data_now();
    image_make(&at, &synced, false);
    hf__free(synced.data);
    image_path(&at, "image", "redo", path);
    (void)snprintf(url, sizeof(url), "file:%s/image?durability=log", at.folder);
    assert_int_equal(truncate(path, 400000), 0);
    assert_int_equal(open_url(url, NULL, &store, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "cut off"));
    assert_int_equal(unlink(path), 0);
    assert_int_equal(open_url(url, NULL, &store, &err), HF_CORRUPT);
    assert_non_null(strstr(err.message, "redo"));
}

/* ------------------------------------------------------------------- kills */

static void write_and_die(const char *url)
{
    hf__store *store = must_open(url, NULL);
    char line[64];

    for (int i = 0; i < 200; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %d", i % 20, i);
        expect(store, line, "+:OK");
    }
    (void)raise(SIGKILL);
}

/* What one process logged and another logs after its death is one log. */
TEST(killed_process_leaves_a_log_to_the_others)
{
    image_file synced;
    int status = 0;
    pid_t pid;

    checkpoint();
    synced = data_now();
    hf__env_unref(env);
    env = NULL;
    close_store(at.store);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        write_and_die(at.url);
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    image_hold(env);
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFSIGNALED(status));
    for (int i = 0; i < 5; i++)
        image_change(at.store, i);
    hf__free(synced.data);
    checkpoint();
    synced = data_now();
    image_change(at.store, 9);
    image_make(&at, &synced, true);
    hf__free(synced.data);
    expect_all_in_image(5);
}
