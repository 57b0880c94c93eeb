/* SPDX-License-Identifier: Apache-2.0 */
/*
 * async_wait_test.c - hf_client_wait() on several threads, and while calls are
 * cancelled, connections break and the client is closed.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "holdfast/value.h"
#include "support/asleep.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

enum { THREADS = 4, ROUNDS = 200 };

/* A call may be cancelled until it is dispatched: both with this locked. */
static pthread_mutex_t dispatching = PTHREAD_MUTEX_INITIALIZER;

typedef struct worker {
    pthread_t thread;
    hf_client *client;
    hf_bytes key;
    bool cancels;
    atomic_uint done; /* of the call under way */
    hf_status status;
    unsigned wrong; /* rounds that ended in no way they may */
    unsigned whole; /* that ended with HF_OK */
} worker;

static void note_done(void *user, hf_status status, const hf_error *err)
{
    worker *self = user;

    (void)err;
    self->status = status;
    atomic_fetch_add(&self->done, 1);
}

/* Wait until the own call is done; any thread may dispatch it. */
static bool await_own(worker *self)
{
    hf_status status;

    while (atomic_load(&self->done) == 0) {
        status = hf_client_wait(self->client, 100, NULL);
        if (status != HF_OK && status != HF_TIMEOUT && status != HF_CANCELLED)
            return false;
        pthread_mutex_lock(&dispatching);
        status = hf_client_dispatch(self->client, NULL, NULL);
        pthread_mutex_unlock(&dispatching);
        if (status != HF_OK)
            return false;
    }
    return atomic_load(&self->done) == 1;
}

static bool is_right(const worker *self)
{
    return self->status == HF_OK ||
           (self->cancels &&
            (self->status == HF_CANCELLED || self->status == HF_UNAVAILABLE ||
             self->status == HF_INDETERMINATE));
}

static void work_once(worker *self, int round)
{
    hf_async async = HF_ASYNC_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_call *call = NULL;
    hf_status status;

    async.done = note_done;
    async.user = self;
    async.call = &call;
    atomic_store(&self->done, 0);
    pthread_mutex_lock(&dispatching);
    if (round % 2 == 0)
        status = hf_value_set_start(self->client, self->key, bytes("v"), NULL,
                                    NULL, &async, NULL);
    else
        status =
            hf_value_get_start(self->client, self->key, &value, &async, NULL);
    if (status == HF_OK && self->cancels && round % 3 == 0)
        hf_call_cancel(call);
    pthread_mutex_unlock(&dispatching);
    if (status != HF_OK || !await_own(self) || !is_right(self)) {
        self->wrong++;
    } else if (self->status == HF_OK) {
        self->whole++;
        self->wrong += round % 2 != 0 && value.size != 1;
    }
    hf_buffer_free(&value);
}

static void *work(void *user)
{
    worker *self = user;

    for (int i = 0; i < ROUNDS; i++)
        work_once(self, i);
    return NULL;
}

