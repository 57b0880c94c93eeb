/* SPDX-License-Identifier: Apache-2.0 */
/*
 * close_test.c - hf_client_close() while calls are under way or begin, and
 * handles that outlive their client. What it does to asynchronous calls is in
 * async_life_test.c.
 */
#include <pthread.h>
#include <stdatomic.h>

#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/store.h"
#include "holdfast/value.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

FIXTURE_TESTS();

#define NAMES 2
#define STORM 8

/* A call on another thread. */
typedef struct caller {
    pthread_t thread;
    hf_client *client;
    hf_lock *locks[NAMES];
    hf_script *script;
    hf_status status;
    hf_status statuses[NAMES];
    atomic_uint rounds;
    hf_status odd; /* a status that no call may return; HF_OK: none */
} caller;

/* Static, so that they outlive a test that fails. */
static caller callers[STORM];

static caller *begin(size_t at, void *(*run)(void *), caller first)
{
    callers[at] = first;
    assert_int_equal(
        pthread_create(&callers[at].thread, NULL, run, &callers[at]), 0);
    return &callers[at];
}

static int64_t waiting(fixture *f, hf_bytes name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_status status = hf_lock_inspect(f->client, name, &info, NULL);

    return status == HF_OK || status == HF_NOT_FOUND ? info.waiters : 0;
}

static void *acquire(void *user)
{
    caller *self = user;

    self->status = hf_lock_acquire(self->locks[0], HF_FOREVER, NULL);
    return NULL;
}

static void *acquire_many(void *user)
{
    caller *self = user;

    self->status = hf_lock_acquire_many(self->locks, NAMES, HF_FOREVER,
                                        self->statuses, NULL);
    for (size_t i = 0; i < NAMES && self->status == HF_OK; i++)
        self->status = self->statuses[i];
    return NULL;
}

static void *run_script(void *user)
{
    caller *self = user;
    hf_reply *reply = NULL;

    do {
        self->status =
            hf_script_run(self->script, NULL, 0, NULL, 0, &reply, NULL);
        if (self->status == HF_OK)
            hf_reply_free(reply);
        atomic_fetch_add(&self->rounds, 1);
    } while (self->status == HF_OK);
    return NULL;
}

static bool is_ended(hf_status status)
{
    return status == HF_CANCELLED || status == HF_INVALID;
}

static void join_all(size_t count)
{
    for (size_t i = 0; i < count; i++)
        (void)pthread_join(callers[i].thread, NULL);
    for (size_t i = 0; i < count; i++) {
        if (!is_ended(callers[i].status))
            fail_msg("caller %zu: %s", i, hf_status_name(callers[i].status));
    }
}

/* On one handle, and in the local wait queue of one name. */
TEST(close_ends_the_waits_of_other_threads)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_bytes name = fixture_key(f, "l");
    hf_lock *held = fixture_lock(f, f->client, name, NULL);
    caller with = {.client = client};

    expect_status(HF_OK, hf_lock_acquire(held, 10000, ERR));
    with.locks[0] = fixture_lock(f, client, name, NULL);
    begin(0, acquire, with);
    begin(1, acquire, with);
    with.locks[0] = fixture_lock(f, client, name, NULL);
    begin(2, acquire, with);
    expect_soon(waiting(f, name) == 1, 20000);
    fixture_close_client(f, client);
    join_all(3);
    assert_true(waiting(f, name) == 0);
    assert_true(hf_lock_is_held(held));
    expect_status(HF_OK, hf_lock_release(held, ERR));
    expect_taken(held);
}

/* A store that is busy with the script may keep their place in the queue; it
 * delays no other waiter. */
TEST(close_ends_waits_for_many_and_awaits_scripts)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_bytes names[NAMES] = {fixture_key(f, "a"), fixture_key(f, "b")};
    hf_lock *held[NAMES];
    caller with = {.client = client};
    size_t count = 0;

    for (size_t i = 0; i < NAMES; i++) {
        held[i] = fixture_lock(f, f->client, names[i], NULL);
        expect_status(HF_OK, hf_lock_acquire(held[i], 10000, ERR));
        with.locks[i] = fixture_lock(f, client, names[i], NULL);
    }
    begin(count++, acquire_many, with);
    expect_soon(waiting(f, names[0]) == 1 && waiting(f, names[1]) == 1, 20000);
    if (f->store != FIXTURE_QUORUM) {
        with.script = fixture_script(
            f, client,
            "local n = 0 for i = 1, 1000000 do n = n + i end return n");
        begin(count++, run_script, with);
        expect_soon(atomic_load(&callers[1].rounds) > 0, 20000);
    }
    fixture_close_client(f, client);
    join_all(count);
    for (size_t i = 0; i < NAMES; i++) {
        assert_true(hf_lock_is_held(held[i]));
        expect_status(HF_OK, hf_lock_release(held[i], ERR));
        expect_status(HF_OK,
                      hf_lock_acquire(fixture_lock(f, f->other, names[i], NULL),
                                      20000, ERR));
    }
}

