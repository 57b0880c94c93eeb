/* SPDX-License-Identifier: Apache-2.0 */
/*
 * handover.c - a waiter that fails at each step of the hand-over: the next one
 * holds the lock within the short lease, and never two at a time.
 *
 *     handover [--rounds N]
 *
 * A holder (this process), a victim and a next one (processes) queue for one
 * lock in this order. The victim is killed, stopped, cut off, interrupted or
 * times out when it
 *
 *   queues    and nothing was granted to it
 *   granted   was given the lock, by a message that it has not read: it is
 *             stopped before the release
 *   woken     has just learned of it
 *   renewed   has renewed the short lease
 *
 * Each worker writes into shared memory until when it believes in its lease,
 * and compares that with the others, and its fencing token with the last one.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/lock.h"
#include "holdfast/value.h"
#include "support/byte_proxy.h"
#include "support/prng.h"
#include "support/store_fixture.h"
#include "support/wall_clock.h"

EACH_TEST_WITH(fixture_open, fixture_close);

#define NAME "handed over"
#define SHORT_MS 1000 /* the lease of a hand-over */
#define TTL_MS 1500
#define START_MS 60000 /* for a worker to acquire, if it is slow */
#define NEVER_MS 600000

typedef enum what { IDLE, ACQUIRE } what;

/* A worker's part of the shared memory. */
typedef struct worker {
    pid_t pid;
    char url[FIXTURE_PATH_SIZE];
    atomic_int what;
    _Atomic int64_t began_ms; /* to acquire */
    int64_t wait_ms;
    int64_t interrupt_us; /* after it began; 0: never */
    atomic_bool keeps;    /* it is to hold the lock until this is reset */

    _Atomic int64_t until_ms; /* believes in its lease; 0: does not */
    _Atomic int64_t held_ms;  /* since when; 0: not in this round */
    atomic_int status;        /* of its acquire; -1: none yet */
} worker;

enum { HOLDER, VICTIM, NEXT, WORKERS };

static struct shared {
    worker workers[WORKERS];
    _Atomic uint64_t token;
    char violation[256];
} * shared;

static worker *holder, *victim, *next;
static int rounds = 1;
static wall_clock *servers_clock; /* NULL: not a single server */
static int64_t longest_ms;        /* until the next one held the lock */

/* ------------------------------------------------------------------ workers */

static void violated(const char *text, int64_t a, int64_t b)
{
    if (shared->violation[0] == '\0')
        (void)snprintf(shared->violation, sizeof(shared->violation),
                       "%s: %lld, %lld", text, (long long)a, (long long)b);
}

/* The clock is read before the lease: what is written is not too late. */
static void believe(worker *self, const hf_lock *lock)
{
    int64_t now_ms = test_now_ms(), left_ms = hf_lock_remaining_ms(lock);

    atomic_store(&self->until_ms, left_ms > 0 ? now_ms + left_ms : 0);
    for (size_t i = 0; left_ms > 0 && i < WORKERS; i++) {
        const worker *other = &shared->workers[i];
        int64_t until_ms = atomic_load(&other->until_ms);

        /* One of the two at least sees the other. */
        if (other != self && until_ms > test_now_ms() &&
            atomic_load(&self->until_ms) > test_now_ms())
            violated("two holders, ms left", left_ms, until_ms - now_ms);
    }
}

static void note_token(uint64_t token)
{
    uint64_t last = atomic_exchange(&shared->token, token);

    if (token <= last)
        violated("tokens", (int64_t)last, (int64_t)token);
}

static void *interrupt_later(void *user)
{
    hf_lock *lock = ((void **)user)[0];
    worker *self = ((void **)user)[1];

    (void)usleep((useconds_t)self->interrupt_us);
    (void)!hf_lock_interrupt(lock, NULL);
    return NULL;
}

