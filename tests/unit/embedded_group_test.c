/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_group_test.c - requests that share a transaction: what each
 * gets when another of them fails, when the lock is late, when the commit
 * fails.
 */
#include "embedded_store.h"
#include "open_env.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>

#include "engine/commit/env.h"
#include "engine/run/group.h"
#include "support/slowness.h"
#include "util/mem.h"

#define REQUEST_MAX 160
#define SOON_MS (INT64_C(30000) * SLOWER)
/* For all to be queued behind the leader, on a busy machine. */
#define LEADS_MS (INT64_C(1000) * SLOWER)

static const char endless[] = "redis.call('set', KEYS[1], 'x') "
                              "while true do end";
static const char some_time[] = "local n = 0 for i = 1, 400000 do n = n + i end"
                                " return n";

/* ---------------------------------------------------------------- requests */

/* Requests to be submitted together, and what came of them. */
typedef struct bundle {
    size_t count;
    size_t done;
    hf__request requests[REQUEST_MAX];
    hf_bytes words[REQUEST_MAX][8];
    char text[REQUEST_MAX][128];
    hf__script scripts[REQUEST_MAX];
    char sha1[REQUEST_MAX][HF__SHA1_HEX_SIZE];
} bundle;

static bundle all;

static void on_done(hf__request *request)
{
    bundle *what = request->user;

    what->done++;
}

static hf__request *add(const char *line)
{
    size_t at = all.count++;
    hf__request *request = &all.requests[at];

    assert_true(at < REQUEST_MAX);
    (void)snprintf(all.text[at], sizeof(all.text[at]), "%s", line);
    hf__request_init(request);
    request->words = all.words[at];
    request->word_count = split(all.text[at], all.words[at]);
    request->deadline_ms = hf__clock_boot_ms() + SOON_MS;
    request->on_done = on_done;
    request->user = &all;
    return request;
}

static hf__request *add_script(const char *source, const char *line)
{
    hf__request *request = add(line);
    hf__script *script = &all.scripts[all.count - 1];
    char *sha1 = all.sha1[all.count - 1];

    hf__sha1_hex(source, strlen(source), sha1);
    *script = (hf__script)HF__USER_SCRIPT(source, strlen(source), sha1);
    request->script = script;
    request->key_count = request->word_count;
    return request;
}

static void submit_all(hf__store *store)
{
    hf__request *pointers[REQUEST_MAX];

    for (size_t i = 0; i < all.count; i++)
        pointers[i] = &all.requests[i];
    all.done = 0;
    hf__embedded_store_ops.submit(store, pointers, all.count);
    assert_int_equal(all.done, all.count);
}

static void clear(void)
{
    for (size_t i = 0; i < all.count; i++)
        hf__request_done(&all.requests[i]);
    all.count = 0;
}

/* A test that failed left its requests. */
static int begin(void **state)
{
    (void)state;
    all.count = 0;
    return 0;
}

EACH_TEST_WITH(begin, NULL);

static void expect_answer(size_t index, const char *want)
{
    char text[TEXT_SIZE] = "";

    if (all.requests[index].status == HF_OK)
        show(text, &all.requests[index].reply);
    else
        put_text(text, all.requests[index].error.message);
    if (strcmp(text, want) != 0)
        fail_msg("request %zu: got %s, want %s", index, text, want);
}

static size_t transactions(const hf__env *env)
{
    MDB_envinfo info;

    assert_int_equal(mdb_env_info(env->mdb, &info), 0);
    return info.me_last_txnid;
}

/* ------------------------------------------------------------ one submit() */

static void check_one_transaction(const char *scheme)
{
    place at;
    hf__env *env;
    size_t before;

    make_place(&at, scheme, "");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    for (int i = 0; i < 100; i++)
        (void)add("incr n");
    before = transactions(env);
    submit_all(at.store);
    /* One, unless the machine is so busy that the lock was held for long. */
    assert_in_range(transactions(env), before + 1, before + 20);
    expect_answer(0, "i:1");
    expect_answer(99, "i:100");
    clear();
    hf__env_unref(env);
    remove_place(&at);
}

TEST(submitted_requests_share_a_transaction)
{
    check_one_transaction("file");
    check_one_transaction("volatile");
}

