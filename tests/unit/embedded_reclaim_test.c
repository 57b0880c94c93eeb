/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_reclaim_test.c - how many expired keys a commit deletes: few if
 * commits follow one another quickly, but more than can come.
 */
#include "embedded_store.h"

#include "engine/files/header.h"
#include "engine/keys/tx_life.h"
#include "engine/run/execute.h"

/* What the test keeps to are reclaim.c's. */
#define STEP 64
#define LEAST 16
#define EACH 2

#define KEYS 5000

static place at;
static hf__env *env;
static int64_t now_ms; /* after all have expired */

static int set_up(void **state)
{
    char text[TEXT_SIZE];

    (void)state;
    make_place(&at, "volatile", "");
    at.store = must_open(at.url, NULL);
    env = hf__embedded_env(at.store);
    assert_int_equal(
        evaluate(at.store,
                 "for i = 1, 5000 do "
                 "redis.call('set', 'key' .. i, 'v', 'px', 60000) end",
                 0, "", text),
        HF_OK);
    now_ms = hf__clock_boot_ms() + 120000;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* Write the header as it is. */
static void put_header(hf__tx *tx)
{
    char name[1] = {HF__RECORD_HEADER};
    MDB_val key = {sizeof(name), name};
    MDB_val value;
    hf__header copy;

    assert_int_equal(mdb_get(tx->txn, env->dbi, &key, &value), MDB_SUCCESS);
    assert_int_equal(value.mv_size, sizeof(copy));
    memcpy(&copy, value.mv_data, sizeof(copy));
    value.mv_data = &copy;
    assert_true(hf__tx_put(tx, &key, &value));
}

static size_t count_records(const hf__tx *tx)
{
    MDB_stat stat;

    assert_int_equal(mdb_stat(tx->txn, env->dbi, &stat), MDB_SUCCESS);
    return stat.ms_entries;
}

static void begin(hf__tx *tx)
{
    assert_int_equal(
        hf__env_begin_write(env, hf__clock_boot_ms(), &tx->txn, &tx->error),
        HF_OK);
    hf__tx_start(tx, now_ms);
}

/* A commit that puts so many records; how many it has deleted. */
static size_t commit_puts(int puts)
{
    size_t before, after;
    hf__tx *tx;

    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    assert_true(hf__execute_prepare(env, NULL));
    tx = env->write_tx;
    begin(tx);
    before = count_records(tx);
    for (int i = 0; i < puts; i++)
        put_header(tx);
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    begin(tx);
    after = count_records(tx);
    assert_int_equal(hf__tx_finish(tx), HF_OK);
    hf__env_unlock(env);
    return before - after;
}

TEST(commits_of_one_millisecond_delete_two_keys_for_each_put)
{
    size_t deleted = 0;

    assert_int_equal(commit_puts(1), STEP);
    for (int i = 0; i < 400; i++) {
        size_t some = commit_puts(1);

        assert_in_range(some, 0, LEAST);
        deleted += some;
    }
    assert_in_range(deleted, 400 * EACH - LEAST, 400 * EACH);
}

TEST(first_commit_of_a_millisecond_deletes_many)
{
    for (int i = 0; i < 5; i++) {
        assert_int_equal(commit_puts(1), STEP);
        now_ms++;
    }
}

TEST(commit_that_puts_many_deletes_many)
{
    assert_int_equal(commit_puts(1), STEP);
    assert_int_equal(commit_puts(STEP / EACH), STEP);
    assert_int_equal(commit_puts(1000), STEP);
}

TEST(all_expired_keys_are_deleted)
{
    size_t deleted = 0;
    int commits = 0;

    while (deleted < KEYS && commits < KEYS) {
        deleted += commit_puts(1);
        commits++;
    }
    assert_int_equal(deleted, KEYS);
    assert_true(commits <= KEYS / EACH);
}
