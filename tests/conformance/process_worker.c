/* SPDX-License-Identifier: Apache-2.0 */
/*
 * process_worker.c - the other process of process_test.c.
 *
 *     process_worker URL count LOCK KEY ROUNDS   add to KEY under LOCK, by a
 *                                                read and a write
 *     process_worker URL churn LOCK KEY ROUNDS   the same without output
 *     process_worker URL hold LOCK TTL_MS        hold LOCK until a line is read
 *     process_worker URL wait LOCK WAIT_MS       wait for LOCK, then hold it
 *                                                until a line is read
 *     process_worker URL together NAME up|down TTL_MS
 *                                                acquire NAME1 to NAME4 all
 *                                                together, in either order,
 *                                                again and again
 *     process_worker URL party NAME PARTIES TTL_MS
 *                                                wait at the barrier NAME, and
 *                                                print "passed <generation>"
 *                                                or "HF_<status>"
 *     process_worker URL lease NAME KIND KEY TTL_MS
 *                                                hold a lock, permit, reader,
 *                                                leader or job until a line is
 *                                                read, then print what it
 *                                                finds, see look()
 *     process_worker URL fill KEY LEASE_MS       print "fills", fill KEY with
 *                                                "old" when a line is read,
 *                                                and print "<value> <source>"
 *     process_worker URL await NAME WAIT_MS      wait for the latch NAME; print
 *                                                HF_<status>
 *     process_worker URL arrive NAME COUNT       print "arrives", and do so
 *                                                when a line is read; print
 *                                                HF_<status>
 *     process_worker URL take NAME PERIOD_MS     print "takes", and wait for
 *                                                the unit that NAME gains in a
 *                                                period when a line is read;
 *                                                print HF_<status>
 *     process_worker URL push LIST COUNT         print "pushes", and append
 *                                                1 to COUNT when a line is
 *                                                read; print each that is
 *     process_worker URL pop LIST COUNT          print "pops"; wait for so
 *                                                many elements and print each
 *     process_worker URL eval SCRIPT COUNT       print "evals", and run it so
 *                                                often when a line is read
 *
 * Prints a line when it holds the lock: "held <token> <ms of CLOCK_BOOTTIME>".
 * "count" prints one for every round, "churn" and "together" only for the
 * first. Exit 0: success; 1: a call failed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "holdfast/barrier.h"
#include "holdfast/cache.h"
#include "holdfast/command.h"
#include "holdfast/election.h"
#include "holdfast/latch.h"
#include "holdfast/limiter.h"
#include "holdfast/queue.h"
#include "holdfast/rwlock.h"
#include "holdfast/semaphore.h"
#include "holdfast/together.h"
#include "holdfast/value.h"
#include "support/test_clock.h"

static int complain(const char *what, const hf_error *err)
{
    (void)fprintf(stderr, "%s: HF_%s: %s\n", what, hf_status_name(err->status),
                  err->message);
    return 1;
}

static void say_held(const hf_lock *lock)
{
    (void)printf("held %llu %lld\n", (unsigned long long)hf_lock_token(lock),
                 (long long)test_now_ms());
    (void)fflush(stdout);
}

static void wait_for_line(void)
{
    char line[16];

    (void)!fgets(line, sizeof(line), stdin);
}

static void say_ready(const char *word)
{
    (void)puts(word);
    (void)fflush(stdout);
    wait_for_line();
}

static int add_one(hf_client *client, hf_bytes key, hf_error *err)
{
    hf_buffer value = HF_BUFFER_INIT;
    char text[32];

    if (hf_value_get(client, key, &value, err) != HF_OK) {
        return complain("get", err);
    }
    (void)snprintf(text, sizeof(text), "%ld", strtol(value.data, NULL, 10) + 1);
    hf_buffer_free(&value);
    if (hf_value_set(client, key, hf_str(text), NULL, NULL, err) != HF_OK) {
        return complain("set", err);
    }
    return 0;
}

static int count(hf_client *client, hf_lock *lock, hf_bytes key, long rounds,
                 bool silent)
{
    hf_error err = HF_ERROR_INIT;

    for (long i = 0; i < rounds; i++) {
        if (hf_lock_acquire(lock, 30000, &err) != HF_OK) {
            return complain("acquire", &err);
        }
        if (i == 0 || !silent) {
            say_held(lock);
        }
        if (add_one(client, key, &err) != 0) {
            return 1;
        }
        if (hf_lock_release(lock, &err) != HF_OK) {
            return complain("release", &err);
        }
    }
    return 0;
}

static int hold(hf_lock *lock, int64_t wait_ms)
{
    hf_error err = HF_ERROR_INIT;

    if (hf_lock_acquire(lock, wait_ms, &err) != HF_OK) {
        return complain("acquire", &err);
    }
    say_held(lock);
    wait_for_line();
    if (hf_lock_release(lock, &err) != HF_OK) {
        return complain("release", &err);
    }
    return 0;
}

#define LOCKS 4

static int make_locks(hf_client *client, const char *name, bool down,
                      int64_t ttl_ms, hf_lock *locks[LOCKS])
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    opts.ttl_ms = ttl_ms;
    for (int i = 0; i < LOCKS; i++) {
        char text[128];

        (void)snprintf(text, sizeof(text), "%s%d", name,
                       down ? LOCKS - i : i + 1);
        if (hf_lock_new(client, hf_str(text), &opts, &locks[i], &err) != HF_OK)
            return complain("lock", &err);
    }
    return 0;
}

/* Until it is killed. */
static int together(hf_client *client, const char *name, bool down,
                    int64_t ttl_ms)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock *locks[LOCKS];
    hf_status statuses[LOCKS];
    int failed = make_locks(client, name, down, ttl_ms, locks);

    for (bool first = true; !failed; first = false) {
        if (hf_lock_acquire_all(locks, LOCKS, 60000, &err) != HF_OK)
            return complain("acquire all", &err);
        if (first)
            say_held(locks[0]);
        if (hf_lock_release_many(locks, LOCKS, statuses, &err) != HF_OK)
            return complain("release", &err);
    }
    return failed;
}

