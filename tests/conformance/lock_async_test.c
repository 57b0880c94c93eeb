/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_async_test.c - acquiring, renewing and releasing locks without a thread
 * that waits.
 */
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/command.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/slowness.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* How long a wake-up may take; the library polls, which would hide a lost
 * wake-up, only after a second. */
#define WOKEN_MS 500

TEST(lock_start_acquires_renews_and_releases)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);

    expect_told(HF_OK, f->client, hf_lock_acquire_start(lock, 0, &async, ERR));
    assert_true(hf_lock_is_held(lock));
    assert_true(hf_lock_token(lock) > 0);
    expect_told(HF_TIMEOUT, f->other,
                hf_lock_acquire_start(other, 0, &async, ERR));
    expect_told(HF_OK, f->client, hf_lock_renew_start(lock, &async, ERR));
    expect_told(HF_OK, f->client, hf_lock_acquire_start(lock, 0, &async, ERR));
    expect_told(HF_OK, f->client, hf_lock_release_start(lock, &async, ERR));
    assert_true(hf_lock_is_held(lock));
    expect_told(HF_OK, f->client, hf_lock_release_start(lock, &async, ERR));
    assert_false(hf_lock_is_held(lock));
    expect_told(HF_OK, f->other, hf_lock_acquire_start(other, 0, &async, ERR));
    expect_status(HF_OK, hf_lock_release(other, ERR));
}

TEST(lock_start_waits_and_is_woken)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    told said = {0};
    hf_async async = tell(&said);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t released_ms;

    expect_taken(holder);
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    dispatch(f->other);
    assert_int_equal(said.count, 0);
    released_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    assert_in_time(test_now_ms() - released_ms, WOKEN_MS);
    assert_true(hf_lock_is_held(waiter));
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
}

static int64_t take_over(fixture *f, hf_lock *waiter, hf_bytes name)
{
    told said = {0};
    hf_async async = tell(&said);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t freed_ms;

    put_value(f->client, name, bytes("foreign"), 60000);
    expect_status(HF_OK, hf_lock_acquire_start(waiter, 10000, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    freed_ms = test_now_ms();
    expect_status(HF_OK, hf_value_delete(f->client, name, ERR));
    await_told(f->other, &said, 1);
    expect_status(HF_OK, said.status);
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
    return test_now_ms() - freed_ms;
}

/* Its release wakes no one; behind one of ours the first poll comes after a
 * second. */
TEST(lock_start_takes_over_soon_after_a_foreign_release)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    int64_t took_ms = INT64_MAX;

    fixture_not_quorum(f);
    for (int i = 0; i < 5 && took_ms >= 400; i++)
        took_ms = take_over(f, waiter, name);
    assert_true(took_ms < 400);
}

TEST(lock_start_ends_its_wait_in_time)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t began_ms = test_now_ms();

    expect_taken(holder);
    expect_told(HF_TIMEOUT, f->other,
                hf_lock_acquire_start(waiter, 200, &async, ERR));
    assert_took(test_now_ms() - began_ms, 200, 2000);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 0,
                5000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_told(HF_OK, f->other,
                hf_lock_acquire_start(waiter, 200, &async, ERR));
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
}

TEST(lock_start_is_cancelled_at_once)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call = NULL;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t cancelled_ms;

    expect_taken(holder);
    async.call = &call;
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                5000);
    cancelled_ms = test_now_ms();
    hf_call_cancel(call);
    await_told(f->other, &said, 1);
    expect_status(HF_CANCELLED, said.status);
    assert_in_time(test_now_ms() - cancelled_ms, WOKEN_MS);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 0,
                5000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
}

#define WAITERS 20

typedef struct relay {
    hf_lock *lock;
    hf_client *client;
    unsigned *turns;
    unsigned *inside;
    told released;
} relay;

static void note_release(void *user, hf_status status, const hf_error *err)
{
    relay *self = user;

    (void)err;
    self->released.count++;
    self->released.status = status;
}