static hf_status acquire(worker *self, hf_lock *lock)
{
    void *user[] = {lock, self};
    bool interrupts = self->interrupt_us > 0;
    hf_error err = HF_ERROR_INIT;
    pthread_t thread;
    hf_status status;

    if (interrupts)
        interrupts = pthread_create(&thread, NULL, interrupt_later, user) == 0;
    atomic_store(&self->began_ms, test_now_ms());
    status = hf_lock_acquire(lock, self->wait_ms, &err);
    if (status == HF_OK) {
        believe(self, lock);
        note_token(hf_lock_token(lock));
        atomic_store(&self->held_ms, test_now_ms());
    }
    atomic_store(&self->status, (int)status);
    if (interrupts)
        (void)pthread_join(thread, NULL);
    return status;
}

static void obey(worker *self, hf_lock *lock)
{
    while (atomic_load(&self->what) == IDLE)
        (void)usleep(2000);
    if (acquire(self, lock) == HF_OK) {
        do {
            believe(self, lock);
            (void)usleep(1000);
        } while (atomic_load(&self->keeps) && hf_lock_is_held(lock));
        atomic_store(&self->until_ms, 0);
        (void)!hf_lock_release(lock, NULL);
    }
    atomic_store(&self->what, IDLE);
}

static _Noreturn void work(worker *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_lock *lock;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    opts.ttl_ms = TTL_MS;
    if (hf_client_open(self->url, NULL, &client, &err) != HF_OK ||
        hf_lock_new(client, hf_str(NAME), &opts, &lock, &err) != HF_OK) {
        violated(err.message, 0, 0);
        _exit(1);
    }
    for (;;)
        obey(self, lock);
}

static void start(worker *self, const char *url)
{
    pid_t pid;

    memset(self, 0, sizeof(*self));
    (void)snprintf(self->url, sizeof(self->url), "%s", url);
    atomic_store(&self->status, -1);
    pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        work(self);
    self->pid = pid; /* not in the child, which shares it */
}

static void end(worker *self)
{
    if (self->pid <= 0)
        return;
    (void)kill(self->pid, SIGKILL);
    (void)waitpid(self->pid, NULL, 0);
    self->pid = 0;
    atomic_store(&self->until_ms, 0);
}

static void stop(const worker *self)
{
    int status;

    (void)kill(self->pid, SIGSTOP);
    assert_int_equal(waitpid(self->pid, &status, WUNTRACED), self->pid);
}

/* ------------------------------------------------------------------- rounds */

typedef struct round {
    fixture *f;
    byte_proxy *proxy; /* of the victim; NULL: none */
} round;

static void tell(worker *self, int64_t wait_ms)
{
    self->wait_ms = wait_ms;
    atomic_store(&self->status, -1);
    atomic_store(&self->held_ms, 0);
    atomic_store(&self->what, ACQUIRE);
}

/* Do as many wait at the store? One may have given up, or hold the lock
 * already, if the holder was so slow that it lost it. */
static bool are_queued(round *self, int64_t waiters)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    (void)!hf_lock_inspect(self->f->client, hf_str(NAME), &info, NULL);
    return info.waiters + (atomic_load(&victim->status) != -1) +
               (atomic_load(&next->status) != -1) >=
           waiters;
}

/* A worker serves several tests, as killing one costs more than the rest. */
static void want(worker *self, const char *url)
{
    if (self->pid > 0 && strcmp(self->url, url) == 0 &&
        atomic_load(&self->what) == IDLE)
        return;
    end(self);
    start(self, url);
}

static void begin(round *self, fixture *f, const char *victims_url)
{
    self->f = f;
    want(holder, f->url);
    want(victim, victims_url);
    want(next, f->url);
    atomic_store(&holder->keeps, true);
    tell(holder, START_MS);
    expect_soon(atomic_load(&holder->held_ms) != 0, START_MS);
}

/* The victim waits at the store, at the head of the queue, and the next one
 * behind it. */
static void queue_both(round *self, int64_t wait_ms)
{
    atomic_store(&next->status, -1);
    tell(victim, wait_ms);
    expect_soon(are_queued(self, 1), START_MS);
    tell(next, NEVER_MS);
    expect_soon(are_queued(self, 2), START_MS);
}

