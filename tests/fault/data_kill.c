/* SPDX-License-Identifier: Apache-2.0 */
/*
 * data_kill.c - writers of values, hashes, counters, ... are killed at any
 * instant: nothing is half written, no key lacks the time to live that was
 * asked for, nothing acknowledged is missing and nothing is done twice.
 *
 *     data_kill [--kills N] [--store volatile|file|server] [--seed N]
 *               [--fault steps|half|early|twice|torn]
 *
 * 1. Each worker, a process, does operations of all kinds, and records each in
 *    the journal, shared memory, before it begins and when it is acknowledged.
 * 2. One is killed at a random instant after its first operation.
 * 3. The keys of its life are compared with the journal; the next life begins.
 * 4. At the end, all being dead, the keys of all lives are compared, and every
 *    key of the store must have a time to live.
 *
 * With --fault the workers do what must be noticed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "data_kill.h"
#include "fault_place.h"
#include "holdfast/script.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/test_clock.h"

/* For a worker to start and do something on a busy machine. */
#define START_MS 60000
/* For a server to answer what the dead have sent, on an idle machine. */
#define REST_MS 20

typedef struct options {
    uint32_t kills;
    uint64_t seed;
    const char *store;
    const char *fault;
} options;

static journal *all;
static int journal_fd;
static pid_t pids[WORKERS];
static hf_client *client;
static uint64_t acknowledged;
static uint64_t in_flight; /* operations begun by the dead, not acknowledged */
static uint64_t applied;   /* of those, applied */

static bool violation(const char *say)
{
    printf("violation: %s\n", say);
    return false;
}

/* ------------------------------------------------------------------ journal */

