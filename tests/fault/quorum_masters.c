/* SPDX-License-Identifier: Apache-2.0 */
/*
 * quorum_masters.c - locks on five independent servers, of which some are dead,
 * hang, or come back empty.
 *
 * The last test is a random schedule of such faults, with several client
 * processes whose history is checked: no two hold the lock at once, and tokens
 * only grow. Usage: quorum_masters [--seconds N] [--seed N] [--quarantine MS];
 * with a quarantine of 0 it must fail.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "support/await_child.h"
#include "support/byte_proxy.h"
#include "support/expect.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/sleepers.h"
#include "support/test.h"
#include "support/test_clock.h"

#define NODES 5
#define QUARANTINE_MS 1500 /* longer than any lock here */
#define TTL_MS 1000
#define REQUEST_MS 1000

/* What a loaded machine may add to a limit. */
#define SLACK_MS 500

static redis_server *servers[NODES];
static char url[1024];
static int64_t seconds = 8;
static uint64_t seed = 1;
static int64_t quarantine_ms = QUARANTINE_MS;

/* ------------------------------------------------------------------- servers
 */

static int start_all(int64_t for_ms)
{
    int size = snprintf(url, sizeof(url), "redlock:quarantine=%lld",
                        (long long)for_ms);

    for (size_t i = 0; i < NODES; i++) {
        servers[i] = redis_server_start(NULL);
        if (servers[i] == NULL)
            return -1;
        size += snprintf(url + size, sizeof(url) - (size_t)size, ",%s",
                         redis_server_tcp_url(servers[i]));
    }
    return 0;
}

static int start_servers(void **state)
{
    (void)state;
    return start_all(quarantine_ms);
}

/* No server comes back: leases may be long, as a quarantine is never shorter.
 */
static int start_lasting(void **state)
{
    (void)state;
    return start_all(60000);
}

static int stop_servers(void **state)
{
    (void)state;
    for (size_t i = 0; i < NODES; i++) {
        redis_server_stop(servers[i]);
        servers[i] = NULL;
    }
    return 0;
}

EACH_TEST_WITH(start_servers, stop_servers);

#define LASTING_TEST(name) TEST_WITH(name, start_lasting, stop_servers)

/* Does a server hold the lock's key? */
static bool has_key(size_t node, const char *name)
{
    char command[64];
    char answer[32] = "";

    (void)snprintf(command, sizeof(command), "EXISTS %s", name);
    assert_true(
        redis_server_command(servers[node], command, answer, sizeof(answer)));
    return strncmp(answer, ":1", 2) == 0;
}

static bool someone_has_key(const char *name, size_t first)
{
    bool found = false;

    for (size_t i = first; i < NODES; i++)
        found = found || has_key(i, name);
    return found;
}

static void expect_nothing_held(const char *name, size_t first, int64_t limit)
{
    int64_t until_ms = test_now_ms() + limit;

    while (someone_has_key(name, first)) {
        assert_true(test_now_ms() < until_ms);
        usleep(2000);
    }
}

/* Until all servers are certainly older than the quarantine: they report their
 * uptime in whole seconds, of which the last is not counted. */
#define OLD_MS (QUARANTINE_MS + 2100)

static void grow_old(void)
{
    usleep(OLD_MS * 1000);
}

static hf_client *open_client_at(const char *where)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;

    options.request_ms = REQUEST_MS;
    expect_status(HF_OK, hf_client_open(where, &options, &client, ERR));
    return client;
}

static hf_client *open_client(void)
{
    return open_client_at(url);
}

static hf_lock *make_lock(hf_client *client, const char *name, int64_t ttl_ms,
                          uint32_t flags)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *lock = NULL;

    options.ttl_ms = ttl_ms;
    options.flags = flags;
    expect_status(HF_OK,
                  hf_lock_new(client, hf_str(name), &options, &lock, ERR));
    return lock;
}

static hf_lock *new_lock(hf_client *client, const char *name, int64_t ttl_ms)
{
    return make_lock(client, name, ttl_ms, 0);
}

/* One whose holder only watches the clock. */
static hf_lock *new_fixed_lock(hf_client *client, const char *name,
                               int64_t ttl_ms)
{
    return make_lock(client, name, ttl_ms, HF_LOCK_NO_RENEW);
}

/* --------------------------------------------------------------------- tests
 */