TEST(submitted_requests_keep_their_order)
{
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    (void)add("get a");
    (void)add("set a 1");
    (void)add("get a");
    (void)add("nonsense");
    (void)add("append a 2");
    (void)add("incr x y");
    (void)add_script("return redis.call('append', KEYS[1], '3')", "a");
    (void)add("get a");
    (void)add("del a");
    (void)add("exists a");
    submit_all(at.store);
    expect_answer(0, "nil");
    expect_answer(1, "+:OK");
    expect_answer(2, "s:1");
    assert_int_equal(all.requests[3].status, HF_UNSUPPORTED);
    expect_answer(4, "i:2");
    assert_int_equal(all.requests[5].status, HF_INVALID);
    expect_answer(6, "i:3");
    expect_answer(7, "s:123");
    expect_answer(8, "i:1");
    expect_answer(9, "i:0");
    clear();
    remove_place(&at);
}

TEST(more_than_a_transaction_holds_are_run_in_order)
{
    place at;
    char text[32];

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    for (int i = 0; i < REQUEST_MAX; i++)
        (void)add("incr n");
    submit_all(at.store);
    for (size_t i = 0; i < REQUEST_MAX; i++) {
        (void)snprintf(text, sizeof(text), "i:%zu", i + 1);
        expect_answer(i, text);
    }
    clear();
    remove_place(&at);
}

/* A stopped script is undone; what it shared a transaction with is not. */
TEST(stopped_script_harms_no_other)
{
    place at;
    uint32_t seq;
    char line[128];

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    seq = hf__embedded_store_ops.event_seq(at.store, hf_str("topic"), 0);
    (void)snprintf(line, sizeof(line), "publish %s topic",
                   hf__embedded_store_ops.inbox(at.store));
    (void)add("incr n");
    (void)add(line);
    (void)add_script(endless, "left");
    (void)add("incr n");
    (void)add_script("return redis.call('incr', KEYS[1])", "n");
    submit_all(at.store);
    expect_answer(0, "i:1");
    expect_answer(1, "i:1");
    assert_int_equal(all.requests[2].status, HF_SCRIPT);
    expect_answer(3, "i:2");
    expect_answer(4, "i:3");
    clear();
    expect(at.store, "get n", "s:3");
    expect(at.store, "exists left", "i:0");
    /* Told once, though it was run twice. */
    assert_int_equal(
        hf__embedded_store_ops.event_seq(at.store, hf_str("topic"), 0),
        seq + 1);
    remove_place(&at);
}

TEST(each_request_has_its_own_time)
{
    static const char time_source[] =
        "local t = redis.call('time') return t[1] * 1000000 + t[2]";
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    (void)add("set k v px 1");
    (void)add_script(time_source, "");
    (void)add_script(some_time, "");
    (void)add_script(time_source, "");
    (void)add("get k");
    (void)add("set k w nx");
    submit_all(at.store);
    assert_int_equal(all.requests[1].status, HF_OK);
    assert_int_equal(all.requests[3].status, HF_OK);
    assert_true(all.requests[3].reply.integer >=
                all.requests[1].reply.integer + 1000);
    expect_answer(4, "nil");
    expect_answer(5, "+:OK");
    clear();
    remove_place(&at);
}

/* What does not fit is refused, each for itself. */
TEST(full_store_refuses_only_what_does_not_fit)
{
    static char value[60000];
    place at;
    char text[TEXT_SIZE];
    char line[64];
    size_t fitted = 0;

    make_place(&at, "file", "?max_size=1M");
    at.store = must_open(at.url, NULL);
    expect(at.store, "set small x", "+:OK");
    memset(value, 'v', sizeof(value));
    for (int i = 0; i < 40; i++) {
        (void)snprintf(line, sizeof(line), "set k%02d v", i);
        (void)add(line);
        all.words[all.count - 1][2] = hf_view(value, sizeof(value));
    }
    (void)add("del small");
    submit_all(at.store);
    expect_answer(40, "i:1");
    for (size_t i = 0; i < 40; i++) {
        bool fits = all.requests[i].status == HF_OK;

        if (!fits)
            assert_int_equal(all.requests[i].status, HF_FULL);
        fitted += fits;
        (void)snprintf(line, sizeof(line), "strlen k%02zu", i);
        (void)command(at.store, line, text);
        assert_string_equal(text, fits ? "i:60000" : "i:0");
    }
    assert_in_range(fitted, 5, 17);
    clear();
    remove_place(&at);
}

