/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sentinel_failover.c - masters that are killed, stopped, or replaced by an
 * operator, under load.
 *
 *     sentinel_failover [--rounds N] [--threads N] [--request-ms N]
 *
 * A round is one failover of each kind, each with its own servers and
 * sentinels. The operator follows the manual: CLIENT PAUSE WRITE, SENTINEL
 * FAILOVER. Threads count on it (cluster_load.h), and a second client holds
 * locks that its watchdog renews. When the next master replies, the old one
 * comes back, which must not lead any client to it. Then:
 *
 * 1. every counter was counted on, and how long that took is printed;
 * 2. no call returned later than its deadline plus 50 ms, plus the lateness of
 *    a thread that only sleeps;
 * 3. nothing was counted twice, and nothing that was reported as not applied.
 *    Acknowledged counts may be gone, as replication is asynchronous: those
 *    must be in the old master's log (dead_master.h), and their number is
 *    printed. If the sentinels took the next master for dead, too, because the
 *    machine was slow, its log is missing: the round is then repeated;
 * 4. every lock is still held, and refused to others, or was reported lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster_load.h"
#include "dead_master.h"
#include "holdfast/lock.h"
#include "support/redis_sentinel.h"
#include "support/slowness.h"

#define LOCKS 24
#define LOCK_TTL_MS 6000
#define LATE_US 50000
#define LIMIT_MS 30000
#define OLD_MASTER 0
#define TRIES 5
#define PAUSE_MS 10000

typedef enum fault_kind { KILLED, HOST, STOPPED, ORDERED, KINDS } fault_kind;

static const char *const fault_names[] = {
    "killed", "killed with the first sentinel", "stopped", "replaced manually"};

typedef struct held_lock {
    hf_lock *lock;
    char name[32];
    atomic_int lost; /* how often it was reported */
} held_lock;

typedef struct trial {
    fault_kind kind;
    redis_sentinel *servers;
    hf_client *holder;
    held_lock locks[LOCKS];
    load_run load;
    int64_t named_us; /* from the fault until there was another master */
    dead_master *old; /* what it had */
    int next;         /* master; -1: none was named */
    bool again;       /* it was replaced, too: its log is missing */
    int faults;       /* found */
} trial;

static struct {
    int rounds;
    int threads;
    int64_t request_ms;
} options = {1, 64, 6000};

static void pause_ms(int64_t ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000L};

    nanosleep(&span, NULL);
}

static void violation(trial *self, const char *text)
{
    printf("violation: %s: %s\n", fault_names[self->kind], text);
    self->faults++;
}

/* ------------------------------------------------------------------- locks */

static void on_lost(hf_lock *lock, hf_status reason, void *user)
{
    held_lock *held = user;

    (void)lock;
    (void)reason;
    atomic_fetch_add(&held->lost, 1);
}

static bool take_locks(trial *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    opts.ttl_ms = LOCK_TTL_MS;
    opts.on_lost = on_lost;
    for (int i = 0; i < LOCKS; i++) {
        held_lock *held = &self->locks[i];

        snprintf(held->name, sizeof(held->name), "lock-%d", i);
        opts.user = held;
        if (hf_lock_new(self->holder, hf_str(held->name), &opts, &held->lock,
                        &err) != HF_OK ||
            hf_lock_try(held->lock, &err) != HF_OK) {
            fprintf(stderr, "%s: %s\n", held->name, err.message);
            return false;
        }
    }
    return true;
}

/* Can another client acquire it? */
static hf_status try_other(trial *self, const held_lock *held)
{
    hf_lock *other = NULL;
    hf_status status =
        hf_lock_new(self->load.client, hf_str(held->name), NULL, &other, NULL);

    if (status == HF_OK) {
        status = hf_lock_try(other, NULL);
    }
    hf_lock_free(other);
    return status;
}

static void judge_locks(trial *self)
{
    hf_error err = HF_ERROR_INIT;
    int lost = 0;

    for (int i = 0; i < LOCKS; i++) {
        held_lock *held = &self->locks[i];

        if (hf_lock_renew(held->lock, &err) == HF_OK) {
            if (try_other(self, held) != HF_HELD) {
                violation(self, "a lock that is held was given to another");
            }
        } else {
            lost++;
            if (atomic_load(&held->lost) == 0) {
                violation(self, "a lock was lost and not reported");
                printf("  %s: %s\n", held->name, err.message);
            }
        }
    }
    printf("  locks: %d held, %d reported lost\n", LOCKS - lost, lost);
}

/* ------------------------------------------------------------------ faults */

