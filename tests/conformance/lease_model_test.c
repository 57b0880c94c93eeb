/* SPDX-License-Identifier: Apache-2.0 */
/*
 * lease_model_test.c - random acquires, releases and cancelled waits of several
 * clients on a read-write lock and on a semaphore, against a model: after each
 * call exactly those hold it who hold it there, so that no one is let in too
 * early and no one waits for what is free.
 *
 * In the model both are permits and a queue: a reader takes one permit, a
 * writer all of them. On a server the order may differ while a client still
 * subscribes; there the test is that never more permits are held than there
 * are, and that no one waits who could be let in, whatever the order.
 *
 * LEASE_MODEL_STEPS in the environment makes more than the 60 calls of `make
 * test`, and LEASE_MODEL_SEED other ones.
 */
#include <stdlib.h>

#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "support/prng.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

#define CLIENTS 5
#define PERMITS 5

/* On an embedded store, a poll, which would hide a lost wake-up, comes only
 * after a second; on a server, waiters that still subscribe need one. */
#define WOKEN_MS (w->in_order ? 700 : 10000)

typedef struct user {
    hf_client *client;
    hf_lock *handles[PERMITS + 1]; /* by how many permits they take */
    hf_lock *used;                 /* NULL: it neither holds nor waits */
    int64_t weight;
    bool holds; /* in the model */
    told said;
    hf_call *call;
} user;

typedef struct world {
    fixture *f;
    hf_bytes name;
    user users[CLIENTS];
    user *queue[CLIENTS];
    size_t waiting;
    int64_t held;
    bool in_order;
} world;

static uint64_t number_of(const char *variable, uint64_t otherwise)
{
    const char *text = getenv(variable);

    return text == NULL ? otherwise : strtoull(text, NULL, 10);
}

/* ------------------------------------------------------------------- model */

static void leave(world *w, const user *u)
{
    size_t at = 0;

    while (w->queue[at] != u)
        at++;
    w->waiting--;
    memmove(w->queue + at, w->queue + at + 1,
            (w->waiting - at) * sizeof(w->queue[0]));
}

static void let_in(world *w, user *u)
{
    leave(w, u);
    w->held += u->weight;
    u->holds = true;
    assert_true(w->held <= PERMITS);
}

static void hand_over(world *w)
{
    while (w->in_order && w->waiting > 0 &&
           w->held + w->queue[0]->weight <= PERMITS)
        let_in(w, w->queue[0]);
}

/* Could each of those who wait be let in now? */
static bool is_wide_open(const world *w)
{
    int64_t most = 0;

    for (size_t i = 0; i < w->waiting; i++)
        most = w->queue[i]->weight > most ? w->queue[i]->weight : most;
    return w->waiting > 0 && w->held + most <= PERMITS;
}

/* ------------------------------------------------------------------- store */

static bool agree(world *w)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(w->f->client, w->name, &info, ERR);

    assert_true(status == HF_OK || status == HF_NOT_FOUND);
    for (size_t i = 0; i < CLIENTS; i++) {
        user *u = &w->users[i];

        dispatch(u->client);
        if (u->used == NULL || u->holds == (u->said.count == 1))
            continue;
        if (w->in_order && u->holds)
            return false;
        assert_false(w->in_order);
        let_in(w, u);
    }
    return w->in_order ? (size_t)info.waiters == w->waiting : !is_wide_open(w);
}

static void acquire(world *w, user *u, int64_t weight)
{
    hf_async async = tell(&u->said);

    async.call = &u->call;
    u->weight = weight;
    u->used = u->handles[weight];
    u->holds = false;
    u->said.count = 0;
    w->queue[w->waiting++] = u;
    expect_status(HF_OK,
                  hf_lock_acquire_start(u->used, HF_FOREVER, &async, ERR));
}

static void end(world *w, user *u)
{
    if (u->holds) {
        expect_status(HF_OK, u->said.status);
        w->held -= u->weight;
        expect_status(HF_OK, hf_lock_release(u->used, ERR));
    } else {
        leave(w, u);
        hf_call_cancel(u->call);
        await_told(u->client, &u->said, 1);
        if (u->said.status == HF_OK) /* just before */
            expect_status(HF_OK, hf_lock_release(u->used, ERR));
        else if (u->said.status != HF_INDETERMINATE) /* a try was in flight */
            expect_status(HF_CANCELLED, u->said.status);
    }
    u->used = NULL;
}

static void run(world *w, const int64_t *weights, size_t count)
{
    prng random = prng_of(number_of("LEASE_MODEL_SEED", 1), count, 0);
    uint64_t steps = number_of("LEASE_MODEL_STEPS", 60);

    for (uint64_t i = 0; i < steps; i++) {
        user *u = &w->users[prng_below(&random, CLIENTS)];

        if (u->used == NULL)
            acquire(w, u, weights[prng_below(&random, count)]);
        else
            end(w, u);
        hand_over(w);
        expect_soon(agree(w), WOKEN_MS);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        if (w->users[i].used != NULL)
            end(w, &w->users[i]);
        hand_over(w);
        expect_soon(agree(w), WOKEN_MS);
    }
    expect_soon(key_is_gone(w->f->client, w->name), 5000);
}

static void begin(world *w, fixture *f)
{
    *w = (world){.f = f,
                 .name = fixture_key(f, "m"),
                 .in_order = fixture_is_embedded(f)};
    for (size_t i = 0; i < CLIENTS; i++)
        w->users[i].client = fixture_client(f, NULL);
}

TEST(model_of_a_read_write_lock_agrees)
{
    fixture *f = *state;
    world w;

    begin(&w, f);
    for (size_t i = 0; i < CLIENTS; i++) {
        user *u = &w.users[i];

        expect_status(HF_OK,
                      hf_rwlock_new(u->client, w.name, 0, NULL, &u->handles[1],
                                    &u->handles[PERMITS], ERR));
        fixture_keep_lock(f, u->handles[1]);
        fixture_keep_lock(f, u->handles[PERMITS]);
    }
    run(&w, (const int64_t[]){1, 1, PERMITS}, 3);
}

TEST(model_of_a_semaphore_agrees)
{
    fixture *f = *state;
    world w;

    begin(&w, f);
    for (size_t i = 0; i < CLIENTS; i++) {
        user *u = &w.users[i];

        for (int64_t weight = 1; weight <= 3; weight++) {
            expect_status(HF_OK, hf_semaphore_new_weighted(
                                     u->client, w.name, PERMITS, weight, NULL,
                                     &u->handles[weight], ERR));
            fixture_keep_lock(f, u->handles[weight]);
        }
    }
    run(&w, (const int64_t[]){1, 2, 3, 3}, 4);
}
