/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cluster_failover.c - a cluster whose masters are killed, stopped or replaced
 * by an operator, and whose slots are moved, under threads that count
 * (cluster_load.h).
 *
 *     cluster_failover [--case kill|stop|order|move] [--rounds N] [--threads N]
 *
 * What must hold in every round:
 * - nothing counts twice, and nothing that was reported as not applied;
 * - what was acknowledged is still there. A cluster replicates after it has
 *   replied, so a master that dies loses its last moment: what is missing
 *   afterwards must be in the dead master's log (dead_master.h), and is
 *   printed. A manual failover (CLUSTER FAILOVER) and moving slots lose
 *   nothing, and make no call fail;
 * - no call ends later than its deadline plus 50 ms, plus the lateness of a
 *   thread that only sleeps;
 * - after a failover every counter is counted on, and how soon is printed;
 * - each lock held meanwhile still excludes others, or is reported lost.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cluster_load.h"
#include "dead_master.h"
#include "holdfast/lock.h"
#include "support/slowness.h"

#define MASTERS 3
#define REQUEST_MS 2000
#define MOVE_REQUEST_MS 15000 /* keys wait for a slot */
#define LATE_MS 50
#define NODE_TIMEOUT_MS 1500
#define RECOVERY_MAX_MS 30000
#define LOCKS 24
#define LOCK_TTL_MS 3000
#define MOVES 4 /* of each slot in a round */

typedef struct cluster_trial {
    const char *kind; /* of fault */
    const char *verb; /* what happens to the master */
    int rounds;
    int threads;
    redis_cluster *cluster;
    int failures;
} cluster_trial;

static void pause_ms(long ms)
{
    struct timespec span = {ms / 1000, (ms % 1000) * 1000000};

    nanosleep(&span, NULL);
}

static void check(cluster_trial *trial, bool right, const char *what)
{
    if (!right) {
        printf("  violation: %s\n", what);
        trial->failures++;
    }
}

static bool is_case(const cluster_trial *trial, const char *kind)
{
    return strcmp(trial->kind, kind) == 0;
}

/* ------------------------------------------------------------------- naming */

/* The slot of a name, from a server. */
static int slot_of(const cluster_trial *trial, int asked, const char *name)
{
    char command[64];
    char answer[64];

    (void)snprintf(command, sizeof(command), "CLUSTER KEYSLOT %s", name);
    if (!redis_server_command(redis_cluster_server(trial->cluster, asked),
                              command, answer, sizeof(answer)) ||
        answer[0] != ':') {
        return -1;
    }
    return (int)strtol(answer + 1, NULL, 10);
}

static int owner_of(const cluster_trial *trial, int asked, const char *name)
{
    int slot = slot_of(trial, asked, name);

    return slot < 0 ? -1 : redis_cluster_owner(trial->cluster, asked, slot);
}

/* One counter of each thread on each master. */
static bool name_counters(const cluster_trial *trial, load_run *load, int round,
                          int asked)
{
    for (int t = 0; t < load->thread_count; t++) {
        int tries = 0;

        for (int i = 0; i < load->counter_count;) {
            load_counter *counter = &load->threads[t].counters[i];
            bool fresh = true;

            (void)snprintf(counter->name, LOAD_NAME_SIZE, "r%dt%dx%d", round, t,
                           tries);
            counter->server = owner_of(trial, asked, counter->name);
            for (int other = 0; other < i; other++) {
                fresh = fresh && load->threads[t].counters[other].server !=
                                     counter->server;
            }
            i += fresh && counter->server >= 0;
            if (tries++ == 1000) {
                return false;
            }
        }
    }
    return true;
}

static int64_t request_ms(const cluster_trial *trial)
{
    return is_case(trial, "move") ? MOVE_REQUEST_MS : REQUEST_MS;
}

static hf_client *open_client(const cluster_trial *trial)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    opts.request_ms = request_ms(trial);
    if (hf_client_open(redis_cluster_url(trial->cluster), &opts, &client,
                       &err) != HF_OK) {
        fprintf(stderr, "no client: %s\n", err.message);
    }
    return client;
}

/* -------------------------------------------------------------------- locks */