LASTING_TEST(locks_work_with_two_dead)
{
    hf_client *client = open_client();
    hf_lock *lock = new_lock(client, "l", 30000);
    int64_t began_ms;

    redis_server_kill(servers[1]);
    redis_server_kill(servers[3]);
    for (int i = 0; i < 20; i++) {
        began_ms = test_now_ms();
        expect_status(HF_OK, hf_lock_acquire(lock, 2000, ERR));
        expect_status(HF_OK, hf_lock_renew(lock, ERR));
        expect_status(HF_OK, hf_lock_release(lock, ERR));
        assert_true(test_now_ms() - began_ms < 2000 + SLACK_MS);
    }
    hf_lock_free(lock);
    hf_client_close(client);
}

LASTING_TEST(three_dead_fail_and_leave_nothing)
{
    hf_client *client = open_client();
    hf_lock *lock = new_lock(client, "l", 30000);
    int64_t began_ms;

    for (size_t i = 0; i < 3; i++)
        redis_server_kill(servers[i]);
    for (int64_t wait_ms = 0; wait_ms <= 500; wait_ms += 250) {
        began_ms = test_now_ms();
        expect_status(HF_UNAVAILABLE, hf_lock_acquire(lock, wait_ms, ERR));
        assert_true(test_now_ms() - began_ms < wait_ms + REQUEST_MS + SLACK_MS);
        expect_nothing_held("l", 3, SLACK_MS);
    }
    hf_lock_free(lock);
    hf_client_close(client);
}

LASTING_TEST(hanging_majority_fails_and_is_released_later)
{
    hf_client *client = open_client();
    hf_lock *lock = new_lock(client, "l", 30000);
    int64_t began_ms = test_now_ms();
    hf_status status;

    for (size_t i = 0; i < 3; i++)
        redis_server_pause(servers[i]);
    status = hf_lock_try(lock, ERR);
    assert_int_equal(HF_UNAVAILABLE, status);
    assert_true(test_now_ms() - began_ms < 200 + SLACK_MS);
    expect_nothing_held("l", 3, SLACK_MS);
    for (size_t i = 0; i < 3; i++)
        redis_server_resume(servers[i]);
    /* The acquire is in the socket buffers of those that hung, followed by the
     * release. */
    expect_nothing_held("l", 0, 5000);
    expect_status(HF_OK, hf_lock_acquire(lock, 5000, ERR));
    expect_status(HF_OK, hf_lock_release(lock, ERR));
    hf_lock_free(lock);
    hf_client_close(client);
}

#define LATE_WAITERS 3
#define LATE_ROUNDS 10
#define LATE_MS 8        /* the rest of the release */
#define AWAITED_US 50000 /* so long waiters await it */

typedef struct late_waiter {
    hf_client *client;
    hf_lock *lock;
    pthread_t thread;
    hf_status status;
    int served; /* after how many others */
} late_waiter;

static atomic_int served;

static void *wait_and_release(void *user)
{
    late_waiter *self = user;

    self->status = hf_lock_acquire(self->lock, 20000, NULL);
    self->served = atomic_fetch_add(&served, 1);
    if (self->status == HF_OK)
        self->status = hf_lock_release(self->lock, NULL);
    return NULL;
}

static void queue_up(late_waiter *self, int64_t position)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    assert_int_equal(
        pthread_create(&self->thread, NULL, wait_and_release, self), 0);
    while (info.waiters < position + 1) {
        expect_status(HF_OK,
                      hf_lock_inspect(self->client, hf_str("l"), &info, ERR));
        usleep(1000);
    }
}

/* All three that are left must grant it, and one of them runs the release last:
 * the first waiter must not try before, and leave what it got to others. */