/* Hold it for no time: count, and release it. */
static void take_turn(void *user, hf_status status, const hf_error *err)
{
    relay *self = user;
    hf_async async = HF_ASYNC_INIT;

    (void)err;
    if (status != HF_OK || ++*self->inside != 1) {
        self->released.count++;
        self->released.status = status != HF_OK ? status : HF_LOST;
        return;
    }
    ++*self->turns;
    --*self->inside;
    async.done = note_release;
    async.user = self;
    if (hf_lock_release_start(self->lock, &async, NULL) != HF_OK)
        self->released.count++;
}

TEST(lock_start_serves_many_of_one_client_in_turn)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    static relay relays[WAITERS];
    static unsigned turns, inside;
    hf_async async = HF_ASYNC_INIT;

    turns = inside = 0;
    async.done = take_turn;
    for (size_t i = 0; i < WAITERS; i++) {
        relays[i] = (relay){fixture_lock(f, f->client, name, NULL),
                            f->client,
                            &turns,
                            &inside,
                            {0}};
        async.user = &relays[i];
        expect_status(
            HF_OK, hf_lock_acquire_start(relays[i].lock, 20000, &async, ERR));
    }
    for (size_t i = 0; i < WAITERS; i++) {
        await_told(f->client, &relays[i].released, 1);
        expect_status(HF_OK, relays[i].released.status);
    }
    assert_int_equal(turns, WAITERS);
}

/* Does a client wait for messages? */
static bool anyone_listens(fixture *f)
{
    hf_bytes words[] = {hf_str("PUBSUB"), hf_str("CHANNELS")};
    hf_reply *reply;
    bool any;

    expect_status(HF_OK, hf_command(f->client, 2, words, &reply, ERR));
    any = hf_reply_count(reply) > 0;
    hf_reply_free(reply);
    return any;
}

/* The first waits for the reply to its subscription when the lock becomes free
 * and the second is started. */
TEST(lock_start_does_not_overtake_one_that_subscribes)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    told first_said = {0}, second_said = {0};
    hf_async first_async = tell(&first_said), second_async = tell(&second_said);
    hf_lock *holder, *first, *second;
    byte_proxy *proxy;
    hf_client *client;

    if ((f->store != FIXTURE_REDIS_UNIX && f->store != FIXTURE_REDIS_TCP) ||
        f->rights != FIXTURE_RIGHTS_ALL)
        skip();
    holder = fixture_lock(f, f->client, name, NULL);
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    client = fixture_client_at(f, byte_proxy_unix_url(proxy), NULL);
    first = fixture_lock(f, client, name, NULL);
    second = fixture_lock(f, client, name, NULL);
    expect_taken(holder);
    byte_proxy_delay(proxy, TO_CLIENT, 300);
    expect_status(HF_OK,
                  hf_lock_acquire_start(first, HF_FOREVER, &first_async, ERR));
    expect_soon(anyone_listens(f), 5000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_status(
        HF_OK, hf_lock_acquire_start(second, HF_FOREVER, &second_async, ERR));
    await_told(client, &first_said, 1);
    assert_int_equal(second_said.count, 0);
    byte_proxy_heal(proxy);
    expect_status(HF_OK, hf_lock_release(first, ERR));
    await_told(client, &second_said, 1);
    expect_status(HF_OK, second_said.status);
    fixture_close_client(f, client);
    byte_proxy_stop(proxy);
}

