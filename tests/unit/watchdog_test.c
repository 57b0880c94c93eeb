/* SPDX-License-Identifier: Apache-2.0 */
/*
 * watchdog_test.c - renewal and loss with a store of the test's own, which
 * grants, refuses, fails or is silent as each test says.
 */
#include <stdio.h>

#include "client/open.h"
#include "holdfast/lock.h"
#include "lease/handle.h"
#include "support/slowness.h"
#include "support/test.h"
#include "util/clock.h"
#include "util/error.h"
#include "util/mem.h"

#define PENDING_MAX 64

/* How late a thread may be on a machine that runs other tests too. */
#define BUSY_MS 30

/* What the store does with a renewal. */
enum answer { RENEW, TAKE, EXPIRE, FAIL, STAY_SILENT };

typedef struct fake_store {
    hf__store base;
    atomic_int answer;
    atomic_int renewals; /* scripts */
    atomic_int renewed;  /* locks in them */
    atomic_int largest;  /* locks in one of them */
    atomic_int releases; /* by perform */
    atomic_int undos;    /* by submit */
    hf_status acquire;   /* HF_OK: grant */
    hf_status release;   /* HF_OK: `released` is the reply */
    int64_t released;
    uint32_t release_sends;
    uint32_t shards; /* that keys are spread over; 0: one */
    atomic_int pending_count;
    hf__request *pending[PENDING_MAX];
} fake_store;

static fake_store fake;

static void answer_renewal(hf__request *request, enum answer answer)
{
    request->status = HF_OK;
    switch (answer) {
    case RENEW:
        assert_true(hf__reply_set_array(&request->reply, 0, &request->arena));
        break;
    case TAKE:
    case EXPIRE:
        assert_true(hf__reply_set_array(&request->reply, 2, &request->arena));
        hf__reply_set_integer(&request->reply.array.items[0], 1);
        hf__reply_set_integer(&request->reply.array.items[1],
                              answer == TAKE ? -1 : 0);
        break;
    case FAIL:
    case STAY_SILENT:
        hf__request_fail(request, HF_UNAVAILABLE, "no");
        break;
    }
}

static void fake_perform(hf__store *store, hf__request *request)
{
    static int64_t token = 1000;
    uint32_t script = request->script->index;

    (void)store;
    request->status = HF_OK;
    request->sends = 1;
    if (script == HF__SCRIPT_LOCK_ACQUIRE && fake.acquire != HF_OK) {
        hf__request_fail(request, fake.acquire, "as the test says");
    } else if (script == HF__SCRIPT_LOCK_ACQUIRE) {
        hf__reply_set_integer(&request->reply, ++token);
    } else if (script == HF__SCRIPT_LOCK_RENEW) {
        answer_renewal(request, (enum answer)atomic_load(&fake.answer));
    } else {
        atomic_fetch_add(&fake.releases, 1);
        request->sends = fake.release_sends;
        hf__reply_set_integer(&request->reply, fake.released);
        if (fake.release != HF_OK)
            hf__request_fail(request, fake.release, "as the test says");
    }
}

static void submit_one(hf__request *request)
{
    int count = (int)request->key_count;

    if (request->script->index == HF__SCRIPT_LOCK_RELEASE) {
        atomic_fetch_add(&fake.undos, 1);
        request->status = HF_OK;
        request->on_done(request);
        return;
    }
    atomic_fetch_add(&fake.renewals, 1);
    atomic_fetch_add(&fake.renewed, count);
    if (count > atomic_load(&fake.largest))
        atomic_store(&fake.largest, count);
    if (atomic_load(&fake.answer) == STAY_SILENT) {
        int slot = atomic_load(&fake.pending_count);

        assert_true(slot < PENDING_MAX);
        fake.pending[slot] = request;
        atomic_store(&fake.pending_count, slot + 1);
        return;
    }
    answer_renewal(request, (enum answer)atomic_load(&fake.answer));
    request->on_done(request);
}

static void fake_submit(hf__store *store, hf__request *const *requests,
                        size_t count)
{
    (void)store;
    for (size_t i = 0; i < count; i++)
        submit_one(requests[i]);
}