static int take_locks(hf_client *client, hf_lock **locks, int round)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    char name[32];
    int taken = 0;

    opts.ttl_ms = LOCK_TTL_MS;
    for (int i = 0; i < LOCKS; i++) {
        locks[i] = NULL;
        (void)snprintf(name, sizeof(name), "lock:%d:%d", round, i);
        if (hf_lock_new(client, hf_str(name), &opts, &locks[i], NULL) !=
            HF_OK) {
            continue;
        }
        taken += hf_lock_try(locks[i], NULL) == HF_OK;
    }
    return taken;
}

/* A lock that counts as held must keep others out. Checked in this order, so
 * that one lost in between is no violation. */
static void check_locks(cluster_trial *trial, hf_lock **locks, int round)
{
    hf_client *other = open_client(trial);
    char name[32];
    int held = 0;
    int twice = 0;

    for (int i = 0; other != NULL && i < LOCKS; i++) {
        hf_lock *rival = NULL;

        (void)snprintf(name, sizeof(name), "lock:%d:%d", round, i);
        if (hf_lock_new(other, hf_str(name), NULL, &rival, NULL) != HF_OK) {
            continue;
        }
        if (hf_lock_try(rival, NULL) == HF_OK) {
            twice += hf_lock_is_held(locks[i]);
        }
        held += hf_lock_is_held(locks[i]);
        hf_lock_free(rival); /* and release */
    }
    printf("  locks: %d of %d still held, %d reported lost\n", held, LOCKS,
           LOCKS - held);
    check(trial, other != NULL && twice == 0, "a lock was held twice");
    hf_client_close(other);
    for (int i = 0; i < LOCKS; i++) {
        hf_lock_free(locks[i]);
    }
}

/* ----------------------------------------------------------------- failover */

/* Until a server's counters are counted on: us, or -1. *over_us: when another
 * server of the cluster reported a new owner for one of them. */
static int64_t await_recovery(const cluster_trial *trial, const load_run *load,
                              int broken, int64_t *over_us)
{
    int asked = (broken + 1) % MASTERS;
    int slot = slot_of(trial, asked, load->threads[0].counters[0].name);
    int64_t recovery_us = -1;

    *over_us = -1;
    for (int waited_ms = 0; recovery_us < 0 && waited_ms < RECOVERY_MAX_MS;
         waited_ms += 10) {
        pause_ms(10);
        if (*over_us < 0 &&
            redis_cluster_owner(trial->cluster, asked, slot) != broken) {
            *over_us = load_now_us() - atomic_load(&load->broken_us);
        }
        recovery_us = load_recovery_us(load, broken);
    }
    return recovery_us;
}

/* The replica of a master; replicas follow all masters in the array. */
static int replica_of(const cluster_trial *trial, int master)
{
    char answer[1024], port[16];

    (void)snprintf(
        port, sizeof(port), "\r\n:%d\r\n",
        redis_server_port(redis_cluster_server(trial->cluster, master)));
    for (int at = 0; at < redis_cluster_size(trial->cluster); at++) {
        if (at != master &&
            redis_server_command(redis_cluster_server(trial->cluster, at),
                                 "ROLE", answer, sizeof(answer)) &&
            strstr(answer, "slave") != NULL && strstr(answer, port) != NULL) {
            return at;
        }
    }
    return -1;
}

static void make_fault(cluster_trial *trial, load_run *load, int server)
{
    redis_server *victim = redis_cluster_server(trial->cluster, server);
    char answer[64] = "";
    int replica;

    if (is_case(trial, "kill")) {
        redis_server_kill(victim);
    } else if (is_case(trial, "stop")) {
        redis_server_pause(victim);
    } else {
        replica = replica_of(trial, server);
        check(trial,
              replica >= 0 &&
                  redis_server_command(
                      redis_cluster_server(trial->cluster, replica),
                      "CLUSTER FAILOVER", answer, sizeof(answer)) &&
                  answer[0] == '+',
              "no manual failover");
    }
    atomic_store(&load->broken_us, load_now_us());
}

/* It comes back as a replica, which has caught up before the next round. */
static void undo_fault(cluster_trial *trial, int server)
{
    redis_server *victim = redis_cluster_server(trial->cluster, server);

    if (is_case(trial, "kill")) {
        check(trial, redis_server_restart(victim), "no restart");
    } else if (is_case(trial, "stop")) {
        redis_server_resume(victim);
    }
    check(trial, redis_cluster_await_whole(trial->cluster),
          "the cluster is incomplete");
}

