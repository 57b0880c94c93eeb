/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_compact_test.c - store compact: nothing that can be seen changes,
 * what cannot is gone, and a kill at any instant leaves a whole store.
 */
#include "embedded_store.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "engine/files/files.h"
#include "holdfast/store.h"
#include "support/await_child.h"
#include "util/rand.h"

static place at;

static int set_up(void **state)
{
    (void)state;
    make_place(&at, "file", "?max_size=200M");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

/* Keys of every type in both forms; ARGV[1] tells rounds apart. */
static const char fill_script[] =
    "local r = ARGV[1]\n"
    "for i = 1, 40 do redis.call('set', 's' .. r .. i, 'v' .. i) end\n"
    "redis.call('set', 'long' .. string.rep('k', 700), string.rep('v', 9000))\n"
    "for i = 1, 200 do\n"
    "  redis.call('hset', 'h' .. r, 'field' .. i, 'value' .. i)\n"
    "  redis.call('zadd', 'z' .. r, i % 7, 'member' .. i)\n"
    "  redis.call('rpush', 'l' .. r, 'element' .. i)\n"
    "  redis.call('sadd', 't' .. r, 'member' .. i)\n"
    "end\n"
    "redis.call('hset', 'hs' .. r, 'a', 1, 'b', 2)\n"
    "return 1\n";

/* One text for all that can be seen. */
static const char digest_script[] =
    "local keys, sum = redis.call('keys', '*'), ''\n"
    "table.sort(keys)\n"
    "for _, k in ipairs(keys) do\n"
    "  local t, v = redis.call('type', k).ok\n"
    "  if t == 'string' then v = redis.call('get', k)\n"
    "  elseif t == 'list' then v = redis.call('lrange', k, 0, -1)\n"
    "  elseif t == 'zset' then\n"
    "    v = redis.call('zrange', k, 0, -1, 'withscores')\n"
    "  elseif t == 'set' then\n"
    "    v = redis.call('smembers', k) table.sort(v)\n"
    "  else v = redis.call('hgetall', k) end\n"
    "  if t == 'hash' then\n"
    "    local p = {}\n"
    "    for i = 1, #v, 2 do p[#p + 1] = v[i] .. '=' .. v[i + 1] end\n"
    "    table.sort(p) v = p\n"
    "  end\n"
    "  if type(v) == 'table' then v = table.concat(v, ',') end\n"
    "  sum = redis.sha1hex(sum .. k .. t .. v)\n"
    "end\n"
    "return sum .. ' ' .. #keys\n";

static void run(hf__store *store, const char *script, const char *words,
                char text[TEXT_SIZE])
{
    if (evaluate(store, script, 0, words, text) != HF_OK)
        fail_msg("%s", text);
}

static void fill(const char *round)
{
    char text[TEXT_SIZE];
    hf__store *store = must_open(at.url, NULL);

    run(store, fill_script, round, text);
    close_store(store);
}

static void digest(char text[TEXT_SIZE])
{
    hf__store *store = must_open(at.url, NULL);

    run(store, digest_script, "", text);
    close_store(store);
}

static hf_store_compaction compact(void)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    hf_error err = HF_ERROR_INIT;

    if (hf_store_compact(at.url, &done, &err) != HF_OK)
        fail_msg("%s", err.message);
    return done;
}

static bool left_over(void)
{
    char name[512];

    (void)snprintf(name, sizeof(name), "%s/s/" HF__FILE_REWRITE, at.folder);
    return access(name, F_OK) == 0;
}

/* ------------------------------------------------------------------- tests */

/* LMDB's lock file is still of the old data file, whose last transaction had
 * any number. */
TEST(compacted_volatile_store_is_opened_as_it_was)
{
    char line[32];

    for (int i = 1; i <= 8; i++) {
        hf__store *store;

        remove_place(&at);
        make_place(&at, "volatile", "");
        store = must_open(at.url, NULL);
        for (int number = 1; number <= i; number++) {
            (void)snprintf(line, sizeof(line), "set a %d", number);
            expect(store, line, "+:OK");
        }
        close_store(store);
        for (int round = 0; round < 2; round++) {
            (void)compact();
            store = must_open(at.url, NULL);
            (void)snprintf(line, sizeof(line), "s:%d", i);
            expect(store, "get a", line);
            close_store(store);
        }
    }
}