static int wait_at(hf_client *client, hf_bytes name, int64_t parties,
                   int64_t ttl_ms)
{
    hf_barrier_options opts = HF_BARRIER_OPTIONS_INIT;
    hf_barrier_pass pass;
    hf_status status;

    opts.ttl_ms = ttl_ms;
    status = hf_barrier_wait(client, name, parties, 60000, &opts, &pass, NULL);
    if (status == HF_OK)
        (void)printf("passed %lld\n", (long long)pass.generation);
    else
        (void)printf("HF_%s\n", hf_status_name(status));
    return 0;
}

static int print_status(hf_status status)
{
    (void)printf("HF_%s\n", hf_status_name(status));
    return 0;
}

static hf_status make_lease(hf_client *client, hf_bytes name, const char *kind,
                            const hf_lock_options *opts, hf_lock **lock,
                            hf_error *err)
{
    if (strcmp(kind, "permit") == 0)
        return hf_semaphore_new(client, name, 1, opts, lock, err);
    if (strcmp(kind, "reader") == 0)
        return hf_rwlock_new(client, name, 0, opts, lock, NULL, err);
    if (strcmp(kind, "job") == 0)
        return hf_queue_new(client, name, opts, lock, err);
    if (strcmp(kind, "leader") == 0)
        return hf_election_new(client, name, hf_str("old"), opts, lock, err);
    return hf_lock_new(client, name, opts, lock, err);
}

/* Print whether it holds the lease, and what becomes of a write of `key` with
 * its token, of a leader's text, and of its release. */
static void look(hf_client *client, const char *key, hf_lock *lock,
                 uint64_t token)
{
    bool held = hf_lock_is_held(lock);
    hf_status write = hf_value_put_fenced(client, hf_str(key), hf_str("old"),
                                          token, NULL, NULL, NULL);
    hf_status proclaim = hf_election_proclaim(lock, hf_str("older"), NULL);

    (void)printf("%s %s %s %s\n", held ? "held" : "lost", hf_status_name(write),
                 hf_status_name(proclaim),
                 hf_status_name(hf_lock_release(lock, NULL)));
}

static int lease(hf_client *client, char **argv, int64_t ttl_ms)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;
    uint64_t token;

    opts.ttl_ms = ttl_ms;
    if (make_lease(client, hf_str(argv[3]), argv[4], &opts, &lock, &err) !=
            HF_OK ||
        hf_lock_acquire(lock, 0, &err) != HF_OK)
        return complain("lease", &err);
    token = hf_lock_token(lock);
    say_held(lock);
    wait_for_line();
    look(client, argv[5], lock, token);
    hf_lock_free(lock);
    return 0;
}

static void fill_with_old(void *user, hf_cache_fill *fill)
{
    (void)user;
    say_ready("fills");
    (void)!hf_cache_fill_done(fill, HF_OK, hf_str("old"), NULL);
}

static int fill(hf_client *client, char **argv, int64_t lease_ms)
{
    hf_cache_options opts = HF_CACHE_OPTIONS_INIT;
    hf_cache_info info = HF_CACHE_INFO_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    hf_error err = HF_ERROR_INIT;

    opts.ttl_ms = 60000;
    opts.lease_ms = lease_ms;
    if (hf_cache_get_or_fill(client, hf_str(argv[3]), fill_with_old, NULL,
                             &opts, &value, &info, &err) != HF_OK)
        return complain("fill", &err);
    (void)printf("%s %s\n", (const char *)value.data,
                 info.source == HF_CACHE_FILLED_ALONE ? "alone" : "stored");
    hf_buffer_free(&value);
    return 0;
}