static void never(void *user, hf_status status, const hf_error *err)
{
    (void)status;
    (void)err;
    ++*(int *)user;
}

static void expect_lock_of_closed(hf_lock *lock)
{
    int told = 0, fd = -1;
    hf_async async = HF_ASYNC_INIT;
    hf_status status;
    char owner[HF_OWNER_SIZE];

    async.done = never;
    async.user = &told;
    expect_status(HF_INVALID, hf_lock_try(lock, ERR));
    expect_status(HF_INVALID, hf_lock_acquire(lock, HF_FOREVER, ERR));
    expect_status(HF_INVALID, hf_lock_release(lock, ERR));
    expect_status(HF_INVALID, hf_lock_renew(lock, ERR));
    expect_status(HF_INVALID, hf_lock_interrupt(lock, ERR));
    expect_status(HF_INVALID, hf_lock_lost_fd(lock, &fd, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_many(&lock, 1, 0, &status, ERR));
    expect_status(HF_INVALID, hf_lock_renew_many(&lock, 1, &status, ERR));
    expect_status(HF_INVALID, hf_lock_release_many(&lock, 1, &status, ERR));
    expect_status(HF_INVALID, hf_lock_acquire_start(lock, 0, &async, ERR));
    expect_status(HF_INVALID, hf_lock_renew_start(lock, &async, ERR));
    expect_status(HF_INVALID, hf_lock_release_start(lock, &async, ERR));
    assert_false(hf_lock_is_held(lock));
    assert_true(hf_lock_remaining_ms(lock) == 0);
    hf_lock_owner(lock, owner);
    assert_string_equal(owner, "");
    assert_int_equal(told, 0);
}

static void expect_script_of_closed(hf_script *script)
{
    int told = 0;
    hf_async async = HF_ASYNC_INIT;
    hf_reply *reply = NULL;

    async.done = never;
    async.user = &told;
    expect_status(HF_INVALID,
                  hf_script_run(script, NULL, 0, NULL, 0, &reply, ERR));
    expect_status(HF_INVALID, hf_script_run_start(script, NULL, 0, NULL, 0,
                                                  &reply, &async, ERR));
    assert_int_equal(told, 0);
}

/* One of each lock: held and renewed, held and not, lost, never held. */
static void make_locks(fixture *f, hf_client *client, const hf_bytes names[4],
                       hf_lock *locks[4])
{
    hf_lock_options short_lease = HF_LOCK_OPTIONS_INIT;
    hf_lock_options not_renewed = HF_LOCK_OPTIONS_INIT;
    int fd;

    short_lease.ttl_ms = not_renewed.ttl_ms = slowed_ms(500);
    not_renewed.flags = HF_LOCK_NO_RENEW;
    for (size_t i = 0; i < 4; i++)
        locks[i] = fixture_lock(f, client, names[i],
                                i == 1 ? &not_renewed : &short_lease);
    expect_status(HF_OK, hf_lock_lost_fd(locks[2], &fd, ERR));
    for (size_t i = 0; i < 3; i++)
        expect_status(HF_OK, hf_lock_acquire(locks[i], 20000, ERR));
    expect_status(HF_OK, hf_lock_break(f->client, names[2], ERR));
    expect_soon(!hf_lock_is_held(locks[2]), 20000);
}

TEST(handles_outlive_their_client)
{
    fixture *f = *state;
    const hf_bytes names[4] = {fixture_key(f, "a"), fixture_key(f, "b"),
                               fixture_key(f, "c"), fixture_key(f, "d")};
    bool scripts = f->store != FIXTURE_QUORUM;

    for (int order = 0; order < 2; order++) {
        hf_client *client = fixture_client(f, NULL);
        hf_script *script =
            scripts ? fixture_script(f, client, "return 1") : NULL;
        hf_lock *locks[4];

        make_locks(f, client, names, locks);
        fixture_close_client(f, client);
        for (size_t i = 0; i < 4; i++)
            expect_lock_of_closed(locks[i]);
        if (scripts)
            expect_script_of_closed(script);
        if (scripts && order == 0)
            fixture_free_script(f, script);
        for (size_t i = 0; i < 4; i++)
            fixture_free_lock(f, locks[order == 0 ? i : 3 - i]);
        if (scripts && order == 1)
            fixture_free_script(f, script);
    }
    for (size_t i = 0; i < 4; i++) /* the leases have expired */
        expect_status(HF_OK,
                      hf_lock_acquire(fixture_lock(f, f->other, names[i], NULL),
                                      20000, ERR));
}

/* No call may return any other status. */
static hf_status look(caller *self, hf_status status)
{
    if (status != HF_OK && status != HF_NOT_FOUND && status != HF_HELD &&
        status != HF_CANCELLED && status != HF_INVALID)
        self->odd = status;
    return status;
}

/* Until the client is closed; then the handle keeps the client's memory. */
static void *storm(void *user)
{
    caller *self = user;
    hf_buffer value = HF_BUFFER_INIT;
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_bytes name = hf_str("storm");
    hf_status status;

    do {
        if (self->script != NULL &&
            look(self, hf_value_get(self->client, name, &value, NULL)) == HF_OK)
            hf_buffer_free(&value);
        (void)look(self, hf_lock_inspect(self->client, name, &info, NULL));
        status =
            look(self, hf_lock_acquire(self->locks[0], 5, NULL) == HF_TIMEOUT
                           ? HF_HELD
                           : hf_lock_try(self->locks[0], NULL));
        while (hf_lock_is_held(self->locks[0]) &&
               look(self, hf_lock_release(self->locks[0], NULL)) == HF_OK)
            continue;
        atomic_fetch_add(&self->rounds, 1);
    } while (status != HF_INVALID);
    if (self->locks[1] != NULL) /* perhaps while it is being closed */
        hf_lock_free(self->locks[1]);
    hf_lock_free(self->locks[0]);
    return NULL;
}

static hf_lock *stormy_lock(hf_client *client, hf_bytes name)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = 5000;
    expect_status(HF_OK, hf_lock_new(client, name, &options, &lock, ERR));
    return lock;
}

