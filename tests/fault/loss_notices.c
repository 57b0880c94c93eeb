/* SPDX-License-Identifier: Apache-2.0 */
/*
 * loss_notices.c - a client with many leases whose store fails: on_lost is
 * called for each of them before its lease ends; and a process that was stopped
 * for longer than its leases believes in none of them.
 *
 *     loss_notices [--leases N] [--ttl MS]
 *
 * Deadlines are read after the fault. A lease has two: its validity in the
 * client, before which the library reports the loss, and its end in the store,
 * which is later by the allowance for clock drift (1 % and 2 ms). A notice that
 * comes so much after the former that the latter is near is a violation.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "many_leases.h"
#include "support/byte_proxy.h"
#include "support/store_fixture.h"
#include "support/told.h"

EACH_TEST_WITH(fixture_open, fixture_close);

/* For a worker to start and acquire on a busy machine. */
#define START_MS 60000

/* For a thread to be woken after the end of a validity. */
#define WAKE_MS 10

static size_t count = 500;
static int64_t ttl_ms; /* all are acquired within it; 0: by the machine */

/* What is known about a lease. */
typedef struct lease {
    _Atomic int64_t at_us; /* when it was reported; 0: not yet */
    atomic_int calls;
    int64_t deadline_us; /* end of its validity here */
} lease;

static struct shared {
    atomic_bool held;    /* by the worker */
    atomic_int believed; /* at its first look after it was stopped; -1: none */
    atomic_long reported;
    char failure[256];
} * shared;

static lease *leases;
static hf_lock **locks;

static int64_t now_us(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return now.tv_sec * INT64_C(1000000) + now.tv_nsec / 1000;
}

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    lease *self = user;

    (void)lock;
    (void)reason;
    atomic_store(&self->at_us, now_us());
    atomic_fetch_add(&self->calls, 1);
}

static bool is_mixed(const fixture *f)
{
    return f->store != FIXTURE_QUORUM;
}

/* Of a test of its own: those of the last one may still be held. */
static const char *test_prefix(const fixture *f)
{
    static char prefix[32];

    (void)snprintf(prefix, sizeof(prefix), "%u:", f->test_number);
    return prefix;
}

/* Fails by assertions. */
static void hold_all(const fixture *f, hf_client *client)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;

    leases = calloc(count, sizeof(*leases));
    locks = calloc(count, sizeof(hf_lock *));
    assert_true(leases != NULL && locks != NULL);
    opts.ttl_ms = ttl_ms;
    opts.on_lost = on_lost;
    opts.user = leases;
    expect_status(HF_OK,
                  leases_make(client, test_prefix(f), &opts, sizeof(*leases),
                              is_mixed(f), locks, count, ERR));
    assert_int_equal(leases_acquire(locks, count), 0);
}

static void free_all(void)
{
    if (locks != NULL)
        leases_free(locks, count);
    free(locks);
    free(leases);
    locks = NULL;
    leases = NULL;
}

/* ---------------------------------------------------------------- deadlines */

/* The clock is read after the remaining time: a deadline is not too early, and
 * too late only by the time between the two. */
static void read_deadline(size_t at)
{
    int64_t before_us, left_ms, after_us;

    do {
        before_us = now_us();
        left_ms = hf_lock_remaining_ms(locks[at]);
        after_us = now_us();
    } while (after_us - before_us > 500);
    if (left_ms > 0 && after_us + 1000 * left_ms > leases[at].deadline_us)
        leases[at].deadline_us = after_us + 1000 * left_ms;
}

static void read_all(void)
{
    for (size_t i = 0; i < count; i++)
        read_deadline(i);
}

static size_t count_reported(void)
{
    size_t reported = 0;

    for (size_t i = 0; i < count; i++)
        reported += atomic_load(&leases[i].calls) > 0;
    return reported;
}

/* A reply that was under way may still extend a lease: read them until all are
 * lost. */
static void read_deadlines(void)
{
    int64_t began_ms = test_now_ms();

    while (count_reported() < count) {
        if (!took_between(test_now_ms() - began_ms, 0, ttl_ms + 5000))
            fail_msg("%zu of %zu leases were reported", count_reported(),
                     count);
        read_all();
        (void)usleep(20000);
    }
}

static int compare(const void *a, const void *b)
{
    int64_t one = *(const int64_t *)a, other = *(const int64_t *)b;

    return (one > other) - (one < other);
}

