/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_thread_test.c - threads that share a store, and a store that runs
 * out of memory at any point.
 */
#include "embedded_store.h"

#include <pthread.h>

#include "util/mem.h"

#define THREADS 4
#define ROUNDS 3000
#define EVENT_WAIT_MS 1000

static place at;

static int set_up(void **state)
{
    (void)state;
    connect_ms = 60000; /* others want the writer lock all the time */
    make_place(&at, "volatile", "?max_size=256M");
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

static const char bump[] =
    "local n = redis.call('incr', 'n') "
    "redis.call('hset', 'h', 'f' .. n % 200, ('v'):rep(n % 100)) "
    "redis.call('publish', ARGV[1], 't') return n";

/* 1: it has failed, and says what. */
static long failed(const char *what, hf_status status)
{
    if (status == HF_OK)
        return 0;
    print_error("%s: %s\n", what, hf_status_name(status));
    return 1;
}

static void *write_and_read(void *user)
{
    hf__store *store = user;
    const hf__store_ops *ops = &hf__embedded_store_ops;
    char text[TEXT_SIZE];
    long failures = 0;

    for (int i = 0; i < ROUNDS; i++) {
        uint32_t seq = ops->event_seq(store, hf_view("t", 1), INT64_MAX);

        failures +=
            failed("bump", evaluate(store, bump, 0, ops->inbox(store), text));
        failures +=
            failed("event", ops->event_wait(store, hf_view("t", 1), seq,
                                            hf__clock_boot_ms() + EVENT_WAIT_MS)
                                ? HF_OK
                                : HF_TIMEOUT);
        failures += failed("hget", command(store, "hget h f7", text));
        failures += failed("get", command(store, "get n", text));
        failures += failed(
            "count", own(store, HF__SCRIPT_TIMELINE_COUNT, 2, "t due", text));
    }
    return (void *)failures;
}

/* Meanwhile a second handle is opened and closed, and the store grows. */
static void *open_and_close(void *user)
{
    char line[128], text[TEXT_SIZE];
    long failures = 0;

    (void)user;
    for (int i = 0; i < 100; i++) {
        hf__store *store = NULL;
        hf_error err = HF_ERROR_INIT;

        failures += failed(err.message, open_url(at.url, NULL, &store, &err));
        if (store == NULL)
            continue;
        (void)snprintf(line, sizeof(line), "append big%d xxxxxxxxxx", i);
        for (int j = 0; j < 20; j++)
            failures += failed("append", command(store, line, text));
        failures += failed(
            "set", evaluate(store,
                            "redis.call('set', KEYS[1], ('x'):rep(100000)) "
                            "return 1",
                            1, line + 7, text));
        close_store(store);
    }
    return (void *)failures;
}

TEST(threads_share_a_store)
{
    pthread_t threads[THREADS + 1];
    char want[32];

    for (size_t i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&threads[i], NULL, write_and_read, at.store), 0);
    assert_int_equal(
        pthread_create(&threads[THREADS], NULL, open_and_close, NULL), 0);
    for (size_t i = 0; i < THREADS + 1; i++) {
        void *failures;

        assert_int_equal(pthread_join(threads[i], &failures), 0);
        assert_null(failures);
    }
    (void)snprintf(want, sizeof(want), "s:%d", THREADS * ROUNDS);
    expect(at.store, "get n", want);
}

/* --------------------------------------------------------- out of memory */

static hf_status run_everything(hf__store *store)
{
    static const char script[] =
        "redis.call('incr', 'count') "
        "for i = 1, 30 do redis.call('hset', 'h', i, ('x'):rep(100)) end "
        "redis.call('zadd', 'z', 1, 'a') "
        "redis.call('append', 'long', ('y'):rep(5000)) "
        "redis.call('publish', ARGV[1], 't') "
        "redis.call('sort', 'z', 'by', 'nosort', 'get', 'k*') "
        "return {redis.call('hgetall', 'h'), cjson.encode({1, 2})}";
    static char text[TEXT_SIZE];
    hf_status status =
        evaluate(store, script, 0, hf__embedded_store_ops.inbox(store), text);

    if (status == HF_OK)
        status = command(store, "hgetall h", text);
    if (status == HF_OK)
        status = own(store, HF__SCRIPT_VALUE_CAS, 1, "v 0 \"\" x 0", text);
    if (status == HF_OK)
        status = own(store, HF__SCRIPT_TIMELINE_COUNT, 2, "t due", text);
    return status;
}

/* The n-th allocation of opening and using a store fails, for every n. */
TEST(memory_may_end_anywhere)
{
    int failed = 0;
    bool through = false;

    for (long n = 0; !through && n < 20000; n++) {
        hf_error err = HF_ERROR_INIT;
        hf__store *store = NULL;
        hf_status status;

        close_store(at.store);
        hf__alloc_fail_after(n);
        status = open_url(at.url, NULL, &store, &err);
        if (status == HF_OK)
            status = run_everything(store);
        hf__alloc_fail_after(-1);
        through = status == HF_OK;
        failed += !through;
        if (!through && status != HF_NO_MEMORY)
            fail_msg("allocation %ld: status %d", n, status);
        at.store = must_open(at.url, NULL);
        if (store != NULL) {
            if (n % 16 == 0)
                assert_int_equal(run_everything(store), HF_OK);
            expect(store, "set alive 1", "+:OK");
            close_store(store);
        }
        expect(at.store, "flushdb", "+:OK");
    }
    assert_true(through);
    assert_true(failed > 100);
}

/* Undone, not half done. */
TEST(script_without_memory_is_undone)
{
    char text[TEXT_SIZE];

    for (long n = 0; n < 2000; n++) {
        hf_status status;

        hf__alloc_fail_after(n);
        status = run_everything(at.store);
        hf__alloc_fail_after(-1);
        (void)command(at.store, "get count", text);
        if (status == HF_OK)
            break;
        if (strcmp(text, "nil") != 0) {
            /* A later request of the three failed. */
            (void)command(at.store, "hlen h", text);
            assert_string_equal(text, "i:30");
        }
        expect(at.store, "flushdb", "+:OK");
    }
}