static void judge_calls(cluster_trial *trial, const load_run *load)
{
    int64_t late_us = load_longest_us(load) - request_ms(trial) * 1000;

    load_print(load, request_ms(trial));
    check(trial,
          took_between(late_us / 1000, INT64_MIN,
                       LATE_MS + load->oversleep_us / 1000),
          "a call returned late");
    check(trial, load_calls(load, LOAD_OTHER) == 0,
          "a call failed unexpectedly");
}

static void judge_counters(cluster_trial *trial, load_run *load,
                           hf_client *reader, hf_client *witness)
{
    load_verdict now = load_audit(load, -1, reader, NULL);
    load_verdict all =
        witness == NULL ? now : load_audit(load, -1, reader, witness);

    printf("  counters: %lld doubled, %lld \"not applied\" that were, %lld "
           "acknowledged and gone: %lld taken along by the dead master, %lld "
           "lost; of %lld unknown %lld had counted\n",
           (long long)all.doubled, (long long)all.false_no,
           (long long)now.missing, (long long)(now.missing - all.missing),
           (long long)all.missing, (long long)load_calls(load, LOAD_UNKNOWN),
           (long long)all.applied);
    check(trial, all.unread == 0, "a counter could not be read");
    check(trial, all.doubled == 0, "something counted twice");
    check(trial, all.false_no == 0, "a call \"not applied\" was applied");
    check(trial, all.missing == 0, "an acknowledged count is gone");
}

/* With the data of the dead one, which it must not have discarded yet. */
static void judge(cluster_trial *trial, load_run *load, int broken)
{
    hf_client *reader = open_client(trial);
    hf_client *witness = NULL;
    dead_master *dead = NULL;

    judge_calls(trial, load);
    if (broken >= 0) {
        dead = dead_master_read(redis_cluster_server(trial->cluster, broken));
        check(trial,
              dead != NULL && hf_client_open(dead_master_url(dead), NULL,
                                             &witness, NULL) == HF_OK,
              "the dead master's log cannot be read");
    }
    if (reader != NULL) {
        judge_counters(trial, load, reader, witness);
    }
    hf_client_close(reader);
    hf_client_close(witness);
    dead_master_free(dead);
}

static void fail_over(cluster_trial *trial, int round)
{
    load_run *load = calloc(1, sizeof(*load));
    bool ordered = is_case(trial, "order");
    hf_lock *locks[LOCKS];
    int asked = (round + 1) % MASTERS;
    int broken = -1;
    int64_t recovery_us;
    int64_t over_us;

    load->client = open_client(trial);
    load->thread_count = trial->threads;
    load->counter_count = MASTERS;
    load->steps = ordered;
    if (load->client != NULL && name_counters(trial, load, round, asked)) {
        broken = load->threads[0].counters[0].server;
    }
    if (broken < 0 ||
        !dead_master_log(redis_cluster_server(trial->cluster, broken)) ||
        take_locks(load->client, locks, round) != LOCKS || !load_start(load)) {
        check(trial, false, "the round could not begin");
        load_free(load);
        return;
    }
    pause_ms(500);
    make_fault(trial, load, broken);
    recovery_us = await_recovery(trial, load, broken, &over_us);
    pause_ms(500);
    load_stop(load);
    printf("cluster, master %s, %d threads, round %d: all counters were served "
           "again after %.2f s; the cluster had failed over after %.2f s\n",
           trial->verb, trial->threads, round, (double)recovery_us / 1e6,
           (double)over_us / 1e6);
    check(trial, recovery_us >= 0, "no recovery");
    judge(trial, load, ordered ? -1 : broken);
    check_locks(trial, locks, round);
    undo_fault(trial, broken);
    hf_client_close(load->client);
    load_free(load);
}

/* ------------------------------------------------------------------- moving */