static void assert_all_in_time(const char *fault)
{
    int64_t *margins_us = calloc(count, sizeof(*margins_us));
    int64_t allowance_us = 1000 * (ttl_ms / 100 + 2);
    size_t late = 0;

    assert_non_null(margins_us);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(atomic_load(&leases[i].calls), 1);
        assert_false(hf_lock_is_held(locks[i]));
        margins_us[i] = leases[i].deadline_us - atomic_load(&leases[i].at_us);
        late += margins_us[i] < 0;
    }
    qsort(margins_us, count, sizeof(*margins_us), compare);
    print_message("%s: %zu notices, before the end of validity by min %.1f, "
                  "p50 %.1f, max %.1f ms; %zu after it; before that of the "
                  "lease by %.1f ms\n",
                  fault, count, (double)margins_us[0] / 1e3,
                  (double)margins_us[count / 2] / 1e3,
                  (double)margins_us[count - 1] / 1e3, late,
                  (double)(margins_us[0] + allowance_us) / 1e3);
    assert_in_time(-margins_us[0] / 1000, WAKE_MS);
    free(margins_us);
}

/* ------------------------------------------------------------------ servers */

/* At most one of them is NULL. */
static redis_server *server_of(const fixture *f, size_t at)
{
    if (f->store == FIXTURE_QUORUM)
        return at < FIXTURE_QUORUM_SIZE ? f->quorum[at] : NULL;
    if (f->cluster != NULL)
        return (int)at < redis_cluster_size(f->cluster)
                   ? redis_cluster_server(f->cluster, (int)at)
                   : NULL;
    return at == 0 ? f->server : NULL;
}

static void each_server(const fixture *f, void (*act)(redis_server *server))
{
    redis_server *server;

    for (size_t i = 0; (server = server_of(f, i)) != NULL; i++)
        act(server);
}

TEST(notices_when_the_server_is_stopped)
{
    fixture *f = *state;

    fixture_only_redis(f);
    hold_all(f, f->client);
    each_server(f, redis_server_pause);
    read_deadlines();
    each_server(f, redis_server_resume);
    assert_all_in_time("server stopped");
    free_all();
}

static void expect_notices_behind(fixture *f, const char *fault,
                                  void (*cut)(byte_proxy *proxy))
{
    byte_proxy *proxy;
    hf_client *client;

    if (f->server == NULL || f->sentinel != NULL ||
        f->store == FIXTURE_REDIS_TLS)
        skip();
    proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(proxy);
    expect_status(
        HF_OK, hf_client_open(byte_proxy_tcp_url(proxy), NULL, &client, ERR));
    hold_all(f, client);
    cut(proxy);
    read_deadlines();
    byte_proxy_heal(proxy);
    assert_all_in_time(fault);
    free_all();
    hf_client_close(client);
    byte_proxy_stop(proxy);
}

TEST(notices_when_the_network_passes_nothing_on)
{
    expect_notices_behind(*state, "network frozen", byte_proxy_freeze);
}

TEST(notices_when_the_machine_is_gone)
{
    expect_notices_behind(*state, "network dark", byte_proxy_darken);
}

/* ----------------------------------------------------------- embedded store */

static pid_t start_writer(const fixture *f)
{
    pid_t pid = fork();
    hf_client *client;

    assert_true(pid >= 0);
    if (pid > 0)
        return pid;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (hf_client_open(f->url, NULL, &client, NULL) != HF_OK)
        _exit(1);
    for (;;)
        (void)!hf_value_set(client, bytes("w"), bytes("1"), NULL, NULL, NULL);
}

/* Stop the writer while it has the writer lock. On a busy machine that may take
 * longer than a lease lasts, so the deadlines are read meanwhile. */
static void stop_writer(fixture *f, pid_t pid)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    int64_t began_ms = test_now_ms();
    hf_client *client;
    int status;

    opts.request_ms = 100;
    client = fixture_client(f, &opts);
    for (;;) {
        read_all();
        (void)kill(pid, SIGSTOP);
        assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
        if (hf_value_set(client, bytes("x"), bytes("1"), NULL, NULL, NULL) !=
            HF_OK)
            return;
        assert_in_time(test_now_ms() - began_ms, START_MS);
        (void)kill(pid, SIGCONT);
        (void)usleep(1000);
    }
}

TEST(notices_when_a_stopped_process_has_the_writer_lock)
{
    fixture *f = *state;
    pid_t pid;

    fixture_only_embedded(f);
    pid = start_writer(f);
    hold_all(f, f->client);
    stop_writer(f, pid);
    read_deadlines();
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    assert_all_in_time("writer lock held by a stopped process");
    free_all();
}

