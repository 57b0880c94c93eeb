/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_scripted_test.c - the driver with servers that lie, reply late, in
 * pieces or not at all: scripted, as a real one would not do it on demand.
 */
#include "redis_driver.h"
#include "support/slowness.h"

#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

/* How late a request may complete. The driver is exact to a few ms, but a
 * loaded machine wakes it late; it must not wait for anything other than the
 * deadline, which would take a second or more. */
#define EXACT_MS 200

/* One session for all: `act` answers request number `number` of connection
 * `connection`; false: end the connection. */
typedef bool (*act_fn)(int fd, unsigned connection, unsigned number,
                       const char *text);

static void act_session(int fd, unsigned connection, void *user)
{
    act_fn act = *(act_fn *)user;
    char text[200];

    if (!fake_server_login(fd, "7.0.0"))
        return;
    for (unsigned number = 0; fake_server_read(fd, text, sizeof(text));
         number++) {
        if (!act(fd, connection, number, text))
            return;
    }
}

typedef struct fake_store {
    act_fn act;
    fake_server *server;
    test_driver driver;
} fake_store;

static void fake_open(fake_store *self, act_fn act)
{
    self->act = act;
    self->server = fake_server_start(act_session, &self->act);
    assert_non_null(self->server);
    driver_open(&self->driver, fake_server_url(self->server));
}

static void fake_close(fake_store *self)
{
    driver_close(&self->driver);
    fake_server_stop(self->server);
}

/* Run a request both ways; each must end with the status. */
static void run_both(fake_store *self, bool repeatable, int64_t limit_ms,
                     hf_status status, uint32_t sends)
{
    test_call call;

    for (int submitted = 0; submitted < 2; submitted++) {
        int64_t begin_ms = hf__clock_boot_ms();

        CALL(&call, limit_ms, "SET", "k", "v");
        call.request.repeatable = repeatable;
        if (submitted) {
            call_submit(&self->driver, &call);
            call_wait(&call);
        } else {
            call_perform(&self->driver, &call);
        }
        assert_status(&call, status);
        if (sends != 0)
            assert_int_equal(call.request.sends, sends);
        assert_in_time(hf__clock_boot_ms() - begin_ms, limit_ms + EXACT_MS);
        call_end(&call);
    }
}

static bool close_first(int fd, unsigned connection, unsigned number,
                        const char *text)
{
    (void)number;
    (void)text;
    /* 0 and 1 are pooled, 2 and 3 shared: the first of each breaks. */
    return connection % 2 == 1 && fake_server_say(fd, "+OK\r\n");
}

TEST(unanswered_request_is_sent_again_only_if_repeatable)
{
    fake_store fake;

    fake_open(&fake, close_first);
    run_both(&fake, true, ENOUGH_MS, HF_OK, 2);
    fake_close(&fake);
}

/* The first connection of each breaks behind the request; later ones are
 * refused. */
static void refuse_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)user;
    if (connection % 2 == 0 && connection <= 2) {
        if (fake_server_login(fd, "7.0.0"))
            (void)fake_server_read(fd, text, sizeof(text));
    } else if (fake_server_read(fd, text, sizeof(text))) {
        (void)fake_server_say(fd, "-WRONGPASS invalid username-password pair "
                                  "or user is disabled.\r\n");
    }
}

TEST(request_that_was_lost_before_a_refusal_is_indeterminate)
{
    fake_store fake;

    fake.server = fake_server_start(refuse_session, NULL);
    assert_non_null(fake.server);
    driver_open(&fake.driver, fake_server_url(fake.server));
    run_both(&fake, true, 300, HF_INDETERMINATE, 1);
    fake_close(&fake);
}

static bool close_always(int fd, unsigned connection, unsigned number,
                         const char *text)
{
    (void)fd;
    (void)connection;
    (void)number;
    (void)text;
    return false;
}

