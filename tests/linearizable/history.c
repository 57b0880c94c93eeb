/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.c - processes with several threads each use one store while they are
 * killed and their connections are cut; what they did is printed, one JSON
 * object for each call, for the program in checker/.
 *
 *     history [--model NAME] [--calls N] [--seed N]
 *             [--store volatile|file|server|postgres]
 *             [--cheat stale|lost|twice|torn|undone|taken|back]
 *
 * With --cheat the clients do what a checker must refuse.
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

#include "fault/fault_place.h"
#include "history.h"
#include "support/byte_proxy.h"
#include "support/postgres_server.h"
#include "support/redis_server.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define PROCESSES 3
#define THREADS 2
#define CALLS_MAX 1000000u
/* More failures to open the store are no longer due to cuts. */
#define OPENS_MAX 50
/* Between two faults, us. */
#define FAULT_US 2000
/* On PostgreSQL, which takes long to let a client in, at least this many calls
 * are begun between two faults, and at most about twice as many. */
#define FAULT_CALLS 10

typedef struct shared {
    atomic_uint calls;   /* begun */
    atomic_uint clients; /* so far */
    char failure[HF_ERROR_MESSAGE_SIZE];
    record records[];
} shared;

typedef struct options {
    const model *model;
    uint32_t calls;
    uint64_t seed;
    const char *store;
    const char *cheat;
} options;

static options opts = {models, 8000, 1, "volatile", ""};
static shared *all;
static const char *url;
/* Both NULL: an embedded store. */
static redis_server *server;
static byte_proxy *proxy; /* to PostgreSQL */
static pid_t pids[PROCESSES];

/* ------------------------------------------------------------------ clients */

/* The next call is about key n. */
static void aim(session *self, uint32_t n)
{
    if (n == self->key)
        return;
    self->key = n;
    for (size_t i = 0; i < 2; i++) {
        self->seen[i] = 0;
        snprintf(self->name[i], sizeof(self->name[i]), "{%u}:%zu", (unsigned)n,
                 i);
    }
}

static void *run_thread(void *client)
{
    session self = {.client = client,
                    .model = opts.model->name,
                    .cheat = opts.cheat,
                    .resends = server != NULL || proxy != NULL,
                    .key = UINT32_MAX};
    uint32_t i;

    self.number = atomic_fetch_add(&all->clients, 1) + 1;
    self.random = prng_of(opts.seed, self.number, 2);
    while ((i = atomic_fetch_add(&all->calls, 1)) < opts.calls) {
        aim(&self, i / opts.model->calls);
        self.now = &all->records[i];
        opts.model->act(&self);
        if (prng_chance(&self.random, 5))
            (void)usleep((useconds_t)prng_below(&self.random, 1000));
    }
    return NULL;
}

/* A connection may be cut while it is being opened. */
static hf_client *open_client(void)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client;

    for (int i = 0; i < OPENS_MAX; i++) {
        if (hf_client_open(url, NULL, &client, &err) == HF_OK)
            return client;
    }
    snprintf(all->failure, sizeof(all->failure), "%s", err.message);
    _exit(1);
}

static _Noreturn void run_process(void)
{
    pthread_t threads[THREADS];
    hf_client *client;
    size_t started = 0;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    /* A connection that the proxy ends must not stay open here. */
    (void)close_range(3, ~0u, 0);
    client = open_client();
    while (started < THREADS &&
           pthread_create(&threads[started], NULL, run_thread, client) == 0)
        started++;
    while (started > 0)
        (void)pthread_join(threads[--started], NULL);
    hf_client_close(client);
    _exit(0);
}

static bool start(size_t i)
{
    pids[i] = fork();
    if (pids[i] == 0)
        run_process();
    return pids[i] > 0;
}

/* ------------------------------------------------------------------- faults */

static void cut_connections(void)
{
    char answer[64];

    if (proxy != NULL) /* a reply that was sent is lost */
        byte_proxy_cut(proxy, TO_CLIENT, 0, BYTE_END_RESET);
    else
        (void)redis_server_command(server, "CLIENT KILL TYPE normal", answer,
                                   sizeof(answer));
}

