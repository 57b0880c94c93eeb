/* SPDX-License-Identifier: Apache-2.0 */
/*
 * barrier_test.c - all parties pass a barrier or none: generations, the last
 * one, parties that leave or die, resets.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "holdfast/barrier.h"
#include "holdfast/command.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* A party with the usual lease that is not woken polls then. */
#define POLL_MS 10000
#define LONG_MS 60000

typedef struct party {
    hf_client *client;
    hf_bytes name;
    int64_t parties;
    int64_t ttl_ms;
    pthread_t thread;
    hf_barrier_pass pass;
    hf_status status;
    atomic_bool done;
} party;

static hf_status wait_at(hf_client *client, hf_bytes name, int64_t parties,
                         int64_t wait_ms, hf_barrier_pass *pass)
{
    return hf_barrier_wait(client, name, parties, wait_ms, NULL, pass, ERR);
}

static void *wait_elsewhere(void *user)
{
    party *self = user;
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;

    options.ttl_ms = self->ttl_ms;
    self->status = hf_barrier_wait(self->client, self->name, self->parties,
                                   LONG_MS, &options, &self->pass, NULL);
    atomic_store(&self->done, true);
    return NULL;
}

static void start(party *self, hf_client *client, hf_bytes name,
                  int64_t parties)
{
    self->client = client;
    self->name = name;
    self->parties = parties;
    atomic_init(&self->done, false);
    assert_int_equal(pthread_create(&self->thread, NULL, wait_elsewhere, self),
                     0);
}

static hf_status end_of(party *self)
{
    (void)pthread_join(self->thread, NULL);
    return self->status;
}

static void await_waiting(fixture *f, hf_bytes name, size_t count)
{
    expect_soon(sorted_set_size(f->client, name) == count, 5000);
}

TEST(one_party_passes_at_once)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");

    for (int64_t generation = 1; generation <= 3; generation++) {
        hf_barrier_pass pass = {-1, -1};

        expect_status(HF_OK, wait_at(f->client, name, 1, 0, &pass));
        assert_int_equal(pass.generation, generation);
        assert_int_equal(pass.last, 1);
    }
    assert_no_key(f->client, name);
}

#define PARTIES 4
#define ROUNDS 15

typedef struct runner {
    hf_client *client;
    hf_bytes name;
    pthread_t thread;
    hf_barrier_pass passes[ROUNDS];
    atomic_int *arrived; /* of each round */
    bool early;          /* it passed before all had arrived */
    hf_status status;
} runner;

static void *run_rounds(void *user)
{
    runner *self = user;

    for (int i = 0; i < ROUNDS && self->status == HF_OK; i++) {
        atomic_fetch_add(&self->arrived[i], 1);
        self->status = hf_barrier_wait(self->client, self->name, PARTIES,
                                       LONG_MS, NULL, &self->passes[i], NULL);
        self->early |= atomic_load(&self->arrived[i]) != PARTIES;
    }
    return NULL;
}

TEST(all_pass_together_in_each_generation)
{
    fixture *f = *state;
    runner runners[PARTIES] = {{.client = f->client},
                               {.client = f->other},
                               {.client = f->client},
                               {.client = f->other}};
    atomic_int arrived[ROUNDS] = {0};
    int64_t began_ms = test_now_ms();

    for (int i = 0; i < PARTIES; i++) {
        runners[i].name = fixture_key(f, "b");
        runners[i].arrived = arrived;
        assert_int_equal(
            pthread_create(&runners[i].thread, NULL, run_rounds, &runners[i]),
            0);
    }
    for (int i = 0; i < PARTIES; i++) {
        (void)pthread_join(runners[i].thread, NULL);
        expect_status(HF_OK, runners[i].status);
        assert_false(runners[i].early);
    }
    for (int round = 0; round < ROUNDS; round++) {
        int last = 0;

        for (int i = 0; i < PARTIES; i++) {
            assert_int_equal(runners[i].passes[round].generation, round + 1);
            last += runners[i].passes[round].last;
        }
        assert_int_equal(last, 1);
    }
    assert_woken(test_now_ms() - began_ms, POLL_MS);
}