TEST(lock_start_refuses_what_the_blocking_one_refuses)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);
    told said = {0};
    hf_async async = tell(&said);

    expect_status(HF_INVALID, hf_lock_acquire_start(lock, -1, &async, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_start(NULL, 0, &async, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_start(lock, 0, NULL, ERR));
    expect_status(HF_INVALID, hf_lock_release_start(lock, &async, ERR));
    expect_status(HF_INVALID, hf_lock_renew_start(lock, &async, ERR));
    dispatch(f->client);
    assert_int_equal(said.count, 0);
}

/* A handle with calls under way can be freed: they end first. */
TEST(lock_free_ends_what_was_started)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    told acquired = {0};
    told released = {0};
    told renewed = {0};
    hf_async async = tell(&acquired);
    int64_t freed_ms;

    expect_taken(holder);
    expect_status(HF_OK,
                  hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
    freed_ms = test_now_ms();
    fixture_free_lock(f, waiter);
    assert_in_time(test_now_ms() - freed_ms, WOKEN_MS);
    await_told(f->other, &acquired, 1);
    /* Its reply is not awaited for long. */
    if (acquired.status != HF_INDETERMINATE)
        expect_status(HF_CANCELLED, acquired.status);

    async = tell(&renewed);
    expect_status(HF_OK, hf_lock_renew_start(holder, &async, ERR));
    async = tell(&released);
    expect_status(HF_OK, hf_lock_release_start(holder, &async, ERR));
    fixture_free_lock(f, holder);
    await_told(f->client, &released, 1);
    await_told(f->client, &renewed, 1);
    expect_status(HF_OK, released.status);
}

static void note_message(void *user, hf_status status, const hf_error *err)
{
    hf_error *to = user;

    *to = *err;
    to->status = status;
}

/* The reply has arrived when the handle is freed, and its key with it. */
TEST(lock_start_names_the_key_after_the_handle_is_freed)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "wrong-key");
    struct pollfd replied = {.events = POLLIN};
    hf_async async = HF_ASYNC_INIT;
    static hf_error noted = HF_ERROR_INIT;
    hf_lock *lock;

    fixture_not_quorum(f);
    async.done = note_message;
    async.user = &noted;
    expect_status(HF_OK, hf_client_fd(f->client, &replied.fd, ERR));
    expect_status(HF_OK, hf_lock_new(f->client, name, NULL, &lock, ERR));
    expect_taken(lock);
    cut_lease(f->other, name, 0);
    put_hash(f->other, name, words("a", "1"), 0);
    expect_status(HF_OK, hf_lock_release_start(lock, &async, ERR));
    assert_int_equal(poll(&replied, 1, 10000), 1);
    hf_lock_free(lock);
    dispatch(f->client);
    assert_int_equal(noted.status, HF_WRONG_TYPE);
    assert_non_null(strstr(noted.message, "wrong-key"));
}

/* A reply that is not dispatched fills max_call_bytes; releases pass. */
TEST(lock_start_release_of_an_inner_hold_needs_no_room)
{
    fixture *f = *state;
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    struct pollfd replied = {.events = POLLIN};
    told read = {0}, released = {0};
    hf_async async = tell(&read);
    hf_buffer value = HF_BUFFER_INIT;
    hf_bytes key = fixture_key(f, "v");
    hf_client *client;
    hf_lock *lock;

    fixture_not_quorum(f);
    options.max_call_bytes = 1;
    client = fixture_client(f, &options);
    lock = fixture_lock(f, client, fixture_key(f, "l"), NULL);
    put_value(f->other, key, bytes("v"), 60000);
    expect_status(HF_OK, hf_client_fd(client, &replied.fd, ERR));
    expect_status(HF_OK, hf_value_get_start(client, key, &value, &async, ERR));
    assert_int_equal(poll(&replied, 1, 10000), 1);
    expect_taken(lock);
    expect_taken(lock);
    async = tell(&released);
    expect_status(HF_OK, hf_lock_release_start(lock, &async, ERR));
    await_told(client, &released, 1);
    expect_status(HF_OK, released.status);
    assert_true(hf_lock_is_held(lock));
    hf_buffer_free(&value);
}

