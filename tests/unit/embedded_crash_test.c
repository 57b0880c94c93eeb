/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_crash_test.c - processes that are killed, stopped or forked while
 * they use a store: the others neither wait for them nor see half of what they
 * did.
 */
#include "embedded_store.h"

#include <signal.h>
#include <sys/wait.h>

#include "engine/files/sidecar.h"
#include "holdfast/store.h"
#include "support/slowness.h"
#include "util/rand.h"

/* Kills of each kind of store; a durable commit takes its time. */
#define KILLS_VOLATILE 300
#define KILLS_DURABLE 60

static place at;

static int set_up_volatile(void **state)
{
    (void)state;
    make_place(&at, "volatile", "?max_size=32M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int set_up_durable(void **state)
{
    (void)state;
    make_place(&at, "file", "?max_size=32M");
    at.store = must_open(at.url, NULL);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up_volatile, tear_down);

/* Fork a child that never returns from `run`. */
static pid_t start(void (*run)(hf__store *store))
{
    pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        hf_error err = HF_ERROR_INIT;
        hf__store *store;

        if (open_url(at.url, NULL, &store, &err) != HF_OK)
            _exit(3);
        run(store);
        _exit(0);
    }
    return pid;
}

static void finish(pid_t pid, int signal)
{
    int status;

    if (signal != 0)
        assert_int_equal(kill(pid, signal), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
}

/* ---------------------------------------------------------------- writers */

/* One transaction that moves money between keys of all kinds: the sum of the
 * accounts never changes, n counts the transactions twice. */
static const char transfer[] =
    "local a, b = redis.call('incr', 'n') % 100, math.random(100)\n"
    "redis.call('hincrby', 'large', 'acc' .. a, 7)\n"
    "redis.call('hincrby', 'large', 'acc' .. b, -7)\n"
    "redis.call('zadd', 'z', a, 'm' .. a)\n"
    "redis.call('zrem', 'z', 'm' .. b)\n"
    "redis.call('set', 'big', ('x'):rep(a * 100))\n"
    "redis.call('del', 'temp' .. b)\n"
    "redis.call('hset', 'temp' .. a, 'f', ('y'):rep(2000))\n"
    "redis.call('hset', 'due', 'f' .. a, b, 'f' .. b, a)\n"
    "redis.call('hpexpire', 'due', 1 + a % 7, 'fields', 1, 'f' .. a)\n"
    "redis.call('hpexpire', 'temp' .. a, 5, 'fields', 1, 'f')\n"
    "redis.call('incr', 'm')\n"
    "return 1";

static const char audit[] =
    "local sum = 0\n"
    "for _, v in ipairs(redis.call('hvals', 'large')) do sum = sum + v end\n"
    "local z = redis.call('zrange', 'z', 0, -1)\n"
    "return {sum, redis.call('get', 'n') == redis.call('get', 'm') and 1 or 0,"
    " #z - redis.call('zcard', 'z')}";

static void run_transfers(hf__store *store)
{
    char text[TEXT_SIZE];

    for (;;) {
        if (evaluate(store, transfer, 0, "", text) != HF_OK)
            _exit(4);
    }
}

/* Each kill is followed by a transaction of our own. */
static long transfers_of_children(int kills)
{
    char text[TEXT_SIZE];

    (void)command(at.store, "get n", text);
    return strtol(text + 2, NULL, 10) - kills;
}

/* More than that many, until the children did get somewhere. */
static void kill_writers(int kills)
{
    char text[TEXT_SIZE];

    for (int i = 0; i < kills || transfers_of_children(i) <= kills; i++) {
        pid_t pid = start(run_transfers);
        int64_t from_ms;

        hf__clock_sleep_until(hf__clock_boot_ms() + hf__rand_between(1, 12));
        finish(pid, SIGKILL);
        from_ms = hf__clock_boot_ms();
        if (evaluate(at.store, transfer, 0, "", text) != HF_OK)
            fail_msg("%s", text);
        (void)evaluate(at.store, audit, 0, "", text);
        assert_string_equal(text, "[i:0, i:1, i:0]");
        assert_in_time(hf__clock_boot_ms() - from_ms, 1000);
    }
    close_store(at.store);
    at.store = must_open(at.url, NULL);
    (void)evaluate(at.store, audit, 0, "", text);
    assert_string_equal(text, "[i:0, i:1, i:0]");
    expect_no_faults(&at);
}

TEST(killed_writer_leaves_no_trace_volatile)
{
    kill_writers(KILLS_VOLATILE);
}

TEST_WITH(killed_writer_leaves_no_trace_durable, set_up_durable, tear_down)
{
    kill_writers(KILLS_DURABLE);
}

/* The first opener may die at any point of making the store. */
TEST(killed_creator_leaves_a_usable_place)
{
    for (int i = 0; i < 100; i++) {
        hf__store *store;
        pid_t pid;

        remove_place(&at);
        make_place(&at, i % 2 ? "file" : "volatile", "?max_size=32M");
        pid = start(run_transfers);
        for (volatile int64_t spin = hf__rand_between(0, 300000); spin > 0;)
            spin--;
        finish(pid, SIGKILL);
        store = must_open(at.url, NULL);
        expect(store, "set a 1", "+:OK");
        close_store(store);
    }
    at.store = must_open(at.url, NULL);
}

/* Take the writer lock and keep it. */
static void hold_writer_lock(hf__store *store)
{
    char text[TEXT_SIZE];

    /* Longer than the test: its budget is what the parent stops it in. */
    (void)store;
    for (;;)
        (void)evaluate(store, "local i = 0 while i < 1e5 do i = i + 1 end", 0,
                       "", text);
}

/* Stopped within a transaction, it blocks all others. */
TEST(stopped_writer_makes_others_unavailable)
{
    bool refused = false;
    pid_t pid = start(hold_writer_lock);

    for (int i = 0; i < 200 && !refused; i++) {
        hf__request request;
        hf_bytes words[3] = {hf_view("set", 3), hf_view("a", 1),
                             hf_view("1", 1)};
        int64_t from_ms, took_ms;

        hf__clock_sleep_until(hf__clock_boot_ms() + hf__rand_between(3, 20));
        assert_int_equal(kill(pid, SIGSTOP), 0);
        hf__request_init(&request);
        request.words = words;
        request.word_count = 3;
        from_ms = hf__clock_boot_ms();
        request.deadline_ms = from_ms + 50;
        hf__embedded_store_ops.perform(at.store, &request);
        took_ms = hf__clock_boot_ms() - from_ms;
        if (request.status != HF_OK) {
            refused = true;
            assert_int_equal(request.status, HF_UNAVAILABLE);
            assert_string_equal(request.error.message,
                                "the store is locked by another process");
            assert_took(took_ms, 45, 120);
            /* Readers are not held up. */
            expect(at.store, "exists nothing", "i:0");
        }
        hf__request_done(&request);
        assert_int_equal(kill(pid, SIGCONT), 0);
    }
    assert_true(refused);
    finish(pid, SIGKILL);
    expect(at.store, "set a 1", "+:OK");
}

static void write_and_stop(hf__store *store)
{
    expect(store, "incr other", "i:1");
    (void)alarm(60); /* should its parent fail */
    (void)raise(SIGSTOP);
    for (;;)
        (void)pause();
}

static pid_t late_pid;

static int end_late_writer(void **state)
{
    if (late_pid > 0)
        finish(late_pid, SIGKILL);
    late_pid = 0;
    return tear_down(state);
}

static void *continue_later(void *user)
{
    /* Longer than a time slice, shorter than a full store waits for pins. */
    hf__clock_sleep_until(hf__clock_boot_ms() + 150);
    (void)kill(late_pid, SIGCONT);
    return user;
}

/* With durability=flush a writer holds back what is freed, and lets go of it
 * only when it gets a processor; then at once, although the file has grown. */
TEST_WITH(store_is_not_full_while_a_writer_is_late, NULL, end_late_writer)
{
    pthread_t later;
    int64_t from_ms;
    int status;

    make_place(&at, "file", "?max_size=4M&durability=flush");
    at.store = must_open(at.url, NULL);
    late_pid = start(write_and_stop);
    assert_int_equal(waitpid(late_pid, &status, WUNTRACED), late_pid);
    assert_true(WIFSTOPPED(status));
    assert_int_equal(pthread_create(&later, NULL, continue_later, NULL), 0);
    from_ms = hf__clock_boot_ms();
    for (int i = 0; i < 500; i++) {
        char text[TEXT_SIZE];

        if (evaluate(at.store, "redis.call('set', 'big', ('x'):rep(20000))", 0,
                     "", text) != HF_OK)
            fail_msg("%d: %s", i, text);
    }
    assert_in_time(hf__clock_boot_ms() - from_ms, 400);
    pthread_join(later, NULL);
}

/* ---------------------------------------------------------------- listeners */

#define INBOX_SIZE (sizeof(HF__CHANNEL_ROLE) - 1 + HF__INBOX_SIZE)

static int tell_fd;

static void wait_indefinitely(hf__store *store)
{
    const char *inbox = hf__embedded_store_ops.inbox(store);
    uint32_t seq =
        hf__embedded_store_ops.event_seq(store, hf_view("t", 1), INT64_MAX);

    if (write(tell_fd, inbox, strlen(inbox)) < 0)
        _exit(5);
    (void)hf__embedded_store_ops.event_wait(store, hf_view("t", 1), seq,
                                            INT64_MAX);
}

TEST(publish_counts_the_living_only)
{
    char inbox[INBOX_SIZE + 1] = {0};
    char line[64];
    int fds[2];
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    tell_fd = fds[1];
    pid = start(wait_indefinitely);
    assert_int_equal(read(fds[0], inbox, INBOX_SIZE), INBOX_SIZE);
    close(fds[0]);
    close(fds[1]);
    (void)snprintf(line, sizeof(line), "publish %s other", inbox);
    expect(at.store, line, "i:1");
    finish(pid, SIGKILL);
    expect(at.store, line, "i:0");
    expect(at.store, line, "i:0");
    (void)snprintf(line, sizeof(line), "publish %s t",
                   hf__embedded_store_ops.inbox(at.store));
    expect(at.store, line, "i:1");
    expect(at.store, "publish hf:inbox:0123456789abcdef t", "i:0");
    expect(at.store, "publish hf:inbox: t", "i:0");
    expect(at.store, "publish :inbox:0123456789abcdef t", "i:0");
    expect(at.store, "publish elsewhere t", "i:0");
}

/* An inbox outlives neither its process nor its handle, and a child that was
 * forked from its owner does not keep it alive. */
TEST(forked_child_does_not_keep_an_inbox)
{
    char inbox[INBOX_SIZE + 1] = {0};
    char line[64];
    int fds[2], hold[2];
    pid_t pid;

    assert_int_equal(pipe(fds), 0);
    assert_int_equal(pipe(hold), 0);
    pid = fork();
    if (pid == 0) {
        hf__store *store = must_open(at.url, NULL);
        const char *id = hf__embedded_store_ops.inbox(store);
        char byte;

        if (fork() == 0) {
            /* Lives until the test closes its end. */
            close(hold[1]);
            _exit(read(hold[0], &byte, 1) < 0);
        }
        if (write(fds[1], id, strlen(id)) < 0)
            _exit(5);
        pause();
    }
    assert_int_equal(read(fds[0], inbox, INBOX_SIZE), INBOX_SIZE);
    (void)snprintf(line, sizeof(line), "publish %s t", inbox);
    expect(at.store, line, "i:1");
    finish(pid, SIGKILL);
    expect(at.store, line, "i:0");
    for (int i = 0; i < 2; i++) {
        close(fds[i]);
        close(hold[i]);
    }
}

/* -------------------------------------------------------------------- fork */

TEST(child_gets_an_error_and_parent_continues)
{
    char text[TEXT_SIZE];
    int status;
    pid_t pid;

    expect(at.store, "set a 1", "+:OK");
    expect(at.store, "get a", "s:1");
    pid = fork();
    if (pid == 0) {
        hf__store *own;
        bool good;

        good = command(at.store, "get a", text) == HF_INVALID &&
               strstr(text, "fork") != NULL;
        close_store(at.store);
        own = must_open(at.url, NULL);
        good = good && command(own, "get a", text) == HF_OK &&
               strcmp(text, "s:1") == 0;
        close_store(own);
        _exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
    expect(at.store, "get a", "s:1");
    expect(at.store, "set a 2", "+:OK");
}

/* Slots of killed readers are given back: many more than there are. */
static void read_once(hf__store *store)
{
    char text[TEXT_SIZE];

    (void)command(store, "get a", text);
    (void)kill(getpid(), SIGKILL);
}

TEST(killed_readers_do_not_fill_the_store)
{
    expect(at.store, "set a 1", "+:OK");
    for (int i = 0; i < 200; i++)
        finish(start(read_once), 0);
    for (int i = 0; i < 20000; i++)
        expect(at.store, "set a 1", "+:OK");
    expect(at.store, "get a", "s:1");
}