TEST(party_that_gives_up_breaks_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_barrier_pass pass = {-1, -1};
    int64_t generation = -1, began_ms;
    party other = {.ttl_ms = 0};

    start(&other, f->other, name, 3);
    await_waiting(f, name, 1);
    expect_status(HF_TIMEOUT, wait_at(f->client, name, 3, 50, &pass));
    assert_non_null(strstr(expect_message(), "after 50 ms"));
    began_ms = test_now_ms();
    expect_status(HF_LOST, end_of(&other));
    assert_woken(test_now_ms() - began_ms, POLL_MS);
    expect_status(HF_LOST, wait_at(f->client, name, 3, LONG_MS, &pass));
    assert_int_equal(pass.generation, -1);
    expect_status(HF_OK, hf_barrier_reset(f->client, name, &generation, ERR));
    assert_int_equal(generation, 2);
    expect_status(HF_OK, wait_at(f->client, name, 1, LONG_MS, &pass));
    assert_int_equal(pass.generation, 2);
}

TEST(party_that_dies_breaks_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_client *client = fixture_client(f, NULL);
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;
    party other = {.ttl_ms = slowed_ms(900)};
    told said = {0};
    hf_async async = tell(&said);
    int64_t began_ms;

    options.ttl_ms = 300;
    expect_status(HF_OK, hf_barrier_wait_start(client, name, 3, LONG_MS,
                                               &options, NULL, &async, ERR));
    await_waiting(f, name, 1);
    fixture_close_client(f, client); /* it renews no more */
    assert_int_equal(said.count, 1);
    start(&other, f->other, name, 3);
    began_ms = test_now_ms();
    expect_status(HF_LOST, end_of(&other));
    assert_woken(test_now_ms() - began_ms, POLL_MS);
}

TEST(parties_that_all_died_leave_nothing)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_client *client = fixture_client(f, NULL);
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;
    hf_barrier_pass pass;
    told said = {0};
    hf_async async = tell(&said);

    options.ttl_ms = slowed_ms(100);
    expect_status(HF_OK, hf_barrier_wait_start(client, name, 2, LONG_MS,
                                               &options, NULL, &async, ERR));
    await_waiting(f, name, 1);
    fixture_close_client(f, client);
    expect_soon(key_is_gone(f->client, name), 5000);
    expect_status(HF_OK, wait_at(f->client, name, 1, 0, &pass));
    assert_int_equal(pass.generation, 1);
}

TEST(party_that_waits_is_renewed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    party other = {.ttl_ms = slowed_ms(300)};

    start(&other, f->other, name, 2);
    await_waiting(f, name, 1);
    expect_throughout(!atomic_load(&other.done), 2 * other.ttl_ms);
    expect_status(HF_OK, wait_at(f->client, name, 2, LONG_MS, NULL));
    expect_status(HF_OK, end_of(&other));
    assert_int_equal(other.pass.last, 0);
}

TEST(reset_ends_waits)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    int64_t generation;
    party others[2] = {{.ttl_ms = 0}, {.ttl_ms = 0}};

    expect_status(HF_NOT_FOUND,
                  hf_barrier_reset(f->client, name, &generation, ERR));
    start(&others[0], f->other, name, 3);
    start(&others[1], f->client, name, 3);
    await_waiting(f, name, 2);
    expect_status(HF_OK, hf_barrier_reset(f->client, name, &generation, ERR));
    assert_int_equal(generation, 2);
    expect_status(HF_LOST, end_of(&others[0]));
    expect_status(HF_LOST, end_of(&others[1]));
    expect_status(HF_OK, wait_at(f->client, name, 1, 0, NULL));
}

TEST(other_number_of_parties_is_refused)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    party other = {.ttl_ms = 0};

    start(&other, f->other, name, 2);
    await_waiting(f, name, 1);
    expect_status(HF_CONFLICT, wait_at(f->client, name, 3, LONG_MS, NULL));
    assert_non_null(strstr(expect_message(), "2 parties"));
    expect_status(HF_OK, wait_at(f->client, name, 2, LONG_MS, NULL));
    expect_status(HF_OK, end_of(&other));
    expect_status(HF_TIMEOUT, wait_at(f->client, name, 3, 0, NULL));
}