static int await_latch(hf_client *client, char **argv, int64_t wait_ms)
{
    return print_status(hf_latch_await(client, hf_str(argv[3]), wait_ms, NULL));
}

static int arrive(hf_client *client, char **argv, int64_t count)
{
    say_ready("arrives");
    return print_status(hf_latch_arrive(client, hf_str(argv[3]),
                                        hf_str("worker"), count, NULL, NULL));
}

static int take(hf_client *client, char **argv, int64_t period_ms)
{
    hf_limiter_options opts = HF_LIMITER_OPTIONS_INIT;

    opts.count = 1;
    opts.period_ms = period_ms;
    opts.wait_ms = 60000;
    say_ready("takes");
    return print_status(
        hf_limiter_take(client, hf_str(argv[3]), 1, &opts, NULL, NULL));
}

static int push(hf_client *client, char **argv, int64_t count)
{
    hf_error err = HF_ERROR_INIT;
    char text[24];

    say_ready("pushes");
    for (int64_t i = 1; i <= count; i++) {
        hf_bytes words[] = {hf_str("RPUSH"), hf_str(argv[3]), {text, 0}};

        (void)snprintf(text, sizeof(text), "%lld", (long long)i);
        words[2] = hf_str(text);
        if (hf_command(client, 3, words, NULL, &err) != HF_OK)
            return complain("push", &err);
        (void)puts(text);
        (void)fflush(stdout);
        test_rest();
    }
    return 0;
}

static int pop(hf_client *client, char **argv, int64_t count)
{
    const hf_bytes words[] = {hf_str("BLPOP"), hf_str(argv[3]), hf_str("0")};
    hf_error err = HF_ERROR_INIT;
    hf_reply *reply = NULL;

    (void)puts("pops");
    (void)fflush(stdout);
    for (int64_t i = 0; i < count; i++) {
        if (hf_command(client, 3, words, &reply, &err) != HF_OK)
            return complain("pop", &err);
        (void)puts(hf_reply_bytes(hf_reply_at(reply, 1)).data);
        (void)fflush(stdout);
        hf_reply_free(reply);
    }
    return 0;
}

static int eval(hf_client *client, char **argv, int64_t count)
{
    const hf_bytes words[] = {hf_str("EVAL"), hf_str(argv[3]), hf_str("0")};
    hf_error err = HF_ERROR_INIT;

    say_ready("evals");
    for (int64_t i = 0; i < count; i++) {
        hf_status status;

        do { /* a busy machine: nothing was written */
            status = hf_command(client, 3, words, NULL, &err);
        } while (status == HF_UNAVAILABLE);
        if (status != HF_OK)
            return complain("eval", &err);
    }
    return 0;
}

static const struct {
    const char *name;
    int (*run)(hf_client *client, char **argv, int64_t number);
} verbs[] = {{"lease", lease},   {"fill", fill}, {"await", await_latch},
             {"arrive", arrive}, {"take", take}, {"push", push},
             {"pop", pop},       {"eval", eval}};

static int work(hf_client *client, int argc, char **argv)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;
    const char *verb = argv[2];
    long number = strtol(argv[argc - 1], NULL, 10);
    int status;

    for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++)
        if (strcmp(verb, verbs[i].name) == 0)
            return verbs[i].run(client, argv, number);
    if (strcmp(verb, "together") == 0)
        return together(client, argv[3], strcmp(argv[4], "down") == 0, number);
    if (strcmp(verb, "party") == 0)
        return wait_at(client, hf_str(argv[3]), strtoll(argv[4], NULL, 10),
                       number);
    if (strcmp(verb, "hold") == 0) {
        opts.ttl_ms = number;
    }
    if (hf_lock_new(client, hf_str(argv[3]), &opts, &lock, &err) != HF_OK) {
        return complain("lock", &err);
    }
    if (argc == 6) {
        status = count(client, lock, hf_str(argv[4]), number,
                       strcmp(verb, "churn") == 0);
    } else {
        status = hold(lock, strcmp(verb, "wait") == 0 ? number : 0);
    }
    hf_lock_free(lock);
    return status;
}

int main(int argc, char **argv)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    int status;

    if (argc < 5 || argc > 7) {
        (void)fputs("usage: see process_worker.c\n", stderr);
        return 2;
    }
    if (hf_client_open(argv[1], NULL, &client, &err) != HF_OK) {
        return complain(argv[1], &err);
    }
    status = work(client, argc, argv);
    hf_client_close(client);
    return status;
}
