/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_async_test.c - acquiring, renewing and releasing locks without a thread
 * that waits.
 */
#include "support/store_fixture.h"
#include "support/told.h"

/* How long a wake-up may take; the library's poll, which would hide a lost one,
 * comes after a second. */
#define WOKEN_MS 500

static void lock_start_acquires_renews_and_releases(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, f->client, name, NULL);
    hf_lock *other = fixture_lock(f, f->other, name, NULL);

    expect_told(HF_OK, f->client, hf_lock_acquire_start(lock, 0, &async, ERR));
    assert_true(hf_lock_is_held(lock));
    assert_true(hf_lock_token(lock) > 0);
    expect_told(HF_HELD, f->other,
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

static void lock_start_waits_and_is_woken(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    told said = {0};
    hf_async async = tell(&said);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t released_ms;

    expect_status(HF_OK, hf_lock_try(holder, ERR));
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
    assert_true(test_now_ms() - released_ms < WOKEN_MS);
    assert_true(hf_lock_is_held(waiter));
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
}

static void lock_start_ends_its_wait_in_time(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_lock *waiter = fixture_lock(f, f->other, name, NULL);
    hf_lock_info info = HF_LOCK_INFO_INIT;
    int64_t began_ms = test_now_ms();

    expect_status(HF_OK, hf_lock_try(holder, ERR));
    expect_told(HF_TIMEOUT, f->other,
                hf_lock_acquire_start(waiter, 200, &async, ERR));
    assert_in_range(test_now_ms() - began_ms, 200, 2000);
    expect_soon(hf_lock_inspect(f->client, name, &info, NULL) == HF_OK &&
                    info.waiters == 0,
                5000);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    expect_told(HF_OK, f->other,
                hf_lock_acquire_start(waiter, 200, &async, ERR));
    expect_status(HF_OK, hf_lock_release(waiter, ERR));
}

static void lock_start_is_cancelled_at_once(void **state)
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

    expect_status(HF_OK, hf_lock_try(holder, ERR));
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
    assert_true(test_now_ms() - cancelled_ms < WOKEN_MS);
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

/* Hold it for no time: count, and pass it on. */
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

static void lock_start_lets_many_of_one_client_take_turns(void **state)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    relay relays[WAITERS];
    unsigned turns = 0;
    unsigned inside = 0;
    hf_async async = HF_ASYNC_INIT;

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

static void lock_start_refuses_what_the_blocking_one_refuses(void **state)
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        fixture_test(lock_start_acquires_renews_and_releases),
        fixture_test(lock_start_waits_and_is_woken),
        fixture_test(lock_start_ends_its_wait_in_time),
        fixture_test(lock_start_is_cancelled_at_once),
        fixture_test(lock_start_lets_many_of_one_client_take_turns),
        fixture_test(lock_start_refuses_what_the_blocking_one_refuses),
    };

    return fixture_run(tests);
}