static bool kill_one(prng *random)
{
    size_t victim = prng_below(random, PROCESSES);

    (void)kill(pids[victim], SIGKILL);
    (void)waitpid(pids[victim], NULL, 0);
    return start(victim);
}

static void wait_for_fault(prng *random)
{
    /* Too many unknown outcomes would be more than can be checked. */
    uint32_t fault_us = FAULT_US * (SLOWER > 1 ? 5 : 1);
    uint32_t until = atomic_load(&all->calls);

    if (proxy != NULL)
        until += FAULT_CALLS + (uint32_t)prng_below(random, FAULT_CALLS);
    if (until > opts.calls)
        until = opts.calls;
    do
        (void)usleep((useconds_t)(fault_us / 2 + prng_below(random, fault_us)));
    while (atomic_load(&all->calls) < until && all->failure[0] == '\0');
}

/* Until all calls are begun; then the processes end by themselves. */
static bool break_things(void)
{
    prng random = prng_of(opts.seed, 0, 1);
    bool fine = true;

    while (fine && atomic_load(&all->calls) < opts.calls) {
        wait_for_fault(&random);
        if ((server != NULL || proxy != NULL) && prng_chance(&random, 60))
            cut_connections();
        else
            fine = kill_one(&random);
        fine = fine && all->failure[0] == '\0';
    }
    for (size_t i = 0; i < PROCESSES; i++)
        (void)waitpid(pids[i], NULL, 0);
    return fine;
}

/* ----------------------------------------------------------------- printing */

static void print_history(void)
{
    for (uint32_t i = 0; i < opts.calls; i++)
        record_print(&all->records[i], stdout);
}

/* ---------------------------------------------------------------------- run */

static bool run(const char *store_url)
{
    bool fine = true;

    url = store_url;
    for (size_t i = 0; i < PROCESSES; i++)
        fine = start(i) && fine;
    fine = fine && break_things();
    if (fine)
        print_history();
    else
        fprintf(stderr, "history: %s\n", all->failure);
    return fine;
}

static bool on_server(void)
{
    bool fine;

    server = redis_server_start(NULL);
    fine = server != NULL && run(redis_server_unix_url(server));
    redis_server_stop(server);
    return fine;
}

static bool on_postgres(void)
{
    postgres_server *database = postgres_server_start(false);
    char proxy_url[64] = "";
    bool fine;

    if (database != NULL)
        proxy = byte_proxy_start_tcp(postgres_server_port(database));
    if (proxy != NULL)
        snprintf(proxy_url, sizeof(proxy_url),
                 "postgres://postgres@127.0.0.1:%d/postgres",
                 byte_proxy_port(proxy));
    fine = proxy != NULL && run(proxy_url);
    byte_proxy_stop(proxy);
    postgres_server_stop(database);
    return fine;
}

static bool embedded(void)
{
    place at;
    bool fine;

    place_make(&at, opts.store, "?max_size=64M");
    fine = run(at.url);
    place_remove(&at);
    return fine;
}

static bool read_option(const char *name, const char *value)
{
    if (strcmp(name, "--calls") == 0)
        opts.calls = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(name, "--seed") == 0)
        opts.seed = strtoull(value, NULL, 10);
    else if (strcmp(name, "--store") == 0)
        opts.store = value;
    else if (strcmp(name, "--cheat") == 0)
        opts.cheat = value;
    else if (strcmp(name, "--model") != 0)
        return false;
    for (size_t i = 0; i < model_count && strcmp(name, "--model") == 0; i++) {
        if (strcmp(models[i].name, value) == 0)
            opts.model = &models[i];
    }
    return opts.calls <= CALLS_MAX;
}

int main(int argc, char **argv)
{
    size_t size;

    for (int i = 1; i < argc; i += 2) {
        if (i + 1 == argc || !read_option(argv[i], argv[i + 1])) {
            fprintf(stderr, "history: not an option: %s\n", argv[i]);
            return 2;
        }
    }
    size = sizeof(shared) + opts.calls * sizeof(record);
    all = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
               -1, 0);
    if (all == MAP_FAILED)
        return 2;
    if (strcmp(opts.store, "server") == 0)
        return on_server() ? 0 : 1;
    return (strcmp(opts.store, "postgres") == 0 ? on_postgres : embedded)() ? 0
                                                                            : 1;
}