/* In any stage, also behind others of the same client. */
TEST(lock_start_can_be_cancelled_at_any_moment)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *first = fixture_lock(f, f->other, name, NULL);
    hf_lock *second = fixture_lock(f, f->other, name, NULL);
    told told_first = {0};
    hf_async async = tell(&told_first);

    expect_taken(holder);
    expect_status(HF_OK, hf_lock_acquire_start(first, HF_FOREVER, &async, ERR));
    for (int i = 0; i < 100; i++) {
        told said = {0};
        hf_call *call = NULL;
        int64_t began_ms = test_now_ms();

        async = tell(&said);
        async.call = &call;
        expect_status(HF_OK,
                      hf_lock_acquire_start(second, HF_FOREVER, &async, ERR));
        for (volatile int spin = 0; spin < i * 1000; spin++)
            ;
        hf_call_cancel(call);
        hf_call_cancel(call);
        await_told(f->other, &said, 1);
        assert_true(said.status == HF_CANCELLED ||
                    said.status == HF_INDETERMINATE);
        assert_in_time(test_now_ms() - began_ms, 2 * WOKEN_MS);
    }
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    await_told(f->other, &told_first, 1);
    expect_status(HF_OK, told_first.status);
    expect_status(HF_OK, hf_lock_release(first, ERR));
}

/* A grant that a cancelled call does not report must not stay. */
TEST(lock_start_cancelled_leaves_no_lock_behind)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);

    for (int i = 0; i < 100; i++) {
        told said = {0};
        hf_async async = tell(&said);
        hf_call *call = NULL;

        async.call = &call;
        expect_status(HF_OK, hf_lock_acquire_start(lock, 0, &async, ERR));
        for (volatile int spin = 0; spin < i * 1000; spin++)
            ;
        hf_call_cancel(call);
        await_told(f->client, &said, 1);
        if (said.status == HF_OK)
            expect_status(HF_OK, hf_lock_release(lock, ERR));
        expect_status(HF_OK, hf_lock_acquire(other, 2000, ERR));
        expect_status(HF_OK, hf_lock_release(other, ERR));
    }
}

/* The holder releases at the moment the waiter is cancelled: after HF_OK the
 * waiter holds the lock, after any other status it is free. */
TEST(lock_start_cancelled_when_granted_is_held_or_free)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;

    for (int i = 0; i < 60; i++) {
        told said = {0};
        told released = {0};
        hf_async async = tell(&said);
        hf_call *call = NULL;

        /* It is free: what was cancelled before left nothing. */
        expect_status(HF_OK, hf_lock_acquire(holder, 2000, ERR));
        async.call = &call;
        expect_status(HF_OK,
                      hf_lock_acquire_start(waiter, HF_FOREVER, &async, ERR));
        expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                        info.waiters == 1,
                    5000);
        async = tell(&released);
        expect_status(HF_OK, hf_lock_release_start(holder, &async, ERR));
        for (volatile int spin = 0; spin < i * 5000; spin++)
            ;
        hf_call_cancel(call);
        await_told(f->client, &released, 1);
        await_told(f->other, &said, 1);
        expect_status(HF_OK, released.status);
        assert_int_equal(hf_lock_is_held(waiter), said.status == HF_OK);
        if (said.status == HF_OK)
            expect_status(HF_OK, hf_lock_release(waiter, ERR));
        else
            assert_true(said.status == HF_CANCELLED ||
                        said.status == HF_INDETERMINATE);
    }
}

#define CROWD 1000

TEST(lock_start_of_a_thousand_is_one_waiter_at_the_store)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock **crowd = calloc(CROWD, sizeof(hf_lock *));
    hf_call **calls = calloc(CROWD, sizeof(hf_call *));
    hf_lock_info info = HF_LOCK_INFO_INIT;
    told said = {0};

    assert_non_null(crowd);
    assert_non_null(calls);
    expect_taken(holder);
    for (size_t i = 0; i < CROWD; i++) {
        hf_async async = tell(&said);

        async.call = &calls[i];
        expect_status(HF_OK, hf_lock_new(f->other, name, NULL, &crowd[i], ERR));
        expect_status(HF_OK,
                      hf_lock_acquire_start(crowd[i], HF_FOREVER, &async, ERR));
    }
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 1,
                10000);
    assert_int_equal(said.count, 0);
    for (size_t i = CROWD; i-- > 0;)
        hf_call_cancel(calls[i]);
    await_told(f->other, &said, CROWD);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    for (size_t i = 0; i < CROWD; i++)
        hf_lock_free(crowd[i]);
    free(calls);
    free(crowd);
}

