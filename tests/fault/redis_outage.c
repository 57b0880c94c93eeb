/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_outage.c - everything that can go wrong with one server, under load,
 * one after the other.
 *
 * In addition to the load (redis_outage_load.c), which is audited in the end,
 * one client of its own makes calls in the middle of each fault and gets what
 * the error table says; in between, everything must work again. The server
 * writes its command log before it replies, so that a kill -9 loses nothing
 * that was acknowledged.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "holdfast/key.h"
#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "redis_outage.h"
#include "support/byte_proxy.h"
#include "support/child_process.h"
#include "support/redis_server.h"
#include "support/remove_tree.h"
#include "support/test.h"
#include "support/test_clock.h"

/* How long each fault lasts, ms, and how late a call of the load and one of the
 * probe may be: the arguments. What the machine adds is known only in part, so
 * `make test` allows more than a release does; waiting for something other than
 * the deadline would take seconds. */
static int64_t fault_ms = 700;
static int64_t late_ms = 50;
static int64_t exact_ms = 20;

#define THREADS 64
#define PROBE_MS 400
#define RECOVERY_MS 10000

static redis_server *server;
static byte_proxy *proxy;
static load *all;
static uint64_t before[4]; /* calls of the load, see count_calls() */
static int admin = -1;     /* a connection made before the fault */
static hf_client *probe;
static hf_lock *held;    /* by the probe */
static hf_lock *renewed; /* likewise */

/* ------------------------------------------------------------------- admin */

static void admin_connect(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const char *path = redis_server_socket_path(server);

    if (admin >= 0)
        close(admin);
    memcpy(address.sun_path, path, strlen(path) + 1);
    admin = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(
        connect(admin, (struct sockaddr *)&address, sizeof(address)), 0);
}

/* Run a command with a short reply. */
static void order(const char *command)
{
    struct pollfd waiting = {.fd = admin, .events = POLLIN};
    char answer[256];
    ssize_t got = 0;

    assert_true(send(admin, command, strlen(command), MSG_NOSIGNAL) > 0);
    assert_int_equal(send(admin, "\r\n", 2, MSG_NOSIGNAL), 2);
    if (poll(&waiting, 1, 5000) == 1)
        got = recv(admin, answer, sizeof(answer) - 1, 0);
    assert_true(got > 0);
    answer[got] = '\0';
    if (answer[0] == '-')
        fail_msg("%s: %s", command, answer);
}

static void drop_clients(void)
{
    order("CLIENT KILL TYPE normal");
}

/* ------------------------------------------------------------------ probes */

/* The expected status of a call of the probe. */
#define expect_probe(want, call)                                               \
    do {                                                                       \
        hf_error err = HF_ERROR_INIT;                                          \
        hf_status got = (call);                                                \
        if (got != (want))                                                     \
            fail_msg("%s: %s, not %s: %s", #call, hf_status_name(got), #want,  \
                     err.message);                                             \
    } while (0)

#define SET() hf_value_set(probe, hf_str("p"), hf_str("v"), NULL, NULL, &err)
#define GET() hf_key_ttl(probe, hf_str("there"), &(int64_t){0}, &err)

static hf_status take_free(hf_error *err)
{
    hf_lock *lock;
    hf_status status = hf_lock_new(probe, hf_str("free"), NULL, &lock, err);

    if (status == HF_OK)
        status = hf_lock_try(lock, err);
    hf_lock_free(lock);
    return status;
}

typedef struct outcome {
    bool told;
    hf_status status;
} outcome;

static void note(void *user, hf_status status, const hf_error *err)
{
    outcome *self = user;

    (void)err;
    self->told = true;
    self->status = status;
}

/* The asynchronous form; HF_SYSTEM: it never completed. */
static hf_status get_started(void)
{
    struct pollfd waiting = {.events = POLLIN};
    hf_async async = HF_ASYNC_INIT;
    outcome to = {false, HF_SYSTEM};
    int64_t until_ms = test_now_ms() + 5000;

    async.done = note;
    async.user = &to;
    assert_int_equal(hf_client_fd(probe, &waiting.fd, NULL), HF_OK);
    assert_int_equal(
        hf_key_ttl_start(probe, hf_str("there"), &(int64_t){0}, &async, NULL),
        HF_OK);
    while (!to.told && test_now_ms() < until_ms) {
        poll(&waiting, 1, 50);
        assert_int_equal(hf_client_dispatch(probe, NULL, NULL), HF_OK);
    }
    return to.status;
}