/* The number that follows `name` from `at` on; -1: none does. */
static long long number_after(const char *at, const char *name)
{
    at = strstr(at, name);
    return at != NULL ? strtoll(at + strlen(name), NULL, 10) : -1;
}

/* Have both replicas applied all that the paused master has done, up to
 * `wanted`? */
static bool have_followed(const char *info, long long wanted)
{
    const char *one = strstr(info, "\nslave0:");
    const char *two = strstr(info, "\nslave1:");

    return one != NULL && number_after(one, "offset=") >= wanted &&
           two != NULL && number_after(two, "offset=") >= wanted;
}

/* SENTINEL FAILOVER does not wait for this, so the operator has to. */
static void let_replicas_follow(const redis_server *master)
{
    int64_t until_us = load_now_us() + PAUSE_MS * 1000LL / 2;
    long long wanted = -1;
    char info[4096];

    do {
        if (!redis_server_command(master, "INFO replication", info,
                                  sizeof(info)))
            continue;
        if (wanted < 0)
            wanted = number_after(info, "master_repl_offset:");
        if (wanted >= 0 && have_followed(info, wanted))
            return;
        pause_ms(5);
    } while (load_now_us() < until_us);
}

static void inflict(const trial *self)
{
    redis_server *master = redis_sentinel_server(self->servers, OLD_MASTER);
    char pause_writes[40];
    char answer[100];

    switch (self->kind) {
    case HOST:
        redis_sentinel_kill(self->servers, 0);
        redis_server_kill(master);
        break;
    case KILLED:
        redis_server_kill(master);
        break;
    case STOPPED:
        redis_server_pause(master);
        break;
    default:
        (void)snprintf(pause_writes, sizeof(pause_writes),
                       "CLIENT PAUSE %d WRITE", PAUSE_MS);
        redis_server_command(master, pause_writes, answer, sizeof(answer));
        let_replicas_follow(master);
        redis_sentinel_command(self->servers, 1,
                               "SENTINEL FAILOVER " REDIS_SENTINEL_NAME, answer,
                               sizeof(answer));
    }
}

/* The old master believes it is the master until it learns otherwise. */
static void bring_back(const trial *self)
{
    redis_server *master = redis_sentinel_server(self->servers, OLD_MASTER);

    if (self->kind == KILLED || self->kind == HOST) {
        redis_server_restart(master);
    } else if (self->kind == STOPPED) {
        redis_server_resume(master);
    }
}

static void await_recovery(trial *self)
{
    int64_t until_us = load_now_us() + LIMIT_MS * 1000LL;

    self->next = redis_sentinel_await(self->servers, OLD_MASTER, 0, LIMIT_MS);
    if (self->next < 0) {
        violation(self, "the sentinels named no other master");
        return;
    }
    self->named_us = load_now_us() - atomic_load(&self->load.broken_us);
    while (load_recovery_us(&self->load, OLD_MASTER) < 0 &&
           load_now_us() < until_us) {
        pause_ms(10);
    }
    if (load_recovery_us(&self->load, OLD_MASTER) < 0) {
        violation(self, "a thread was never served again");
    }
}

/* In its present state: it loses it once it follows the next one. The one that
 * the operator replaced is a replica already, and has nothing to report. */
static void read_old(trial *self)
{
    if (self->kind != ORDERED)
        self->old =
            dead_master_read(redis_sentinel_server(self->servers, OLD_MASTER));
}

/* Is the next master still the master? Checked after everything was read from
 * it. */
static bool is_still_master(const trial *self)
{
    return self->next < 0 || redis_sentinel_master(self->servers) == self->next;
}

static void judge_counters(trial *self, hf_client *witness)
{
    load_run *done = &self->load;
    load_verdict now = load_audit(done, -1, done->client, NULL);
    load_verdict all = load_audit(done, -1, done->client, witness);

    printf("  counters: %lld doubled, %lld \"not applied\" that were, %lld "
           "acknowledged and gone: %lld taken along by the old master, %lld "
           "lost; of %lld unknown %lld had counted\n",
           (long long)all.doubled, (long long)all.false_no,
           (long long)now.missing, (long long)(now.missing - all.missing),
           (long long)all.missing, (long long)load_calls(done, LOAD_UNKNOWN),
           (long long)all.applied);
    if (all.unread > 0)
        violation(self, "a counter could not be read");
    if (all.doubled > 0)
        violation(self, "an increment was counted twice");
    if (all.false_no > 0)
        violation(self, "a call \"not applied\" was applied");
    self->again = !is_still_master(self);
    if (self->again)
        printf("  the sentinels replaced the next master, too: again\n");
    else if (all.missing > 0)
        violation(self, "an acknowledged increment is gone");
}

