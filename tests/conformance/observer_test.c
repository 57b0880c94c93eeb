/* SPDX-License-Identifier: Apache-2.0 */
/*
 * observer_test.c - following who leads in an election.
 */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/election.h"
#include "holdfast/key.h"
#include "support/await_child.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* How long a change may take to be reported. */
#define REPORTED_MS 700

/* Of a leader that does not renew. */
#define LEASE_MS 400

static hf_lock *candidate(fixture *f, hf_bytes name, const char *text,
                          int64_t ttl_ms, uint32_t flags)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.ttl_ms = ttl_ms;
    opts.flags = flags;
    expect_status(HF_OK, hf_election_new(f->client, name, hf_str(text), &opts,
                                         &lock, ERR));
    return fixture_keep_lock(f, lock);
}

static hf_observer *observe(hf_client *client, hf_bytes name)
{
    hf_observer *observer = NULL;

    expect_status(HF_OK, hf_observer_open(client, name, &observer, ERR));
    return observer;
}

/* `lock` leads with this text, or no one if it is NULL; returns when. */
static int64_t expect_leader(hf_observer *observer, const hf_lock *lock,
                             const char *text)
{
    hf_leader leader = HF_LEADER_INIT;
    int64_t now_ms;

    expect_status(HF_OK, hf_observer_next(observer, &leader, 10000, ERR));
    now_ms = test_now_ms();
    assert_true(leader.term == (lock == NULL ? 0 : hf_lock_token(lock)));
    if (lock != NULL)
        assert_buffer(&leader.text, hf_str(text));
    hf_leader_free(&leader);
    return now_ms;
}

TEST(observer_reports_who_leads_and_each_change)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_observer *observer = observe(f->other, name);
    hf_lock *one = candidate(f, name, "one", 0, 0);
    hf_lock *two = candidate(f, name, "two", 0, 0);
    hf_leader leader = HF_LEADER_INIT;
    int64_t began_ms;

    (void)expect_leader(observer, NULL, "");
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_try(one, ERR));
    assert_in_time(expect_leader(observer, one, "one") - began_ms, REPORTED_MS);
    expect_status(HF_OK, hf_election_proclaim(one, bytes("ready"), ERR));
    (void)expect_leader(observer, one, "ready");
    expect_status(HF_TIMEOUT, hf_observer_next(observer, &leader, 0, ERR));
    expect_status(HF_OK, hf_lock_release(one, ERR));
    (void)expect_leader(observer, NULL, "");
    expect_status(HF_OK, hf_lock_try(two, ERR));
    (void)expect_leader(observer, two, "two");
    hf_observer_close(observer);
    observer = observe(f->client, name);
    (void)expect_leader(observer, two, "two");
    hf_observer_close(observer);
}

TEST(observer_sees_that_a_leader_died)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_observer *observer = observe(f->other, name);
    hf_lock *one = candidate(f, name, "one", LEASE_MS, HF_LOCK_NO_RENEW);
    int64_t began_ms;

    (void)expect_leader(observer, NULL, "");
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_try(one, ERR));
    (void)expect_leader(observer, one, "one");
    assert_in_time(expect_leader(observer, NULL, "") - began_ms,
                   LEASE_MS + REPORTED_MS);
    hf_observer_close(observer);
}

TEST(observer_does_not_report_renewals)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_observer *observer = observe(f->other, name);
    hf_lock *one = candidate(f, name, "one", 60000, 0);
    hf_leader leader = HF_LEADER_INIT;

    (void)expect_leader(observer, NULL, "");
    expect_status(HF_OK, hf_lock_try(one, ERR));
    (void)expect_leader(observer, one, "one");
    for (int i = 0; i < 3; i++) {
        expect_status(HF_OK, hf_lock_renew(one, ERR));
        expect_status(HF_TIMEOUT, hf_observer_next(observer, &leader, 60, ERR));
    }
    hf_observer_close(observer);
}

static int64_t process_cpu_ms(void)
{
    struct timespec used;

    assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
    return used.tv_sec * INT64_C(1000) + used.tv_nsec / 1000000;
}

TEST(observer_rests_at_a_leader_without_a_lease)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_observer *observer;
    hf_leader leader = HF_LEADER_INIT;
    int64_t used_ms;

    put_hash(f->client, name, words("owner", "a", "term", "5", "text", "one"),
             0);
    observer = observe(f->other, name);
    expect_status(HF_OK, hf_observer_next(observer, &leader, 10000, ERR));
    assert_true(leader.term == 5);
    hf_leader_free(&leader);
    used_ms = process_cpu_ms();
    expect_status(HF_TIMEOUT, hf_observer_next(observer, &leader, 200, ERR));
    assert_true(process_cpu_ms() - used_ms < 50);
    hf_observer_close(observer);
}