static int64_t release(void)
{
    int64_t now_ms = test_now_ms();

    atomic_store(&holder->keeps, false);
    expect_soon(atomic_load(&holder->what) == IDLE, START_MS);
    return now_ms;
}

/* The next one holds the lock at most this long after `since_ms`. */
static void expect_next(int64_t since_ms, int64_t within_ms)
{
    int64_t took_ms;

    expect_soon(atomic_load(&next->held_ms) != 0, START_MS);
    took_ms = atomic_load(&next->held_ms) - since_ms;
    if (took_ms > longest_ms)
        longest_ms = took_ms;
    assert_in_time(took_ms, within_ms + 500);
}

/* All that live hold the lock in turn, and give it back. */
static void finish(round *self)
{
    for (size_t i = 0; i < WORKERS; i++)
        atomic_store(&shared->workers[i].keeps, false);
    for (size_t i = 0; i < WORKERS; i++)
        expect_soon(shared->workers[i].pid == 0 ||
                        atomic_load(&shared->workers[i].what) == IDLE,
                    START_MS);
    victim->interrupt_us = 0;
    if (self->proxy != NULL)
        end(victim);
    byte_proxy_stop(self->proxy);
    self->proxy = NULL;
    if (shared->violation[0] != '\0')
        fail_msg("%s", shared->violation);
}

/* ------------------------------------------------------------------- queues */

TEST(victim_killed_in_the_queue_is_passed_over)
{
    round self = {0};
    int64_t since_ms;

    begin(&self, *state, ((fixture *)*state)->url);
    queue_both(&self, NEVER_MS);
    end(victim);
    since_ms = release();
    expect_next(since_ms, SHORT_MS);
    finish(&self);
}

#define CROSSING_MS 100

/* Release about when the victim gives up: the message may arrive just before or
 * after that. */
static void cross(round *self, prng *random)
{
    int64_t at_us = 1000 * CROSSING_MS + (int64_t)prng_below(random, 6000) -
                    3000 - 1000 * (test_now_ms() - victim->began_ms);

    if (at_us > 0)
        (void)usleep((useconds_t)at_us);
    expect_next(release(), SHORT_MS);
    finish(self);
}

TEST(victim_that_times_out_gives_a_grant_back)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (int i = 0; i < 5 * rounds; i++) {
        round self = {0};

        begin(&self, *state, ((fixture *)*state)->url);
        queue_both(&self, CROSSING_MS);
        cross(&self, &random);
    }
}

TEST(victim_that_is_interrupted_gives_a_grant_back)
{
    prng random = prng_of((uint64_t)test_now_ms(), 1, 0);

    for (int i = 0; i < 5 * rounds; i++) {
        round self = {0};

        begin(&self, *state, ((fixture *)*state)->url);
        victim->interrupt_us = 1000 * CROSSING_MS;
        queue_both(&self, NEVER_MS);
        cross(&self, &random);
    }
}

/* ------------------------------------------------------------------ granted */

/* Stopped in the middle of a write, the victim would block an embedded store;
 * then it is continued. */
static bool stop_where_it_blocks_no_one(round *self)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_client *client;
    bool free;

    stop(victim);
    opts.request_ms = 200;
    client = fixture_client(self->f, &opts);
    free = hf_value_set(client, bytes("free"), bytes("1"), NULL, NULL, NULL) ==
           HF_OK;
    fixture_close_client(self->f, client);
    if (!free)
        (void)kill(victim->pid, SIGCONT);
    return free;
}

static void begin_stopped(round *self, void **state)
{
    begin(self, *state, ((fixture *)*state)->url);
    queue_both(self, NEVER_MS);
    expect_soon(stop_where_it_blocks_no_one(self), START_MS);
}

TEST(victim_killed_with_an_unread_grant_costs_one_short_lease)
{
    round self = {0};
    int64_t since_ms;

    begin_stopped(&self, state);
    since_ms = release();
    end(victim);
    expect_next(since_ms, SHORT_MS);
    finish(&self);
}