/* The deadline is kept, not counting time spent waiting for a processor. */
static void check_exact(const char *what, const stopwatch *watch, int64_t ms)
{
    int64_t queued;
    int64_t took = stopwatch_read(watch, &queued);

    printf("  %s: %.1f ms of %lld, %.1f queued\n", what, (double)took / 1e6,
           (long long)ms, (double)queued / 1e6);
    assert_true(took - queued <= (ms + exact_ms) * 1000000);
    assert_true(took >= (ms - 20) * 1000000);
}

/* Not sent, or not replied to. */
static bool is_unanswered(hf_status status)
{
    return status == HF_UNAVAILABLE || status == HF_INDETERMINATE;
}

/* The first uses an existing connection, the others make one. */
static void calls_time_out(void)
{
    stopwatch watch;

    stopwatch_start(&watch);
    expect_probe(HF_INDETERMINATE, SET());
    check_exact("blocking set", &watch, PROBE_MS);
    stopwatch_start(&watch);
    assert_true(
        is_unanswered(hf_key_ttl(probe, hf_str("there"), &(int64_t){0}, NULL)));
    check_exact("blocking get", &watch, PROBE_MS);
    stopwatch_start(&watch);
    assert_true(is_unanswered(get_started()));
    check_exact("started get", &watch, PROBE_MS);
}

/* The connections were closed: until the client has noticed, a call may be lost
 * on one of them. */
static void see_closed(void)
{
    int tries = 10;

    while (tries-- > 0 && hf_value_set(probe, hf_str("p"), hf_str("v"), NULL,
                                       NULL, NULL) == HF_INDETERMINATE)
        test_rest();
    (void)get_started();
}

/* A new client fails within its connect_ms. */
static void open_times_out(void)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;
    stopwatch watch;

    options.connect_ms = PROBE_MS;
    stopwatch_start(&watch);
    assert_int_equal(
        hf_client_open(byte_proxy_tcp_url(proxy), &options, &client, NULL),
        HF_UNAVAILABLE);
    check_exact("open", &watch, PROBE_MS);
}

/* ------------------------------------------------------------------ faults */

static void kill_begin(void)
{
    redis_server_kill(server);
    see_closed();
}

static void kill_probe(void)
{
    stopwatch watch;

    expect_probe(HF_UNAVAILABLE, SET());
    expect_probe(HF_UNAVAILABLE, take_free(&err));
    stopwatch_start(&watch);
    assert_int_equal(get_started(), HF_UNAVAILABLE);
    check_exact("started get", &watch, PROBE_MS);
}

static void kill_end(void)
{
    assert_true(redis_server_restart(server));
    admin_connect();
}

static void stop_begin(void)
{
    redis_server_pause(server);
}

static void stop_end(void)
{
    redis_server_resume(server);
}

static void freeze_begin(void)
{
    byte_proxy_freeze(proxy);
}

static void freeze_probe(void)
{
    calls_time_out();
    open_times_out();
}

static void freeze_end(void)
{
    byte_proxy_heal(proxy);
}

static void flush_begin(void)
{
    for (int i = 0; i < 20; i++) {
        order("SCRIPT FLUSH");
        test_rest();
    }
}

static void flush_probe(void)
{
    expect_probe(HF_OK, hf_lock_renew(renewed, &err));
    order("SCRIPT FLUSH");
    expect_probe(HF_OK, take_free(&err));
    order("SCRIPT FLUSH");
    assert_int_equal(get_started(), HF_OK);
}

static void drop_begin(void)
{
    for (int i = 0; i < 10; i++) {
        drop_clients();
        test_rest();
    }
    see_closed();
}

/* The shared connection may pause for longer than a call has before it
 * reconnects. */
static void see_started(void)
{
    int64_t until_ms = test_now_ms() + RECOVERY_MS;

    while (get_started() != HF_OK)
        assert_true(test_now_ms() < until_ms);
}

static void well_probe(void)
{
    see_started();
    expect_probe(HF_OK, GET());
    expect_probe(HF_OK, SET());
    expect_probe(HF_OK, hf_lock_renew(renewed, &err));
    expect_probe(HF_OK, take_free(&err));
    assert_int_equal(get_started(), HF_OK);
}

