/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_readers_test.c - how often a writer looks for readers that were
 * killed: each second, and less often the more readers there are; and for how
 * long it waits for a copy.
 */
#include "embedded_store.h"
#include "open_env.h"

#include <poll.h>
#include <pthread.h>
#include <sys/wait.h>

#include "engine/commit/readers.h"
#include "support/await_child.h"

#define CROWD 80

static place at;
static hf__env *env;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "");
    env = open_env(at.url);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hf__env_unref(env);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* A process that ended while it was reading. */
static void leave_reader(void)
{
    MDB_txn *txn;
    int status = 0;
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0)
        _exit(mdb_txn_begin(open_env(at.url)->mdb, NULL, MDB_RDONLY, &txn));
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

static void write_at(int64_t now_ms)
{
    MDB_txn *txn;

    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    assert_int_equal(hf__env_begin_write(env, now_ms, &txn, NULL), HF_OK);
    mdb_txn_abort(txn);
    hf__env_unlock(env);
}

/* They are gone afterwards. */
static int count_dead(void)
{
    int dead = 0;

    assert_int_equal(mdb_reader_check(env->mdb, &dead), MDB_SUCCESS);
    return dead;
}

TEST(few_readers_are_looked_at_each_second)
{
    int64_t now_ms = hf__clock_boot_ms();

    leave_reader();
    write_at(now_ms);
    assert_int_equal(count_dead(), 0);
    leave_reader();
    write_at(now_ms + 500);
    assert_int_equal(count_dead(), 1);
    leave_reader();
    write_at(now_ms + 1000);
    assert_int_equal(count_dead(), 0);
}

TEST(of_a_crowd_each_looks_less_often)
{
    int64_t now_ms = hf__clock_boot_ms();
    MDB_txn *txns[CROWD];

    for (size_t i = 0; i < CROWD; i++)
        assert_int_equal(mdb_txn_begin(env->mdb, NULL, MDB_RDONLY, &txns[i]),
                         MDB_SUCCESS);
    leave_reader();
    write_at(now_ms);
    write_at(now_ms + 10000);
    assert_int_equal(count_dead(), 1);
    leave_reader();
    write_at(now_ms + 12000);
    assert_int_equal(count_dead(), 0);
    for (size_t i = 0; i < CROWD; i++)
        mdb_txn_abort(txns[i]);
}

/* More than a pipe takes, and than a writer waits for other readers. */
#define COPIED "redis.call('set', 'k', string.rep('k', 300000))"
#define SLOW_MS 300

typedef struct slow_copy {
    int ends[2]; /* of a pipe: what it is taken from, and written to */
    hf_status status;
} slow_copy;

static void *make_copy(void *user)
{
    slow_copy *self = user;
    atomic_bool cancelled = false;
    uint64_t size;

    self->status =
        hf__rdb_file_write(env, self->ends[1], &cancelled, &size, NULL);
    (void)close(self->ends[1]);
    return NULL;
}

static void *take_late(void *user)
{
    slow_copy *self = user;
    char text[4096];

    hf__clock_sleep_until(hf__clock_boot_ms() + SLOW_MS);
    while (read(self->ends[0], text, sizeof(text)) > 0)
        continue;
    return NULL;
}

TEST(copy_that_is_written_slowly_is_waited_for)
{
    slow_copy self;
    struct pollfd begun;
    pthread_t maker, taker;
    char text[TEXT_SIZE];

    at.store = must_open(at.url, NULL);
    assert_int_equal(evaluate(at.store, COPIED, 0, "", text), HF_OK);
    assert_int_equal(pipe(self.ends), 0);
    begun = (struct pollfd){.fd = self.ends[0], .events = POLLIN};
    assert_int_equal(pthread_create(&maker, NULL, make_copy, &self), 0);
    assert_int_equal(poll(&begun, 1, -1), 1);
    assert_int_equal(evaluate(at.store, COPIED, 0, "", text), HF_OK);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    assert_int_equal(pthread_create(&taker, NULL, take_late, &self), 0);
    assert_true(hf__readers_await(env));
    hf__env_unlock(env);
    pthread_join(maker, NULL);
    pthread_join(taker, NULL);
    assert_int_equal(self.status, HF_FULL);
    (void)close(self.ends[0]);
}
