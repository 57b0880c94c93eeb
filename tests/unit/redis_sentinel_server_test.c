/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel_server_test.c - the Sentinel store with real servers: who may
 * log in where, TLS to both kinds of server, and a failover through it.
 */
#include "redis_driver.h"

#include <stdio.h>

#include "support/certificates.h"
#include "support/redis_sentinel.h"

#define URL_SIZE 600

static const char *with_params(const char *url, const char *params,
                               char text[URL_SIZE])
{
    snprintf(text, URL_SIZE, "%s%s%s", url,
             strchr(url, '?') != NULL ? "&" : "?", params);
    return text;
}

static void expect_served(test_driver *driver)
{
    test_call call;

    RUN(driver, &call, "SET", "k", "v");
    assert_text(&call, "OK");
    call_end(&call);
}

static void expect_refused(const char *url, const char *password,
                           const char *part)
{
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    if (driver_try_open(&driver, url, NULL, password, &err) != HF_DENIED ||
        strstr(err.message, part) == NULL)
        fail_msg("%s: %s", hf_status_name(err.status), err.message);
}

TEST(passwords_of_servers_and_sentinels_differ)
{
    const redis_sentinel_options options = {.password = "inner",
                                            .sentinel_password = "outer",
                                            .down_after_ms = 60000};
    redis_sentinel *all = redis_sentinel_start(&options);
    hf_error err = HF_ERROR_INIT;
    test_driver driver;
    char url[URL_SIZE];

    assert_non_null(all);
    with_params(redis_sentinel_url(all), "sentinel_password=outer", url);
    if (driver_try_open(&driver, url, NULL, "inner", &err) != HF_OK)
        fail_msg("%s", err.message);
    expect_served(&driver);
    driver_close(&driver);
    expect_refused(url, NULL, "the server requires a password");
    expect_refused(url, "outer", "the server refused the password");
    expect_refused(redis_sentinel_url(all), "inner", "no sentinel replies");
    with_params(redis_sentinel_url(all), "sentinel_password=inner", url);
    expect_refused(url, "inner", "no sentinel replies");
    redis_sentinel_stop(all);
}

static void count_answers(void *user, const char *name, const char *value)
{
    if (strcmp(name, "sentinel") == 0 && strstr(value, ": answers") != NULL)
        ++*(int *)user;
}

/* As docs/reference/servers.md says. */
TEST(user_of_the_sentinels_needs_little)
{
    static const char rights[] =
        "ACL SETUSER app on >pw resetchannels &+* -@all +sentinel|myid "
        "+sentinel|get-master-addr-by-name +sentinel|master "
        "+sentinel|sentinels +subscribe +hello";
    const redis_sentinel_options options = {.down_after_ms = 60000};
    redis_sentinel *all = redis_sentinel_start(&options);
    char answer[100];
    char url[URL_SIZE];
    test_driver driver;
    int answering = 0;

    assert_non_null(all);
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++) {
        assert_true(
            redis_sentinel_command(all, i, rights, answer, sizeof(answer)));
        assert_string_equal(answer, "+OK\r\n");
    }
    with_params(redis_sentinel_url(all),
                "sentinel_username=app&sentinel_password=pw", url);
    driver_open(&driver, url);
    expect_served(&driver);
    driver.store->ops->describe(driver.store, count_answers, &answering);
    assert_true(2 * answering > REDIS_SENTINEL_COUNT);
    driver_close(&driver);
    for (int i = 0; i < REDIS_SENTINEL_COUNT; i++)
        redis_sentinel_command(all, i,
                               "ACL SETUSER app "
                               "-sentinel|get-master-addr-by-name",
                               answer, sizeof(answer));
    expect_refused(url, NULL, "no sentinel replies");
    redis_sentinel_stop(all);
}

/* A write is served by another master than the one that was killed. */
static void expect_failover(test_driver *driver)
{
    int64_t until_ms = hf__clock_boot_ms() + 3 * ENOUGH_MS;
    bool served = false;
    test_call call;

    while (!served) {
        assert_true(hf__clock_boot_ms() < until_ms);
        RUN(driver, &call, "SET", "k", "w");
        served = call.request.status == HF_OK;
        call_end(&call);
    }
}

TEST(tls_goes_to_sentinels_and_servers)
{
    certificates *issued = certificates_new();
    char paths[3][CERTIFICATES_PATH_SIZE];
    redis_server_tls tls = {0};
    redis_sentinel_options options = {.tls = &tls};
    hf_error err = HF_ERROR_INIT;
    redis_sentinel *all;
    test_driver driver;
    char url[URL_SIZE];

    assert_non_null(issued);
    assert_true(certificates_issue_server(issued));
    tls.ca = certificates_path(issued, "ca.pem", paths[0]);
    tls.certificate = certificates_path(issued, "server.pem", paths[1]);
    tls.key = certificates_path(issued, "server.key", paths[2]);
    all = redis_sentinel_start(&options);
    assert_non_null(all);
    driver_open(&driver, redis_sentinel_url(all));
    expect_served(&driver);

    /* Who is not trusted is not asked. */
    snprintf(url, sizeof(url), "rediss+sentinel://127.0.0.1:%d/%s",
             redis_sentinel_port(all, 0), REDIS_SENTINEL_NAME);
    expect_refused(url, NULL, "certificate");
    snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/%s",
             redis_sentinel_port(all, 0), REDIS_SENTINEL_NAME);
    assert_int_equal(driver_try_open(&(test_driver){0}, url, NULL, NULL, &err),
                     HF_UNAVAILABLE);

    redis_server_kill(redis_sentinel_server(all, 0));
    expect_failover(&driver);
    driver_close(&driver);
    redis_sentinel_stop(all);
    certificates_free(issued);
}

/* What a waiter sleeps on moves with the master, and wakes it there. */
TEST(events_arrive_through_the_next_master)
{
    redis_sentinel *all = redis_sentinel_start(NULL);
    hf_bytes topic = hf_str("topic");
    const hf__store_ops *ops;
    test_driver waiter;
    test_driver waker;
    test_call call;
    char channel[80];
    uint32_t seq;

    assert_non_null(all);
    driver_open(&waiter, redis_sentinel_url(all));
    driver_open(&waker, redis_sentinel_url(all));
    ops = waiter.store->ops;
    seq = ops->event_seq(waiter.store, topic, hf__clock_boot_ms() + ENOUGH_MS);
    redis_server_kill(redis_sentinel_server(all, 0));
    expect_failover(&waker);
    /* No event was published: it moves as some may have been missed. */
    assert_true(ops->event_wait(waiter.store, topic, seq,
                                hf__clock_boot_ms() + ENOUGH_MS));
    snprintf(channel, sizeof(channel), "%s", ops->inbox(waiter.store));
    /* While there is no subscription event_seq() does not wait for one. */
    for (int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;;) {
        bool heard;

        seq = ops->event_seq(waiter.store, topic, until_ms);
        RUN(&waker, &call, "PUBLISH", channel, "topic");
        heard = call.request.reply.integer == 1;
        call_end(&call);
        if (heard)
            break;
        assert_true(hf__clock_boot_ms() < until_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 10);
    }
    assert_true(ops->event_wait(waiter.store, topic, seq,
                                hf__clock_boot_ms() + ENOUGH_MS));
    driver_close(&waiter);
    driver_close(&waker);
    redis_sentinel_stop(all);
}
