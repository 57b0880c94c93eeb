/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lock_order_test.c - first come, first served, whichever client the waiting
 * threads belong to. To the store, clients are the same as processes.
 */
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/lock.h"
#include "support/sleepers.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define THREADS 40
#define CLIENTS 4

/* On a quorum, long enough for the client's next thread to queue on a majority
 * meanwhile: no release can do that there. */
#define HOLD_MS 3
#define QUORUM_HOLD_MS 40

/* Those that arrive closer together may be served in either order. */
#define APART_MS 100

typedef struct arrival {
    pthread_t thread;
    hf_lock *lock;
    int64_t began_ms;
    unsigned turn; /* the how many-th to hold the lock */
    hf_status status;
} arrival;

static arrival arrivals[THREADS];
static atomic_uint turns;
static int hold_ms;

static void *hold_once(void *user)
{
    arrival *self = user;

    self->began_ms = test_now_ms();
    self->status = hf_lock_acquire(self->lock, 60000, NULL);
    self->turn = atomic_fetch_add(&turns, 1);
    (void)poll(NULL, 0, hold_ms);
    if (self->status == HF_OK)
        self->status = hf_lock_release(self->lock, NULL);
    return NULL;
}

static unsigned wrong_pairs(unsigned count, int64_t apart_ms)
{
    unsigned wrong = 0;

    for (unsigned i = 0; i < count; i++) {
        for (unsigned j = 0; j < count; j++)
            wrong += arrivals[j].began_ms - arrivals[i].began_ms > apart_ms &&
                     arrivals[j].turn < arrivals[i].turn;
    }
    return wrong;
}

/* Thread by thread, each of the next client. */
static void expect_order(fixture *f, unsigned clients, unsigned count,
                         int64_t gap_ms)
{
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->client, name, NULL);
    hf_client *client[CLIENTS];
    sleepers *late = sleepers_start();
    int64_t late_ms;
    unsigned wrong;

    atomic_store(&turns, 0);
    assert_non_null(late);
    hold_ms = f->quorum[0] != NULL ? QUORUM_HOLD_MS : HOLD_MS;
    for (unsigned i = 0; i < clients; i++)
        client[i] = fixture_client(f, NULL);
    for (unsigned i = 0; i < count; i++)
        arrivals[i].lock = fixture_lock(f, client[i % clients], name, NULL);
    expect_taken(holder);
    for (unsigned i = 0; i < count; i++) {
        assert_int_equal(
            pthread_create(&arrivals[i].thread, NULL, hold_once, &arrivals[i]),
            0);
        (void)poll(NULL, 0, (int)slowed_ms(gap_ms));
    }
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    for (unsigned i = 0; i < count; i++)
        (void)pthread_join(arrivals[i].thread, NULL);
    for (unsigned i = 0; i < count; i++)
        expect_status(HF_OK, arrivals[i].status);
    /* A client learns the store's clock from a reply, whose request may have
     * been as late as the machine. */
    late_ms = sleepers_late_us(late) / 1000;
    sleepers_stop(late);
    wrong = wrong_pairs(count, slowed_ms(APART_MS) + 2 * late_ms);
    for (unsigned i = 0; wrong > 0 && i < count; i++)
        print_error("%u: after %d ms, turn %u\n", i,
                    (int)(arrivals[i].began_ms - arrivals[0].began_ms),
                    arrivals[i].turn);
    assert_int_equal(wrong, 0);
}

TEST(threads_of_two_clients_are_served_as_they_arrive)
{
    expect_order(*state, 2, 40, 12);
}

TEST(threads_of_four_clients_are_served_as_they_arrive)
{
    expect_order(*state, 4, 16, 30);
}