/* LMDB's descriptor is replaced by one that cannot be written to. */
TEST(failed_commit_fails_all)
{
    place at;
    hf__env *env;
    char path[128];
    int kept, other;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    expect(at.store, "set a before", "+:OK");
    (void)snprintf(path, sizeof(path), "%s/s/data.mdb", at.folder);
    kept = fcntl(env->data_fd, F_DUPFD_CLOEXEC, 0);
    other = open(path, O_RDONLY | O_CLOEXEC);
    assert_true(kept >= 0 && other >= 0);
    assert_int_equal(dup2(other, env->data_fd), env->data_fd);
    (void)add("set a after");
    (void)add("get a");
    (void)add_script("return redis.call('set', KEYS[1], 'x')", "b");
    submit_all(at.store);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(all.requests[i].status, HF_SYSTEM);
    clear();
    assert_int_equal(dup2(kept, env->data_fd), env->data_fd);
    close(kept);
    close(other);
    expect(at.store, "get a", "s:before");
    expect(at.store, "exists b", "i:0");
    expect(at.store, "set a after", "+:OK");
    hf__env_unref(env);
    remove_place(&at);
}

/* Wherever memory runs out, each request gets its own status. */
TEST(memory_may_end_anywhere)
{
    place at;
    char text[TEXT_SIZE];
    char want[TEXT_SIZE];
    long total = 0;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    expect(at.store, "set n 0", "+:OK");
    for (long after = 0; after < 120; after++) {
        (void)add("incr n");
        (void)add_script("return redis.call('incr', KEYS[1])", "n");
        (void)add("incr n");
        hf__alloc_fail_after(after);
        submit_all(at.store);
        hf__alloc_fail_after(-1);
        for (size_t i = 0; i < 3; i++) {
            if (all.requests[i].status != HF_OK)
                assert_int_equal(all.requests[i].status, HF_NO_MEMORY);
            total += all.requests[i].status == HF_OK;
        }
        clear();
    }
    assert_in_range(total, 200, 360);
    (void)snprintf(want, sizeof(want), "s:%ld", total);
    (void)command(at.store, "get n", text);
    assert_string_equal(text, want);
    remove_place(&at);
}

/* ---------------------------------------------------------------- threads */

typedef struct worker {
    pthread_t thread;
    hf__store *store;
    int64_t wait_ms;
    int count;
    hf_status status;
    int64_t ended_ms;
} worker;

static void *increment(void *user)
{
    worker *self = user;
    hf_bytes words[2] = {hf_str("incr"), hf_str("n")};

    self->status = HF_OK;
    for (int i = 0; i < self->count && self->status == HF_OK; i++) {
        hf__request request;

        hf__request_init(&request);
        request.words = words;
        request.word_count = 2;
        request.deadline_ms = hf__clock_boot_ms() + self->wait_ms;
        hf__embedded_store_ops.perform(self->store, &request);
        self->status = request.status;
        hf__request_done(&request);
    }
    self->ended_ms = hf__clock_boot_ms();
    return NULL;
}

static void start(worker *self, hf__store *store, int64_t wait_ms, int count)
{
    self->store = store;
    self->wait_ms = wait_ms;
    self->count = count;
    assert_int_equal(pthread_create(&self->thread, NULL, increment, self), 0);
}

static void join(worker *workers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
}

static void await_waiting(hf__env *env, size_t count)
{
    int64_t until_ms = hf__clock_boot_ms() + SOON_MS;

    while (hf__queue_waiting(env->queue) != count) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
}

TEST(waiting_threads_share_the_next_transaction)
{
    worker workers[32];
    hf__env *env;
    size_t before;
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    before = transactions(env);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    for (size_t i = 0; i < 32; i++)
        start(&workers[i], at.store, SOON_MS, 1);
    await_waiting(env, 32);
    hf__env_unlock(env);
    join(workers, 32);
    for (size_t i = 0; i < 32; i++)
        assert_int_equal(workers[i].status, HF_OK);
    assert_in_range(transactions(env), before + 1, before + 8);
    expect(at.store, "get n", "s:32");
    hf__env_unref(env);
    remove_place(&at);
}

TEST(deadline_in_the_queue_is_kept)
{
    int64_t began_ms;
    worker workers[16];
    hf__env *env;
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    began_ms = hf__clock_boot_ms();
    for (size_t i = 0; i < 16; i++)
        start(&workers[i], at.store, 50 + 5 * (int64_t)i, 1);
    join(workers, 16);
    for (size_t i = 0; i < 16; i++) {
        assert_int_equal(workers[i].status, HF_UNAVAILABLE);
        assert_true(workers[i].ended_ms >= began_ms + 50);
        assert_in_time(workers[i].ended_ms - began_ms, 125 + 500 * SLOWER);
    }
    assert_int_equal(hf__queue_waiting(env->queue), 0);
    hf__env_unlock(env);
    expect(at.store, "exists n", "i:0");
    expect(at.store, "incr n", "i:1");
    hf__env_unref(env);
    remove_place(&at);
}