LASTING_TEST(order_holds_when_a_release_reaches_servers_late)
{
    byte_proxy *proxy = byte_proxy_start_tcp(redis_server_port(servers[2]));
    late_waiter waiters[LATE_WAITERS];
    sleepers *late = sleepers_start();
    char where[sizeof(url)];
    hf_client *client;
    hf_lock *holder;

    assert_non_null(proxy);
    assert_non_null(late);
    (void)snprintf(where, sizeof(where), "redlock:%s,%s,%s,%s,%s",
                   redis_server_tcp_url(servers[0]),
                   redis_server_tcp_url(servers[1]), byte_proxy_tcp_url(proxy),
                   redis_server_tcp_url(servers[3]),
                   redis_server_tcp_url(servers[4]));
    client = open_client_at(where);
    holder = new_lock(client, "l", 30000);
    for (size_t i = 0; i < LATE_WAITERS; i++) {
        waiters[i].client = open_client();
        waiters[i].lock = new_lock(waiters[i].client, "l", 30000);
    }
    redis_server_kill(servers[3]);
    redis_server_kill(servers[4]);
    for (int round = 0; round < LATE_ROUNDS; round++) {
        expect_status(HF_OK, hf_lock_acquire(holder, 20000, ERR));
        for (int i = 0; i < LATE_WAITERS; i++)
            queue_up(&waiters[i], i);
        atomic_store(&served, 0);
        sleepers_reset(late);
        byte_proxy_delay(proxy, TO_SERVER, LATE_MS);
        expect_status(HF_OK, hf_lock_release(holder, ERR));
        byte_proxy_heal(proxy);
        for (int i = 0; i < LATE_WAITERS; i++) {
            (void)pthread_join(waiters[i].thread, NULL);
            expect_status(HF_OK, waiters[i].status);
        }
        for (int i = 0; i < LATE_WAITERS; i++) {
            if (sleepers_late_us(late) < (AWAITED_US - 1000 * LATE_MS) / 4)
                assert_int_equal(waiters[i].served, i);
        }
    }
    sleepers_stop(late);
    for (size_t i = 0; i < LATE_WAITERS; i++) {
        hf_lock_free(waiters[i].lock);
        hf_client_close(waiters[i].client);
    }
    hf_lock_free(holder);
    hf_client_close(client);
    byte_proxy_stop(proxy);
}

/* Kill all but two of the holder's majority, and restart all of them empty. */
TEST(empty_servers_do_not_vote)
{
    hf_client *holder;
    hf_client *old_client;
    hf_client *new_client;
    hf_lock *held, *by_old, *by_new;
    uint64_t token;

    grow_old();
    holder = open_client();
    old_client = open_client();
    held = new_fixed_lock(holder, "l", QUARANTINE_MS - 100);
    by_old = new_lock(old_client, "l", TTL_MS);
    redis_server_kill(servers[3]);
    redis_server_kill(servers[4]);
    expect_status(HF_OK, hf_lock_acquire(held, 2000, ERR));
    token = hf_lock_token(held);
    usleep(300 * 1000); /* requests to the dead ones are given up */
    redis_server_kill(servers[2]);
    for (size_t i = 2; i < NODES; i++)
        assert_true(redis_server_restart(servers[i]));
    /* One client has seen the servers before, one has not. */
    new_client = open_client();
    by_new = new_lock(new_client, "l", TTL_MS);
    assert_true(hf_lock_is_held(held));
    while (hf_lock_is_held(held)) {
        assert_int_not_equal(HF_OK, hf_lock_try(by_old, NULL));
        assert_int_not_equal(HF_OK, hf_lock_try(by_new, NULL));
    }
    expect_status(HF_OK, hf_lock_acquire(by_new, 10000, ERR));
    assert_true(hf_lock_token(by_new) > token);
    hf_lock_free(held);
    hf_lock_free(by_old);
    hf_lock_free(by_new);
    hf_client_close(holder);
    hf_client_close(old_client);
    hf_client_close(new_client);
}

/* A key that another client has set where the lock had vanished is no vote. */
LASTING_TEST(renewal_counts_only_its_own_keys)
{
    hf_client *client = open_client();
    hf_lock *lock = new_lock(client, "l", 30000);
    char answer[32];

    expect_status(HF_OK, hf_lock_try(lock, ERR));
    for (size_t i = 0; i < 2; i++)
        assert_true(redis_server_command(servers[i], "SET l stranger", answer,
                                         sizeof(answer)));
    expect_status(HF_OK, hf_lock_renew(lock, ERR));
    assert_true(
        redis_server_command(servers[2], "DEL l", answer, sizeof(answer)));
    expect_status(HF_EXPIRED, hf_lock_renew(lock, ERR));
    assert_false(hf_lock_is_held(lock));
    hf_lock_free(lock);
    hf_client_close(client);
}

/* ------------------------------------------------------------------ processes
 */

#define CLIENTS 5
#define HELD_MAX 20000

/* A time in which a process held the lock, us of CLOCK_BOOTTIME. */
typedef struct held {
    uint64_t token;
    int64_t from_us;
    int64_t until_us; /* the last instant at which it was known to be held */
} held;

typedef struct history {
    atomic_size_t count;
    atomic_size_t failed;
    atomic_llong longest_ms; /* that an acquire took */
    atomic_bool stop;
    held list[HELD_MAX];
} history;