TEST(close_amid_a_storm_of_calls_is_safe)
{
    fixture *f = *state;

    for (unsigned round = 0; round < 4; round++) {
        hf_client *client = fixture_client(f, NULL);
        hf_script *script = f->store == FIXTURE_QUORUM
                                ? NULL
                                : fixture_script(f, client, "return 1");

        for (size_t i = 0; i < STORM; i++) {
            char name[] = {'a' + (char)round, 'a' + (char)(i / 2), '\0'};
            hf_bytes key = fixture_key(f, name);

            begin(i, storm,
                  (caller){.client = client,
                           .script = script,
                           .locks = {stormy_lock(client, key),
                                     stormy_lock(client, key)}});
        }
        for (size_t i = 0; i < STORM; i++)
            expect_soon(atomic_load(&callers[i].rounds) >= round, 60000);
        fixture_close_client(f, client);
        for (size_t i = 0; i < STORM; i++)
            (void)pthread_join(callers[i].thread, NULL);
        for (size_t i = 0; i < STORM; i++)
            expect_status(HF_OK, callers[i].odd);
        if (script != NULL)
            fixture_free_script(f, script);
    }
}

static void count_told(void *user, hf_status status, const hf_error *err)
{
    (void)status;
    (void)err;
    atomic_fetch_add((atomic_uint *)user, 1);
}

static void *dispatch(void *user)
{
    caller *self = user;

    while (hf_client_dispatch(self->client, NULL, NULL) == HF_OK)
        atomic_fetch_add(&self->rounds, 1);
    return NULL;
}

/* Closed and freed on this thread or another; the lock's handle keeps the
 * memory. */
TEST(close_while_another_thread_dispatches_tells_each_call_once)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_bytes name = fixture_key(f, "l");
    hf_lock *lock = fixture_lock(f, client, name, NULL);
    static hf_lock_info infos[200];
    static atomic_uint told;
    hf_async async = HF_ASYNC_INIT;
    caller *other = begin(0, dispatch, (caller){.client = client});

    atomic_store(&told, 0);
    async.done = count_told;
    async.user = &told;
    expect_soon(atomic_load(&other->rounds) > 0, 20000);
    for (size_t i = 0; i < 200; i++) {
        infos[i] = (hf_lock_info)HF_LOCK_INFO_INIT;
        expect_status(
            HF_OK, hf_lock_inspect_start(client, name, &infos[i], &async, ERR));
    }
    fixture_close_client(f, client);
    (void)pthread_join(other->thread, NULL);
    assert_int_equal(atomic_load(&told), 200);
    fixture_free_lock(f, lock);
}

static void close_here(void *user, const char *name, const char *value)
{
    (void)name;
    (void)value;
    hf_client_close(user);
}

TEST(close_within_a_callback_does_nothing)
{
    fixture *f = *state;
    hf_client *client = fixture_client(f, NULL);
    hf_lock *lock = fixture_lock(f, client, fixture_key(f, "l"), NULL);

    expect_status(HF_OK, hf_store_info(client, close_here, client, ERR));
    expect_taken(lock);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
}