TEST(request_whose_connection_always_breaks_is_given_up)
{
    fake_store fake;

    fake_open(&fake, close_always);
    run_both(&fake, false, ENOUGH_MS, HF_INDETERMINATE, 1);
    run_both(&fake, true, ENOUGH_MS, HF_INDETERMINATE, 5);
    fake_close(&fake);
}

static bool never_answer(int fd, unsigned connection, unsigned number,
                         const char *text)
{
    (void)fd;
    (void)connection;
    (void)number;
    (void)text;
    return true;
}

TEST(request_without_reply_is_indeterminate_at_its_deadline)
{
    fake_store fake;

    fake_open(&fake, never_answer);
    run_both(&fake, false, 150, HF_INDETERMINATE, 1);
    run_both(&fake, true, 150, HF_INDETERMINATE, 1);
    fake_close(&fake);
}

static bool trickle(int fd, unsigned connection, unsigned number,
                    const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    if (!fake_server_say(fd, "$1000\r\n"))
        return false;
    for (int i = 0; i < 1000; i++) {
        if (!fake_server_say(fd, "x"))
            return false;
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
    }
    return fake_server_say(fd, "\r\n");
}

TEST(trickling_reply_does_not_extend_the_deadline)
{
    fake_store fake;

    fake_open(&fake, trickle);
    run_both(&fake, false, 150, HF_INDETERMINATE, 1);
    fake_close(&fake);
}

static bool answer_garbage(int fd, unsigned connection, unsigned number,
                           const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    fake_server_say(fd, "HTTP/1.1 400 Bad Request\r\n\r\n");
    return true;
}

TEST(reply_that_is_not_resp_is_corrupt)
{
    fake_store fake;

    fake_open(&fake, answer_garbage);
    run_both(&fake, false, ENOUGH_MS, HF_CORRUPT, 1);
    assert_true(fake_server_count(fake.server) >= 2);
    fake_close(&fake);
}

static bool loading_three_times(int fd, unsigned connection, unsigned number,
                                const char *text)
{
    (void)connection;
    (void)text;
    return fake_server_say(fd,
                           number < 3 ? "-LOADING in memory\r\n" : "+OK\r\n");
}

TEST(loading_server_is_asked_again)
{
    fake_store fake;

    fake_open(&fake, loading_three_times);
    run_both(&fake, false, ENOUGH_MS, HF_OK, 1);
    fake_close(&fake);
}

/* The first connection ends; the next ones are refused while they log in. */
static void busy_session(int fd, unsigned connection, void *user)
{
    char text[200];

    (void)user;
    if (connection >= 1 && connection < 4) {
        (void)fake_server_say(fd, "-BUSY Redis is busy running a script.\r\n");
        fake_server_drain(fd);
        return;
    }
    if (!fake_server_login(fd, "7.0.0") || connection == 0)
        return;
    while (fake_server_read(fd, text, sizeof(text)))
        (void)fake_server_say(fd, "+OK\r\n");
}

TEST(server_that_is_busy_at_login_is_asked_again)
{
    fake_store fake;
    test_call call;

    fake.server = fake_server_start(busy_session, NULL);
    assert_non_null(fake.server);
    driver_open(&fake.driver, fake_server_url(fake.server));
    hf__clock_sleep_until(hf__clock_boot_ms() + 50); /* it sees the end */
    CALL(&call, ENOUGH_MS, "SET", "k", "v");
    call.request.repeatable = true; /* or it does not, on a busy machine */
    call_perform(&fake.driver, &call);
    assert_status(&call, HF_OK);
    call_end(&call);
    assert_true(fake_server_count(fake.server) >= 5);
    fake_close(&fake);
}

static bool always_loading(int fd, unsigned connection, unsigned number,
                           const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-LOADING in memory\r\n");
}