/* The message lies in its socket buffer all the time. */
static void continue_with_an_old_grant(round *self, int64_t step_ms)
{
    int64_t since_ms;

    atomic_store(&next->keeps, true);
    if (step_ms != 0)
        wall_clock_step(servers_clock, step_ms);
    since_ms = release();
    expect_next(since_ms, SHORT_MS);
    if (step_ms > 0)
        (void)usleep((useconds_t)(2000 * step_ms));
    (void)kill(victim->pid, SIGCONT);
    expect_throughout(atomic_load(&victim->held_ms) == 0, 300);
    atomic_store(&next->keeps, false);
    expect_soon(atomic_load(&victim->held_ms) != 0, START_MS);
    assert_int_equal(atomic_load(&victim->status), HF_OK);
    finish(self);
}

TEST(victim_stopped_for_longer_than_the_short_lease_does_not_believe_it)
{
    round self = {0};

    begin_stopped(&self, state);
    continue_with_an_old_grant(&self, 0);
}

TEST(victim_stopped_for_less_may_believe_it)
{
    round self = {0};
    int64_t since_ms;

    begin_stopped(&self, state);
    since_ms = release();
    (void)usleep(100000);
    (void)kill(victim->pid, SIGCONT);
    expect_next(since_ms, SHORT_MS);
    assert_int_equal(atomic_load(&victim->status), HF_OK);
    finish(&self);
}

/* Back, the grant seems to be old. Forward, it seems to be younger by the step,
 * and is believed for that much longer: docs/explanation/fencing.md. */
TEST(clock_set_between_queueing_and_grant_makes_no_second_holder)
{
    static const int64_t steps_ms[] = {-3600000, 300};

    if (servers_clock == NULL)
        skip();
    for (size_t i = 0; i < 2; i++) {
        round self = {0};

        begin_stopped(&self, state);
        continue_with_an_old_grant(&self, steps_ms[i]);
    }
}

/* -------------------------------------------------------------------- woken */

/* At any instant around the grant. */
TEST(victim_killed_at_any_instant_costs_one_short_lease)
{
    prng random = prng_of((uint64_t)test_now_ms(), 2, 0);

    for (int i = 0; i < 3 * rounds; i++) {
        round self = {0};
        int64_t since_ms = test_now_ms();

        begin(&self, *state, ((fixture *)*state)->url);
        atomic_store(&victim->keeps, true);
        queue_both(&self, NEVER_MS);
        since_ms = test_now_ms();
        atomic_store(&holder->keeps, false);
        (void)usleep((useconds_t)prng_below(&random, 3000));
        end(victim);
        expect_next(since_ms, SHORT_MS);
        finish(&self);
    }
}

TEST(victim_killed_when_woken_costs_one_short_lease)
{
    round self = {0};
    int64_t since_ms;

    begin(&self, *state, ((fixture *)*state)->url);
    atomic_store(&victim->keeps, true);
    queue_both(&self, NEVER_MS);
    since_ms = test_now_ms();
    atomic_store(&holder->keeps, false);
    while (atomic_load(&victim->held_ms) == 0)
        (void)usleep(200);
    end(victim);
    /* Its watchdog may have renewed the lease already. */
    expect_next(since_ms, TTL_MS);
    finish(&self);
}

TEST(victim_stopped_when_woken_does_not_hold_with_the_next)
{
    round self = {0};

    begin(&self, *state, ((fixture *)*state)->url);
    atomic_store(&victim->keeps, true);
    atomic_store(&next->keeps, true);
    queue_both(&self, NEVER_MS);
    (void)release();
    expect_soon(atomic_load(&victim->held_ms) != 0, START_MS);
    expect_soon(stop_where_it_blocks_no_one(&self), START_MS);
    expect_next(test_now_ms(), TTL_MS);
    (void)kill(victim->pid, SIGCONT);
    (void)usleep(100000); /* it looks at its lease */
    finish(&self);
}

/* ------------------------------------------------------------------ renewed */

static bool is_renewed(round *self)
{
    hf_lock_info info = HF_LOCK_INFO_INIT;

    return hf_lock_inspect(self->f->client, hf_str(NAME), &info, NULL) ==
               HF_OK &&
           info.remaining_ms > SHORT_MS + 100;
}