static void judge(trial *self)
{
    const load_run *done = &self->load;

    printf("sentinel, master %s, %d threads: recovered after %.2f s, the "
           "sentinels had named the next after %.2f s\n",
           fault_names[self->kind], options.threads,
           (double)load_recovery_us(done, OLD_MASTER) / 1e6,
           (double)self->named_us / 1e6);
    load_print(done, options.request_ms);
    if (!took_between(load_longest_us(done) / 1000, 0,
                      options.request_ms +
                          (LATE_US + done->oversleep_us) / 1000)) {
        violation(self, "a call returned late");
    }
    if (load_calls(done, LOAD_OTHER) > 0)
        violation(self, "a call failed in another way");
}

static void judge_old(trial *self)
{
    hf_client *witness = NULL;

    if (self->kind != ORDERED &&
        (self->old == NULL || hf_client_open(dead_master_url(self->old), NULL,
                                             &witness, NULL) != HF_OK))
        violation(self, "the old master's log cannot be read");
    else
        judge_counters(self, witness);
    hf_client_close(witness);
}

/* ------------------------------------------------------------------ trials */

static bool prepare(trial *self)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    self->servers = redis_sentinel_start(NULL);
    if (self->servers == NULL) {
        return false;
    }
    opts.request_ms = options.request_ms;
    if (hf_client_open(redis_sentinel_url(self->servers), &opts,
                       &self->load.client, &err) != HF_OK ||
        hf_client_open(redis_sentinel_url(self->servers), &opts, &self->holder,
                       &err) != HF_OK) {
        fprintf(stderr, "%s\n", err.message);
        return false;
    }
    self->load.thread_count = options.threads;
    self->load.counter_count = 2;
    for (int t = 0; t < options.threads; t++) {
        for (int i = 0; i < self->load.counter_count; i++) {
            load_counter *counter = &self->load.threads[t].counters[i];

            snprintf(counter->name, sizeof(counter->name), "c:%d:%d", t, i);
            counter->server = OLD_MASTER;
        }
    }
    return dead_master_log(redis_sentinel_server(self->servers, OLD_MASTER)) &&
           take_locks(self) && load_start(&self->load);
}

static void end(trial *self)
{
    for (int i = 0; i < LOCKS; i++) {
        hf_lock_free(self->locks[i].lock);
    }
    dead_master_free(self->old);
    for (int t = 0; t < self->load.thread_count; t++) {
        for (int i = 0; i < self->load.counter_count; i++) {
            free(self->load.threads[t].counters[i].told);
        }
    }
    hf_client_close(self->holder);
    hf_client_close(self->load.client);
    redis_sentinel_stop(self->servers);
}

/* The number of violations, or -1: try again. */
static int try_once(fault_kind kind)
{
    trial *self = calloc(1, sizeof(*self));
    int faults = 1;

    if (self == NULL) {
        return 1;
    }
    self->kind = kind;
    if (prepare(self)) {
        pause_ms(300);
        inflict(self);
        atomic_store(&self->load.broken_us, load_now_us());
        await_recovery(self);
        read_old(self);
        bring_back(self);
        pause_ms(1000);
        load_stop(&self->load);
        judge(self);
        judge_old(self);
        if (!self->again)
            judge_locks(self);
        faults = self->again && self->faults == 0 ? -1 : self->faults;
    }
    end(self);
    free(self);
    return faults;
}

static int run(fault_kind kind)
{
    int faults = -1;

    for (int tries = 0; faults < 0 && tries < TRIES; tries++)
        faults = try_once(kind);
    if (faults < 0)
        printf("violation: the sentinels replace every master\n");
    return faults < 0 ? 1 : faults;
}

static void take_options(int count, char **words)
{
    for (int i = 1; i + 1 < count; i += 2) {
        long number = strtol(words[i + 1], NULL, 10);

        if (strcmp(words[i], "--rounds") == 0) {
            options.rounds = (int)number;
        } else if (strcmp(words[i], "--threads") == 0) {
            options.threads =
                number < LOAD_THREADS_MAX ? (int)number : LOAD_THREADS_MAX;
        } else if (strcmp(words[i], "--request-ms") == 0) {
            options.request_ms = number;
        }
    }
}

int main(int count, char **words)
{
    int faults = 0;

    take_options(count, words);
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int round = 0; round < options.rounds; round++) {
        for (int kind = 0; kind < KINDS; kind++) {
            faults += run((fault_kind)kind);
        }
    }
    printf("%d violations\n", faults);
    return faults == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