TEST(compacting_changes_nothing_that_is_seen)
{
    char before[TEXT_SIZE], after[TEXT_SIZE], round[16];
    hf_store_compaction done;

    /* Key ids are never assigned twice: each round
     * adds collections to a file that was just compacted. */
    for (int i = 0; i < 6; i++) {
        (void)snprintf(round, sizeof(round), "%d", i);
        fill(round);
        digest(before);
        done = compact();
        assert_true(done.rewritten);
        assert_false(done.in_use);
        assert_true(done.size_after > 0);
        expect_no_faults(&at);
        digest(after);
        assert_string_equal(after, before);
        assert_false(left_over());
    }
}

TEST(what_expired_or_was_deleted_takes_no_room)
{
    char text[TEXT_SIZE];
    hf_store_compaction done;
    hf__store *store = must_open(at.url, NULL);

    for (int i = 0; i < 40; i++) {
        char line[32];

        (void)snprintf(line, sizeof(line), "%d", i);
        run(store,
            "for i = 1, 1000 do\n"
            "  redis.call('hset', 'big' .. ARGV[1], i, string.rep('x', 50))\n"
            "  redis.call('set', 'k' .. ARGV[1] .. ':' .. i, 'v', 'px', 1)\n"
            "end\n"
            "redis.call('pexpire', 'big' .. ARGV[1], 1)\n",
            line, text);
    }
    expect(store, "set kept 1", "+:OK");
    close_store(store);
    done = compact();
    assert_true(done.rewritten);
    /* The rest went with the writes above. */
    assert_true(done.keys + done.elements > 0);
    assert_true(done.elements <= 40 * 1000);
    assert_true(done.size_after < done.size_before);
    assert_true(done.size_after <= 1u << 20);
    store = must_open(at.url, NULL);
    expect(store, "dbsize", "i:1");
    expect(store, "get kept", "s:1");
    close_store(store);
    expect_no_faults(&at);
}

TEST(a_store_in_use_is_reclaimed_and_not_rewritten)
{
    char text[TEXT_SIZE];
    hf_store_compaction done;
    hf__store *store = must_open(at.url, NULL);

    expect(store, "set kept 1", "+:OK");
    done = compact();
    assert_true(done.in_use);
    assert_false(done.rewritten);
    assert_int_equal(done.size_before, done.size_after);
    expect(store, "get kept", "s:1");
    assert_int_equal(command(store, "set more 1", text), HF_OK);
    close_store(store);
}

TEST(another_process_counts_as_use)
{
    hf_store_compaction done;
    char byte;
    int up[2], down[2], ended;
    pid_t pid;

    assert_int_equal(pipe(up), 0);
    assert_int_equal(pipe(down), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);

        expect(store, "set a 1", "+:OK");
        _exit(write(up[1], "x", 1) == 1 && read(down[0], &byte, 1) == 1 ? 0
                                                                        : 1);
    }
    assert_int_equal(read(up[0], &byte, 1), 1);
    done = compact();
    assert_true(done.in_use);
    assert_false(done.rewritten);
    assert_int_equal(write(down[1], "x", 1), 1);
    assert_int_equal(await_child(pid, &ended), pid);
    assert_int_equal(ended, 0);
    assert_true(compact().rewritten);
    for (int i = 0; i < 2; i++) {
        close(up[i]);
        close(down[i]);
    }
}

static void take_limit(void *user, const char *name, const char *value)
{
    if (strcmp(name, "bytes at most") == 0)
        *(unsigned long long *)user = strtoull(value, NULL, 10);
}

static unsigned long long limit_now(void)
{
    unsigned long long limit = 0;
    hf_client *client;
    hf_error err = HF_ERROR_INIT;
    char url[192];

    (void)snprintf(url, sizeof(url), "file:%s/s", at.folder);
    assert_int_equal(hf_client_open(url, NULL, &client, &err), HF_OK);
    assert_int_equal(hf_store_info(client, take_limit, &limit, &err), HF_OK);
    hf_client_close(client);
    return limit;
}

