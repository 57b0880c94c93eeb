/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_fault_test.c - the driver with a real server that dies, hangs and comes
 * back.
 */
#include "redis_driver.h"
#include "support/await_child.h"
#include "support/slowness.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

/* How late a request may complete. The driver is exact to a few ms, but a
 * loaded machine wakes it late; it must not wait for anything other than the
 * deadline, which would take a second or more. */
#define EXACT_MS 200

static int set_up_tcp(void **state)
{
    driver_fixture *self;

    if (driver_set_up(state) != 0)
        return -1;
    self = *state;
    driver_close(&self->driver);
    driver_open(&self->driver, redis_server_tcp_url(self->server));
    return 0;
}

EACH_TEST_WITH(driver_set_up, driver_tear_down);

/* On a unix socket, and over TCP. */
#define BOTH_SOCKETS_TEST(name)                                                \
    TEST_VARIANT(name, _on_unix, driver_set_up, driver_tear_down);             \
    TEST_VARIANT(name, _over_tcp, set_up_tcp, driver_tear_down);               \
    TEST_FUNCTION(name)

static void set_ok(test_driver *driver)
{
    test_call call;

    RUN(driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
}

static void submit_ok(test_driver *driver)
{
    test_call call;

    CALL(&call, ENOUGH_MS, "SET", "k", "v");
    call_submit(driver, &call);
    call_wait(&call);
    assert_text(&call, "OK");
    call_end(&call);
}

/* ----------------------------------------------------------- dead servers */

/* None is INDETERMINATE, though these requests must not be sent twice. */
BOTH_SOCKETS_TEST(restarted_server_is_found_again)
{
    driver_fixture *self = *state;

    for (int round = 0; round < 3; round++) {
        set_ok(&self->driver);
        submit_ok(&self->driver);
        redis_server_kill(self->server);
        assert_true(redis_server_restart(self->server));
        set_ok(&self->driver);
        submit_ok(&self->driver);
    }
}

BOTH_SOCKETS_TEST(killed_server_is_unavailable_at_once)
{
    driver_fixture *self = *state;
    int64_t begin_ms;
    test_call call;

    submit_ok(&self->driver);
    redis_server_kill(self->server);
    begin_ms = hf__clock_boot_ms();
    CALL(&call, ENOUGH_MS, "SET", "k", "v");
    assert_int_equal(call_perform(&self->driver, &call), HF_UNAVAILABLE);
    assert_int_equal(call.request.sends, 0);
    assert_in_time(hf__clock_boot_ms() - begin_ms, 500);
    call_end(&call);
    CALL(&call, 300, "SET", "k", "v");
    begin_ms = hf__clock_boot_ms();
    call_submit(&self->driver, &call);
    assert_int_equal(call_wait(&call), HF_UNAVAILABLE);
    assert_int_equal(call.request.sends, 0);
    assert_took(hf__clock_boot_ms() - begin_ms, 300 - 1, 300 + EXACT_MS);
    call_end(&call);
}

BOTH_SOCKETS_TEST(submitted_request_waits_for_the_restart)
{
    driver_fixture *self = *state;
    test_call call;

    submit_ok(&self->driver);
    redis_server_kill(self->server);
    CALL(&call, ENOUGH_MS, "SET", "k", "v");
    call_submit(&self->driver, &call);
    assert_true(redis_server_restart(self->server));
    assert_int_equal(call_wait(&call), HF_OK);
    assert_int_equal(call.request.sends, 1);
    call_end(&call);
}

/* A stopped server has received the request: whether it will run it is unknown.
 */
BOTH_SOCKETS_TEST(hung_server_is_indeterminate_at_the_deadline)
{
    driver_fixture *self = *state;
    int64_t begin_ms;
    test_call call;
    test_call later;

    set_ok(&self->driver);
    submit_ok(&self->driver);
    redis_server_pause(self->server);
    for (int limit_ms = 100; limit_ms <= 400; limit_ms += 300) {
        begin_ms = hf__clock_boot_ms();
        CALL(&call, limit_ms, "SET", "k", "v");
        CALL(&later, limit_ms, "SET", "k", "v");
        call_submit(&self->driver, &later);
        call_perform(&self->driver, &call);
        assert_took(hf__clock_boot_ms() - begin_ms, limit_ms - 1,
                    limit_ms + EXACT_MS);
        call_wait(&later);
        assert_took(hf__clock_boot_ms() - begin_ms, limit_ms - 1,
                    limit_ms + EXACT_MS);
        /* The second try on a pooled connection finds a login without a reply.
         */
        assert_status(&call,
                      limit_ms == 100 ? HF_INDETERMINATE : HF_UNAVAILABLE);
        assert_status(&later, HF_INDETERMINATE);
        call_end(&call);
        call_end(&later);
    }
    redis_server_resume(self->server);
    set_ok(&self->driver);
    submit_ok(&self->driver);
}

/* Silence for longer than the server's silence limit (SILENCE_MS). */
#define SILENT_MS 2500

TEST(late_answer_is_taken_while_another_connection_is_made)
{
    driver_fixture *self = *state;
    test_call call;

    submit_ok(&self->driver);
    redis_server_pause(self->server);
    CALL(&call, ENOUGH_MS, "SET", "b", "v");
    call.request.repeatable = true;
    call_submit(&self->driver, &call);
    hf__clock_sleep_until(hf__clock_boot_ms() + SILENT_MS);
    redis_server_resume(self->server);
    call_wait(&call);
    assert_text(&call, "OK");
    assert_int_equal(call.request.sends, 1);
    call_end(&call);
}

/* A script of some seconds is silence, too. */
TEST(silent_server_is_waited_for_if_something_may_not)
{
    driver_fixture *self = *state;
    test_call once, again;

    submit_ok(&self->driver);
    redis_server_pause(self->server);
    CALL(&once, ENOUGH_MS, "SET", "a", "v");
    CALL(&again, ENOUGH_MS, "SET", "b", "v");
    again.request.repeatable = true;
    call_submit(&self->driver, &once);
    call_submit(&self->driver, &again);
    hf__clock_sleep_until(hf__clock_boot_ms() + SILENT_MS);
    redis_server_resume(self->server);
    call_wait(&once);
    assert_text(&once, "OK");
    assert_int_equal(once.request.sends, 1);
    call_wait(&again);
    assert_text(&again, "OK");
    call_end(&once);
    call_end(&again);
}

BOTH_SOCKETS_TEST(killed_client_connections_are_replaced)
{
    driver_fixture *self = *state;

    for (int round = 0; round < 20; round++) {
        set_ok(&self->driver);
        submit_ok(&self->driver);
        redis_server_command(self->server, "CLIENT KILL TYPE normal SKIPME yes",
                             (char[100]){0}, 100);
        set_ok(&self->driver);
        submit_ok(&self->driver);
    }
}

/* Killing connections under a stream of requests: repeatable ones all succeed,
 * the others are applied, or unknown, never wrong. */
TEST(requests_survive_killed_connections)
{
    enum { COUNT = 4000 };
    driver_fixture *self = *state;
    test_call *calls = calloc(COUNT, sizeof(*calls));
    char answer[100];

    for (size_t i = 0; i < COUNT; i++) {
        CALL(&calls[i], 2 * ENOUGH_MS, "SET", "k", "v");
        calls[i].request.repeatable = i % 2 == 0;
        call_submit(&self->driver, &calls[i]);
        if (i % 400 == 0)
            redis_server_command(self->server,
                                 "CLIENT KILL TYPE normal SKIPME yes", answer,
                                 sizeof(answer));
    }
    for (size_t i = 0; i < COUNT; i++) {
        call_wait(&calls[i]);
        if (calls[i].request.repeatable)
            assert_text(&calls[i], "OK");
        else if (calls[i].request.status != HF_OK)
            assert_status(&calls[i], HF_INDETERMINATE);
        call_end(&calls[i]);
    }
    free(calls);
}

/* -------------------------------------------------------------- many tries */

enum { THREADS = 8 };

typedef struct thread_run {
    test_driver *driver;
    int number;
    int wrong;
    int good;
    bool *stop;
    pthread_t thread;
} thread_run;

static void *run_thread(void *user)
{
    thread_run *self = user;
    char value[32];
    test_call call;

    for (int i = 0; !__atomic_load_n(self->stop, __ATOMIC_RELAXED); i++) {
        snprintf(value, sizeof(value), "%d-%d", self->number, i);
        CALL(&call, 200, "ECHO", value);
        call.request.repeatable = i % 2 == 0;
        call_perform(self->driver, &call);
        if (call.request.status == HF_OK) {
            self->good++;
            if (strcmp(call.request.reply.bytes.data, value) != 0)
                self->wrong++;
        } else if (hf_status_kind(call.request.status) != HF_KIND_RETRY &&
                   hf_status_kind(call.request.status) != HF_KIND_UNKNOWN) {
            self->wrong++;
        }
        call_end(&call);
    }
    return NULL;
}

/* A server that dies, hangs and comes back while eight threads work: no thread
 * ever gets the reply of another, and all work again afterwards. */
BOTH_SOCKETS_TEST(threads_get_their_own_replies_through_faults)
{
    driver_fixture *self = *state;
    thread_run runs[THREADS];
    bool stop = false;

    for (int i = 0; i < THREADS; i++) {
        runs[i] =
            (thread_run){.driver = &self->driver, .number = i, .stop = &stop};
        assert_int_equal(
            pthread_create(&runs[i].thread, NULL, run_thread, &runs[i]), 0);
    }
    for (int round = 0; round < 4; round++) {
        hf__clock_sleep_until(hf__clock_boot_ms() + 100);
        redis_server_pause(self->server);
        hf__clock_sleep_until(hf__clock_boot_ms() + 300);
        redis_server_resume(self->server);
        hf__clock_sleep_until(hf__clock_boot_ms() + 100);
        redis_server_kill(self->server);
        assert_true(redis_server_restart(self->server));
    }
    hf__clock_sleep_until(hf__clock_boot_ms() + 100);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < THREADS; i++) {
        pthread_join(runs[i].thread, NULL);
        assert_int_equal(runs[i].wrong, 0);
        assert_true(runs[i].good > 10);
    }
    set_ok(&self->driver);
    submit_ok(&self->driver);
}

