/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_driver.h - what the tests of the Redis driver share: a store opened
 * from a URL, and requests made in one line.
 */
#ifndef TESTS_UNIT_REDIS_DRIVER_H
#define TESTS_UNIT_REDIS_DRIVER_H

#include <stdlib.h>
#include <string.h>

#include "store/drivers.h"
#include "support/fake_server.h"
#include "support/redis_server.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/futex.h"
#include "util/url.h"

/* Long enough for a loaded machine where nothing should go wrong. */
#define ENOUGH_MS 30000

#define WORDS_MAX 16

typedef struct test_driver {
    hf__loop *loop;
    hf__store *store;
} test_driver;

static inline hf_status driver_try_open(test_driver *driver, const char *url,
                                        const char *username,
                                        const char *password, hf_error *err)
{
    hf__url parsed;
    hf__store_config config = {.url = &parsed, .connect_ms = 1000};
    hf_status status = hf__url_parse(url, &parsed, err);

    assert_int_equal(status, HF_OK);
    config.username = username;
    config.password = password;
    driver->loop = config.loop = hf__loop_new();
    status = hf__store_open(&config, &driver->store, err);
    hf__url_done(&parsed);
    if (status != HF_OK)
        hf__loop_free(driver->loop);
    return status;
}

static inline void driver_open(test_driver *driver, const char *url)
{
    hf_error err = HF_ERROR_INIT;

    if (driver_try_open(driver, url, NULL, NULL, &err) != HF_OK)
        fail_msg("cannot open: %s", err.message);
}

static inline void driver_close(test_driver *driver)
{
    driver->store->ops->close(driver->store);
    hf__loop_free(driver->loop);
}

/* A server of one test, and a driver that is connected to it. */
typedef struct driver_fixture {
    redis_server *server;
    test_driver driver;
} driver_fixture;

static inline int driver_set_up(void **state)
{
    static driver_fixture self;

    self.server = redis_server_start(NULL);
    if (self.server == NULL)
        return -1;
    driver_open(&self.driver, redis_server_unix_url(self.server));
    *state = &self;
    return 0;
}

static inline int driver_tear_down(void **state)
{
    driver_fixture *self = *state;

    driver_close(&self->driver);
    redis_server_stop(self->server);
    return 0;
}

/* A request with its words. */
typedef struct test_call {
    hf__request request;
    hf__replicas replicas;
    hf_bytes words[WORDS_MAX];
    uint32_t done; /* futex, when submitted */
    size_t order;  /* its number in the order of completion, from 1 */
} test_call;

/* How many submitted calls have completed. */
static size_t calls_done;

static inline void call_done(hf__request *request)
{
    test_call *self = request->user;

    self->order = __atomic_add_fetch(&calls_done, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&self->done, 1, __ATOMIC_SEQ_CST);
    hf__futex_wake_all(&self->done, false);
}

/* Words are NUL-terminated and must live as long as the call. */
static inline void call_init(test_call *call, int64_t limit_ms,
                             const char *const *words)
{
    memset(call, 0, sizeof(*call));
    hf__request_init(&call->request);
    for (; *words != NULL; words++) {
        assert_true(call->request.word_count < WORDS_MAX);
        call->words[call->request.word_count++] = hf_str(*words);
    }
    call->request.words = call->words;
    call->request.deadline_ms = hf__clock_boot_ms() + limit_ms;
    call->request.on_done = call_done;
    call->request.user = call;
}

#define CALL(call, limit_ms, ...)                                              \
    call_init(call, limit_ms, (const char *const[]){__VA_ARGS__, NULL})

static inline hf_status call_perform(test_driver *driver, test_call *call)
{
    driver->store->ops->perform(driver->store, &call->request);
    return call->request.status;
}

static inline void call_submit(test_driver *driver, test_call *call)
{
    hf__request *request = &call->request;

    driver->store->ops->submit(driver->store, &request, 1);
}

static inline hf_status call_wait(test_call *call)
{
    int64_t until_ms = hf__clock_boot_ms() + 3 * ENOUGH_MS;

    while (__atomic_load_n(&call->done, __ATOMIC_SEQ_CST) == 0) {
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__futex_wait(&call->done, 0, until_ms, false);
    }
    return call->request.status;
}

static inline void call_end(test_call *call)
{
    hf__request_done(&call->request);
}

static inline void assert_status(const test_call *call, hf_status status)
{
    if (call->request.status != status)
        fail_msg("%s instead of %s: %s", hf_status_name(call->request.status),
                 hf_status_name(status),
                 call->request.status == HF_OK ? ""
                                               : call->request.error.message);
}

static inline void assert_text(const test_call *call, const char *text)
{
    assert_status(call, HF_OK);
    assert_true(call->request.reply.kind == HF_REPLY_STRING ||
                call->request.reply.kind == HF_REPLY_STATUS);
    assert_string_equal(call->request.reply.bytes.data, text);
}

static inline void assert_integer(const test_call *call, int64_t number)
{
    assert_status(call, HF_OK);
    assert_int_equal(call->request.reply.kind, HF_REPLY_INTEGER);
    assert_int_equal(call->request.reply.integer, number);
}

/* Run one command to its end. */
#define RUN(driver, call, ...)                                                 \
    (CALL(call, ENOUGH_MS, __VA_ARGS__), call_perform(driver, call))

/* The loop thread sleeps in a task, until it is let go. */
typedef struct hold_up {
    hf__task task;
    uint32_t held;     /* futex */
    uint32_t released; /* futex */
} hold_up;

static inline void run_hold_up(hf__task *task)
{
    hold_up *self = (hold_up *)task;

    __atomic_store_n(&self->held, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&self->held, false);
    while (__atomic_load_n(&self->released, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&self->released, 0, INT64_MAX, false);
}

static inline void await_held(hold_up *how)
{
    while (__atomic_load_n(&how->held, __ATOMIC_ACQUIRE) == 0)
        hf__futex_wait(&how->held, 0, INT64_MAX, false);
}

static inline void hold_loop(hf__loop *loop, hold_up *how)
{
    *how = (hold_up){.task = {.run = run_hold_up}};
    hf__loop_post(loop, &how->task);
    await_held(how);
}

static inline void let_loop_go(hold_up *how)
{
    __atomic_store_n(&how->released, 1, __ATOMIC_RELEASE);
    hf__futex_wake_all(&how->released, false);
}

static inline void command(const redis_server *server, const char *text,
                           const char *expected)
{
    char answer[4096];

    assert_true(redis_server_command(server, text, answer, sizeof(answer)));
    assert_string_equal(answer, expected);
}

#endif