TEST(observer_next_can_be_started_and_cancelled)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_observer *observer = observe(f->other, name);
    hf_lock *one = candidate(f, name, "one", 0, 0);
    hf_leader leader = HF_LEADER_INIT;
    hf_call *call = NULL;
    told said = {0};
    hf_async async = tell(&said);

    async.call = &call;
    expect_status(HF_OK,
                  hf_observer_next_start(observer, &leader, &async, ERR));
    await_told(f->other, &said, 1);
    assert_true(leader.term == 0);
    expect_status(HF_OK,
                  hf_observer_next_start(observer, &leader, &async, ERR));
    expect_throughout((dispatch(f->other), said.count == 1), 50);
    expect_status(HF_OK, hf_lock_try(one, ERR));
    await_told(f->other, &said, 2);
    expect_status(HF_OK, said.status);
    assert_true(leader.term == hf_lock_token(one));
    assert_buffer(&leader.text, bytes("one"));
    expect_status(HF_OK,
                  hf_observer_next_start(observer, &leader, &async, ERR));
    hf_call_cancel(call);
    await_told(f->other, &said, 3);
    expect_status(HF_CANCELLED, said.status);
    expect_status(HF_OK,
                  hf_observer_next_start(observer, &leader, &async, ERR));
    hf_observer_close(observer);
    await_told(f->other, &said, 4);
    expect_status(HF_CANCELLED, said.status);
}

TEST(observer_next_is_interrupted)
{
    fixture *f = *state;
    hf_observer *observer = observe(f->client, fixture_key(f, "e"));
    hf_leader leader = HF_LEADER_INIT;
    pthread_t thread;
    void *fine = NULL;

    (void)expect_leader(observer, NULL, "");
    pthread_create(&thread, NULL, interrupt_soon, f->client);
    expect_status(HF_CANCELLED,
                  hf_observer_next(observer, &leader, HF_FOREVER, ERR));
    pthread_join(thread, &fine);
    assert_non_null(fine);
    hf_observer_close(observer);
}

TEST(observer_outlives_its_client)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "e");
    hf_client *client = fixture_client(f, NULL);
    hf_observer *observer = observe(client, name);
    hf_lock *one = candidate(f, name, "one", LEASE_MS, HF_LOCK_NO_RENEW);
    hf_leader leader = HF_LEADER_INIT;
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_OK, hf_lock_try(one, ERR));
    while (leader.term == 0)
        expect_status(HF_OK, hf_observer_next(observer, &leader, 9999, ERR));
    hf_leader_free(&leader);
    expect_status(HF_OK,
                  hf_observer_next_start(observer, &leader, &async, ERR));
    fixture_close_client(f, client);
    assert_int_equal(said.count, 1);
    assert_true(said.status == HF_UNAVAILABLE || said.status == HF_OK);
    hf_leader_free(&leader);
    expect_status(HF_INVALID, hf_observer_next(observer, &leader, 0, ERR));
    hf_observer_close(observer);
}

/* Mostly before its first look. */
TEST(observer_may_lose_its_client_at_once)
{
    fixture *f = *state;

    for (int i = 0; i < 20; i++) {
        hf_client *client = fixture_client(f, NULL);
        hf_observer *observer = observe(client, fixture_key(f, "e"));

        fixture_close_client(f, client);
        hf_observer_close(observer);
    }
}

TEST(observer_may_be_closed_in_a_forked_child)
{
    fixture *f = *state;
    hf_observer *observer = observe(f->client, fixture_key(f, "e"));
    int status = 0;
    pid_t child = fork();

    if (child == 0) {
        hf_observer_close(observer);
        _exit(0);
    }
    assert_int_equal(await_child(child, &status), child);
    assert_int_equal(status, 0);
    (void)expect_leader(observer, NULL, "");
    hf_observer_close(observer);
}

TEST(observer_says_that_a_key_is_no_election)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_leader leader = HF_LEADER_INIT;
    hf_observer *observer = NULL;

    put_value(f->client, key, bytes("1"), 0);
    observer = observe(f->other, key);
    expect_status(HF_WRONG_TYPE,
                  hf_observer_next(observer, &leader, 9999, ERR));
    assert_non_null(strstr(expect_message(), ":k\""));
    expect_status(HF_OK, hf_key_delete(f->client, key, ERR));
    (void)expect_leader(observer, NULL, "");
    hf_observer_close(observer);
    expect_status(HF_INVALID,
                  hf_observer_open(f->client, bytes(""), &observer, ERR));
    expect_status(HF_INVALID,
                  hf_observer_open(f->client, bytes("a}b"), &observer, ERR));
}
