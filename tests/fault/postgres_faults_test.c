/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_faults_test.c - locks on PostgreSQL whose clients and whose server
 * are killed; and the fence for tables of one's own.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/client.h"
#include "holdfast/lock.h"
#include "support/await_child.h"
#include "support/slowness.h"
#include "support/test_clock.h"
#include "support/test_postgres.h"

#define CONTENDERS 4

TESTS_ON_POSTGRES(true);

static hf_client *open_client(void)
{
    hf_client *client = NULL;

    expect_status(
        HF_OK, hf_client_open(postgres_server_url(server), NULL, &client, ERR));
    return client;
}

static hf_lock *new_lock(hf_client *client, const char *name, int64_t ttl_ms)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = ttl_ms;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str(name), &options, &lock, ERR));
    return lock;
}

/* A process that acquires the lock, or waits for it; killed by its parent. */
static pid_t start_holder(const char *name, int64_t ttl_ms, bool waits)
{
    int said[2];
    char byte = 0;
    pid_t pid;

    assert_int_equal(pipe(said), 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0) {
        hf_client *client = open_client();
        hf_lock *lock = new_lock(client, name, ttl_ms);

        if (waits)
            (void)!write(said[1], "w", 1);
        if (hf_lock_acquire(lock, 60000, NULL) == HF_OK && !waits)
            (void)!write(said[1], "h", 1);
        (void)pause();
    }
    close(said[1]); /* so the read ends if the process does */
    assert_int_equal(read(said[0], &byte, 1), 1);
    close(said[0]);
    return pid;
}

static void kill_holder(pid_t pid)
{
    int status;

    assert_int_equal(kill(pid, SIGKILL), 0);
    assert_int_equal(await_child(pid, &status), pid);
}

TEST(lease_of_a_killed_holder_ends)
{
    int64_t began_ms = test_now_ms();
    pid_t holder = start_holder("killed", 2000, false);
    hf_client *client = open_client();
    hf_lock *lock = new_lock(client, "killed", 10000);

    kill_holder(holder);
    expect_status(HF_HELD, hf_lock_try(lock, ERR));
    expect_status(HF_OK, hf_lock_acquire(lock, 30000, ERR));
    assert_true(test_now_ms() - began_ms >= 2000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    hf_client_close(client);
}

static int waiting(hf_client *client, const char *name)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;
    hf_error error = HF_ERROR_INIT;

    if (hf_lock_inspect(client, hf_str(name), &info, &error) != HF_OK)
        return 0;
    return (int)info.waiters;
}

static void *acquire_thread(void *user)
{
    return hf_lock_acquire(user, 30000, NULL) == HF_OK ? user : NULL;
}

/* The commit of the release finds that it does not listen. */
TEST(killed_waiter_is_passed_over)
{
    hf_client *client = open_client();
    hf_client *other = open_client();
    hf_lock *lock = new_lock(client, "passed", 30000);
    hf_lock *next = new_lock(other, "passed", 30000);
    pthread_t thread;
    void *got = NULL;
    pid_t waiter;
    int64_t began_ms;

    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    waiter = start_holder("passed", 30000, true);
    expect_soon(waiting(client, "passed") == 1, 10000);
    assert_int_equal(pthread_create(&thread, NULL, acquire_thread, next), 0);
    expect_soon(waiting(client, "passed") == 2, 10000);
    kill_holder(waiter);
    (void)usleep(200000); /* until the server has noticed */
    began_ms = test_now_ms();
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(pthread_join(thread, &got), 0);
    assert_ptr_equal(got, next);
    assert_took(test_now_ms() - began_ms, 0, 800);
    expect_status(HF_OK, hf_lock_release(next, ERR));
    hf_lock_free(next);
    hf_lock_free(lock);
    hf_client_close(other);
    hf_client_close(client);
}

static hf_status try_again(hf_lock *lock)
{
    int64_t until_ms = test_now_ms() + 20000;
    hf_status status;

    do {
        status = hf_lock_try(lock, NULL);
    } while ((status == HF_UNAVAILABLE || status == HF_INDETERMINATE) &&
             test_now_ms() < until_ms);
    return status;
}