/* false: the deadline was between a request and its reply. */
static bool ends_unavailable(fake_store *self, bool submitted)
{
    hf_status status;
    test_call call;

    CALL(&call, slowed_ms(300), "SET", "k", "v");
    if (submitted) {
        call_submit(&self->driver, &call);
        call_wait(&call);
    } else {
        call_perform(&self->driver, &call);
    }
    status = call.request.status;
    if (status != HF_INDETERMINATE)
        assert_status(&call, HF_UNAVAILABLE);
    call_end(&call);
    return status == HF_UNAVAILABLE;
}

TEST(loading_server_is_unavailable_at_the_deadline)
{
    fake_store fake;

    fake_open(&fake, always_loading);
    for (int submitted = 0; submitted < 2; submitted++) {
        for (int tries = 0; !ends_unavailable(&fake, submitted); tries++)
            assert_in_range(tries, 0, 9);
    }
    fake_close(&fake);
}

/* Lost once, then refused: the first request may have been applied. */
static bool lost_then_loading(int fd, unsigned connection, unsigned number,
                              const char *text)
{
    (void)number;
    (void)text;
    return connection % 2 == 1 && fake_server_say(fd, "-LOADING memory\r\n");
}

TEST(refusal_after_a_loss_is_indeterminate)
{
    fake_store fake;

    fake_open(&fake, lost_then_loading);
    run_both(&fake, true, 300, HF_INDETERMINATE, 0);
    fake_close(&fake);
}

static bool read_only_first(int fd, unsigned connection, unsigned number,
                            const char *text)
{
    (void)number;
    (void)text;
    return fake_server_say(fd, connection < 2 ? "-READONLY replica\r\n"
                                              : "+OK\r\n");
}

TEST(read_only_server_is_left)
{
    fake_store fake;

    fake_open(&fake, read_only_first);
    run_both(&fake, false, ENOUGH_MS, HF_UNAVAILABLE, 1);
    run_both(&fake, false, ENOUGH_MS, HF_OK, 1);
    fake_close(&fake);
}

static bool always_read_only(int fd, unsigned connection, unsigned number,
                             const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "-READONLY replica\r\n");
}

/* Requests in flight on the connection that was given up still get their
 * replies. */
TEST(read_only_server_answers_all_before_it_is_left)
{
    enum { COUNT = 100 };
    hf__request *requests[COUNT];
    test_call calls[COUNT];
    fake_store fake;

    fake_open(&fake, always_read_only);
    for (size_t i = 0; i < COUNT; i++) {
        CALL(&calls[i], ENOUGH_MS, "SET", "k", "v");
        requests[i] = &calls[i].request;
    }
    fake.driver.store->ops->submit(fake.driver.store, requests, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        call_wait(&calls[i]);
        assert_status(&calls[i], HF_UNAVAILABLE);
        call_end(&calls[i]);
    }
    fake_close(&fake);
}

/* The first reply comes after its deadline, while more requests are sent; each
 * of these gets its own. */
static bool answer_late(int fd, unsigned connection, unsigned number,
                        const char *text)
{
    char answer[300];

    (void)connection;
    if (number == 0 && !fake_server_say(fd, "$6\r\nla"))
        return false;
    if (number == 1) {
        hf__clock_sleep_until(hf__clock_boot_ms() + 300);
        if (!fake_server_say(fd, "te!!\r\n"))
            return false;
    }
    if (number == 0)
        return true;
    snprintf(answer, sizeof(answer), "$%zu\r\n%s\r\n", strlen(text), text);
    return fake_server_say(fd, answer);
}