static void start_workers(fixture *f, worker *workers, bool cancels)
{
    static const char *const names[THREADS] = {"a", "b", "c", "d"};

    for (int i = 0; i < THREADS; i++) {
        workers[i] = (worker){.client = f->client,
                              .key = fixture_key(f, names[i]),
                              .cancels = cancels};
        expect_status(HF_OK, hf_value_set(f->client, workers[i].key, bytes("v"),
                                          NULL, NULL, ERR));
    }
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(
            pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
}

static unsigned join_workers(worker *workers)
{
    unsigned whole = 0;

    for (int i = 0; i < THREADS; i++) {
        pthread_join(workers[i].thread, NULL);
        assert_int_equal(workers[i].wrong, 0);
        whole += workers[i].whole;
    }
    return whole;
}

TEST(wait_serves_every_thread)
{
    fixture *f = *state;
    worker workers[THREADS];

    start_workers(f, workers, false);
    assert_int_equal(join_workers(workers), THREADS * ROUNDS);
}

TEST(wait_serves_a_thread_that_is_alone)
{
    fixture *f = *state;
    worker self = {.client = f->client, .key = fixture_key(f, "k")};

    work(&self);
    assert_int_equal(self.wrong, 0);
    assert_int_equal(self.whole, ROUNDS);
}

/* Each call ends once, whatever happens to it. */
TEST(wait_outlives_cancellations_and_connections)
{
    fixture *f = *state;
    worker workers[THREADS];

    start_workers(f, workers, true);
    for (int i = 0; i < 10; i++) {
        test_rest();
        expect_status(HF_OK, hf_client_interrupt(f->client, ERR));
        if (!fixture_is_embedded(f))
            (void)fixture_server_command(f, "CLIENT KILL TYPE normal");
    }
    assert_in_range(join_workers(workers), THREADS, THREADS * ROUNDS);
}

/* ------------------------------------------------------ dispatch elsewhere */

typedef struct waiter {
    pthread_t thread;
    hf_client *client;
    hf_status status;
    atomic_int tid;
    atomic_bool ended;
} waiter;

static void *wait_long(void *user)
{
    waiter *self = user;

    atomic_store(&self->tid, gettid());
    self->status = hf_client_wait(self->client, HF_FOREVER, NULL);
    atomic_store(&self->ended, true);
    return NULL;
}

static void start_waiting(waiter *self, hf_client *client)
{
    self->client = client;
    atomic_init(&self->tid, 0);
    atomic_init(&self->ended, false);
    assert_int_equal(pthread_create(&self->thread, NULL, wait_long, self), 0);
    await_asleep(&self->tid);
}

/* It may begin to wait after a call, but not after so many. */
TEST(wait_ends_although_another_thread_has_dispatched)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    waiter self;

    for (int i = 0; i < 10; i++) {
        start_waiting(&self, f->client);
        for (int at = 0; at < 100 && !atomic_load(&self.ended); at++) {
            expect_told(HF_OK, f->client,
                        hf_value_set_start(f->client, key, bytes("v"), NULL,
                                           NULL, &async, ERR));
            test_rest();
        }
        assert_true(atomic_load(&self.ended));
        pthread_join(self.thread, NULL);
        expect_status(HF_OK, self.status);
    }
}

/* ------------------------------------------------- a server that is silent */

/* Have the server answer no write for a minute, and start one. */
static void start_silent(fixture *f, hf_client *client, told *said)
{
    hf_bytes key = fixture_key(f, "k");
    hf_async quiet = tell(said);

    expect_told(
        HF_OK, client,
        hf_value_set_start(client, key, bytes("v"), NULL, NULL, &async, ERR));
    assert_true(fixture_server_command(f, "CLIENT PAUSE 60000 WRITE"));
    expect_status(HF_OK, hf_value_set_start(client, key, bytes("w"), NULL, NULL,
                                            &quiet, ERR));
}

TEST(wait_for_a_reply_is_interrupted)
{
    fixture *f = *state;
    told said = {0};
    waiter self;

    fixture_only_redis(f);
    start_silent(f, f->client, &said);
    start_waiting(&self, f->client);
    expect_status(HF_OK, hf_client_interrupt(f->client, ERR));
    pthread_join(self.thread, NULL);
    expect_status(HF_CANCELLED, self.status);
    expect_status(HF_TIMEOUT, hf_client_wait(f->client, 10, ERR));
    start_waiting(&self, f->client);
    assert_true(fixture_server_command(f, "CLIENT UNPAUSE"));
    pthread_join(self.thread, NULL);
    expect_status(HF_OK, self.status);
    await_ok(f->client, &said);
}

TEST(thread_that_is_cancelled_ends_its_wait_first)
{
    fixture *f = *state;
    told said = {0};
    waiter self = {.status = HF_OK};

    fixture_only_redis(f);
    start_silent(f, f->client, &said);
    start_waiting(&self, f->client);
    assert_int_equal(pthread_cancel(self.thread), 0);
    test_rest();
    expect_status(HF_OK, hf_client_interrupt(f->client, ERR));
    pthread_join(self.thread, NULL);
    expect_status(HF_CANCELLED, self.status);
    assert_true(fixture_server_command(f, "CLIENT UNPAUSE"));
    await_ok(f->client, &said);
}

TEST(wait_for_a_reply_ends_when_the_client_is_closed)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    told said = {0};
    waiter self;

    fixture_only_redis(f);
    start_silent(f, client, &said);
    start_waiting(&self, client);
    fixture_close_client(f, client);
    pthread_join(self.thread, NULL);
    assert_true(self.status == HF_CANCELLED || self.status == HF_INVALID);
    assert_int_equal(said.count, 1);
    assert_true(fixture_server_command(f, "CLIENT UNPAUSE"));
}