TEST(the_limit_of_the_store_stays)
{
    fill("1");
    (void)compact();
    assert_int_equal(limit_now(), 200u << 20);
}

TEST(the_limit_can_be_set)
{
    static const uint64_t limits[] = {
        UINT64_C(8) << 20, (UINT64_C(300) << 20) + 1, UINT64_C(1) << 20};
    hf_error err = HF_ERROR_INIT;
    char url[192];

    fill("1");
    (void)snprintf(url, sizeof(url), "file:%s/s", at.folder);
    for (size_t i = 0; i < 3; i++) {
        hf_store_compaction done = HF_STORE_COMPACTION_INIT;
        uint64_t set = limits[i] & ~UINT64_C(0xffff);

        done.max_size = limits[i];
        assert_int_equal(hf_store_compact(url, &done, &err), HF_OK);
        assert_true(done.rewritten && done.max_size == set);
        assert_true(limit_now() == set);
    }
    expect_no_faults(&at);
}

TEST(a_limit_below_the_data_is_refused)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    hf_error err = HF_ERROR_INIT;
    hf__store *store = must_open(at.url, NULL);
    char url[192], text[TEXT_SIZE];

    run(store,
        "for i = 1, 40 do redis.call('set', i, string.rep('x', 65536)) end", "",
        text);
    close_store(store);
    (void)snprintf(url, sizeof(url), "file:%s/s", at.folder);
    done.max_size = 1 << 20;
    assert_int_equal(hf_store_compact(url, &done, &err), HF_FULL);
    assert_non_null(strstr(err.message, "max_size=1024K is too small"));
    assert_true(done.rewritten && done.max_size == UINT64_C(200) << 20);
    done.max_size = 1;
    assert_int_equal(hf_store_compact(url, &done, &err), HF_INVALID);
    assert_true(limit_now() == UINT64_C(200) << 20);
}

static void kill_while_it_compacts(int64_t after_ms)
{
    pid_t pid = fork();
    int ended;

    assert_true(pid >= 0);
    if (pid == 0) {
        hf_store_compaction done = HF_STORE_COMPACTION_INIT;

        while (hf_store_compact(at.url, &done, NULL) == HF_OK)
            continue;
        _exit(1); /* to be killed is what is asked of it */
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + after_ms);
    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(await_child(pid, &ended), pid);
    assert_true(WIFSIGNALED(ended));
}

TEST(a_kill_at_any_instant_leaves_a_whole_store)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];

    fill("1");
    fill("2");
    digest(before);
    for (int i = 0; i < 75 / SLOWER + 5; i++) {
        kill_while_it_compacts(hf__rand_between(1, 25 * SLOWER));
        expect_no_faults(&at);
        digest(after);
        assert_string_equal(after, before);
        assert_false(left_over());
    }
}

/* What RLIMIT_FSIZE refuses shows as a full disk, and not as SIGXFSZ. */
TEST(without_room_the_old_file_stays)
{
    char before[TEXT_SIZE], after[TEXT_SIZE];
    int ended;
    pid_t pid;

    fill("1");
    digest(before);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        struct rlimit limit = {500000, 500000};
        hf_store_compaction done = HF_STORE_COMPACTION_INIT;

        (void)setrlimit(RLIMIT_FSIZE, &limit);
        _exit(hf_store_compact(at.url, &done, NULL) == HF_FULL &&
                      !done.rewritten
                  ? 0
                  : 1);
    }
    assert_int_equal(await_child(pid, &ended), pid);
    assert_int_equal(ended, 0);
    assert_false(left_over());
    digest(after);
    assert_string_equal(after, before);
}

TEST(what_is_no_embedded_store_is_refused)
{
    hf_store_compaction done = HF_STORE_COMPACTION_INIT;
    hf_error err = HF_ERROR_INIT;

    assert_int_equal(hf_store_compact(at.url, &done, &err), HF_NOT_FOUND);
    assert_int_equal(hf_store_compact("redis://127.0.0.1", &done, &err),
                     HF_UNSUPPORTED);
    assert_int_equal(hf_store_compact(at.url, NULL, &err), HF_INVALID);
    done.struct_size = 1;
    assert_int_equal(hf_store_compact(at.url, &done, &err), HF_INVALID);
}