static void pause_begin(void)
{
    char command[64];

    snprintf(command, sizeof(command), "CLIENT PAUSE %lld ALL",
             (long long)(fault_ms + 4 * PROBE_MS));
    order(command);
}

static void pause_end(void)
{
    order("CLIENT UNPAUSE");
}

static void full_house_begin(void)
{
    order("CONFIG SET maxclients 1");
    drop_clients();
    see_closed();
}

static void unavailable_probe(void)
{
    expect_probe(HF_UNAVAILABLE, SET());
    expect_probe(HF_UNAVAILABLE, take_free(&err));
    assert_int_equal(get_started(), HF_UNAVAILABLE);
}

static void full_house_end(void)
{
    order("CONFIG SET maxclients 10000");
}

static void memory_begin(void)
{
    load_allow(all, HF_FULL);
    order("CONFIG SET maxmemory 1");
}

/* No room: what makes room, or keeps a lease, still works. */
static void full_probe(void)
{
    expect_probe(HF_FULL, SET());
    expect_probe(HF_FULL, take_free(&err));
    expect_probe(HF_OK, GET());
}

static void memory_probe(void)
{
    full_probe();
    expect_probe(HF_OK, hf_lock_renew(renewed, &err));
    expect_probe(HF_OK, hf_lock_release(held, &err));
}

static void memory_end(void)
{
    order("CONFIG SET maxmemory 0");
    expect_probe(HF_OK, hf_lock_try(held, &err));
}

static void dump_path(char path[160])
{
    snprintf(path, 160, "%s", redis_server_socket_path(server));
    snprintf(strrchr(path, '/'), 20, "/dump.rdb");
}

/* It cannot save, and refuses writes of any kind. */
static void misconf_begin(void)
{
    char path[160], answer[4096];
    int64_t until_ms = test_now_ms() + 10000;

    load_allow(all, HF_FULL);
    dump_path(path);
    assert_int_equal(mkdir(path, 0700), 0);
    order("CONFIG SET save \"3600 1\"");
    order("BGSAVE");
    do {
        assert_true(test_now_ms() < until_ms);
        test_rest();
        assert_true(redis_server_command(server, "INFO persistence", answer,
                                         sizeof(answer)));
    } while (strstr(answer, "rdb_last_bgsave_status:err") == NULL);
}

static void misconf_end(void)
{
    char path[160];

    order("CONFIG SET save \"\"");
    dump_path(path);
    rmdir(path);
}

static void replica_begin(void)
{
    order("REPLICAOF 127.0.0.1 1");
}

/* Reads are served, as a replica always does. */
static void replica_probe(void)
{
    expect_probe(HF_UNAVAILABLE, SET());
    expect_probe(HF_UNAVAILABLE, take_free(&err));
    expect_probe(HF_OK, GET());
    expect_probe(HF_UNAVAILABLE, SET());
}

static void replica_end(void)
{
    order("REPLICAOF NO ONE");
}

/* On a busy machine one read may end before it was sent. */
static bool soon_reads(void)
{
    for (int i = 0; i < 5; i++) {
        if (get_started() == HF_OK)
            return true;
    }
    return false;
}

/* It reports the problem with this word, as long as it lasts, to writes and,
 * unless `read` is HF_OK, to reads. Such replies come in between, so the last
 * try may be without one when its time is up. */
static void refused_probe(const char *word, hf_status read)
{
    unsigned seen = 0;

    for (int i = 0; i < 3; i++) {
        hf_error err = HF_ERROR_INIT;
        hf_status status = i == 0 ? take_free(&err) : SET();

        if (!is_unanswered(status))
            fail_msg("%s: %s", hf_status_name(status), err.message);
        seen += status == HF_UNAVAILABLE && strstr(err.message, word) != NULL;
    }
    assert_true(seen > 0);
    if (read == HF_OK)
        assert_true(soon_reads());
    else
        assert_true(is_unanswered(get_started()));
}

static void loading_probe(void)
{
    refused_probe("LOADING", HF_UNAVAILABLE);
}

static void busy_probe(void)
{
    refused_probe("BUSY", HF_UNAVAILABLE);
}

static void replicas_begin(void)
{
    order("CONFIG SET min-replicas-to-write 1");
}