/* Renewals that fail, one batch after the other, leave time for other calls. */
TEST(calls_end_while_a_stopped_process_has_the_writer_lock)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "w");
    int64_t shorter_ms = ttl_ms;
    told said = {0};
    hf_async async = tell(&said);
    hf_call *call;
    pid_t pid;

    fixture_only_embedded(f);
    pid = start_writer(f); /* first: a fork has one thread */
    async.call = &call;
    expect_status(HF_OK,
                  hf_lock_try(fixture_lock(f, f->other, name, NULL), ERR));
    expect_status(HF_OK,
                  hf_lock_acquire_start(fixture_lock(f, f->client, name, NULL),
                                        HF_FOREVER, &async, ERR));
    ttl_ms = 6 * shorter_ms;
    hold_all(f, f->client);
    stop_writer(f, pid);
    (void)usleep((useconds_t)(1000 * ttl_ms * 2 / 5));
    hf_call_cancel(call);
    await_told(f->client, &said, 1);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    assert_int_equal(count_reported(), 0);
    free_all();
    ttl_ms = shorter_ms;
}

/* No file may grow, and none may be written behind its first byte. */
TEST(notices_when_the_disk_takes_nothing)
{
    struct rlimit before, none;
    fixture *f = *state;

    if (f->store != FIXTURE_EMBEDDED_FILE)
        skip();
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    none = (struct rlimit){0, before.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    hold_all(f, f->client);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    read_deadlines();
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_all_in_time("disk full");
    free_all();
}

/* ---------------------------------------------------------- stopped process */

/* Look at the leases until the clock has jumped; then look once more. It may be
 * stopped as soon as it says that they are held. */
static void await_jump(void)
{
    int64_t last_ms = test_now_ms();

    atomic_store(&shared->held, true);
    for (;;) {
        int64_t now_ms = test_now_ms();
        int believed = 0;

        for (size_t i = 0; i < count; i++)
            believed +=
                hf_lock_is_held(locks[i]) || hf_lock_remaining_ms(locks[i]) > 0;
        if (now_ms - last_ms > ttl_ms) {
            atomic_store(&shared->believed, believed);
            return;
        }
        last_ms = now_ms;
        (void)usleep(500);
    }
}

static _Noreturn void work(const fixture *f)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    leases = calloc(count, sizeof(*leases));
    locks = calloc(count, sizeof(hf_lock *));
    opts.ttl_ms = ttl_ms;
    opts.on_lost = on_lost;
    opts.user = leases;
    if (leases == NULL || locks == NULL ||
        hf_client_open(f->url, NULL, &client, &err) != HF_OK ||
        leases_make(client, test_prefix(f), &opts, sizeof(*leases), is_mixed(f),
                    locks, count, &err) != HF_OK ||
        leases_acquire(locks, count) != 0) {
        (void)snprintf(shared->failure, sizeof(shared->failure),
                       "cannot acquire: %s", err.message);
        _exit(1);
    }
    await_jump();
    for (;;) {
        atomic_store(&shared->reported, (long)count_reported());
        (void)usleep(1000);
    }
}

TEST(stopped_process_believes_in_no_lease_after_it)
{
    fixture *f = *state;
    pid_t pid;

    atomic_store(&shared->held, false);
    atomic_store(&shared->believed, -1);
    atomic_store(&shared->reported, 0);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        work(f);
    expect_soon(atomic_load(&shared->held) || shared->failure[0] != '\0',
                START_MS);
    assert_string_equal(shared->failure, "");
    (void)kill(pid, SIGSTOP);
    (void)usleep((useconds_t)(1000 * (ttl_ms + ttl_ms / 4)));
    (void)kill(pid, SIGCONT);
    expect_soon(atomic_load(&shared->believed) >= 0, START_MS);
    expect_soon(atomic_load(&shared->reported) == (long)count, 1000);
    (void)kill(pid, SIGKILL);
    (void)waitpid(pid, NULL, 0);
    print_message("process stopped: %d of %zu leases believed, %ld reported\n",
                  atomic_load(&shared->believed), count,
                  atomic_load(&shared->reported));
    assert_int_equal(atomic_load(&shared->believed), 0);
}

/* ------------------------------------------------------------ killed server */

/* The last test: the store is gone. */
TEST(notices_when_the_server_is_killed)
{
    fixture *f = *state;

    fixture_only_redis(f);
    hold_all(f, f->client);
    each_server(f, redis_server_kill);
    read_deadlines();
    assert_all_in_time("server killed");
    free_all();
}

/* --------------------------------------------------------------------- main */

static int start(void **state)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : fixture_start(state);
}

ALL_TESTS_WITH(start, fixture_stop);

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--leases") == 0)
            count = strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--ttl") == 0)
            ttl_ms = strtol(argv[i + 1], NULL, 10);
    }
    if (ttl_ms == 0) {
        ttl_ms = slowed_ms(100);
        if (ttl_ms < 1000)
            ttl_ms = 1000;
    }
    return test_run_all(NULL);
}
