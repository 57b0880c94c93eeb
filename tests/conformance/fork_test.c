/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fork_test.c - a child of fork() cannot use what its parent opened, gets
 * HF_INVALID for it, and does no harm to the parent. A child reports by its
 * exit status.
 */
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/script.h"
#include "holdfast/value.h"
#include "support/await_child.h"
#include "support/every_call.h"
#include "support/store_fixture.h"
#include "support/told.h"

FIXTURE_TESTS();

/* A thread of the child may have the pthread_t of one that the parent has: the
 * thread sanitizer ends the child then ("dup thread with used id"). */
#if defined(__SANITIZE_THREAD__)
#define CHILD_MAY_HAVE_THREADS false
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define CHILD_MAY_HAVE_THREADS false
#endif
#endif
#ifndef CHILD_MAY_HAVE_THREADS
#define CHILD_MAY_HAVE_THREADS true
#endif

/* Run `work` in a child; its exit status, 128 + signal if it died. */
static int in_child(int (*work)(void *), void *user)
{
    pid_t pid;
    int how = 0;

    (void)fflush(NULL);
    pid = fork();
    if (pid == 0) {
        _exit(work(user));
    }
    assert_true(pid > 0);
    assert_int_equal(await_child(pid, &how), pid);
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

typedef struct prepared_call {
    const every_call *call;
    every_place place;
} prepared_call;

/* 0: refused as expected; 1: another status; 2: an error left unfilled. */
static int call_is_refused(void *user)
{
    prepared_call *prepared = user;
    hf_error err = HF_ERROR_INIT;
    hf_status status = prepared->call->run(&prepared->place, NULL, &err);

    if (status != HF_INVALID) {
        return 1;
    }
    return err.status == HF_INVALID && err.message[0] != '\0' ? 0 : 2;
}

TEST(every_call_in_a_child_is_invalid)
{
    fixture *f = *state;

    for (size_t i = 0; i < every_call_count; i++) {
        prepared_call prepared = {
            &every_calls[i], {.client = f->client, .key = fixture_key(f, "k")}};

        expect_status(HF_OK,
                      every_call_prepare(&prepared.place, prepared.call, ERR));
        if (in_child(call_is_refused, &prepared) != 0) {
            fail_msg("%s was not refused", prepared.call->name);
        }
        every_call_done(&prepared.place);
        if (prepared.call->is_job) /* it went back to its queue */
            expect_status(HF_OK,
                          hf_key_delete(f->client, prepared.place.key, ERR));
        assert_no_key(f->client, prepared.place.key);
    }
}

static int getters_deny_the_lock(void *user)
{
    hf_lock *lock = user;
    int fd = -1;

    if (hf_lock_is_held(lock) || hf_lock_remaining_ms(lock) != 0) {
        return 1;
    }
    return hf_lock_lost_fd(lock, &fd, NULL) == HF_INVALID ? 0 : 2;
}

TEST(held_lock_does_not_count_in_a_child)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(in_child(getters_deny_the_lock, lock), 0);
    assert_true(hf_lock_is_held(lock));
}

typedef struct belongings {
    hf_client *client;
    hf_lock *lock;
    hf_script *script;
} belongings;

static int free_everything(void *user)
{
    belongings *b = user;

    hf_lock_free(b->lock);
    hf_script_free(b->script);
    hf_client_close(b->client);
    return 0;
}

TEST(freeing_in_a_child_leaves_the_parents_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_client *client = fixture_client(f, NULL);
    belongings b = {client, NULL, fixture_script(f, client, "return 1")};
    hf_reply *reply = NULL;
    bool gone;

    opts.ttl_ms = slowed_ms(900);
    b.lock = fixture_lock(f, client, name, &opts);
    expect_status(HF_OK, hf_lock_try(b.lock, ERR));
    assert_int_equal(in_child(free_everything, &b), 0);
    expect_throughout(hf_lock_is_held(b.lock), opts.ttl_ms * 4 / 3);
    gone = key_is_gone(f->other, name);
    assert_true(hf_lock_is_held(b.lock)); /* when the store was asked */
    assert_false(gone);
    expect_status(HF_OK,
                  hf_script_run(b.script, NULL, 0, NULL, 0, &reply, ERR));
    hf_reply_free(reply);
    expect_status(HF_OK, hf_lock_release(b.lock, ERR));
}

/* The child opens its own client, after closing its parent's or not. */
static int own_client_works(void *user)
{
    fixture *f = user;
    hf_client *client = NULL;
    hf_buffer value = HF_BUFFER_INIT;
    hf_lock *lock = NULL;
    int fault = 0;

    if (hf_client_open(f->url, NULL, &client, NULL) != HF_OK) {
        return 1;
    }
    if (hf_value_get(client, bytes("from-parent"), &value, NULL) != HF_OK) {
        fault = 2;
    }
    hf_buffer_free(&value);
    if (hf_lock_new(client, bytes("child-lock"), NULL, &lock, NULL) != HF_OK ||
        hf_lock_acquire(lock, 2000, NULL) != HF_OK ||
        hf_lock_release(lock, NULL) != HF_OK) {
        fault = 3;
    }
    hf_lock_free(lock);
    hf_client_close(client);
    return fault;
}

static int own_client_works_after_closing_the_parents(void *user)
{
    fixture *f = user;

    hf_client_close(f->client);
    hf_client_close(f->other);
    return own_client_works(user);
}