static history *told;

static int64_t now_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static void note(const hf_lock *lock, int64_t from_us, int64_t until_us)
{
    size_t at = atomic_fetch_add(&told->count, 1);

    if (at < HELD_MAX)
        told->list[at] = (held){hf_lock_token(lock), from_us, until_us};
}

/* Work under the lock: until it is lost, or for a random time. */
static void work(hf_lock *lock, int64_t for_us)
{
    int64_t from_us = now_us();
    int64_t until_us = from_us;
    int64_t at_us = from_us;

    if (!hf_lock_is_held(lock))
        return;
    while (at_us - from_us < for_us) {
        usleep(500);
        at_us = now_us();
        if (!hf_lock_is_held(lock))
            break;
        until_us = at_us;
    }
    note(lock, from_us, until_us);
}

/* Mostly short, so that the lock changes hands; some are so long that servers
 * come and go meanwhile. */
static int64_t choose_hold_us(prng *random, bool by_chance)
{
    if (!by_chance)
        return 0;
    return (int64_t)prng_below(random,
                               prng_chance(random, 20) ? 900000 : 20000);
}

static void turn(hf_lock *lock, int64_t hold_us)
{
    int64_t began_ms = test_now_ms();
    long long took_ms;
    long long longest;

    if (hf_lock_acquire(lock, 3000, NULL) != HF_OK) {
        atomic_fetch_add(&told->failed, 1);
        return;
    }
    took_ms = test_now_ms() - began_ms;
    longest = atomic_load(&told->longest_ms);
    while (took_ms > longest &&
           !atomic_compare_exchange_weak(&told->longest_ms, &longest, took_ms))
        ;
    work(lock, hold_us);
    (void)!hf_lock_release(lock, NULL);
}

/* A client process: many turns; after a random number of them a new client.
 * Half of the processes do not renew. */
static void run_client(uint64_t number, bool by_chance)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_lock_options lock_options = HF_LOCK_OPTIONS_INIT;
    prng random;

    random = prng_of(seed, number, 1);
    options.request_ms = REQUEST_MS;
    lock_options.ttl_ms = TTL_MS;
    lock_options.flags = number % 2 == 0 ? 0 : HF_LOCK_NO_RENEW;
    while (!atomic_load(&told->stop)) {
        hf_client *client = NULL;
        hf_lock *lock = NULL;
        size_t turns = by_chance ? 1 + prng_below(&random, 40) : SIZE_MAX;

        if (hf_client_open(url, &options, &client, NULL) != HF_OK) {
            usleep(10000);
            continue;
        }
        if (hf_lock_new(client, hf_str("l"), &lock_options, &lock, NULL) !=
            HF_OK)
            _exit(1);
        while (turns-- > 0 && !atomic_load(&told->stop))
            turn(lock, choose_hold_us(&random, by_chance));
        hf_lock_free(lock);
        hf_client_close(client);
    }
    _exit(0);
}