#define TURNS 40

typedef struct blocking {
    hf_lock *lock;
    unsigned turns;
} blocking;

static void *take_turns(void *user)
{
    blocking *self = user;

    while (self->turns < TURNS &&
           hf_lock_acquire(self->lock, 20000, NULL) == HF_OK) {
        self->turns++;
        if (hf_lock_release(self->lock, NULL) != HF_OK)
            break;
    }
    return NULL;
}

/* Threads and calls of one client share its local wait queue. */
TEST(lock_start_and_blocking_take_turns)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    blocking threads[3];
    pthread_t ids[3];

    for (size_t i = 0; i < 3; i++) {
        threads[i] = (blocking){fixture_lock(f, f->client, name, NULL), 0};
        assert_int_equal(
            0, pthread_create(&ids[i], NULL, take_turns, &threads[i]));
    }
    for (size_t i = 0; i < TURNS; i++) {
        expect_told(HF_OK, f->client,
                    hf_lock_acquire_start(lock, 20000, &async, ERR));
        expect_told(HF_OK, f->client, hf_lock_release_start(lock, &async, ERR));
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(0, pthread_join(ids[i], NULL));
        assert_int_equal(TURNS, threads[i].turns);
    }
}

/* ------------------------------------------------------------- priority
 */

typedef struct turn {
    told said;
    hf_lock *lock;
    hf_client *client;
} turn;

static void queue_up(fixture *f, hf_bytes name, turn *self, hf_client *client,
                     uint32_t priority, int64_t waiters)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_async async = tell(&self->said);

    opts.priority = priority;
    self->client = client;
    self->lock = fixture_lock(f, client, name, &opts);
    expect_status(HF_OK, hf_lock_acquire_start(self->lock, 60000, &async, ERR));
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == waiters,
                5000);
}

/* Of two clients, and of one. */
TEST(lock_goes_to_the_highest_priority_first)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    static const int order[] = {3, 1, 2, 0}; /* 1 came before 2 */
    turn turns[4] = {{.lock = NULL}};

    fixture_not_quorum(f);
    expect_taken(holder);
    queue_up(f, name, &turns[0], f->other, 0, 1);
    queue_up(f, name, &turns[1], f->other, 2, 2);
    queue_up(f, name, &turns[2], f->client, 2, 3);
    queue_up(f, name, &turns[3], f->client, HF_LOCK_PRIORITY_MAX, 4);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    for (int i = 0; i < 4; i++) {
        turn *next = &turns[order[i]];

        await_told(next->client, &next->said, 1);
        expect_status(HF_OK, next->said.status);
        for (int j = i + 1; j < 4; j++)
            assert_int_equal(turns[order[j]].said.count, 0);
        expect_status(HF_OK, hf_lock_release(next->lock, ERR));
    }
}

TEST(lock_priority_has_a_range)
{
    fixture *f = *state;
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    opts.priority = HF_LOCK_PRIORITY_MAX + 1;
    expect_status(HF_INVALID, hf_lock_new(f->client, fixture_key(f, "l"), &opts,
                                          &lock, ERR));
    opts.priority = 1;
    expect_status(
        f->store == FIXTURE_QUORUM ? HF_UNSUPPORTED : HF_OK,
        hf_lock_new(f->client, fixture_key(f, "l"), &opts, &lock, ERR));
    hf_lock_free(lock);
}