TEST(held_lock_survives_a_kill_of_the_server)
{
    hf_client *client = open_client();
    hf_client *other = open_client();
    hf_lock *lock = new_lock(client, "survives", 60000);
    hf_lock *next = new_lock(other, "survives", 10000);

    expect_status(HF_OK, hf_lock_acquire(lock, 0, ERR));
    expect_status(HF_HELD, hf_lock_try(next, ERR));
    assert_true(postgres_server_restart(server));
    assert_true(hf_lock_is_held(lock));
    assert_int_equal(try_again(next), HF_HELD);
    expect_soon(hf_lock_renew(lock, NULL) == HF_OK, 20000);
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    assert_int_equal(try_again(next), HF_OK);
    expect_status(HF_OK, hf_lock_release(next, ERR));
    hf_lock_free(next);
    hf_lock_free(lock);
    hf_client_close(other);
    hf_client_close(client);
}

/* What all contenders share. */
static struct {
    atomic_int inside;
    atomic_int overlaps;
    atomic_int grants;
    atomic_int backward; /* tokens */
    atomic_ullong token;
    atomic_bool over;
} shared;

/* Between a grant and the release, while it is held for sure. */
static void be_inside(const hf_lock *lock)
{
    uint64_t token = hf_lock_token(lock);

    if (!hf_lock_is_held(lock))
        return;
    if (atomic_fetch_add(&shared.inside, 1) != 0)
        atomic_fetch_add(&shared.overlaps, 1);
    if (atomic_load(&shared.token) >= token)
        atomic_fetch_add(&shared.backward, 1);
    atomic_store(&shared.token, token);
    (void)usleep(500);
    atomic_fetch_add(&shared.grants, 1);
    atomic_fetch_sub(&shared.inside, 1);
}

static void *contend(void *user)
{
    hf_client *client = user;
    hf_lock *lock = new_lock(client, "contended", 5000);

    while (!atomic_load(&shared.over)) {
        if (hf_lock_acquire(lock, 1000, NULL) != HF_OK)
            continue;
        be_inside(lock);
        (void)!hf_lock_release(lock, NULL);
    }
    hf_lock_free(lock);
    return NULL;
}

TEST(contended_lock_has_one_holder_through_kills_of_the_server)
{
    hf_client *clients[CONTENDERS];
    pthread_t threads[CONTENDERS];
    int before;

    for (size_t i = 0; i < CONTENDERS; i++) {
        clients[i] = open_client();
        assert_int_equal(pthread_create(&threads[i], NULL, contend, clients[i]),
                         0);
    }
    for (int kills = 0; kills < 3; kills++) {
        before = atomic_load(&shared.grants);
        expect_soon(atomic_load(&shared.grants) > before + 20, 60000);
        assert_true(postgres_server_restart(server));
    }
    before = atomic_load(&shared.grants);
    expect_soon(atomic_load(&shared.grants) > before + 20, 60000);
    atomic_store(&shared.over, true);
    for (size_t i = 0; i < CONTENDERS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
        hf_client_close(clients[i]);
    }
    assert_int_equal(atomic_load(&shared.overlaps), 0);
    assert_int_equal(atomic_load(&shared.backward), 0);
}

TEST(fence_refuses_a_lower_token)
{
    assert_true(postgres_server_run(server,
                                    "SELECT holdfast.check_token('f', 5), "
                                    "holdfast.check_token('g', 1)"));
    assert_true(
        postgres_server_run(server, "SELECT holdfast.check_token('f', 5)"));
    assert_true(
        postgres_server_run(server, "SELECT holdfast.check_token('f', 6)"));
    assert_false(
        postgres_server_run(server, "SELECT holdfast.check_token('f', 5)"));
    assert_true(
        postgres_server_run(server, "SELECT holdfast.check_token('f', 6)"));
    /* Not one upon which programs run a transaction again. */
    assert_true(postgres_server_run(
        server, "DO $$ BEGIN PERFORM holdfast.check_token('f', 5); "
                "EXCEPTION WHEN SQLSTATE 'HF001' THEN NULL; END $$"));
}
