/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_full_test.c - a store, a disk or a limit that is full: writes are
 * refused cleanly, deletes and renewals succeed, freed space is used.
 */
#include "embedded_store.h"
#include "support/await_child.h"

#include <malloc.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "volatile", "?max_size=1M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int set_up_durable(void **state)
{
    (void)state;
    make_place(&at, "file", "?max_size=1M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* Fill the store with keys of 1000 bytes; returns how many fitted. */
static int fill(hf__store *store, int from)
{
    char line[1200], text[TEXT_SIZE];
    hf_status status = HF_OK;
    int count = from;

    for (; status == HF_OK && count < 200000; count++) {
        (void)snprintf(line, sizeof(line), "set k%d %01000d", count, count);
        status = command(store, line, text);
    }
    if (status != HF_FULL)
        fail_msg("after %d: %d %s", count, status, text);
    return count - 1;
}

/* What must still work in a full store, again and again. */
static void expect_life(hf__store *store)
{
    char line[64], text[TEXT_SIZE];

    for (int i = 0; i < 300; i++) {
        expect(store, "pexpire lock 50000", "i:1");
        expect(store, "get lock", "s:owner");
        (void)snprintf(line, sizeof(line), "lock %s 50000", "owner");
        (void)own(store, HF__SCRIPT_LOCK_RENEW, 1, line, text);
        assert_string_equal(text, "[]");
        assert_int_equal(command(store, "set new 1", text), HF_FULL);
    }
}

static void expect_room_after_deletes(hf__store *store, int count)
{
    char line[64];

    for (int i = 0; i < count; i++) {
        (void)snprintf(line, sizeof(line), "del k%d", i);
        expect(store, line, "i:1");
    }
    expect(store, "dbsize", "i:1");
    /* Most of it can be used again, though not in one piece. */
    assert_true(fill(store, 0) > count / 2);
}

TEST_VARIANT(full_store_lives_on, _durable, set_up_durable, tear_down);
TEST(full_store_lives_on)
{
    int count;

    expect(at.store, "set lock owner px 50000", "+:OK");
    count = fill(at.store, 0);
    assert_true(count > 300);
    expect_life(at.store);
    expect_room_after_deletes(at.store, count);
    for (int round = 0; round < 10; round++)
        expect(at.store, "flushdb", "+:OK");
    assert_true(fill(at.store, 0) > count / 2);
}

/* Redis says OOM to the script, which may catch it. */
TEST(script_in_a_full_store_can_tell)
{
    char text[TEXT_SIZE];

    (void)fill(at.store, 0);
    assert_int_equal(
        evaluate(at.store, "return redis.call('set', 'n', 1)", 0, "", text),
        HF_FULL);
    assert_non_null(strstr(text, "is full (max_size=1024K)"));
    assert_int_equal(
        evaluate(at.store,
                 "redis.call('del', 'k0') "
                 "return redis.pcall('set', 'n', 1).err and 'caught'",
                 0, "", text),
        HF_OK);
    assert_string_equal(text, "s:caught");
    expect(at.store, "exists k0", "i:0");
}

/* Too much in one transaction: all of it is undone. */
TEST(script_that_does_not_fit_is_undone)
{
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at.store,
                              "redis.call('set', 'first', 1) "
                              "redis.call('set', 'a', ('x'):rep(3000000)) "
                              "return 1",
                              0, "", text),
                     HF_FULL);
    expect(at.store, "exists first a", "i:0");
    expect(at.store, "set a 1", "+:OK");
}

/* Expired keys make room before a write is refused. */
TEST(expired_keys_make_room)
{
    char line[1200], text[TEXT_SIZE];
    hf_status status = HF_OK;

    for (int i = 0; status == HF_OK && i < 5000; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %01000d px 200", i, i);
        status = command(at.store, line, text);
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + 210);
    for (int i = 0; i < 300; i++) {
        (void)snprintf(line, sizeof(line), "set n%d %01000d", i, i);
        expect(at.store, line, "+:OK");
    }
}

/* HF_FULL; HF_OK: they expired while they were written. */
static hf_status fill_another_database(int ttl_ms)
{
    char line[1200], text[TEXT_SIZE];
    hf_status status = HF_OK;

    for (int i = 0; status == HF_OK && i < 5000; i++) {
        (void)snprintf(line, sizeof(line), "set k%d %01000d px %d", i, i,
                       ttl_ms);
        status = command(at.store, line, text);
        (void)snprintf(line, sizeof(line), "move k%d 5", i);
        if (status == HF_OK)
            assert_int_equal(command(at.store, line, text), HF_OK);
    }
    return status;
}

/* A command that finds the store full has them deleted, and then runs in its
 * own database. */
TEST(expired_keys_of_another_database_make_room)
{
    hf_status status = HF_OK;
    int ttl_ms = 100;

    while (status == HF_OK && ttl_ms < 60000) {
        expect(at.store, "flushall", "+:OK");
        ttl_ms *= 2;
        status = fill_another_database(ttl_ms);
    }
    assert_int_equal(status, HF_FULL);
    hf__clock_sleep_until(hf__clock_boot_ms() + ttl_ms + 10);
    expect(at.store, "set mine 1", "+:OK");
    expect(at.store, "get mine", "s:1");
    expect(at.store, "keys *", "[s:mine]");
}