TEST(started_parties_pass)
{
    enum { STARTED = 30 };
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_barrier_pass passes[STARTED];
    told said = {0};
    hf_async async = tell(&said);
    int last = 0;

    for (int i = 0; i < STARTED; i++)
        expect_status(HF_OK,
                      hf_barrier_wait_start(f->client, name, STARTED, LONG_MS,
                                            NULL, &passes[i], &async, ERR));
    await_told(f->client, &said, STARTED);
    expect_status(HF_OK, said.status);
    for (int i = 0; i < STARTED; i++) {
        assert_int_equal(passes[i].generation, 1);
        last += passes[i].last;
    }
    assert_int_equal(last, 1);
}

TEST(cancelled_party_breaks_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call;

    async.call = &call;
    expect_status(HF_OK, hf_barrier_wait_start(f->client, name, 2, LONG_MS,
                                               NULL, NULL, &async, ERR));
    await_waiting(f, name, 1);
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    expect_status(HF_CANCELLED, said.status);
    expect_status(HF_LOST, wait_at(f->client, name, 2, LONG_MS, NULL));
    assert_no_key(f->client, name);
}

TEST(interrupted_party_breaks_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    party other = {.ttl_ms = 0};

    start(&other, f->other, name, 2);
    await_waiting(f, name, 1);
    while (!atomic_load(&other.done)) {
        expect_status(HF_OK, hf_client_interrupt(f->other, ERR));
        test_rest();
    }
    expect_status(HF_CANCELLED, end_of(&other));
    expect_status(HF_LOST, wait_at(f->client, name, 2, LONG_MS, NULL));
}

/* While it waits for the second time. */
TEST(party_that_was_renewed_is_interrupted)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    party other = {.ttl_ms = slowed_ms(450)};
    int64_t renewed_ms = test_now_ms() + other.ttl_ms / 3 + 60;

    start(&other, f->other, name, 2);
    while (test_now_ms() < renewed_ms) {
        test_rest();
    }
    while (!atomic_load(&other.done)) {
        expect_status(HF_OK, hf_client_interrupt(f->other, ERR));
        test_rest();
    }
    expect_status(HF_CANCELLED, end_of(&other));
}

TEST(lost_state_breaks_it)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_bytes words[] = {hf_str("DEL"), name};
    party other = {.ttl_ms = slowed_ms(300)};
    hf_reply *reply = NULL;

    start(&other, f->other, name, 2);
    await_waiting(f, name, 1);
    expect_status(HF_OK, hf_command(f->client, 2, words, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_LOST, end_of(&other));
}

TEST(sorted_set_of_others_is_wrong_type)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_bytes words[] = {hf_str("ZADD"), name, hf_str("1"), hf_str("a")};
    hf_reply *reply = NULL;

    expect_status(HF_OK, hf_command(f->client, 4, words, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_WRONG_TYPE, wait_at(f->client, name, 1, 0, NULL));
    assert_int_equal(sorted_set_size(f->client, name), 1);
}

TEST(bad_barriers_are_named)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    hf_barrier_options options = HF_BARRIER_OPTIONS_INIT;

    expect_status(HF_INVALID, wait_at(f->client, name, 0, 0, NULL));
    assert_non_null(strstr(expect_message(), "parties is 0"));
    expect_status(HF_INVALID, wait_at(f->client, name,
                                      HF_BARRIER_PARTIES_MAX + 1, 0, NULL));
    expect_status(HF_INVALID, wait_at(f->client, name, 1, -1, NULL));
    expect_status(HF_INVALID, wait_at(f->client, bytes("a}"), 1, 0, NULL));
    options.ttl_ms = 99;
    expect_status(HF_INVALID,
                  hf_barrier_wait(f->client, name, 1, 0, &options, NULL, ERR));
    options.flags = 1;
    expect_status(HF_UNSUPPORTED,
                  hf_barrier_wait(f->client, name, 1, 0, &options, NULL, ERR));
    assert_no_key(f->client, name);
}