static const char *fake_inbox(hf__store *store)
{
    (void)store;
    return "0123456789abcdef";
}

/* Keys are numbers where shards count. */
static uint32_t fake_shard(const hf__store *store, hf_bytes key)
{
    const char *digits = key.data;
    uint32_t number = 0;

    (void)store;
    for (size_t i = 0; fake.shards != 0 && i < key.size; i++)
        number = number * 10 + (uint32_t)(digits[i] - '0');
    return fake.shards == 0 ? 0 : number % fake.shards;
}

/* The requests without a reply complete now, as the contract requires. */
static void fake_close(hf__store *store)
{
    int count = atomic_load(&fake.pending_count);

    (void)store;
    for (int i = 0; i < count; i++) {
        if (fake.pending[i] == NULL)
            continue;
        hf__request_fail(fake.pending[i], HF_INDETERMINATE, "closing");
        fake.pending[i]->on_done(fake.pending[i]);
    }
}

static const hf__store_ops fake_ops = {.perform = fake_perform,
                                       .submit = fake_submit,
                                       .inbox = fake_inbox,
                                       .shard = fake_shard,
                                       .close = fake_close};

static int set_up(void **state)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;

    options.request_ms = 1000;
    options.max_calls = 1000;
    options.max_call_bytes = 1000000;
    client = hf__client_new(&options);
    assert_non_null(client);
    memset(&fake, 0, sizeof(fake));
    fake.base.ops = &fake_ops;
    fake.released = 1;
    fake.release_sends = 1;
    client->store = &fake.base;
    /* so that it sends nothing */
    atomic_store(&client->leases->registry.wanted, true);
    *state = client;
    return 0;
}

static int tear_down(void **state)
{
    hf_client_close(*state);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

typedef struct losses {
    atomic_int count;
    _Atomic hf_status reason;
    _Atomic int64_t told_ms;
    atomic_bool held;
} losses;

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    losses *told = user;

    atomic_store(&told->held, hf_lock_is_held(lock));
    atomic_store(&told->reason, reason);
    atomic_store(&told->told_ms, hf__clock_boot_ms());
    atomic_fetch_add(&told->count, 1);
}

static hf_lock *lock_of(hf_client *client, const char *name, int64_t ttl_ms,
                        losses *told)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock;

    memset(told, 0, sizeof(*told));
    options.ttl_ms = ttl_ms;
    options.on_lost = on_lost;
    options.user = told;
    assert_int_equal(HF_OK,
                     hf_lock_new(client, hf_str(name), &options, &lock, NULL));
    return lock;
}

static void wait_for(const atomic_int *counter, int least, int64_t limit_ms)
{
    int64_t began_ms = hf__clock_boot_ms();

    while (atomic_load(counter) < least) {
        assert_in_time(hf__clock_boot_ms() - began_ms, limit_ms);
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
    }
}

TEST(renewals_keep_a_short_lease_alive)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", slowed_ms(150), &told);

    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&fake.renewals, 6, 2000);
    assert_true(hf_lock_is_held(lock));
    assert_int_equal(0, atomic_load(&told.count));
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    hf_lock_free(lock);
}

TEST(loss_is_reported_before_the_deadline_when_the_store_is_silent)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 200, &told);
    int64_t before_ms, end_ms;

    atomic_store(&fake.answer, STAY_SILENT);
    before_ms = hf__clock_boot_ms();
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    end_ms = before_ms + 200 - 4; /* 1 % and 2 ms */
    wait_for(&told.count, 1, 1000);
    assert_int_equal(HF_INDETERMINATE, atomic_load(&told.reason));
    assert_false(atomic_load(&told.held));
    assert_in_range(atomic_load(&told.told_ms), before_ms + 150,
                    end_ms + BUSY_MS);
    assert_false(hf_lock_is_held(lock));
    hf_lock_free(lock);
}