static journal *map_journal(int fd)
{
    void *at =
        mmap(NULL, sizeof(journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    return at == MAP_FAILED ? NULL : at;
}

static bool make_journal(const char *url, const options *opts)
{
    journal_fd = memfd_create("journal", MFD_CLOEXEC);
    if (journal_fd < 0 || ftruncate(journal_fd, sizeof(journal)) != 0)
        return false;
    all = map_journal(journal_fd);
    if (all == NULL)
        return false;
    snprintf(all->url, sizeof(all->url), "%s", url);
    snprintf(all->fault, sizeof(all->fault), "%s", opts->fault);
    all->seed = opts->seed;
    return true;
}

/* On a busy machine, too. */
static hf_status open_client(hf_client **opened, hf_error *err)
{
    hf_client_options opts = HF_CLIENT_OPTIONS_INIT;

    opts.request_ms = START_MS;
    return hf_client_open(all->url, &opts, opened, err);
}

/* ------------------------------------------------------------------- worker */

static bool operate(worker *self, uint32_t number, size_t k)
{
    life *now = &all->life[number];
    uint32_t n = now->acked[k] + 1;
    bool early = is_fault(self, "early");
    hf_status status;

    worker_aim(self, number, &kinds[k]);
    store(now->begun[k], n);
    if (early)
        store(now->acked[k], n);
    status = kinds[k].act(self, n);
    if (status == HF_OK)
        store(now->acked[k], n);
    return status == HF_OK;
}

static size_t choose(prng *random)
{
    size_t k;

    do {
        k = prng_below(random, kind_count);
    } while (kinds[k].rare && !prng_chance(random, 5));
    return k;
}

static int run_worker(uint32_t index)
{
    uint32_t number = all->current[index];
    prng random = prng_of(all->seed, index, number);
    worker self = {.fault = all->fault, .err = HF_ERROR_INIT};

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (open_client(&self.client, &self.err) == HF_OK) {
        while (operate(&self, number, choose(&random)))
            ;
    }
    snprintf(all->failure, sizeof(all->failure), "%s: %s", self.name,
             self.err.message);
    store(all->failed, 1);
    return 1;
}

/* ---------------------------------------------------------------- processes */

static bool start(uint32_t index)
{
    char program[] = "data_kill", option[] = "--worker";
    char number[16], fd[16];
    char *argv[] = {program, option, number, fd, NULL};

    if (all->lives == LIVES_MAX)
        return false;
    all->current[index] = all->lives++;
    snprintf(number, sizeof(number), "%u", (unsigned)index);
    snprintf(fd, sizeof(fd), "%d", journal_fd);
    pids[index] = fork();
    if (pids[index] == 0) {
        (void)fcntl(journal_fd, F_SETFD, 0);
        (void)execv("/proc/self/exe", argv);
        _exit(127);
    }
    return pids[index] > 0;
}

static void end(uint32_t index)
{
    if (pids[index] <= 0)
        return;
    (void)kill(pids[index], SIGKILL);
    (void)waitpid(pids[index], NULL, 0);
    pids[index] = 0;
}

static bool has_worked(uint32_t number)
{
    for (size_t k = 0; k < kind_count; k++) {
        if (load(all->life[number].acked[k]) > 0)
            return true;
    }
    return false;
}

static bool await_work(uint32_t index)
{
    int64_t limit_ms = test_now_ms() + START_MS;

    while (!has_worked(all->current[index])) {
        if (load(all->failed) != 0 || test_now_ms() > limit_ms)
            return violation(all->failure[0] != '\0' ? all->failure
                                                     : "no progress");
        (void)usleep(200);
    }
    return true;
}

/* ----------------------------------------------------------------- checking */

static bool check_kind(worker *reader, uint32_t number, size_t k, bool count)
{
    const life *dead = &all->life[number];
    char say[TEXT_SIZE] = "";
    uint32_t n;

    worker_aim(reader, number, &kinds[k]);
    n = kinds[k].read(reader, say);
    if (n == STATE_BROKEN)
        return violation(say);
    if (n < dead->acked[k] || n > dead->begun[k]) {
        snprintf(say, sizeof(say), "%s is at %u; acknowledged %u, begun %u",
                 reader->name, (unsigned)n, (unsigned)dead->acked[k],
                 (unsigned)dead->begun[k]);
        return violation(say);
    }
    if (count) {
        acknowledged += dead->acked[k];
        in_flight += dead->begun[k] - dead->acked[k];
        applied += n - dead->acked[k];
    }
    return true;
}

static bool check_life(uint32_t number, bool count)
{
    worker reader = {.client = client, .fault = "", .err = HF_ERROR_INIT};
    bool fine = true;

    for (size_t k = 0; k < kind_count && fine; k++)
        fine = check_kind(&reader, number, k, count);
    return fine;
}

/* Keys without a time to live; -1: an error. */
static int64_t count_lasting(char say[TEXT_SIZE])
{
    static const char source[] =
        "local at, n = '0', 0 repeat "
        "local found = redis.call('scan', at, 'count', 1000) at = found[1] "
        "for _, key in ipairs(found[2]) do "
        "if redis.call('pttl', key) == -1 then n = n + 1 end end "
        "until at == '0' return n";
    hf_error err = HF_ERROR_INIT;
    hf_script *script = NULL;
    hf_reply *reply = NULL;
    int64_t count = -1;
    hf_status status = hf_script_load(client, hf_str(source), &script, &err);

    if (status == HF_OK)
        status = hf_script_run(script, NULL, 0, NULL, 0, &reply, &err);
    if (status == HF_OK)
        count = hf_reply_integer(reply);
    snprintf(say, TEXT_SIZE, "%lld keys without a time to live %s",
             (long long)count, err.message);
    hf_reply_free(reply);
    hf_script_free(script);
    return count;
}

/* A server may still have to read what the dead have sent. */
static bool check_end(void)
{
    char say[TEXT_SIZE];

    (void)usleep((useconds_t)slowed_ms(REST_MS) * 1000);
    acknowledged = in_flight = applied = 0;
    for (uint32_t i = 0; i < all->lives; i++) {
        if (!check_life(i, true))
            return false;
    }
    return count_lasting(say) == 0 || violation(say);
}

/* ---------------------------------------------------------------------- run */

static bool kill_one(prng *random)
{
    uint32_t index = (uint32_t)prng_below(random, WORKERS);
    uint32_t number = all->current[index];

    if (!await_work(index))
        return false;
    (void)usleep((useconds_t)prng_below(random, 3000));
    end(index);
    return check_life(number, false) && start(index);
}

static bool run(const char *url, const options *opts)
{
    prng random = prng_of(opts->seed, 1, 1);
    hf_error err = HF_ERROR_INIT;
    bool fine = make_journal(url, opts);

    if (!fine || open_client(&client, &err) != HF_OK)
        return violation(err.message);
    for (uint32_t i = 0; i < WORKERS && fine; i++)
        fine = start(i);
    for (uint32_t i = 0; i < opts->kills && fine; i++)
        fine = kill_one(&random);
    for (uint32_t i = 0; i < WORKERS; i++)
        end(i);
    fine = fine && check_end();
    printf("%u kills, %llu operations acknowledged, %llu in flight, of which "
           "%llu were applied\n",
           (unsigned)opts->kills, (unsigned long long)acknowledged,
           (unsigned long long)in_flight, (unsigned long long)applied);
    hf_client_close(client);
    return fine;
}

static bool on_server(const options *opts)
{
    redis_server *server = redis_server_start(NULL);
    bool fine = server != NULL && run(redis_server_unix_url(server), opts);

    redis_server_stop(server);
    return fine;
}

static bool embedded(const options *opts)
{
    place at;
    bool fine;

    place_make(&at, opts->store, "?max_size=256M");
    fine = run(at.url, opts);
    place_remove(&at);
    return fine;
}

static int be_worker(char **argv)
{
    all = map_journal((int)strtol(argv[3], NULL, 10));
    return all == NULL ? 2 : run_worker((uint32_t)strtoul(argv[2], NULL, 10));
}

static bool parse(int argc, char **argv, options *opts)
{
    *opts = (options){.kills = 30, .seed = 1, .store = "volatile", .fault = ""};
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--kills") == 0)
            opts->kills = (uint32_t)strtoul(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0)
            opts->seed = strtoull(argv[i + 1], NULL, 10);
        else if (strcmp(argv[i], "--store") == 0)
            opts->store = argv[i + 1];
        else if (strcmp(argv[i], "--fault") == 0)
            opts->fault = argv[i + 1];
        else
            return false;
    }
    return argc % 2 == 1 && opts->kills <= LIVES_MAX - 2 * WORKERS;
}

int main(int argc, char **argv)
{
    options opts;

    if (argc == 4 && strcmp(argv[1], "--worker") == 0)
        return be_worker(argv);
    if (!parse(argc, argv, &opts)) {
        fprintf(stderr, "usage: data_kill [--kills N] [--seed N] "
                        "[--store volatile|file|server] "
                        "[--fault steps|half|early|twice|torn]\n");
        return 2;
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    return (strcmp(opts.store, "server") == 0 ? on_server : embedded)(&opts)
               ? 0
               : 1;
}
