/* SPDX-License-Identifier: Apache-2.0 */
/*
 * thread_test.c - eight threads on one client. Threads only count; the test's
 * own thread asserts after joining them.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/hash.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define THREADS 8

typedef struct crew crew;

typedef struct member {
    crew *all;
    size_t number;
    hf_lock *lock;
    pthread_t thread;
} member;

struct crew {
    hf_client *client;
    hf_bytes key;
    member members[THREADS];
    atomic_int failures; /* calls that returned an unexpected status */
    atomic_int inside;
    atomic_int overlaps;
    int unguarded; /* written under the lock only */
    atomic_ullong last_token;
};

static void start_crew(crew *all, fixture *f, void *(*work)(void *))
{
    all->client = f->client;
    for (size_t i = 0; i < THREADS; i++) {
        all->members[i].all = all;
        all->members[i].number = i;
        assert_int_equal(pthread_create(&all->members[i].thread, NULL, work,
                                        &all->members[i]),
                         0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(all->members[i].thread, NULL), 0);
    }
    assert_int_equal(atomic_load(&all->failures), 0);
}

static void check(crew *all, bool good)
{
    if (!good) {
        atomic_fetch_add(&all->failures, 1);
    }
}

/* One round in the critical section: alone, with a token that grows. */
static void be_alone(crew *all, hf_lock *lock)
{
    uint64_t token = hf_lock_token(lock);

    if (atomic_fetch_add(&all->inside, 1) != 0) {
        atomic_fetch_add(&all->overlaps, 1);
    }
    check(all, hf_lock_is_held(lock));
    check(all, token > atomic_exchange(&all->last_token, token));
    all->unguarded++;
    atomic_fetch_sub(&all->inside, 1);
}

static void *lock_rounds(void *user)
{
    member *m = user;

    for (int i = 0; i < 25; i++) {
        check(m->all, hf_lock_acquire(m->lock, 30000, NULL) == HF_OK);
        be_alone(m->all, m->lock);
        check(m->all, hf_lock_release(m->lock, NULL) == HF_OK);
    }
    return NULL;
}

TEST(threads_exclude_one_another)
{
    fixture *f = *state;
    static crew all;

    memset(&all, 0, sizeof(all));
    all.key = fixture_key(f, "l");
    for (size_t i = 0; i < THREADS; i++) {
        all.members[i].lock = fixture_lock(f, f->client, all.key, NULL);
    }
    start_crew(&all, f, lock_rounds);
    assert_int_equal(atomic_load(&all.overlaps), 0);
    assert_int_equal(all.unguarded, THREADS * 25);
    assert_no_key(f->client, all.key);
}

static void *count_by_cas(void *user)
{
    member *m = user;
    hf_client *client = m->all->client;
    hf_buffer current = HF_BUFFER_INIT;

    for (int done = 0; done < 20;) {
        char next[16];
        hf_bytes old;
        hf_status status;

        if (hf_value_get(client, m->all->key, &current, NULL) != HF_OK) {
            check(m->all, false);
            return NULL;
        }
        old = hf_view(current.data, current.size);
        (void)snprintf(next, sizeof(next), "%d",
                       (int)strtol(current.data, NULL, 10) + 1);
        status = hf_value_cas(client, m->all->key, &old, hf_str(next), NULL,
                              NULL, NULL);
        check(m->all, status == HF_OK || status == HF_CONFLICT);
        done += status == HF_OK;
        hf_buffer_free(&current);
    }
    return NULL;
}

TEST(threads_count_by_compare_and_set)
{
    fixture *f = *state;
    static crew all;

    memset(&all, 0, sizeof(all));
    all.key = fixture_key(f, "n");
    put_value(f->client, all.key, bytes("0"), 0);
    start_crew(&all, f, count_by_cas);
    assert_value(f->client, all.key, bytes("160"));
}

static void *use_own_keys(void *user)
{
    member *m = user;
    hf_client *client = m->all->client;
    char name[64];
    hf_bytes key;

    (void)snprintf(name, sizeof(name), "%.40s%zu",
                   (const char *)m->all->key.data, m->number);
    key = hf_str(name);
    for (int i = 0; i < 50; i++) {
        hf_field field = {bytes("f"), key};
        hf_buffer value = HF_BUFFER_INIT;

        check(m->all, hf_hash_put(client, key, &field, 1, NULL, NULL) == HF_OK);
        check(m->all,
              hf_hash_get(client, key, bytes("f"), &value, NULL) == HF_OK);
        check(m->all, value.size == key.size &&
                          memcmp(value.data, key.data, key.size) == 0);
        hf_buffer_free(&value);
        check(m->all, hf_hash_delete(client, key, NULL) == HF_OK);
    }
    return NULL;
}

TEST(threads_do_not_get_each_others_replies)
{
    fixture *f = *state;
    static crew all;

    memset(&all, 0, sizeof(all));
    all.key = fixture_key(f, "own");
    start_crew(&all, f, use_own_keys);
}

static void *reenter(void *user)
{
    member *m = user;

    for (int i = 0; i < 50; i++) {
        check(m->all, hf_lock_acquire(m->lock, 30000, NULL) == HF_OK);
        check(m->all, hf_lock_is_held(m->lock));
        check(m->all, hf_lock_release(m->lock, NULL) == HF_OK);
    }
    return NULL;
}

/* One handle shared by all threads: the counts must balance. */
TEST(threads_reenter_by_one_handle)
{
    fixture *f = *state;
    static crew all;
    hf_lock *lock;

    memset(&all, 0, sizeof(all));
    all.key = fixture_key(f, "l");
    lock = fixture_lock(f, f->client, all.key, NULL);
    for (size_t i = 0; i < THREADS; i++) {
        all.members[i].lock = lock;
    }
    start_crew(&all, f, reenter);
    assert_false(hf_lock_is_held(lock));
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    assert_no_key(f->client, all.key);
}

static void *release_it(void *user)
{
    member *m = user;

    if (m->number == 0) {
        check(m->all, hf_lock_release(m->lock, NULL) == HF_OK);
    }
    return NULL;
}

TEST(any_thread_may_release)
{
    fixture *f = *state;
    static crew all;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    memset(&all, 0, sizeof(all));
    all.members[0].lock = lock;
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    start_crew(&all, f, release_it);
    assert_false(hf_lock_is_held(lock));
}

static void *open_and_close(void *user)
{
    member *m = user;
    const char *url = m->all->key.data;

    for (int i = 0; i < 10; i++) {
        hf_client *client = NULL;
        hf_buffer value = HF_BUFFER_INIT;
        hf_status status = hf_client_open(url, NULL, &client, NULL);

        check(m->all, status == HF_OK);
        if (status == HF_OK) {
            status = hf_value_get(client, bytes("none"), &value, NULL);
            check(m->all, status == HF_NOT_FOUND);
            hf_client_close(client);
        }
    }
    return NULL;
}

TEST(threads_open_and_close_clients_of_one_store)
{
    fixture *f = *state;
    static crew all;

    memset(&all, 0, sizeof(all));
    all.key = hf_str(f->url);
    start_crew(&all, f, open_and_close);
}