/* The store grows by steps; a process that opened it small follows. */
TEST(growing_store_is_followed)
{
    hf__store *mine;
    char text[TEXT_SIZE];
    int status;
    pid_t pid;

    remove_place(&at);
    make_place(&at, "volatile", "?max_size=64M");
    mine = must_open(at.url, NULL);
    expect(mine, "set a 1", "+:OK");
    expect(mine, "get a", "s:1");
    pid = fork();
    if (pid == 0) {
        hf__store *store;

        script_budget_ms = 5000 * SLOWER; /* it runs again with each step */
        store = must_open(at.url, NULL);

        if (evaluate(store,
                     "for i = 1, 30 do "
                     "redis.call('set', 'k' .. i, ('x'):rep(1000000)) end "
                     "return 1",
                     0, "", text) != HF_OK)
            _exit(1);
        close_store(store);
        _exit(0);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
    expect(mine, "strlen k30", "i:1000000");
    expect(mine, "set b 1", "+:OK");
    expect(mine, "strlen k1", "i:1000000");
    expect(mine, "flushdb", "+:OK");
    expect(mine, "dbsize", "i:0");
    close_store(mine);
}

/* Writes a little more than fits; false: the message blames something else. */
static bool disk_is_blamed(hf__store *store)
{
    char line[1200], text[TEXT_SIZE];
    hf_status status;

    (void)fill(store, 0);
    (void)snprintf(line, sizeof(line), "set more %01000d", 1);
    do
        status = command(store, line, text);
    while (status == HF_OK);
    if (strstr(text, "no space left on device") == NULL)
        print_error("%s\n", text);
    return strstr(text, "no space left on device") != NULL;
}

static void run_limited(const char *scheme, const char *parameters)
{
    int status;
    pid_t pid;

    remove_place(&at);
    make_place(&at, scheme, parameters);
    pid = fork();
    if (pid == 0) {
        struct rlimit limit = {3u << 20, 3u << 20};
        hf__store *store;
        char text[TEXT_SIZE];

        if (setrlimit(RLIMIT_FSIZE, &limit) != 0)
            _exit(1);
        store = must_open(at.url, NULL);
        expect(store, "set lock owner px 50000", "+:OK");
        if (!disk_is_blamed(store))
            _exit(3);
        expect_life(store);
        if (command(store, "del k0 k1 k2", text) != HF_OK)
            _exit(2);
        close_store(store);
        _exit(0);
    }
    assert_int_equal(await_child(pid, &status), pid);
    assert_int_equal(status, 0);
}

/* A limit on file sizes is an error, not SIGXFSZ, and not max_size's. */
TEST(file_size_limit_is_full)
{
    run_limited("volatile", "?max_size=64M");
    run_limited("file", "?max_size=64M");
    run_limited("file", "?max_size=64M&durability=flush");
    run_limited("file", "?max_size=64M&durability=log");
}

/* The same on a tmpfs of 4 MiB, which only root can make; others have met the
 * same code above. */
TEST(full_tmpfs_is_full)
{
    char url[160];
    hf__store *store;

    if (geteuid() != 0 || mount("tmpfs", at.folder, "tmpfs", 0, "size=4m") != 0)
        return;
    (void)snprintf(url, sizeof(url), "volatile:%s/t?max_size=64M", at.folder);
    store = must_open(url, NULL);
    expect(store, "set lock owner px 50000", "+:OK");
    assert_true(fill(store, 0) > 1000);
    expect_life(store);
    close_store(store);
    store = must_open(url, NULL);
    expect(store, "get lock", "s:owner");
    expect_life(store);
    close_store(store);
    /* No room for a second one. */
    (void)snprintf(url, sizeof(url), "volatile:%s/u", at.folder);
    {
        hf_error err = HF_ERROR_INIT;

        assert_int_equal(open_url(url, NULL, &store, &err), HF_FULL);
    }
    assert_int_equal(umount2(at.folder, MNT_DETACH), 0);
}

/* Two fifths of the store, as 400 MB are of 1 GiB. LMDB frees what a
 * transaction deleted only two transactions later, and in one piece only
 * where nothing was put in between. */
static void large_values_in_turn(const char *scheme, const char *parameters)
{
    enum { SIZE = 6400000, ROUNDS = 30, QUIET_FROM = 10 };
    char *value = malloc(SIZE);
    char text[TEXT_SIZE];
    size_t heap = 0;
    hf__store *store;

    assert_non_null(value);
    memset(value, 'x', SIZE);
    remove_place(&at);
    make_place(&at, scheme, parameters);
    store = at.store = must_open(at.url, NULL);
    for (int i = 0; i < ROUNDS; i++) {
        hf_bytes words[] = {hf_str("set"), hf_str("big"), hf_view(value, SIZE)};

        if (i == QUIET_FROM)
            heap = mallinfo2().uordblks;
        if (perform(store, NULL, words, 3, 0, text) != HF_OK)
            fail_msg("%s%s, round %d: %s", scheme, parameters, i, text);
        expect(store, "del big", "i:1");
    }
    /* Not 16 KiB for each, which is what the list of their pages takes. */
    if (mallinfo2().uordblks > heap + 65536)
        fail_msg("the heap grew from %zu to %zu bytes", heap,
                 (size_t)mallinfo2().uordblks);
    free(value);
}

TEST(large_values_set_and_deleted_in_turn_fit)
{
    large_values_in_turn("volatile", "?max_size=16M");
    large_values_in_turn("file", "?max_size=16M");
    large_values_in_turn("file", "?max_size=16M&durability=flush");
}