static void replicas_probe(void)
{
    refused_probe("NOREPLICAS", HF_OK);
    expect_probe(HF_OK, GET());
}

static void replicas_end(void)
{
    order("CONFIG SET min-replicas-to-write 0");
}

/* It loads for about this long: 0.2 ms a key. */
static void loading_begin(void)
{
    char command[64];

    snprintf(command, sizeof(command), "DEBUG POPULATE %lld filler 10",
             (long long)(fault_ms + 5 * PROBE_MS) * 4);
    order(command);
    order("CONFIG SET key-load-delay 200");
    order("CONFIG SET loading-process-events-interval-bytes 1024");
    assert_int_equal(send(admin, "DEBUG RELOAD\r\n", 14, MSG_NOSIGNAL), 14);
    for (int i = 0; i < 5; i++)
        test_rest();
}

static void loading_end(void)
{
    char answer[64];

    assert_true(recv(admin, answer, sizeof(answer), 0) > 0);
    assert_memory_equal(answer, "+OK", 3);
    order("CONFIG SET key-load-delay 0");
}

static void busy_begin(void)
{
    order("CONFIG SET busy-reply-threshold 100");
    admin_connect();
    assert_true(
        send(admin, "EVAL \"while true do end\" 0\r\n", 28, MSG_NOSIGNAL) > 0);
    admin = -1; /* it replies when it is killed */
    for (int i = 0; i < 60; i++)
        test_rest();
}

static void busy_end(void)
{
    admin_connect();
    order("SCRIPT KILL");
}

static void auth_begin(void)
{
    load_allow(all, HF_DENIED);
    order("CONFIG SET requirepass secret-of-the-test");
    drop_clients();
    see_closed();
}

static void denied_probe(void)
{
    expect_probe(HF_DENIED, SET());
    expect_probe(HF_DENIED, take_free(&err));
    assert_int_equal(get_started(), HF_DENIED);
}

static void auth_end(void)
{
    order("CONFIG SET requirepass \"\"");
}

typedef struct fault {
    const char *name;
    void (*begin)(void);
    void (*probe)(void);
    void (*end)(void);
} fault;

static const fault faults[] = {
    {"kill -9 and restart", kill_begin, kill_probe, kill_end},
    {"stopped and continued", stop_begin, calls_time_out, stop_end},
    {"unreachable", freeze_begin, freeze_probe, freeze_end},
    {"SCRIPT FLUSH", flush_begin, flush_probe, NULL},
    {"CLIENT KILL", drop_begin, well_probe, NULL},
    {"CLIENT PAUSE", pause_begin, calls_time_out, pause_end},
    {"max clients", full_house_begin, unavailable_probe, full_house_end},
    {"OOM", memory_begin, memory_probe, memory_end},
    {"MISCONF", misconf_begin, full_probe, misconf_end},
    {"READONLY", replica_begin, replica_probe, replica_end},
    {"NOREPLICAS", replicas_begin, replicas_probe, replicas_end},
    {"LOADING", loading_begin, loading_probe, loading_end},
    {"BUSY", busy_begin, busy_probe, busy_end},
    {"NOAUTH", auth_begin, denied_probe, auth_end},
};

/* -------------------------------------------------------------------- runs */

static void probe_open(void)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options lock = HF_LOCK_OPTIONS_INIT;

    options.request_ms = PROBE_MS;
    lock.ttl_ms = 600000;
    lock.flags = HF_LOCK_NO_RENEW;
    assert_int_equal(
        hf_client_open(byte_proxy_tcp_url(proxy), &options, &probe, NULL),
        HF_OK);
    expect_probe(HF_OK, hf_value_set(probe, hf_str("there"), hf_str("v"), NULL,
                                     NULL, &err));
    expect_probe(HF_OK, hf_lock_new(probe, hf_str("held"), &lock, &held, &err));
    expect_probe(HF_OK,
                 hf_lock_new(probe, hf_str("renewed"), &lock, &renewed, &err));
    expect_probe(HF_OK, hf_lock_try(held, &err));
    expect_probe(HF_OK, hf_lock_try(renewed, &err));
    assert_int_equal(get_started(), HF_OK);
    stopwatch_use_newest();
}

/* Statuses of the load's calls so far. */
static void count_calls(uint64_t counts[4])
{
    counts[0] = load_count(all, HF_OK);
    counts[1] = load_count(all, HF_UNAVAILABLE);
    counts[2] = load_count(all, HF_INDETERMINATE);
    counts[3] = load_count(all, HF_FULL) + load_count(all, HF_DENIED);
}