/* Two counters of each thread with one tag, and a slot of their own. */
static void name_pairs(load_run *load, int round)
{
    for (int t = 0; t < load->thread_count; t++) {
        for (int i = 0; i < load->counter_count; i++) {
            load_counter *counter = &load->threads[t].counters[i];

            (void)snprintf(counter->name, LOAD_NAME_SIZE, "{r%ds%d}t%dc%d",
                           round, (t + i / 2) % 2, t, i);
            counter->server = 0;
        }
    }
}

/* Slowly enough that callers encounter each of its stages. */
static bool move_slot(cluster_trial *trial, int slot, int from, int to)
{
    int moved = 1;

    if (!redis_cluster_open_slot(trial->cluster, slot, from, to)) {
        return false;
    }
    while (moved > 0) {
        pause_ms(10);
        moved = redis_cluster_move_keys(trial->cluster, slot, from, to,
                                        1 + trial->threads / 3);
    }
    return moved == 0 && redis_cluster_close_slot(trial->cluster, slot, to);
}

static void move(cluster_trial *trial, int round)
{
    load_run *load = calloc(1, sizeof(*load));
    char tag[LOAD_NAME_SIZE];
    int moves = 0;

    load->client = open_client(trial);
    load->thread_count = trial->threads;
    load->counter_count = 4;
    load->pairs = load->steps = load->rests = true;
    name_pairs(load, round);
    if (load->client == NULL || !load_start(load)) {
        check(trial, false, "the round could not begin");
        load_free(load);
        return;
    }
    pause_ms(200);
    for (int i = 0; i < 2 * MOVES; i++) {
        int from;

        (void)snprintf(tag, sizeof(tag), "{r%ds%d}", round, i % 2);
        from = owner_of(trial, 0, tag);
        moves += from >= 0 && move_slot(trial, slot_of(trial, 0, tag), from,
                                        (from + 1) % MASTERS);
    }
    load_stop(load);
    printf("cluster, slots moved, %d threads, round %d: %d moves, a few "
           "keys at a time\n",
           trial->threads, round, moves);
    check(trial, moves == 2 * MOVES, "a slot could not be moved");
    judge(trial, load, -1);
    check(trial,
          load_calls(load, LOAD_NOT_APPLIED) == 0 &&
              load_calls(load, LOAD_UNKNOWN) == 0,
          "a call failed because a slot moved");
    hf_client_close(load->client);
    load_free(load);
}

/* --------------------------------------------------------------------- main */

/* The cases, and what happens to the master. */
static const char *const cases[][2] = {{"kill", "killed"},
                                       {"stop", "stopped"},
                                       {"order", "replaced manually"},
                                       {"move", ""}};

static bool choose_case(cluster_trial *trial)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (is_case(trial, cases[i][0])) {
            trial->verb = cases[i][1];
            return true;
        }
    }
    return false;
}

static bool read_options(cluster_trial *trial, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--case") == 0) {
            trial->kind = argv[i + 1];
        } else if (strcmp(argv[i], "--rounds") == 0) {
            trial->rounds = (int)strtol(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--threads") == 0) {
            trial->threads = (int)strtol(argv[i + 1], NULL, 10);
        } else {
            return false;
        }
    }
    return argc % 2 == 1 && trial->rounds > 0 && trial->threads > 0 &&
           trial->threads <= LOAD_THREADS_MAX && choose_case(trial);
}

int main(int argc, char **argv)
{
    cluster_trial trial = {.kind = "kill", .rounds = 1, .threads = 64};
    bool moves;

    if (!read_options(&trial, argc, argv)) {
        fprintf(stderr,
                "usage: %s [--case kill|stop|order|move] [--rounds N] "
                "[--threads 1..%d]\n",
                argv[0], LOAD_THREADS_MAX);
        return 64;
    }
    moves = is_case(&trial, "move");
    setvbuf(stdout, NULL, _IOLBF, 0);
    trial.cluster =
        redis_cluster_start(MASTERS, moves ? 0 : 1, NODE_TIMEOUT_MS);
    if (trial.cluster == NULL) {
        return 1;
    }
    for (int round = 1; round <= trial.rounds && trial.failures == 0; round++) {
        if (moves) {
            move(&trial, round);
        } else {
            fail_over(&trial, round);
        }
    }
    redis_cluster_stop(trial.cluster);
    printf("%s\n", trial.failures == 0 ? "no violations" : "FAILED");
    return trial.failures == 0 ? 0 : 1;
}