/* ---------------------------------------------------------- close and fork */

TEST_WITH(close_completes_what_is_in_flight, NULL, NULL)
{
    redis_server *server = redis_server_start(NULL);
    test_driver driver;
    test_call calls[3];

    driver_open(&driver, redis_server_unix_url(server));
    submit_ok(&driver);
    redis_server_pause(server);
    for (size_t i = 0; i < 3; i++) {
        CALL(&calls[i], ENOUGH_MS, "SET", "k", "v");
        calls[i].request.repeatable = i == 1;
        call_submit(&driver, &calls[i]);
    }
    driver.store->ops->close(driver.store);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(calls[i].done, 1);
        assert_true(calls[i].request.status == HF_UNAVAILABLE ||
                    calls[i].request.status == HF_INDETERMINATE);
        assert_true(calls[i].request.status == HF_INDETERMINATE ||
                    calls[i].request.sends == 0);
        call_end(&calls[i]);
    }
    hf__loop_free(driver.loop);
    redis_server_stop(server);
}

static void in_child(test_driver *driver)
{
    test_call call;
    int bad = 0;

    CALL(&call, ENOUGH_MS, "SET", "k", "child");
    if (call_perform(driver, &call) != HF_INVALID)
        bad = 1;
    call_end(&call);
    CALL(&call, ENOUGH_MS, "SET", "k", "child");
    call_submit(driver, &call);
    if (call.done != 1 || call.request.status != HF_INVALID)
        bad = 2;
    if (strstr(call.request.error.message, "fork") == NULL)
        bad = 3;
    call_end(&call);
    driver->store->ops->event_seq(driver->store, hf_str("t"),
                                  hf__clock_boot_ms() + ENOUGH_MS);
    driver->store->ops->close(driver->store);
    hf__loop_free(driver->loop);
    _exit(bad);
}

TEST(child_may_not_use_the_store_and_does_not_disturb_it)
{
    driver_fixture *self = *state;
    int status;
    pid_t pid;

    set_ok(&self->driver);
    submit_ok(&self->driver);
    self->driver.store->ops->event_seq(self->driver.store, hf_str("t"),
                                       hf__clock_boot_ms() + ENOUGH_MS);
    pid = fork();
    if (pid == 0)
        in_child(&self->driver);
    assert_int_equal(await_child(pid, &status), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    command(self->server, "GET k", "$1\r\nv\r\n");
    set_ok(&self->driver);
    submit_ok(&self->driver);
}
