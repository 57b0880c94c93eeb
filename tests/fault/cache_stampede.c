/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cache_stampede.c - many threads of many processes miss one cache entry at
 * once: one of them fills it, and all get the value. With --kill the process
 * that fills is killed: another takes over within its lease.
 *
 *     cache_stampede [--processes N] [--threads N] [--rounds N] [--kill]
 *                    [--store embedded|server]
 */
#include <dirent.h>
#include <fcntl.h>
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

#include "holdfast/cache.h"
#include "support/redis_server.h"
#include "support/slowness.h"
#include "support/test_clock.h"

#define PROCESSES_MAX 256
#define THREADS_MAX 64
#define ROUNDS_MAX 100

/* How long a fill takes, and its lease when it is to be killed. */
#define FILL_MS 50
#define LEASE_MS 1000

static struct shared {
    atomic_int ready; /* processes with a client */
    atomic_int round; /* that runs; from 1 on */
    atomic_int fills[ROUNDS_MAX + 1];
    atomic_int served[ROUNDS_MAX + 1];
    _Atomic int64_t killed_ms; /* the filler */
    _Atomic int64_t last_ms;   /* one was served */
    _Atomic pid_t filler;
    char failure[256]; /* of a call */
} * shared;

static const char *url;
static long processes = 8, threads = 4, rounds = 3;
static bool kills;
static pid_t pids[PROCESSES_MAX];

typedef struct reader {
    hf_client *client;
    int round;
    pthread_t thread;
} reader;

static void fill(void *user, hf_cache_fill *handle)
{
    const reader *self = user;

    if (atomic_fetch_add(&shared->fills[self->round], 1) == 0) {
        atomic_store(&shared->filler, getpid());
        (void)usleep((kills ? 1000 : FILL_MS) * 1000);
    }
    if (hf_cache_fill_done(handle, HF_OK, hf_str("value"), NULL) != HF_OK)
        abort();
}

static void *read_entry(void *user)
{
    reader *self = user;
    hf_cache_options options = HF_CACHE_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_buffer value = HF_BUFFER_INIT;
    char key[32];
    hf_status status;

    (void)snprintf(key, sizeof(key), "entry:%d", self->round);
    options.ttl_ms = 600000;
    options.lease_ms = kills ? LEASE_MS : 60000;
    options.wait_ms = 60000;
    options.early_percent = -1;
    while (atomic_load(&shared->round) < self->round)
        (void)usleep(200);
    status = hf_cache_get_or_fill(self->client, hf_str(key), fill, self,
                                  &options, &value, NULL, &err);
    if (status == HF_OK && strcmp(value.data, "value") == 0) {
        atomic_store(&shared->last_ms, test_now_ms());
        atomic_fetch_add(&shared->served[self->round], 1);
    } else {
        (void)snprintf(shared->failure, sizeof(shared->failure), "%s",
                       err.message);
    }
    hf_buffer_free(&value);
    return NULL;
}

static _Noreturn void work(void)
{
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;
    reader readers[THREADS_MAX];

    options.request_ms = options.connect_ms = 60000;
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (hf_client_open(url, &options, &client, &err) != HF_OK)
        (void)snprintf(shared->failure, sizeof(shared->failure), "%s",
                       err.message);
    for (int round = 1; client != NULL && round <= rounds; round++) {
        for (long i = 0; i < threads; i++) {
            readers[i] = (reader){.client = client, .round = round};
            if (pthread_create(&readers[i].thread, NULL, read_entry,
                               &readers[i]) != 0)
                abort();
        }
        atomic_fetch_add(&shared->ready, 1);
        for (long i = 0; i < threads; i++)
            (void)pthread_join(readers[i].thread, NULL);
    }
    hf_client_close(client);
    _exit(0);
}

/* Until the counter has that value; false: a call failed. */
static bool await(atomic_int *counter, int value)
{
    int64_t limit_ms = test_now_ms() + 120000;

    while (atomic_load(counter) < value) {
        if (shared->failure[0] != '\0' || test_now_ms() > limit_ms) {
            printf("violation: %d of %d: %s\n", atomic_load(counter), value,
                   shared->failure);
            return false;
        }
        (void)usleep(200);
    }
    return true;
}

/* Its threads die with it, whatever they were doing. */
static int kill_filler(void)
{
    pid_t pid;

    while ((pid = atomic_load(&shared->filler)) == 0)
        (void)usleep(200);
    atomic_store(&shared->killed_ms, test_now_ms());
    (void)kill(pid, SIGKILL);
    return (int)threads;
}

static bool run_round(int round)
{
    int all = (int)(processes * threads);
    int64_t began_ms;
    int fills;

    if (!await(&shared->ready, round * (int)processes))
        return false;
    began_ms = test_now_ms();
    atomic_store(&shared->round, round);
    if (kills)
        all -= kill_filler();
    if (!await(&shared->served[round], all))
        return false;
    fills = atomic_load(&shared->fills[round]);
    if (kills)
        printf("filler killed: %d fills, %d served, the last %lld ms after it "
               "(lease %d ms)\n",
               fills, all,
               (long long)(atomic_load(&shared->last_ms) -
                           atomic_load(&shared->killed_ms)),
               LEASE_MS);
    else
        printf("%d missed at once: %d fill, the last served after %lld ms (the "
               "fill took %d ms)\n",
               all, fills,
               (long long)(atomic_load(&shared->last_ms) - began_ms), FILL_MS);
    if (kills && !took_between(atomic_load(&shared->last_ms) -
                                   atomic_load(&shared->killed_ms),
                               0, 2 * LEASE_MS))
        return false;
    return fills == (kills ? 2 : 1);
}

static bool run(void)
{
    bool fine = true;

    if (kills)
        rounds = 1;
    for (long i = 0; i < processes; i++) {
        pids[i] = fork();
        if (pids[i] == 0)
            work();
    }
    for (int round = 1; round <= rounds && fine; round++)
        fine = run_round(round);
    for (long i = 0; i < processes; i++) {
        if (!fine)
            (void)kill(pids[i], SIGKILL);
        (void)waitpid(pids[i], NULL, 0);
    }
    return fine;
}

static bool on_server(void)
{
    redis_server *server = redis_server_start(NULL);
    bool fine;

    if (server == NULL)
        return false;
    url = redis_server_unix_url(server);
    fine = run();
    redis_server_stop(server);
    return fine;
}

static bool embedded(void)
{
    char folder[] = "/dev/shm/holdfast-stampede-XXXXXX";
    char text[128];
    struct dirent *entry;
    bool fine;
    DIR *dir;

    if (mkdtemp(folder) == NULL)
        return false;
    (void)snprintf(text, sizeof(text), "volatile:%s", folder);
    url = text;
    fine = run();
    dir = opendir(folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        (void)closedir(dir);
    (void)rmdir(folder);
    return fine;
}

static long number(const char *text, long most)
{
    long value = strtol(text, NULL, 10);

    return value < 1 ? 1 : value > most ? most : value;
}

int main(int argc, char **argv)
{
    bool server = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--kill") == 0)
            kills = true;
        else if (i + 1 == argc)
            break;
        else if (strcmp(argv[i], "--processes") == 0)
            processes = number(argv[++i], PROCESSES_MAX);
        else if (strcmp(argv[i], "--threads") == 0)
            threads = number(argv[++i], THREADS_MAX);
        else if (strcmp(argv[i], "--rounds") == 0)
            rounds = number(argv[++i], ROUNDS_MAX);
        else if (strcmp(argv[i], "--store") == 0)
            server = strcmp(argv[++i], "server") == 0;
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    return (server ? on_server() : embedded()) ? 0 : 1;
}