static void start_clients(pid_t pids[CLIENTS], bool by_chance)
{
    told = mmap(NULL, sizeof(*told), PROT_READ | PROT_WRITE,
                MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(told != MAP_FAILED);
    for (uint64_t i = 0; i < CLIENTS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            run_client(i, by_chance);
    }
}

static void stop_clients(const pid_t pids[CLIENTS])
{
    int status = 0;

    atomic_store(&told->stop, true);
    for (size_t i = 0; i < CLIENTS; i++) {
        assert_int_equal(pids[i], await_child(pids[i], &status));
        assert_int_equal(0, status);
    }
}

static int by_start(const void *a, const void *b)
{
    int64_t left = ((const held *)a)->from_us;
    int64_t right = ((const held *)b)->from_us;

    return (left > right) - (left < right);
}

/* How often two held it at once, or a token did not grow. */
static size_t judge_history(size_t count)
{
    size_t wrong = 0;

    qsort(told->list, count, sizeof(told->list[0]), by_start);
    for (size_t i = 1; i < count; i++) {
        const held *before = &told->list[i - 1];
        const held *after = &told->list[i];

        if (after->from_us <= before->until_us) {
            print_error("%zu: held from %lld us while another held it until "
                        "%lld us\n",
                        i, (long long)after->from_us,
                        (long long)before->until_us);
            wrong++;
        }
        if (after->token <= before->token) {
            print_error("%zu: token %llu after %llu\n", i,
                        (unsigned long long)after->token,
                        (unsigned long long)before->token);
            wrong++;
        }
    }
    return wrong;
}

static void report(const char *what)
{
    print_message("%s: held %zu times, %zu waits of 3 s failed, the longest "
                  "took %lld ms\n",
                  what, atomic_load(&told->count), atomic_load(&told->failed),
                  atomic_load(&told->longest_ms));
}

/* Thousands in two seconds on an idle machine; 55 at a load of 12. */
#define SPLIT_PAIRS 100
#define SPLIT_MS 2000
#define SPLIT_MOST_MS 10000

/* All want it at once, and release it at once: votes split all the time. */
TEST(split_votes_end)
{
    pid_t pids[CLIENTS];
    size_t count;
    int64_t began_ms;

    grow_old();
    redis_server_kill(servers[0]);
    redis_server_kill(servers[2]);
    start_clients(pids, false);
    began_ms = test_now_ms();
    usleep(SPLIT_MS * 1000);
    while (atomic_load(&told->count) <= SPLIT_PAIRS &&
           test_now_ms() < began_ms + SPLIT_MOST_MS)
        usleep(10000);
    stop_clients(pids);
    report("contention");
    count = atomic_load(&told->count);
    assert_int_equal(0, judge_history(count < HELD_MAX ? count : HELD_MAX));
    assert_int_equal(0, atomic_load(&told->failed));
    assert_true(count > SPLIT_PAIRS);
    (void)munmap(told, sizeof(*told));
}

/* ------------------------------------------------------------ random faults */

typedef enum condition { UP, DEAD, HANGS } condition;

typedef struct fleet {
    condition is[NODES];
    int64_t started_ms[NODES];
} fleet;

/* Nodes that cannot vote: gone, hanging, or in quarantine. */
static size_t missing(const fleet *all)
{
    int64_t young_ms =
        test_now_ms() - (quarantine_ms > 0 ? quarantine_ms + 2100 : 0);
    size_t count = 0;

    for (size_t i = 0; i < NODES; i++)
        count += all->is[i] != UP || all->started_ms[i] > young_ms;
    return count;
}

static void bring_back(fleet *all, size_t node)
{
    if (all->is[node] == HANGS) {
        redis_server_resume(servers[node]);
    } else if (all->is[node] == DEAD) {
        assert_true(redis_server_restart(servers[node]));
        all->started_ms[node] = test_now_ms();
    }
    all->is[node] = UP;
}

/* Usually two are missing, so that the lock is granted by ever different
 * majorities; now and then there is none. */
static void do_something(fleet *all, prng *random)
{
    size_t node = prng_below(random, NODES);
    size_t most = prng_chance(random, 30) ? 3 : 2;

    if (all->is[node] != UP) {
        bring_back(all, node);
    } else if (missing(all) < most) {
        all->is[node] = prng_chance(random, 60) ? DEAD : HANGS;
        if (all->is[node] == DEAD)
            redis_server_kill(servers[node]);
        else
            redis_server_pause(servers[node]);
    }
}

/* In eight seconds 81 at a load of 3, and 13 at a low priority and a load of
 * 10. */
#define CHANCE_LEAST 20
#define CHANCE_MOST_TIMES 5

TEST(chance_breaks_neither_exclusion_nor_order)
{
    fleet all = {.is = {UP}};
    pid_t pids[CLIENTS];
    int64_t began_ms;
    size_t count;
    prng random;

    random = prng_of(seed, 0, 2);
    grow_old();
    start_clients(pids, true);
    began_ms = test_now_ms();
    while (test_now_ms() < began_ms + seconds * 1000 ||
           (atomic_load(&told->count) <= CHANCE_LEAST &&
            test_now_ms() < began_ms + CHANCE_MOST_TIMES * seconds * 1000)) {
        usleep((useconds_t)(30 + prng_below(&random, 150)) * 1000);
        do_something(&all, &random);
    }
    for (size_t i = 0; i < NODES; i++)
        bring_back(&all, i);
    stop_clients(pids);
    report("by chance");
    count = atomic_load(&told->count);
    assert_int_equal(0, judge_history(count < HELD_MAX ? count : HELD_MAX));
    assert_true(count > CHANCE_LEAST);
    (void)munmap(told, sizeof(*told));
}

int main(int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--seconds") == 0)
            seconds = strtoll(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--quarantine") == 0)
            quarantine_ms = strtoll(argv[i + 1], NULL, 10);
    }
    print_message("seed %llu\n", (unsigned long long)seed);
    return test_run_all(NULL);
}