static void sum_up(const char *name, int64_t first_ms, int64_t all_ms)
{
    uint64_t now[4];

    count_calls(now);
    printf("one server, %d threads, %s: worst call %+.1f ms from its deadline; "
           "served again after %lld ms, all threads after %lld ms; calls: "
           "%llu done, %llu not applied, %llu unknown, %llu refused\n",
           THREADS, name, (double)load_worst_ns(all) / 1e6, (long long)first_ms,
           (long long)all_ms, (unsigned long long)(now[0] - before[0]),
           (unsigned long long)(now[1] - before[1]),
           (unsigned long long)(now[2] - before[2]),
           (unsigned long long)(now[3] - before[3]));
}

/* The fault is over: how long until all threads succeed again. */
static void recover(const char *name)
{
    int64_t since_ms = test_now_ms();
    int64_t first_ms = 0;

    while (load_recovered(all, since_ms) < load_threads(all)) {
        if (first_ms == 0 && load_recovered(all, since_ms) > 0)
            first_ms = test_now_ms();
        if (test_now_ms() > since_ms + RECOVERY_MS)
            fail_msg("%s: only %u threads work again", name,
                     load_recovered(all, since_ms));
        test_rest();
    }
    sum_up(name, first_ms == 0 ? 0 : first_ms - since_ms,
           test_now_ms() - since_ms);
    load_allow(all, HF_OK);
}

static void run_fault(const fault *of)
{
    int64_t until_ms;

    load_name(all, of->name);
    count_calls(before);
    well_probe();
    of->begin();
    until_ms = test_now_ms() + fault_ms;
    if (of->probe != NULL)
        of->probe();
    while (test_now_ms() < until_ms)
        test_rest();
    if (of->end != NULL)
        of->end();
    recover(of->name);
}

/* A password that was right when the client was opened. */
TEST(changed_password_is_denied)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *kept = probe;

    order("CONFIG SET requirepass first");
    options.password = "first";
    options.request_ms = PROBE_MS;
    expect_probe(HF_OK, hf_client_open(byte_proxy_tcp_url(proxy), &options,
                                       &probe, &err));
    expect_probe(HF_OK, SET());
    order("CONFIG SET requirepass second");
    drop_clients();
    see_closed();
    denied_probe();
    order("CONFIG SET requirepass first");
    expect_probe(HF_OK, SET());
    expect_probe(HF_OK, take_free(&err));
    assert_int_equal(get_started(), HF_OK);
    hf_client_close(probe);
    probe = kept;
    order("CONFIG SET requirepass \"\"");
}

TEST(load_outlives_every_fault)
{
    all = load_start(byte_proxy_tcp_url(proxy), THREADS, late_ms);
    for (size_t i = 0; i < sizeof(faults) / sizeof(faults[0]); i++)
        run_fault(&faults[i]);
    assert_int_equal(load_stop(all, redis_server_unix_url(server)), 0);
    all = NULL;
}

static int set_up(void **state)
{
    static const char *const more[] = {"--appendonly", "yes", "--appendfsync",
                                       "no", NULL};

    (void)state;
    server = redis_server_start_with(NULL, NULL, more);
    assert_non_null(server);
    proxy = byte_proxy_start(redis_server_socket_path(server));
    assert_non_null(proxy);
    admin_connect();
    probe_open();
    return 0;
}

static int tear_down(void **state)
{
    char dir[160];

    (void)state;
    snprintf(dir, sizeof(dir), "%s", redis_server_socket_path(server));
    *strrchr(dir, '/') = '\0';
    hf_lock_free(held);
    hf_lock_free(renewed);
    hf_client_close(probe);
    byte_proxy_stop(proxy);
    redis_server_stop(server);
    close(admin);
    (void)remove_tree(dir);
    return 0;
}

ALL_TESTS_WITH(set_up, tear_down);

int main(int argc, char **argv)
{
    if (argc > 1)
        fault_ms = strtoll(argv[1], NULL, 10);
    if (argc > 3) {
        late_ms = strtoll(argv[2], NULL, 10);
        exact_ms = strtoll(argv[3], NULL, 10);
    }
    return test_run_all(NULL);
}
