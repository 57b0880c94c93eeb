/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel_test.c - the Sentinel store between sentinels that disagree,
 * lie, hang or remember old things, and masters that are none. All scripted.
 */
#include "sentinel_deployment.h"

#include <pthread.h>
#include <stdio.h>

#include "support/log_lines.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "util/mem.h"

static void assert_served_by(deployment *all, const char *name)
{
    test_call call;

    RUN(&all->driver, &call, "WHO");
    assert_text(&call, name);
    call_end(&call);
}

static void await_served_by(deployment *all, const char *name)
{
    int64_t until_ms = hf__clock_boot_ms() + 2 * ENOUGH_MS;
    bool same = false;
    test_call call;

    while (!same) {
        assert_true(hf__clock_boot_ms() < until_ms);
        RUN(&all->driver, &call, "WHO");
        same = call.request.status == HF_OK &&
               strcmp(call.request.reply.bytes.data, name) == 0;
        call_end(&call);
    }
}

/* ------------------------------------------------------------------ tests */

TEST(lying_minority_is_not_believed)
{
    deployment all;

    deployment_prepare(&all);
    all.sentinels[0].master = B;
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

/* As on a busy machine, where all were slow but the one that lies. */
TEST(lying_minority_is_not_believed_when_it_is_the_fastest)
{
    deployment all;

    deployment_prepare(&all);
    all.sentinels[0].master = B;
    all.sentinels[1].delay_ms = 150; /* of four replies: more than 500 ms */
    all.sentinels[2].delay_ms = 150;
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

/* As it may know of a later failover, the others are given time to agree. */
TEST(newer_minority_is_waited_for_a_bounded_time)
{
    int64_t began_ms = hf__clock_boot_ms();
    deployment all;

    deployment_prepare(&all);
    all.sentinels[2].master = B;
    all.sentinels[2].epoch = 900;
    all.sentinels[0].silent = false;
    deployment_open(&all);
    assert_served_by(&all, "A");
    assert_in_time(hf__clock_boot_ms() - began_ms, 8000);
    deployment_close(&all);
}

TEST(hanging_sentinel_is_not_waited_for)
{
    int64_t began_ms = hf__clock_boot_ms();
    deployment all;

    deployment_prepare(&all);
    all.sentinels[0].silent = true;
    deployment_open(&all);
    assert_served_by(&all, "A");
    assert_in_time(hf__clock_boot_ms() - began_ms, ENOUGH_MS / 2);
    deployment_close(&all);
}

TEST(one_sentinel_of_three_is_enough)
{
    deployment all;

    deployment_prepare(&all);
    all.sentinels[0].silent = true;
    all.sentinels[1].refusal = "-ERR no\r\n";
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

TEST(split_sentinels_are_named)
{
    deployment all;

    deployment_prepare(&all);
    all.connect_ms = 1500;
    all.sentinels[0].master = B;
    all.sentinels[1].silent = true;
    deployment_open_fails(&all, HF_UNAVAILABLE, "disagree");
    deployment_open_fails(&all, HF_UNAVAILABLE, "epoch 5");
    deployment_close(&all);
}

/* They are asked again: a master may be made known to them right now. */
TEST(unknown_name_is_unavailable_by_the_deadline)
{
    deployment all;

    deployment_prepare(&all);
    deployment_say(&all, -1, 0);
    all.connect_ms = 700;
    deployment_open_fails(&all, HF_UNAVAILABLE,
                          "no sentinel knows a master named \"m\"");
    for (int at = 0; at < SENTINELS; at++)
        assert_true(__atomic_load_n(&all.sentinels[at].questions,
                                    __ATOMIC_SEQ_CST) >= 2);
    deployment_close(&all);
}

static void *name_the_master(void *user)
{
    deployment *all = user;

    while (__atomic_load_n(&all->sentinels[0].questions, __ATOMIC_SEQ_CST) == 0)
        hf__clock_sleep_until(hf__clock_boot_ms() + 5);
    deployment_say(all, A, 5);
    return NULL;
}

TEST(name_that_becomes_known_is_waited_for)
{
    pthread_t thread;
    deployment all;

    deployment_prepare(&all);
    deployment_say(&all, -1, 0);
    assert_int_equal(pthread_create(&thread, NULL, name_the_master, &all), 0);
    deployment_open(&all);
    pthread_join(thread, NULL);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

/* What a sentinel says that has not heard of the master yet. */
TEST(sentinel_that_does_not_know_yet_is_asked_again)
{
    static const char dont_know[] =
        "-IDONTKNOW I have not enough information to reply. Please ask "
        "another Sentinel.\r\n";
    deployment all;

    deployment_prepare(&all);
    all.connect_ms = 700;
    for (int at = 0; at < SENTINELS; at++)
        __atomic_store_n(&all.sentinels[at].refusal, dont_know,
                         __ATOMIC_SEQ_CST);
    deployment_open_fails(&all, HF_UNAVAILABLE,
                          "no sentinel knows a master named \"m\"");
    all.connect_ms = ENOUGH_MS;
    for (int at = 1; at < SENTINELS; at++)
        __atomic_store_n(&all.sentinels[at].refusal, NULL, __ATOMIC_SEQ_CST);
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

TEST(no_sentinel_is_unavailable_at_once)
{
    static const char url[] = "redis+sentinel://127.0.0.1:1,[::1]:1/m";
    int64_t began_ms = hf__clock_boot_ms();
    hf_error err = HF_ERROR_INIT;
    test_driver driver;

    assert_int_equal(driver_try_open(&driver, url, NULL, NULL, &err),
                     HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "no sentinel replies"));
    assert_non_null(strstr(err.message, "refused"));
    assert_in_time(hf__clock_boot_ms() - began_ms, ENOUGH_MS);
}

TEST(password_of_the_sentinels_is_their_own)
{
    deployment all;

    deployment_prepare(&all);
    all.more = "?sentinel_password=geheim";
    deployment_open_fails(&all, HF_DENIED, "no sentinel replies");
    all.more = "?sentinel_password=right";
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

TEST(password_that_is_missing_is_asked_for)
{
    deployment all;

    deployment_prepare(&all);
    for (int at = 0; at < SENTINELS; at++)
        all.sentinels[at].refusal = "-NOAUTH Authentication required.\r\n";
    deployment_open_fails(&all, HF_DENIED, "sentinel_password");
    deployment_close(&all);
}

/* The subscription is confirmed, in a packet of its own, and the query refused:
 * there is a pause before the next connection all the same. */
TEST(sentinel_that_refuses_queries_is_left_in_peace)
{
    deployment all;

    deployment_prepare(&all);
    all.sentinels[0].refusal = "-NOPERM no\r\n";
    all.sentinels[0].delay_ms = 5;
    deployment_open(&all);
    hf__clock_sleep_until(hf__clock_boot_ms() + 1000);
    assert_in_range(fake_server_count(all.sentinels[0].server), 1, 30);
    deployment_close(&all);
}

TEST(server_is_no_sentinel)
{
    deployment all;

    deployment_prepare(&all);
    for (int at = 0; at < SENTINELS; at++)
        all.sentinels[at].mode = "standalone";
    deployment_open_fails(&all, HF_INVALID, "not a sentinel");
    deployment_close(&all);
}

TEST(listed_sentinel_is_asked_too)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    deployment all;

    deployment_prepare(&all);
    all.count = 1;
    all.sentinels[0].listed = 2;
    deployment_open(&all);
    assert_served_by(&all, "A");
    while (__atomic_load_n(&all.sentinels[2].questions, __ATOMIC_SEQ_CST) == 0)
        assert_true(hf__clock_boot_ms() < until_ms);
    assert_int_equal(all.sentinels[1].questions, 0);
    deployment_close(&all);
}

/* Promotion: the sentinels name a server that is no master for a while. */
TEST(named_server_must_say_that_it_is_the_master)
{
    hf_error err = HF_ERROR_INIT;
    deployment all;

    deployment_prepare(&all);
    all.connect_ms = 500;
    all.masters[A].is_replica = true;
    assert_int_equal(deployment_try_open(&all, &err), HF_UNAVAILABLE);
    assert_non_null(strstr(err.message, "not a master"));
    assert_true(__atomic_load_n(&all.masters[A].logins, __ATOMIC_SEQ_CST) > 1);
    deployment_close(&all);
}

TEST(role_that_is_not_reported_is_denied)
{
    deployment all;

    deployment_prepare(&all);
    all.masters[A].hides_role = true;
    deployment_open_fails(&all, HF_DENIED, "ROLE");
    deployment_close(&all);
}

TEST(hint_moves_the_store)
{
    deployment all;

    deployment_prepare(&all);
    deployment_open(&all);
    assert_served_by(&all, "A");
    deployment_say(&all, B, 6);
    deployment_push(&all.sentinels[1]);
    await_served_by(&all, "B");
    deployment_close(&all);
}

TEST(failover_is_logged)
{
    log_lines *lines = log_lines_new();
    hf_client_options options = log_lines_options(lines);
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    deployment all;

    deployment_prepare(&all);
    deployment_open(&all);
    options.request_ms = ENOUGH_MS;
    if (hf_client_open(all.url, &options, &client, &err) != HF_OK)
        fail_msg("cannot open: %s", err.message);
    deployment_say(&all, B, 6);
    deployment_push(&all.sentinels[1]);
    expect_soon(log_lines_has(lines, HF_LOG_WARNING,
                              "failover: the master \"m\" is now 127.0.0.1"),
                ENOUGH_MS);
    deployment_say(&all, -1, 0);
    deployment_push(&all.sentinels[1]);
    expect_soon(
        log_lines_has(lines, HF_LOG_WARNING, "the sentinels name no master: "),
        ENOUGH_MS);
    hf_client_close(client);
    deployment_close(&all);
}

/* A hint alone is nothing: what it says is not believed. */
TEST(hint_is_not_believed)
{
    uint32_t asked;
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    deployment all;

    deployment_prepare(&all);
    deployment_open(&all);
    asked = __atomic_load_n(&all.sentinels[0].questions, __ATOMIC_SEQ_CST);
    deployment_push(&all.sentinels[1]);
    while (__atomic_load_n(&all.sentinels[0].questions, __ATOMIC_SEQ_CST) ==
           asked)
        assert_true(hf__clock_boot_ms() < until_ms);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

/* The same for a request that was refused, on both kinds of connection. */
TEST(refused_write_is_sent_to_the_new_master)
{
    deployment all;
    test_call call;

    for (int shared = 0; shared < 2; shared++) {
        deployment_prepare(&all);
        deployment_open(&all);
        assert_served_by(&all, "A");
        __atomic_store_n(&all.masters[A].is_replica, true, __ATOMIC_SEQ_CST);
        deployment_say(&all, B, 6);
        CALL(&call, ENOUGH_MS, "SET", "k", "v");
        if (shared) {
            call_submit(&all.driver, &call);
            call_wait(&call);
        } else {
            call_perform(&all.driver, &call);
        }
        assert_text(&call, "OK");
        assert_int_equal(call.request.sends, 1);
        call_end(&call);
        assert_served_by(&all, "B");
        deployment_close(&all);
    }
}

/* Until its deadline, and no longer. */
TEST(call_ends_by_its_deadline_without_a_master)
{
    deployment all;
    int64_t began_ms;
    int64_t took_ms;
    test_call call;

    for (int shared = 0; shared < 2; shared++) {
        deployment_prepare(&all);
        deployment_open(&all);
        assert_served_by(&all, "A");
        __atomic_store_n(&all.masters[A].is_replica, true, __ATOMIC_SEQ_CST);
        began_ms = hf__clock_boot_ms();
        CALL(&call, 800, "SET", "k", "v");
        if (shared) {
            call_submit(&all.driver, &call);
            call_wait(&call);
        } else {
            call_perform(&all.driver, &call);
        }
        took_ms = hf__clock_boot_ms() - began_ms;
        assert_status(&call, HF_UNAVAILABLE);
        assert_int_equal(call.request.sends, 0);
        assert_took(took_ms, 500, 2000);
        call_end(&call);
        deployment_close(&all);
    }
}

TEST(old_epoch_is_no_news)
{
    int64_t until_ms = hf__clock_boot_ms() + ENOUGH_MS;
    deployment all;
    uint32_t asked;

    deployment_prepare(&all);
    deployment_say(&all, B, 6);
    deployment_open(&all);
    assert_served_by(&all, "B");
    deployment_say(&all, A, 5);
    __atomic_store_n(&all.sentinels[0].silent, true, __ATOMIC_SEQ_CST);
    asked = __atomic_load_n(&all.sentinels[1].questions, __ATOMIC_SEQ_CST);
    deployment_push(&all.sentinels[1]);
    while (__atomic_load_n(&all.sentinels[1].questions, __ATOMIC_SEQ_CST) <
           asked + 3) {
        assert_true(hf__clock_boot_ms() < until_ms);
        assert_served_by(&all, "B");
    }
    __atomic_store_n(&all.sentinels[0].silent, false, __ATOMIC_SEQ_CST);
    await_served_by(&all, "A"); /* all of them, on new connections */
    deployment_close(&all);
}

TEST(inbox_follows_the_master)
{
    hf_bytes topic = hf_str("topic");
    const hf__store_ops *ops;
    deployment all;
    uint32_t seq;

    deployment_prepare(&all);
    deployment_open(&all);
    ops = all.driver.store->ops;
    seq = ops->event_seq(all.driver.store, topic,
                         hf__clock_boot_ms() + ENOUGH_MS);
    deployment_say(&all, B, 6);
    deployment_push(&all.sentinels[0]);
    /* The first may be of the subscription at A. */
    for (int i = 0; i < 2; i++) {
        assert_true(ops->event_wait(all.driver.store, topic, seq,
                                    hf__clock_boot_ms() + ENOUGH_MS));
        if (__atomic_load_n(&all.masters[B].logins, __ATOMIC_SEQ_CST) > 0)
            break;
        seq = ops->event_seq(all.driver.store, topic,
                             hf__clock_boot_ms() + ENOUGH_MS);
    }
    assert_true(__atomic_load_n(&all.masters[B].logins, __ATOMIC_SEQ_CST) > 0);
    deployment_close(&all);
}

typedef struct seen_lines {
    char text[2000];
} seen_lines;

static void take_line(void *user, const char *name, const char *value)
{
    seen_lines *seen = user;
    size_t used = strlen(seen->text);

    snprintf(seen->text + used, sizeof(seen->text) - used, "%s=%s\n", name,
             value);
}

TEST(description_names_master_and_sentinels)
{
    seen_lines seen = {""};
    char expected[64];
    deployment all;

    deployment_prepare(&all);
    all.more = "?sentinel_password=right";
    all.sentinels[1].silent = true;
    deployment_open(&all);
    all.driver.store->ops->describe(all.driver.store, take_line, &seen);
    assert_non_null(strstr(seen.text, "master=m\n"));
    assert_non_null(strstr(seen.text, "epoch=5\n"));
    snprintf(expected, sizeof(expected), "address=127.0.0.1:%d\n",
             fake_server_port(all.masters[A].server));
    assert_non_null(strstr(seen.text, expected));
    for (int at = 0; at < SENTINELS; at++) {
        snprintf(expected, sizeof(expected), "sentinel=127.0.0.1:%d: ",
                 fake_server_port(all.sentinels[at].server));
        assert_non_null(strstr(seen.text, expected));
    }
    assert_null(strstr(seen.text, "right"));
    deployment_close(&all);
}

static bool is_described(deployment *all, int port)
{
    seen_lines seen = {""};
    char text[64];

    snprintf(text, sizeof(text), "sentinel=127.0.0.1:%d ", port);
    all->driver.store->ops->describe(all->driver.store, take_line, &seen);
    return strstr(seen.text, text) != NULL;
}

static void await_described(deployment *all, int port, bool expected)
{
    int64_t until_ms = hf__clock_boot_ms() + 2 * ENOUGH_MS;

    while (is_described(all, port) != expected) {
        assert_true(hf__clock_boot_ms() < until_ms);
        deployment_push(&all->sentinels[0]);
    }
}

TEST(lost_sentinel_that_is_not_listed_is_removed)
{
    deployment all;
    int port;

    deployment_prepare(&all);
    all.count = 1;
    all.sentinels[0].listed = 2;
    port = fake_server_port(all.sentinels[2].server);
    deployment_open(&all);
    await_described(&all, port, true);
    all.sentinels[0].listed = -1;
    fake_server_stop(all.sentinels[2].server);
    all.sentinels[2].server = NULL;
    await_described(&all, port, false);
    assert_served_by(&all, "A");
    deployment_close(&all);
}

/* Wherever memory is short, on our thread or on the loop's. */
TEST(open_without_memory_fails_or_does_without)
{
    hf_error err = HF_ERROR_INIT;
    int failures = 0;
    deployment all;
    hf_status status;
    char url[64];

    deployment_prepare(&all);
    snprintf(url, sizeof(url), "redis+sentinel://127.0.0.1:%d/m",
             fake_server_port(all.sentinels[0].server));
    for (long after = 0; after < 120; after++) {
        hf__url parsed;
        hf__store_config config = {.url = &parsed, .connect_ms = 1000};

        assert_int_equal(hf__url_parse(url, &parsed, &err), HF_OK);
        all.driver.loop = config.loop = hf__loop_new();
        hf__alloc_fail_after(after);
        status = hf__store_open(&config, &all.driver.store, &err);
        hf__alloc_fail_after(-1);
        hf__url_done(&parsed);
        if (status == HF_OK) {
            assert_served_by(&all, "A");
            driver_close(&all.driver);
        } else {
            hf__loop_free(all.driver.loop);
            assert_true(status == HF_NO_MEMORY || status == HF_UNAVAILABLE);
            failures++;
        }
        all.driver.store = NULL;
        if (after >= 40 && status == HF_OK)
            break;
    }
    assert_true(failures > 5);
    deployment_close(&all);
}

/* The arguments of a message may be anything: none of it may be believed. */
TEST(answers_of_no_sense_are_refused)
{
    static const char *const answers[] = {
        "+OK\r\n",
        ":1\r\n",
        "*1\r\n$1\r\nh\r\n",
        "*2\r\n$1\r\nh\r\n$1\r\n0\r\n",
        "*2\r\n$1\r\nh\r\n$5\r\n65536\r\n",
        "*2\r\n$1\r\nh\r\n:6379\r\n",
        "*2\r\n$0\r\n\r\n$4\r\n6379\r\n",
        "*2\r\n$3\r\na\nb\r\n$4\r\n6379\r\n",
        "*2\r\n$1\r\nh\r\n$21\r\n184467440737095516166\r\n",
        "?what\r\n",
    };
    deployment all;

    deployment_prepare(&all);
    all.count = 1;
    for (size_t at = 0; at < sizeof(answers) / sizeof(answers[0]); at++) {
        hf_error err = HF_ERROR_INIT;
        hf_status status;

        __atomic_store_n(&all.sentinels[0].refusal, answers[at],
                         __ATOMIC_SEQ_CST);
        status = deployment_try_open(&all, &err);
        if (status != HF_INVALID && status != HF_CORRUPT)
            fail_msg("%zu: %s: %s", at, hf_status_name(status), err.message);
        assert_non_null(strstr(err.message, "no sentinel replies"));
    }
    deployment_close(&all);
}