TEST(loss_is_reported_at_once_when_another_has_the_lock)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 600, &told);
    int64_t before_ms = hf__clock_boot_ms();

    atomic_store(&fake.answer, TAKE);
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&told.count, 1, 2000);
    assert_int_equal(HF_LOST, atomic_load(&told.reason));
    assert_took(atomic_load(&told.told_ms) - before_ms, 150, 500);
    assert_int_equal(HF_LOST, hf_lock_try(lock, NULL));
    fake.released = -1;
    assert_int_equal(HF_LOST, hf_lock_release(lock, NULL));
    assert_int_equal(HF_INVALID, hf_lock_release(lock, NULL));
    hf_lock_free(lock);
    assert_int_equal(1, atomic_load(&told.count));
}

TEST(errors_are_retried_fast_until_the_store_answers)
{
    losses told;
    int64_t ttl_ms = slowed_ms(400);
    hf_lock *lock = lock_of(*state, "a", ttl_ms, &told);

    atomic_store(&fake.answer, FAIL);
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    /* A period of a third would give 2. */
    wait_for(&fake.renewals, 4, ttl_ms);
    atomic_store(&fake.answer, RENEW);
    hf__clock_sleep_until(hf__clock_boot_ms() + ttl_ms * 5 / 4);
    assert_true(hf_lock_is_held(lock));
    assert_int_equal(0, atomic_load(&told.count));
    hf_lock_free(lock);
}

TEST(many_locks_are_renewed_in_batches_of_128)
{
    enum { COUNT = 1000 };
    static hf_lock *locks[COUNT];
    static losses told[COUNT];
    char name[16];

    for (int i = 0; i < COUNT; i++) {
        snprintf(name, sizeof(name), "lock-%d", i);
        locks[i] = lock_of(*state, name, 3000, &told[i]);
        assert_int_equal(HF_OK, hf_lock_try(locks[i], NULL));
    }
    wait_for(&fake.renewed, COUNT, 3000);
    assert_in_range(atomic_load(&fake.largest), 2, 128);
    assert_true(atomic_load(&fake.renewals) < COUNT / 4);
    for (int i = 0; i < COUNT; i++) {
        assert_true(hf_lock_is_held(locks[i]));
        hf_lock_free(locks[i]);
        assert_int_equal(0, atomic_load(&told[i].count));
    }
}

TEST(an_answer_after_the_release_changes_nothing)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 100, &told);

    atomic_store(&fake.answer, STAY_SILENT);
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&fake.pending_count, 1, 1000);
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    answer_renewal(fake.pending[0], TAKE);
    fake.pending[0]->on_done(fake.pending[0]);
    fake.pending[0] = NULL;
    assert_true(hf_lock_is_held(lock));
    hf_lock_free(lock);
    assert_int_equal(0, atomic_load(&told.count));
}

TEST(a_handle_may_be_freed_while_its_renewal_is_in_flight)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 100, &told);

    atomic_store(&fake.answer, STAY_SILENT);
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&fake.pending_count, 1, 1000);
    hf_lock_free(lock); /* the rest is checked by the sanitizer, in tear_down */
    assert_int_equal(1, atomic_load(&fake.releases));
}

TEST(max_hold_ends_the_hold_with_its_own_reason)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    losses told = {0};
    hf_lock *lock;
    int64_t before_ms = hf__clock_boot_ms();

    options.ttl_ms = 100;
    options.max_hold_ms = 300;
    options.on_lost = on_lost;
    options.user = &told;
    assert_int_equal(HF_OK,
                     hf_lock_new(*state, hf_str("a"), &options, &lock, NULL));
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&told.count, 1, 1000);
    assert_int_equal(HF_TIMEOUT, atomic_load(&told.reason));
    assert_took(atomic_load(&told.told_ms) - before_ms, 280, 300 + BUSY_MS);
    assert_int_equal(HF_TIMEOUT, hf_lock_renew(lock, NULL));
    hf_lock_free(lock);
}

TEST(a_margin_moves_the_loss_ahead)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    losses told = {0};
    hf_lock *lock;
    int64_t before_ms = hf__clock_boot_ms();

    options.ttl_ms = 400;
    options.lost_margin_ms = 200;
    options.on_lost = on_lost;
    options.user = &told;
    atomic_store(&fake.answer, FAIL);
    assert_int_equal(HF_OK,
                     hf_lock_new(*state, hf_str("a"), &options, &lock, NULL));
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    wait_for(&told.count, 1, 1000);
    assert_took(atomic_load(&told.told_ms) - before_ms, 150, 194 + BUSY_MS);
    hf_lock_free(lock);
}

