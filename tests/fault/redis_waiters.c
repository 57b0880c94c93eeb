/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_waiters.c - what it costs to wait for a lock: a thousand asynchronous
 * acquires of one client, and a hundred clients, each with a thread that waits.
 * Measures the processor time of this process and the server together while
 * nothing happens, and checks that waiting ends when the lock is released.
 *
 * Arguments: how long to measure, ms.
 */
#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/lock.h"
#include "support/redis_server.h"
#include "support/slowness.h"
#include "support/test.h"
#include "support/test_clock.h"

#define STARTED 1000
#define CLIENTS 100
#define WAIT_MS 120000

/* Share of one core, both sides together. */
#define SHARE_MAX (0.01 * SLOWER)

/* Until all have tried once and sleep. */
#define QUIET_MS 1500

static int64_t measure_ms = 3000;
static redis_server *server;
static hf_client *holder;
static hf_lock *held;

/* Processor time of a process so far, ns. */
static int64_t used_ns(const char *pid)
{
    char path[64 + 256];
    int64_t sum = 0;
    struct dirent *entry;
    DIR *dir;

    snprintf(path, sizeof(path), "/proc/%s/task", pid);
    dir = opendir(path);
    assert_non_null(dir);
    while ((entry = readdir(dir)) != NULL) {
        long long ns = 0;
        FILE *file;

        snprintf(path, sizeof(path), "/proc/%s/task/%s/schedstat", pid,
                 entry->d_name);
        file = entry->d_name[0] == '.' ? NULL : fopen(path, "r");
        if (file == NULL)
            continue;
        if (fscanf(file, "%lld", &ns) == 1)
            sum += ns;
        fclose(file);
    }
    closedir(dir);
    return sum;
}

static void server_pid(char pid[24])
{
    char answer[4096];
    const char *at;

    assert_true(
        redis_server_command(server, "INFO server", answer, sizeof(answer)));
    at = strstr(answer, "process_id:");
    assert_non_null(at);
    snprintf(pid, 24, "%lld", strtoll(at + strlen("process_id:"), NULL, 10));
}

static void rest_ms(int64_t ms)
{
    int64_t until_ms = test_now_ms() + ms;

    while (test_now_ms() < until_ms)
        poll(NULL, 0, (int)(until_ms - test_now_ms()));
}

/* The cost while nothing happens. */
static void measure(const char *what)
{
    int64_t own, theirs, began_ms;
    double own_share, their_share, ms;
    char pid[24];

    server_pid(pid);
    rest_ms(QUIET_MS);
    own = used_ns("self");
    theirs = used_ns(pid);
    began_ms = test_now_ms();
    rest_ms(measure_ms);
    ms = (double)(test_now_ms() - began_ms);
    own_share = (double)(used_ns("self") - own) / 1e6 / ms;
    their_share = (double)(used_ns(pid) - theirs) / 1e6 / ms;
    printf("%s: %.2f %% of a core here, %.2f %% in the server\n", what,
           100 * own_share, 100 * their_share);
    assert_true(own_share + their_share < SHARE_MAX);
}

/* ---------------------------------------------------------- asynchronously */

static unsigned told;
static unsigned acquired;

static void note(void *user, hf_status status, const hf_error *err)
{
    hf_lock *lock = user;

    (void)err;
    told++;
    if (status != HF_OK)
        return;
    acquired++;
    assert_int_equal(hf_lock_release(lock, NULL), HF_OK);
}

TEST(started_acquires_cost_nothing)
{
    static hf_lock *locks[STARTED];
    struct pollfd waiting = {.events = POLLIN};
    int64_t until_ms;
    hf_client *client;

    assert_int_equal(
        hf_client_open(redis_server_tcp_url(server), NULL, &client, NULL),
        HF_OK);
    assert_int_equal(hf_client_fd(client, &waiting.fd, NULL), HF_OK);
    assert_int_equal(hf_lock_try(held, NULL), HF_OK);
    told = acquired = 0;
    for (unsigned i = 0; i < STARTED; i++) {
        hf_async async = HF_ASYNC_INIT;

        assert_int_equal(
            hf_lock_new(client, hf_str("wanted"), NULL, &locks[i], NULL),
            HF_OK);
        async.done = note;
        async.user = locks[i];
        assert_int_equal(hf_lock_acquire_start(locks[i], WAIT_MS, &async, NULL),
                         HF_OK);
    }
    measure("1000 started acquires of one client");
    assert_int_equal(told, 0);
    assert_int_equal(hf_lock_release(held, NULL), HF_OK);
    until_ms = test_now_ms() + WAIT_MS;
    while (told < STARTED && test_now_ms() < until_ms) {
        poll(&waiting, 1, 100);
        assert_int_equal(hf_client_dispatch(client, NULL, NULL), HF_OK);
    }
    assert_int_equal(acquired, STARTED);
    for (unsigned i = 0; i < STARTED; i++)
        hf_lock_free(locks[i]);
    hf_client_close(client);
}

/* ---------------------------------------------------------- many clients */

typedef struct waiter {
    hf_client *client;
    hf_lock *lock;
    pthread_t thread;
    hf_status status;
} waiter;

static void *wait_once(void *user)
{
    waiter *self = user;

    self->status = hf_lock_acquire(self->lock, 60000, NULL);
    if (self->status == HF_OK)
        self->status = hf_lock_release(self->lock, NULL);
    return NULL;
}

TEST(clients_cost_nothing)
{
    static waiter waiters[CLIENTS];

    assert_int_equal(hf_lock_try(held, NULL), HF_OK);
    for (unsigned i = 0; i < CLIENTS; i++) {
        waiter *self = &waiters[i];

        assert_int_equal(hf_client_open(redis_server_tcp_url(server), NULL,
                                        &self->client, NULL),
                         HF_OK);
        assert_int_equal(hf_lock_new(self->client, hf_str("wanted"), NULL,
                                     &self->lock, NULL),
                         HF_OK);
        assert_int_equal(pthread_create(&self->thread, NULL, wait_once, self),
                         0);
    }
    measure("100 clients");
    assert_int_equal(hf_lock_release(held, NULL), HF_OK);
    for (unsigned i = 0; i < CLIENTS; i++) {
        pthread_join(waiters[i].thread, NULL);
        assert_int_equal(waiters[i].status, HF_OK);
        hf_lock_free(waiters[i].lock);
        hf_client_close(waiters[i].client);
    }
}

/* ------------------------------------------------------------------- frame */

static int set_up(void **state)
{
    (void)state;
    server = redis_server_start(NULL);
    assert_non_null(server);
    assert_int_equal(
        hf_client_open(redis_server_unix_url(server), NULL, &holder, NULL),
        HF_OK);
    assert_int_equal(hf_lock_new(holder, hf_str("wanted"), NULL, &held, NULL),
                     HF_OK);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hf_lock_free(held);
    hf_client_close(holder);
    redis_server_stop(server);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);

int main(int argc, char **argv)
{
    if (argc > 1)
        measure_ms = strtoll(argv[1], NULL, 10);
    return test_run_all(NULL);
}