TEST(victim_killed_when_it_has_renewed_costs_its_lease)
{
    round self = {0};
    int64_t since_ms;

    begin(&self, *state, ((fixture *)*state)->url);
    atomic_store(&victim->keeps, true);
    queue_both(&self, NEVER_MS);
    (void)release();
    expect_soon(is_renewed(&self), START_MS);
    end(victim);
    since_ms = test_now_ms();
    expect_next(since_ms, TTL_MS);
    finish(&self);
}

/* ------------------------------------------------------------------ cut off */

static void begin_behind_proxy(round *self, fixture *f)
{
    if (f->server == NULL || f->sentinel != NULL)
        skip();
    self->proxy = byte_proxy_start(redis_server_socket_path(f->server));
    assert_non_null(self->proxy);
    begin(self, f, byte_proxy_tcp_url(self->proxy));
}

/* It is as good as dead, and believes nothing. */
TEST(victim_cut_off_in_the_queue_is_passed_over)
{
    static void (*const cuts[])(byte_proxy *) = {byte_proxy_freeze,
                                                 byte_proxy_darken};

    for (size_t i = 0; i < 2; i++) {
        round self = {0};
        int64_t since_ms;

        begin_behind_proxy(&self, *state);
        queue_both(&self, NEVER_MS);
        cuts[i](self.proxy);
        since_ms = release();
        expect_next(since_ms, SHORT_MS);
        byte_proxy_heal(self.proxy); /* the grant arrives now, too late */
        expect_soon(atomic_load(&victim->held_ms) != 0, START_MS);
        finish(&self);
    }
}

/* The message is lost, or the connection that it would come by. It asks, which
 * makes its lease long, but the reply is lost, too. */
TEST(victim_without_the_message_delays_by_its_leases)
{
    for (int i = 0; i < 2; i++) {
        round self = {0};
        int64_t since_ms;

        begin_behind_proxy(&self, *state);
        queue_both(&self, NEVER_MS);
        if (i == 0)
            byte_proxy_swallow(self.proxy, TO_CLIENT);
        else
            byte_proxy_break(self.proxy, BYTE_END_RESET);
        since_ms = release();
        expect_next(since_ms, SHORT_MS + TTL_MS);
        byte_proxy_heal(self.proxy);
        expect_soon(atomic_load(&victim->held_ms) != 0, START_MS);
        finish(&self);
    }
}

TEST(victim_cut_off_when_woken_does_not_hold_with_the_next)
{
    round self = {0};

    begin_behind_proxy(&self, *state);
    atomic_store(&victim->keeps, true);
    atomic_store(&next->keeps, true);
    queue_both(&self, NEVER_MS);
    (void)release();
    expect_soon(atomic_load(&victim->held_ms) != 0, START_MS);
    byte_proxy_freeze(self.proxy);
    expect_next(test_now_ms(), TTL_MS);
    byte_proxy_heal(self.proxy);
    (void)usleep(100000);
    finish(&self);
}

/* --------------------------------------------------------------------- main */

static int make_shared(void **state)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return -1;
    holder = &shared->workers[HOLDER];
    victim = &shared->workers[VICTIM];
    next = &shared->workers[NEXT];
    servers_clock = wall_clock_new();
    wall_clock_give(servers_clock);
    if (fixture_start(state) != 0)
        return -1;
    wall_clock_give(NULL);
    if (((fixture *)*state)->server == NULL) {
        wall_clock_free(servers_clock);
        servers_clock = NULL;
    }
    return 0;
}

static int end_all(void **state)
{
    for (size_t i = 0; i < WORKERS; i++)
        end(&shared->workers[i]);
    print_message("the next one waited for at most %lld ms\n",
                  (long long)longest_ms);
    wall_clock_free(servers_clock);
    return fixture_stop(state);
}

ALL_TESTS_WITH(make_shared, end_all);

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc > 2 && strcmp(argv[1], "--rounds") == 0)
        rounds = (int)strtol(argv[2], NULL, 10);
    for (int i = 0; i < rounds; i += 10)
        failed += test_run_all(NULL);
    return failed;
}