TEST(an_unanswered_acquire_is_undone)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 1000, &told);

    fake.acquire = HF_INDETERMINATE;
    assert_int_equal(HF_INDETERMINATE, hf_lock_try(lock, NULL));
    assert_int_equal(1, atomic_load(&fake.undos));
    assert_false(hf_lock_is_held(lock));
    assert_int_equal(HF_INVALID, hf_lock_release(lock, NULL));
    hf_lock_free(lock);
}

TEST(a_refused_acquire_is_not_undone)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 1000, &told);

    fake.acquire = HF_UNAVAILABLE;
    assert_int_equal(HF_UNAVAILABLE, hf_lock_try(lock, NULL));
    assert_int_equal(0, atomic_load(&fake.undos));
    hf_lock_free(lock);
}

TEST(a_release_that_was_resent_and_finds_nothing_succeeded)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 1000, &told);

    fake.released = 0;
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    assert_int_equal(HF_EXPIRED, hf_lock_release(lock, NULL));
    fake.release_sends = 2;
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    fake.released = -1; /* a waiter acquired it in between */
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    hf_lock_free(lock);
}

TEST(every_hold_needs_its_release)
{
    losses told;
    hf_lock *lock = lock_of(*state, "a", 1000, &told);
    uint64_t token;

    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    token = hf_lock_token(lock);
    assert_int_equal(HF_OK, hf_lock_try(lock, NULL));
    assert_true(token == hf_lock_token(lock));
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    assert_true(hf_lock_is_held(lock));
    assert_int_equal(0, atomic_load(&fake.releases));
    assert_int_equal(HF_OK, hf_lock_release(lock, NULL));
    assert_int_equal(1, atomic_load(&fake.releases));
    assert_false(hf_lock_is_held(lock));
    hf_lock_free(lock);
}

/* us of processor time to renew all locks, spread over `shards`. */
static int64_t renew_over(uint32_t shards, hf_lock *const *locks, size_t count,
                          hf_status *statuses)
{
    int64_t began_us;
    int64_t took_us;

    fake.shards = shards;
    atomic_store(&fake.renewals, 0);
    atomic_store(&fake.renewed, 0);
    atomic_store(&fake.largest, 0);
    began_us = hf__clock_thread_us();
    assert_int_equal(HF_OK, hf_lock_renew_many(locks, count, statuses, NULL));
    took_us = hf__clock_thread_us() - began_us;
    assert_int_equal(atomic_load(&fake.renewed), count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(HF_OK, statuses[i]);
    return took_us;
}

#define MANY ((size_t)50000)
#define SLOTS 16384

/* One script for each shard of a cluster, found without searching all of them:
 * that took 500 times as long as one shard, and takes some 2 times. */
TEST(renewals_over_many_shards_take_linear_time)
{
    hf_lock **locks = hf__calloc(MANY, sizeof(hf_lock *));
    hf_status *statuses = hf__calloc(MANY, sizeof(*statuses));
    int64_t one_us;
    int64_t many_us;
    losses told;
    char name[16];

    assert_non_null(locks);
    assert_non_null(statuses);
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(name, sizeof(name), "%zu", i);
        locks[i] = lock_of(*state, name, 600000, &told);
        assert_int_equal(HF_OK, hf_lock_try(locks[i], NULL));
    }
    one_us = renew_over(1, locks, MANY, statuses);
    assert_int_equal(atomic_load(&fake.renewals), (MANY + 127) / 128);
    assert_int_equal(atomic_load(&fake.largest), 128);
    many_us = renew_over(SLOTS, locks, MANY, statuses);
    assert_int_equal(atomic_load(&fake.renewals), SLOTS);
    print_message("%zu locks: %d shards take %.1f times as long as one\n", MANY,
                  SLOTS, (double)many_us / (double)one_us);
    assert_true(many_us < 20 * one_us);
    for (size_t i = 0; i < MANY; i++) {
        assert_int_equal(HF_OK, hf_lock_release(locks[i], NULL));
        hf_lock_free(locks[i]);
    }
    hf__free(locks);
    hf__free(statuses);
}
