/* SPDX-License-Identifier: Apache-2.0 */
/*
 * embedded_grant_test.c - a waiter that is handed a lease learns it from the
 * event: it asks the store for nothing more.
 */
#include "embedded_store.h"

#include <pthread.h>
#include <stdatomic.h>

#include "core/client.h"
#include "engine/commit/tx.h"
#include "holdfast/lock.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"

static place at;
static hf_client *holder, *waiter;

/* Of the waiter's client. */
static atomic_int requests;

static void count_request(hf__store *store, hf__request *request)
{
    hf__embedded_store_ops.perform(store, request);
    atomic_fetch_add(&requests, 1);
}

static hf_client *open_client(void)
{
    hf_client *client = NULL;

    assert_int_equal(hf_client_open(at.url, NULL, &client, NULL), HF_OK);
    return client;
}

static int set_up(void **state)
{
    static hf__store_ops counting;

    (void)state;
    make_place(&at, "volatile", "");
    holder = open_client();
    waiter = open_client();
    counting = hf__embedded_store_ops;
    counting.perform = count_request;
    waiter->store->ops = &counting;
    atomic_store(&requests, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hf_client_close(waiter);
    hf_client_close(holder);
    remove_place(&at);
    return 0;
}

EACH_TEST_WITH(set_up, tear_down);

static void *acquire_lease(void *user)
{
    return hf_lock_acquire(user, 60000, NULL) == HF_OK ? user : NULL;
}

static void await_requests(int count)
{
    while (atomic_load(&requests) < count)
        hf__clock_sleep_until(hf__clock_boot_ms() + 1);
}

/* `to` queues while `from` has it, and is given it by the release. */
static void hand_over(hf_lock *from, hf_lock *to)
{
    pthread_t thread;
    uint64_t before;
    void *acquired;

    assert_int_equal(hf_lock_acquire(from, 0, NULL), HF_OK);
    before = hf_lock_token(from);
    assert_int_equal(pthread_create(&thread, NULL, acquire_lease, to), 0);
    await_requests(1);
    assert_int_equal(hf_lock_release(from, NULL), HF_OK);
    assert_int_equal(pthread_join(thread, &acquired), 0);
    assert_ptr_equal(acquired, to);
    assert_true(hf_lock_token(to) > before);
}

static void free_both(hf_lock *from, hf_lock *to)
{
    assert_int_equal(hf_lock_release(to, NULL), HF_OK);
    hf_lock_free(from);
    hf_lock_free(to);
}

TEST(lock_that_is_handed_over_takes_one_request)
{
    hf_lock *from, *to;

    assert_int_equal(hf_lock_new(holder, hf_str("l"), NULL, &from, NULL),
                     HF_OK);
    assert_int_equal(hf_lock_new(waiter, hf_str("l"), NULL, &to, NULL), HF_OK);
    hand_over(from, to);
    assert_int_equal(atomic_load(&requests), 1);
    free_both(from, to);
}

TEST(permit_that_is_handed_over_takes_one_request)
{
    hf_lock *from, *to;

    assert_int_equal(
        hf_semaphore_new(holder, hf_str("s"), 1, NULL, &from, NULL), HF_OK);
    assert_int_equal(hf_semaphore_new(waiter, hf_str("s"), 1, NULL, &to, NULL),
                     HF_OK);
    hand_over(from, to);
    assert_int_equal(atomic_load(&requests), 1);
    free_both(from, to);
}

/* A sidecar of version 2 has no room for what events say. */
TEST(lock_is_handed_over_without_words)
{
    hf__sidecar_map *map = hf__embedded_env(waiter->store)->sidecar.map;
    hf_lock *from, *to;

    assert_int_equal(hf_lock_new(holder, hf_str("l"), NULL, &from, NULL),
                     HF_OK);
    assert_int_equal(hf_lock_new(waiter, hf_str("l"), NULL, &to, NULL), HF_OK);
    map->version = 2;
    hand_over(from, to);
    map->version = HF__SIDECAR_VERSION;
    assert_int_equal(atomic_load(&requests), 2);
    free_both(from, to);
}
