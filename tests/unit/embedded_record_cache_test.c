/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_record_cache_test.c - what the writer remembers of key records from
 * one transaction to the next is never older than what the store holds: two
 * processes write in turn, in every way there is, and a script, which runs as
 * a writer, must read what is there.
 */
#include "embedded_store.h"

#include <malloc.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"

#define KEYS 6
#define VALUE_SIZE 64
#define STEPS 6000
#define LINE_SIZE 256

typedef struct other {
    pid_t pid;
    int line_fd;
    int done_fd;
} other;

static place at;
static other second;

/* What the store should hold; "nil" or what show() makes of a string. */
static char expected[KEYS][VALUE_SIZE + 2];

static void serve(int line_fd, int done_fd)
{
    char line[LINE_SIZE], text[TEXT_SIZE];
    hf__store *store;
    hf_error err = HF_ERROR_INIT;

    if (open_url(at.url, NULL, &store, &err) != HF_OK)
        return;
    while (read(line_fd, line, sizeof(line)) == (ssize_t)sizeof(line)) {
        if (command(store, line, text) != HF_OK || write(done_fd, "", 1) != 1)
            return;
    }
    close_store(store);
}

static int set_up(void **state)
{
    int lines[2], done[2];

    (void)state;
    make_place(&at, "volatile", "");
    assert_int_equal(pipe(lines), 0);
    assert_int_equal(pipe(done), 0);
    second.pid = fork();
    if (second.pid == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        close(lines[1]);
        serve(lines[0], done[1]);
        _exit(0);
    }
    assert_true(second.pid > 0);
    close(lines[0]);
    close(done[1]);
    second.line_fd = lines[1];
    second.done_fd = done[0];
    at.store = must_open(at.url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    close(second.line_fd);
    close(second.done_fd);
    (void)waitpid(second.pid, NULL, 0);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void by_second(const char *line)
{
    char message[LINE_SIZE] = {0};
    char byte;

    (void)snprintf(message, sizeof(message), "%s", line);
    assert_int_equal(write(second.line_fd, message, sizeof(message)),
                     sizeof(message));
    assert_int_equal(read(second.done_fd, &byte, 1), 1);
}

static void by_first(const char *line)
{
    char text[TEXT_SIZE];

    assert_int_equal(command(at.store, line, text), HF_OK);
}

/* As the writer sees it. */
static void expect_key(int number)
{
    char name[16], text[TEXT_SIZE];

    (void)snprintf(name, sizeof(name), "k%d", number);
    assert_int_equal(
        evaluate(at.store, "return redis.call('get', KEYS[1])", 1, name, text),
        HF_OK);
    assert_string_equal(text, expected[number]);
}

static void set_expected(int number, const char *value)
{
    (void)snprintf(expected[number], sizeof(expected[number]), "%s", value);
}

static void forget_all(void)
{
    for (int i = 0; i < KEYS; i++)
        set_expected(i, "nil");
}

/* A value of 0 to 60 bytes: some are too long to be remembered. */
static void make_value(char value[VALUE_SIZE], int step)
{
    int size = step % 61;

    memset(value, 'a' + step % 26, (size_t)size);
    value[size] = '\0';
}

/* One write, known to `expected`, by one of the two. */
static void write_one(void (*run)(const char *line), unsigned dice, int step)
{
    int number = (int)(dice % KEYS), to = (int)(dice / KEYS % KEYS);
    char line[LINE_SIZE], value[VALUE_SIZE], shown[VALUE_SIZE + 2];

    make_value(value, step);
    (void)snprintf(shown, sizeof(shown), "s:%s", value);
    switch (dice / 64 % 8) {
    case 0:
        (void)snprintf(line, sizeof(line), "del k%d", number);
        set_expected(number, "nil");
        break;
    case 1:
        (void)snprintf(line, sizeof(line), "copy k%d k%d replace", number, to);
        if (number == to || strcmp(expected[number], "nil") == 0)
            return;
        memcpy(expected[to], expected[number], sizeof(expected[to]));
        break;
    case 2:
        (void)snprintf(line, sizeof(line), "set k%d x px 100000", number);
        set_expected(number, "s:x");
        break;
    case 3:
        (void)snprintf(line, sizeof(line), "set k%d x pxat 1", number);
        set_expected(number, "nil");
        break;
    case 4:
        if (step % 16 != 0)
            return;
        (void)snprintf(line, sizeof(line), "flushdb");
        forget_all();
        break;
    default:
        (void)snprintf(line, sizeof(line), "set k%d %s", number,
                       value[0] == '\0' ? "\"\"" : value);
        set_expected(number, shown);
        break;
    }
    run(line);
}

TEST(two_processes_see_each_other)
{
    unsigned seed = 1;

    forget_all();
    for (int step = 0; step < STEPS; step++) {
        seed = seed * 1103515245u + 12345u;
        /* Several in a row by the same, too. */
        write_one(seed >> 29 == 0 ? by_second : by_first, seed >> 8, step);
        expect_key((int)(seed >> 20) % KEYS);
        if (step % 8 == 0)
            expect_key(step / 8 % KEYS);
    }
    for (int i = 0; i < KEYS; i++)
        expect_key(i);
}

/* Nothing of it may be remembered. */
TEST(undone_script_leaves_what_was)
{
    static const char source[] =
        "redis.call('set', KEYS[1], 'no') redis.call('del', KEYS[2]) "
        "local s = 'x' while true do s = s .. s end";
    char text[TEXT_SIZE];

    by_first("set k0 yes");
    by_first("set k1 yes");
    set_expected(0, "s:yes");
    set_expected(1, "s:yes");
    expect_key(0);
    assert_int_equal(evaluate(at.store, source, 2, "k0 k1", text), HF_SCRIPT);
    expect_key(0);
    expect_key(1);
}

/* More records than are kept in one transaction: those written out half-way
 * are read again. */
TEST(large_transaction_reads_its_own_writes)
{
    static const char source[] =
        "for i = 1, 2000 do redis.call('set', 'n' .. i, i) end "
        "for i = 1, 2000 do redis.call('append', 'n' .. i, '!') end "
        "for i = 1, 2000, 3 do redis.call('del', 'n' .. i) end "
        "local sum = 0 for i = 1, 2000 do "
        "local v = redis.call('get', 'n' .. i) "
        "if v then assert(v == i .. '!') sum = sum + 1 end end return sum";
    static const char again[] =
        "local sum = 0 for i = 1, 2000 do "
        "local v = redis.call('get', 'n' .. i) "
        "if v then assert(v == i .. '!') sum = sum + 1 end end return sum";
    char text[TEXT_SIZE];

    assert_int_equal(evaluate(at.store, source, 0, "", text), HF_OK);
    assert_string_equal(text, "i:1333");
    assert_int_equal(evaluate(at.store, again, 0, "", text), HF_OK);
    assert_string_equal(text, "i:1333");
}

/* What was remembered as there is gone when its time is over. */
TEST(expiry_counts_for_what_is_remembered)
{
    int64_t until_ms = hf__clock_boot_ms() + 5000;
    char text[TEXT_SIZE] = "";

    by_first("set k0 x px 30");
    while (strcmp(text, "nil") != 0 && hf__clock_boot_ms() < until_ms)
        assert_int_equal(evaluate(at.store, "return redis.call('get', KEYS[1])",
                                  1, "k0", text),
                         HF_OK);
    assert_string_equal(text, "nil");
    by_first("set k0 y nx");
    set_expected(0, "s:y");
    expect_key(0);
}

/* The first command that looks for it is one that writes if there is none. */
static void set_when_free(const char *line)
{
    int64_t until_ms = hf__clock_boot_ms() + 5000;
    char text[TEXT_SIZE] = "";

    while (strcmp(text, "+:OK") != 0 && hf__clock_boot_ms() < until_ms) {
        hf__clock_sleep_until(hf__clock_boot_ms() + 10);
        assert_int_equal(command(at.store, line, text), HF_OK);
    }
    assert_string_equal(text, "+:OK");
}

TEST(write_finds_that_what_stayed_has_expired)
{
    by_first("set k0 x px 30");
    set_when_free("set k0 y nx");
    set_expected(0, "s:y");
    expect_key(0);
    by_first("hset k1 field x");
    by_first("hpexpire k1 30 fields 1 field");
    set_when_free("set k1 y nx");
    set_expected(1, "s:y");
    expect_key(1);
}

static void read_expired(void *user, const char *name, const char *value)
{
    if (strcmp(name, "expired keys to reclaim") == 0)
        (void)snprintf(user, TEXT_SIZE, "%s", value);
}

static void expect_expired(const char *count)
{
    char text[TEXT_SIZE] = "";

    at.store->ops->describe(at.store, read_expired, text);
    assert_string_equal(text, count);
}

static void expect_answer(const char *line, const char *answer)
{
    char text[TEXT_SIZE];

    assert_int_equal(command(at.store, line, text), HF_OK);
    assert_string_equal(text, answer);
}

/* Its record stays, invisible, and is overwritten. */
TEST(key_that_comes_and_goes_leaves_a_tombstone)
{
    for (int i = 0; i < 3; i++) {
        expect_answer("set k0 x nx", "+:OK");
        expect_answer("set k0 y nx", "nil");
        expect_answer("del k0", "i:1");
        expect_answer("del k0", "i:0");
        expect_expired(i == 0 ? "0" : "1");
        set_expected(0, "nil");
        expect_key(0);
        expect_answer("exists k0", "i:0");
        expect_answer("dbsize", "i:0");
        expect_answer("pexpire k0 1000", "i:0");
    }
    by_second("set k0 z nx");
    set_expected(0, "s:z");
    expect_key(0);
    expect_expired("0");
}

/* What it holds is neither too long for that nor for the cache. */
TEST(lock_leaves_a_tombstone)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    hf_lock *lock = NULL;

    assert_int_equal(hf_client_open(at.url, NULL, &client, &err), HF_OK);
    assert_int_equal(hf_lock_new(client, hf_str("k0"), NULL, &lock, &err),
                     HF_OK);
    for (int i = 0; i < 3; i++) {
        assert_int_equal(hf_lock_try(lock, &err), HF_OK);
        expect_expired("0");
        assert_int_equal(hf_lock_release(lock, &err), HF_OK);
        expect_expired(i == 0 ? "0" : "1");
    }
    hf_lock_free(lock);
    hf_client_close(client);
}

TEST(shell_is_reclaimed)
{
    int64_t until_ms = hf__clock_boot_ms() + 20000;
    char text[TEXT_SIZE] = "1";

    for (int i = 0; i < 2; i++) {
        by_first("set k0 x");
        by_first("del k0");
    }
    expect_expired("1");
    while (strcmp(text, "0") != 0 && hf__clock_boot_ms() < until_ms) {
        by_first("set k1 x");
        at.store->ops->describe(at.store, read_expired, text);
    }
    expect_expired("0");
    expect_answer("set k0 y nx", "+:OK");
    set_expected(0, "s:y");
    expect_key(0);
}

/* Of each key in turn. Returns what is allocated then. */
static size_t make_and_delete(int rounds)
{
    static const char script[] =
        "redis.call('set', KEYS[1], string.rep('x', 100000)) "
        "return redis.call('del', KEYS[1])";
    char name[16], text[TEXT_SIZE];

    for (int i = 0; i < rounds * KEYS; i++) {
        (void)snprintf(name, sizeof(name), "k%d", i % KEYS);
        assert_int_equal(evaluate(at.store, script, 1, name, text), HF_OK);
    }
    return mallinfo2().uordblks + mallinfo2().hblkhd;
}

/* The records stay from the second round on. */
TEST(large_values_that_a_script_deletes_keep_no_memory)
{
    size_t used = make_and_delete(1);

    assert_true(make_and_delete(2) < used + 100000);
}