TEST(scripts_that_only_read_need_no_writer_lock)
{
    static const char *const schemes[] = {"volatile", "file"};

    for (size_t i = 0; i < 2; i++) {
        char text[TEXT_SIZE];
        hf__env *env;
        place at;

        make_place(&at, schemes[i], "");
        at.store = must_open(at.url, NULL);
        env = open_env(at.url);
        expect(at.store, "zadd t 5 a 6 b", "i:2");
        expect(at.store, "zadd due 9000000000000 a 9000000000000 b", "i:2");
        assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
        assert_int_equal(
            own(at.store, HF__SCRIPT_TIMELINE_COUNT, 2, "t due", text), HF_OK);
        hf__env_unlock(env);
        assert_string_equal(text, "i:2");
        hf__env_unref(env);
        remove_place(&at);
    }
}

/* Who leads gives up first: another must lead then. */
TEST(others_continue_when_the_leader_gives_up)
{
    worker workers[8];
    hf__env *env;
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    env = open_env(at.url);
    assert_int_equal(hf__env_lock(env, INT64_MAX, NULL), HF_OK);
    start(&workers[0], at.store, LEADS_MS, 1);
    await_waiting(env, 1);
    for (size_t i = 1; i < 8; i++)
        start(&workers[i], at.store,
              i % 2 == 0 ? SOON_MS : LEADS_MS + (int64_t)i, 1);
    await_waiting(env, 8);
    await_waiting(env, 3);
    hf__env_unlock(env);
    join(workers, 8);
    for (size_t i = 0; i < 8; i++)
        assert_int_equal(workers[i].status,
                         i % 2 == 0 && i > 0 ? HF_OK : HF_UNAVAILABLE);
    expect(at.store, "get n", "s:3");
    hf__env_unref(env);
    remove_place(&at);
}

TEST(threads_of_two_handles_lose_nothing)
{
    worker workers[16];
    hf__store *second;
    place at;

    make_place(&at, "file", "");
    at.store = must_open(at.url, NULL);
    second = must_open(at.url, NULL);
    for (size_t i = 0; i < 16; i++)
        start(&workers[i], i % 2 == 0 ? at.store : second, SOON_MS, 200);
    join(workers, 16);
    close_store(second);
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(workers[i].status, HF_OK);
    expect(at.store, "get n", "s:3200");
    remove_place(&at);
}

/* --------------------------------------------------------------- processes */

static atomic_int acked;
static int acks[2];

static void *write_and_tell(void *user)
{
    hf__store *store = user;
    char text[TEXT_SIZE];
    char line[64];

    for (;;) {
        int number = atomic_fetch_add(&acked, 1);

        (void)snprintf(line, sizeof(line), "set k%d v", number);
        if (command(store, line, text) != HF_OK ||
            write(acks[1], &number, sizeof(number)) != sizeof(number))
            _exit(1);
    }
    return NULL;
}

static void write_until_killed(const char *url)
{
    hf__store *store = must_open(url, NULL);
    pthread_t thread;

    for (int i = 0; i < 8; i++) {
        if (pthread_create(&thread, NULL, write_and_tell, store) != 0)
            _exit(1);
    }
    for (;;)
        (void)pause();
}

/* A leader dies with its followers; acknowledged writes survive. */
TEST(killed_group_loses_no_acknowledged_write)
{
    place at;
    char line[64];
    int number;

    make_place(&at, "file", "");
    for (int round = 0; round < 10; round++) {
        pid_t pid;

        assert_int_equal(pipe(acks), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
            write_until_killed(at.url);
        close(acks[1]);
        for (int i = 0; i < 200; i++)
            assert_int_equal(read(acks[0], &number, sizeof(number)),
                             sizeof(number));
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        at.store = must_open(at.url, NULL);
        while (read(acks[0], &number, sizeof(number)) == sizeof(number)) {
            (void)snprintf(line, sizeof(line), "get k%d", number);
            expect(at.store, line, "s:v");
        }
        expect(at.store, "flushdb", "+:OK");
        close_store(at.store);
        at.store = NULL;
        close(acks[0]);
    }
    remove_place(&at);
}