TEST(late_reply_does_not_shift_the_others)
{
    test_call late;
    test_call first;
    test_call second;
    fake_store fake;

    fake_open(&fake, answer_late);
    CALL(&late, 100, "GET", "late");
    CALL(&first, ENOUGH_MS, "GET", "first");
    CALL(&second, ENOUGH_MS, "GET", "second");
    call_submit(&fake.driver, &late);
    call_submit(&fake.driver, &first);
    call_submit(&fake.driver, &second);
    assert_int_equal(call_wait(&late), HF_INDETERMINATE);
    call_end(&late);
    memset(&late, 0xee, sizeof(late));
    call_wait(&first);
    assert_text(&first, "GET first");
    call_wait(&second);
    assert_text(&second, "GET second");
    assert_int_equal(fake_server_count(fake.server), 2);
    call_end(&first);
    call_end(&second);
    fake_close(&fake);
}

static bool answer_twice(int fd, unsigned connection, unsigned number,
                         const char *text)
{
    (void)connection;
    (void)number;
    (void)text;
    return fake_server_say(fd, "+OK\r\n+OK\r\n");
}

/* An extra reply would be taken for the next request's. */
TEST(answer_too_many_ends_the_connection)
{
    fake_store fake;

    fake_open(&fake, answer_twice);
    run_both(&fake, false, ENOUGH_MS, HF_OK, 1);
    run_both(&fake, false, ENOUGH_MS, HF_OK, 1);
    assert_true(fake_server_count(fake.server) >= 4);
    fake_close(&fake);
}

static bool echo_lane(int fd, unsigned connection, unsigned number,
                      const char *text)
{
    char answer[300];

    (void)connection;
    (void)number;
    snprintf(answer, sizeof(answer), "$%zu\r\n%s\r\n", strlen(text), text);
    return fake_server_say(fd, answer);
}

/* Both lanes wait for the shared connection; then the lease goes first. */
TEST(lease_lane_goes_first)
{
    enum { COUNT = 20 };
    test_call calls[COUNT + 1];
    hf__request *requests[COUNT + 1];
    fake_store fake;

    fake_open(&fake, echo_lane);
    calls_done = 0;
    for (size_t i = 0; i <= COUNT; i++) {
        CALL(&calls[i], ENOUGH_MS, "GET", "k");
        requests[i] = &calls[i].request;
    }
    calls[COUNT].request.lane = HF__LANE_LEASE;
    fake.driver.store->ops->submit(fake.driver.store, requests, COUNT + 1);
    for (size_t i = 0; i <= COUNT; i++) {
        call_wait(&calls[i]);
        assert_status(&calls[i], HF_OK);
        assert_int_equal(calls[i].order, i == COUNT ? 1 : i + 2);
        call_end(&calls[i]);
    }
    fake_close(&fake);
}

/* As many as the queue holds, ten more, and a lease. */
TEST(full_queue_refuses_users_but_not_leases)
{
    enum { FULL = 65536, COUNT = FULL + 11 };
    test_call *calls = calloc(COUNT, sizeof(*calls));
    hf__request **requests = calloc(COUNT, sizeof(*requests));
    int64_t limit_ms = slowed_ms(1000);
    fake_store fake;

    fake_open(&fake, never_answer);
    for (size_t i = 0; i < COUNT; i++) {
        CALL(&calls[i], limit_ms, "SET", "k", "v");
        requests[i] = &calls[i].request;
    }
    calls[COUNT - 1].request.lane = HF__LANE_LEASE;
    fake.driver.store->ops->submit(fake.driver.store, requests, COUNT);
    for (size_t i = 0; i < COUNT; i++) {
        bool refused;

        call_wait(&calls[i]);
        assert_true(calls[i].request.status == HF_UNAVAILABLE ||
                    calls[i].request.status == HF_INDETERMINATE);
        refused = strstr(calls[i].request.error.message, "queue is full");
        assert_int_equal(refused, i >= FULL && i < FULL + 10);
        call_end(&calls[i]);
    }
    fake_close(&fake);
    free(requests);
    free(calls);
}

/* ---------------------------------------------------------------- versions */

static void old_session(int fd, unsigned connection, void *user)
{
    (void)connection;
    if (fake_server_login(fd, user))
        fake_server_drain(fd);
}