TEST(child_may_open_its_own_client)
{
    fixture *f = *state;
    hf_lock *lock = fixture_lock(f, f->client, fixture_key(f, "l"), NULL);

    if (!CHILD_MAY_HAVE_THREADS) {
        skip();
    }
    put_value(f->client, bytes("from-parent"), bytes("v"), 0);
    expect_status(HF_OK, hf_lock_try(lock, ERR));
    assert_int_equal(in_child(own_client_works, f), 0);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    fixture_free_lock(f, lock);
    assert_int_equal(in_child(own_client_works_after_closing_the_parents, f),
                     0);
    assert_value(f->client, bytes("from-parent"), bytes("v"));
    assert_value(f->other, bytes("from-parent"), bytes("v"));
}

/* ------------------------------------------------------------ asynchronous */

#define UNDER_WAY 500

typedef struct started {
    hf_client *client;
    hf_bytes key;
    hf_lock *waiter;
    hf_call *waiting;
    hf_call *call;
    told *said;
} started;

/* 0: the parent's calls cannot be reached, and none of them completes here. */
static int started_calls_are_out_of_reach(void *user)
{
    const started *mine = user;
    hf_buffer value = HF_BUFFER_INIT;
    hf_async async = tell(mine->said);
    unsigned told_before = mine->said->count;
    size_t running = 0;
    int fd = -1;

    if (hf_client_dispatch(mine->client, &running, NULL) != HF_INVALID ||
        hf_client_fd(mine->client, &fd, NULL) != HF_INVALID)
        return 1;
    if (hf_value_get_start(mine->client, mine->key, &value, &async, NULL) !=
            HF_INVALID ||
        hf_lock_acquire_start(mine->waiter, 0, &async, NULL) != HF_INVALID ||
        hf_lock_renew_start(mine->waiter, &async, NULL) != HF_INVALID ||
        hf_lock_release_start(mine->waiter, &async, NULL) != HF_INVALID)
        return 2;
    hf_call_cancel(mine->call);
    hf_call_cancel(mine->waiting);
    hf_lock_free(mine->waiter);
    hf_client_close(mine->client);
    return mine->said->count == told_before ? 0 : 3;
}

TEST(fork_leaves_started_calls_to_the_parent)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "l");
    hf_lock *holder = fixture_lock(f, f->other, name, NULL);
    told said = {0};
    told granted = {0};
    hf_async async = tell(&granted);
    started mine = {.client = f->client,
                    .key = fixture_key(f, "k"),
                    .waiter = fixture_lock(f, f->client, name, NULL),
                    .said = &said};

    expect_status(HF_OK, hf_lock_try(holder, ERR));
    async.call = &mine.waiting;
    expect_status(HF_OK,
                  hf_lock_acquire_start(mine.waiter, 20000, &async, ERR));
    async = tell(&said);
    for (unsigned i = 0; i < UNDER_WAY; i++) {
        async.call = &mine.call;
        expect_status(HF_OK, hf_value_set_start(f->client, mine.key, bytes("v"),
                                                NULL, NULL, &async, ERR));
        if (i % 100 == 50)
            assert_int_equal(in_child(started_calls_are_out_of_reach, &mine),
                             0);
    }
    await_told(f->client, &said, UNDER_WAY);
    expect_status(HF_OK, said.status);
    assert_int_equal(granted.count, 0);
    expect_status(HF_OK, hf_lock_release(holder, ERR));
    await_told(f->client, &granted, 1);
    expect_status(HF_OK, granted.status);
    expect_status(HF_OK, hf_lock_release(mine.waiter, ERR));
}

static void *wait_for_calls(void *user)
{
    return hf_client_wait(user, HF_FOREVER, NULL) == HF_OK ? user : NULL;
}

static int close_client(void *user)
{
    hf_client_close(user);
    return 0;
}

/* The child does not have the threads that wait. */
TEST(child_closes_a_client_that_threads_of_the_parent_wait_in)
{
    fixture *f = *state;
    hf_client *client = NULL;
    pthread_t waits[2];

    expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(
            pthread_create(&waits[i], NULL, wait_for_calls, client), 0);
    (void)usleep(50000); /* until both wait, mostly */
    assert_int_equal(in_child(close_client, client), 0);
    hf_client_close(client); /* ends the waits */
    for (size_t i = 0; i < 2; i++)
        pthread_join(waits[i], NULL);
}

typedef struct forking {
    hf_client *client;
    unsigned told;
    pid_t child; /* 0: in this process */
} forking;

/* The first callback forks, in the middle of a dispatch. */
static void fork_in_done(void *user, hf_status status, const hf_error *err)
{
    forking *self = user;

    (void)status;
    (void)err;
    if (self->told++ > 0)
        return;
    (void)fflush(NULL);
    self->child = fork();
    if (self->child == 0)
        hf_client_close(self->client);
}

TEST(fork_in_done_ends_the_childs_dispatch)
{
    fixture *f = *state;
    hf_bytes key = fixture_key(f, "k");
    hf_client *client = NULL;
    static forking self;
    hf_async async = HF_ASYNC_INIT;
    int64_t until_ms = test_now_ms() + 10000;
    int how = -1;

    expect_status(HF_OK, hf_client_open(f->url, NULL, &client, ERR));
    self = (forking){.client = client, .child = -1};
    async.done = fork_in_done;
    async.user = &self;
    for (unsigned i = 0; i < UNDER_WAY; i++)
        expect_status(HF_OK, hf_value_set_start(client, key, bytes("v"), NULL,
                                                NULL, &async, ERR));
    while (self.told < UNDER_WAY && self.child != 0 &&
           test_now_ms() < until_ms) {
        hf_status status = hf_client_dispatch(client, NULL, NULL);

        if (self.child == 0)
            _exit(status == HF_OK && self.told == 1 ? 0 : 1);
        expect_status(HF_OK, status);
    }
    assert_int_equal(self.told, UNDER_WAY);
    assert_int_equal(await_child(self.child, &how), self.child);
    assert_int_equal(how, 0);
    hf_client_close(client);
}
