/* SPDX-License-Identifier: Apache-2.0 */
/*
 * stopped_parties.c - parties of a barrier, and servers, are stopped at any
 * instant for longer than a party's lease, and continue: no generation is
 * passed by more than its parties.
 *
 *     stopped_parties [--rounds N] [--cheat]
 *
 * In each round the barrier is reset, a generation passes, and a party, all of
 * them or a server is stopped. With --cheat the parties wait for one more than
 * may pass, which must be noticed.
 */
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast/barrier.h"
#include "support/prng.h"
#include "support/slowness.h"
#include "support/store_fixture.h"

#define WORKERS 5
#define PARTIES 3
#define TTL_MS 150
#define WAIT_MS 5000
#define START_MS                                                               \
    60000 /* for workers to start, or to pass, if they are slow                \
           */
#define GENERATIONS (1 << 20)

static struct shared {
    atomic_int passed[GENERATIONS]; /* parties, by generation */
    atomic_int most;
    atomic_long total, lost;
} * shared;

static pid_t pids[WORKERS];
static long rounds = 20;
static int64_t parties = PARTIES;

static void note_pass(int64_t generation)
{
    atomic_int *passed = &shared->passed[generation % GENERATIONS];
    int count = atomic_fetch_add(passed, 1) + 1;
    int most = atomic_load(&shared->most);

    while (count > most &&
           !atomic_compare_exchange_weak(&shared->most, &most, count))
        ;
    atomic_fetch_add(&shared->total, 1);
}

static _Noreturn void work(const fixture *f, hf_bytes name)
{
    hf_barrier_options opts = HF_BARRIER_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_barrier_pass pass;
    hf_client *client;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    opts.ttl_ms = TTL_MS;
    if (hf_client_open(f->url, NULL, &client, &err) != HF_OK) {
        (void)fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    for (;;) {
        hf_status status =
            hf_barrier_wait(client, name, parties, WAIT_MS, &opts, &pass, NULL);

        if (status == HF_OK)
            note_pass(pass.generation);
        atomic_fetch_add(&shared->lost, status == HF_LOST);
        (void)usleep(2000);
    }
}

static void start_all(const fixture *f, hf_bytes name)
{
    for (size_t i = 0; i < WORKERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            work(f, name);
    }
}

/* Also of a test that failed. */
static int end_all(void **state)
{
    for (size_t i = 0; i < WORKERS; i++) {
        if (pids[i] <= 0)
            continue;
        (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    return fixture_close(state);
}

EACH_TEST_WITH(fixture_open, end_all);

/* NULL: an embedded store. */
static redis_server *some_server(const fixture *f, prng *random)
{
    if (f->cluster == NULL)
        return f->server;
    return redis_cluster_server(
        f->cluster,
        (int)prng_below(random, (uint64_t)redis_cluster_size(f->cluster)));
}

static void rest(prng *random, size_t least_ms, size_t most_ms)
{
    (void)usleep((useconds_t)(1000 * least_ms +
                              prng_below(random, 1000 * (most_ms - least_ms))));
}

static void send_signal(size_t first, size_t count, int number)
{
    for (size_t i = first; i < first + count; i++)
        (void)kill(pids[i % WORKERS], number);
}

/* One party; or all, of which some continue first and pass. */
static void stop_parties(prng *random)
{
    size_t first = prng_below(random, WORKERS);

    send_signal(first, prng_chance(random, 50) ? WORKERS : 1, SIGSTOP);
    rest(random, TTL_MS, 2 * TTL_MS);
    send_signal(first + 1, PARTIES, SIGCONT);
    rest(random, 0, TTL_MS);
    send_signal(0, WORKERS, SIGCONT);
}

static void stop_some(const fixture *f, prng *random)
{
    redis_server *server =
        prng_chance(random, 30) ? some_server(f, random) : NULL;

    rest(random, 0, TTL_MS);
    if (server == NULL) {
        stop_parties(random);
        return;
    }
    redis_server_pause(server);
    rest(random, TTL_MS, 2 * TTL_MS);
    redis_server_resume(server);
}

/* Reset the barrier, and again while it breaks before a generation passes, as
 * on a busy machine. */
static void pass_one(const fixture *f, hf_bytes name)
{
    long before = atomic_load(&shared->total);
    int64_t began_ms = test_now_ms();

    while (atomic_load(&shared->total) == before) {
        assert_in_time(test_now_ms() - began_ms, START_MS);
        expect_status(HF_OK, hf_barrier_reset(f->client, name, NULL, ERR));
        for (int i = 0; i < 50 && atomic_load(&shared->total) == before; i++)
            (void)usleep(10000);
    }
}

TEST(no_generation_is_passed_by_too_many)
{
    fixture *f = *state;
    hf_bytes name = fixture_key(f, "b");
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    start_all(f, name);
    expect_soon(sorted_set_size(f->client, name) > 0, START_MS);
    for (long i = 0; i < rounds; i++) {
        pass_one(f, name);
        stop_some(f, &random);
    }
    print_message("%ld rounds, %ld passes, %ld times HF_LOST, at most %d of %d "
                  "passed a generation\n",
                  rounds, atomic_load(&shared->total),
                  atomic_load(&shared->lost), atomic_load(&shared->most),
                  PARTIES);
    if (atomic_load(&shared->most) > PARTIES)
        fail_msg("violation: more passed than there are parties");
    assert_int_equal(atomic_load(&shared->most), PARTIES);
}

static int start(void **state)
{
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? -1 : fixture_start(state);
}

ALL_TESTS_WITH(start, fixture_stop);

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cheat") == 0)
            parties = PARTIES + 1;
        else if (i + 1 < argc && strcmp(argv[i], "--rounds") == 0)
            rounds = strtol(argv[++i], NULL, 10);
    }
    return test_run_all(NULL);
}