TEST(old_server_is_unsupported)
{
    char version[] = "6.2.14";
    fake_server *server = fake_server_start(old_session, version);
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(
        driver_try_open(&driver, fake_server_url(server), NULL, NULL, &err),
        HF_UNSUPPORTED);
    assert_non_null(strstr(err.message, "6.2.14"));
    fake_server_stop(server);
}

static void silent_session(int fd, unsigned connection, void *user)
{
    (void)connection;
    (void)user;
    fake_server_drain(fd);
}

TEST(login_without_answer_ends_at_connect_ms)
{
    fake_server *server = fake_server_start(silent_session, NULL);
    int64_t begin_ms = hf__clock_boot_ms();
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(
        driver_try_open(&driver, fake_server_url(server), NULL, NULL, &err),
        HF_UNAVAILABLE);
    assert_took(hf__clock_boot_ms() - begin_ms, 999, 1000 + EXACT_MS);
    fake_server_stop(server);
}

/* Announces 512 MiB as the first reply, from connection number `at` on. */
static void huge_session(int fd, unsigned connection, void *user)
{
    const unsigned *at = user;

    if (connection >= *at)
        fake_server_say(fd, "$536870911\r\n");
    else if (!fake_server_login(fd, "7.0.0"))
        return;
    fake_server_drain(fd);
}

TEST(huge_reply_to_a_login_is_not_awaited)
{
    unsigned at = 0;
    fake_server *server = fake_server_start(huge_session, &at);
    hf_error err = HF_ERROR_INIT;
    test_driver driver;
    test_call call;

    assert_int_equal(
        driver_try_open(&driver, fake_server_url(server), NULL, NULL, &err),
        HF_CORRUPT);
    assert_non_null(strstr(err.message, "sent a malformed reply"));
    fake_server_stop(server);
    at = 1;
    server = fake_server_start(huge_session, &at);
    driver_open(&driver, fake_server_url(server));
    CALL(&call, ENOUGH_MS, "PING");
    call_submit(&driver, &call);
    call_wait(&call);
    assert_status(&call, HF_CORRUPT);
    call_end(&call);
    driver_close(&driver);
    fake_server_stop(server);
}

/* A listener whose queue is full drops connection attempts, like an address
 * where there is nothing. */
TEST(unreachable_server_ends_at_connect_ms)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    int knocking[3];
    hf_error err = HF_ERROR_INIT;
    test_driver driver;
    int64_t begin_ms;
    char url[64];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(
        bind(listener, (struct sockaddr *)&address, sizeof(address)), 0);
    assert_int_equal(listen(listener, 0), 0);
    getsockname(listener, (struct sockaddr *)&address, &size);
    for (int i = 0; i < 3; i++) {
        knocking[i] = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        connect(knocking[i], (struct sockaddr *)&address, sizeof(address));
    }
    snprintf(url, sizeof(url), "redis://127.0.0.1:%d", ntohs(address.sin_port));
    begin_ms = hf__clock_boot_ms();
    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err),
                     HF_UNAVAILABLE);
    assert_took(hf__clock_boot_ms() - begin_ms, 999, 1000 + EXACT_MS);
    assert_non_null(strstr(err.message, "cannot connect to 127.0.0.1:"));
    for (int i = 0; i < 3; i++)
        close(knocking[i]);
    close(listener);
}

static void full_server_session(int fd, unsigned connection, void *user)
{
    (void)connection;
    (void)user;
    fake_server_say(fd, "-ERR max number of clients reached\r\n");
}

TEST(server_with_too_many_clients_is_unavailable)
{
    fake_server *server = fake_server_start(full_server_session, NULL);
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(
        driver_try_open(&driver, fake_server_url(server), NULL, NULL, &err),
        HF_UNAVAILABLE);
    if (strstr(err.message, "max number of clients") == NULL)
        fail_msg("%s", err.message);
    fake_server_stop(server);
}
