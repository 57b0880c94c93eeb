/* SPDX-License-Identifier: Apache-2.0 */
/*
 * semaphore_kill.c - holders of permits are killed at any instant: never more
 * hold one than there are permits, and when all are dead all permits are free
 * by the end of their leases.
 *
 *     semaphore_kill [--kills N] [--store embedded|server] [--cheat]
 *
 * Each worker writes into shared memory until when its permit is valid, and
 * counts those of all. With --cheat the workers take one permit more than they
 * are allowed to, which must be noticed.
 */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "holdfast.h"
#include "support/prng.h"
#include "support/redis_server.h"
#include "support/test_clock.h"

#define WORKERS 6
#define PERMITS 3
#define TTL_MS 400

/* For a worker to start and acquire on a busy machine. */
#define START_MS 60000

typedef struct worker {
    _Atomic int64_t until_ms; /* its permit is valid; 0: it has none */
    atomic_long acquired;     /* since it was started */
} worker;

static struct shared {
    worker workers[WORKERS];
    atomic_int most; /* permits held at a time */
    atomic_long total;
    char failure[256]; /* of a call */
} * shared;

static pid_t pids[WORKERS];
static const char *url;
static uint32_t permits = PERMITS;

static void count_holders(void)
{
    int64_t now_ms = test_now_ms();
    int held = 0, most = atomic_load(&shared->most);

    for (size_t i = 0; i < WORKERS; i++)
        held += atomic_load(&shared->workers[i].until_ms) > now_ms;
    while (held > most &&
           !atomic_compare_exchange_weak(&shared->most, &most, held))
        ;
}

static hf_status work_once(worker *self, hf_lock *lock, hf_error *err)
{
    hf_status status = hf_lock_acquire(lock, HF_FOREVER, err);
    int64_t end_ms = test_now_ms() + 5;

    if (status != HF_OK)
        return status;
    atomic_fetch_add(&self->acquired, 1);
    atomic_fetch_add(&shared->total, 1);
    do {
        int64_t now_ms = test_now_ms();

        atomic_store(&self->until_ms, now_ms + hf_lock_remaining_ms(lock));
        count_holders();
        (void)usleep(500);
    } while (test_now_ms() < end_ms);
    atomic_store(&self->until_ms, 0);
    status = hf_lock_release(lock, err);
    return status == HF_EXPIRED ? HF_OK : status; /* on a busy machine */
}

static _Noreturn void work(worker *self)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    hf_lock *lock;
    hf_status status;

    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    status = hf_client_open(url, NULL, &client, &err);
    opts.ttl_ms = TTL_MS;
    if (status == HF_OK)
        status = hf_semaphore_new(client, hf_str("pool"), permits, &opts, &lock,
                                  &err);
    while (status == HF_OK)
        status = work_once(self, lock, &err);
    snprintf(shared->failure, sizeof(shared->failure), "%s", err.message);
    _exit(1);
}

static bool start(size_t i)
{
    atomic_store(&shared->workers[i].acquired, 0);
    pids[i] = fork();
    if (pids[i] == 0)
        work(&shared->workers[i]);
    return pids[i] > 0;
}

static void end(size_t i)
{
    if (pids[i] <= 0)
        return;
    (void)kill(pids[i], SIGKILL);
    (void)waitpid(pids[i], NULL, 0);
}

static bool kill_some(long kills)
{
    prng random = prng_of((uint64_t)test_now_ms(), 0, 0);

    for (long i = 0; i < kills; i++) {
        size_t victim = prng_below(&random, WORKERS);
        int64_t limit_ms = test_now_ms() + START_MS;

        while (atomic_load(&shared->workers[victim].acquired) == 0) {
            if (test_now_ms() > limit_ms || shared->failure[0] != '\0') {
                printf("violation: no progress: %s\n", shared->failure);
                return false;
            }
            (void)usleep(1000);
        }
        (void)usleep((useconds_t)prng_below(&random, 10000));
        end(victim);
        if (!start(victim))
            return false;
    }
    return true;
}

/* All are dead. */
static bool all_are_free(void)
{
    hf_lock_options opts = HF_LOCK_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;
    hf_lock *locks[PERMITS + 1] = {NULL};
    hf_client *client = NULL;
    hf_status status = hf_client_open(url, NULL, &client, &err);

    opts.ttl_ms = 60000;
    for (size_t i = 0; i <= PERMITS && status == HF_OK; i++)
        status = hf_semaphore_new(client, hf_str("pool"), PERMITS, &opts,
                                  &locks[i], &err);
    for (size_t i = 0; i < PERMITS && status == HF_OK; i++)
        status = hf_lock_acquire(locks[i], START_MS, &err);
    if (status != HF_OK)
        printf("violation: a permit of the dead: %s\n", err.message);
    else if (hf_lock_try(locks[PERMITS], &err) != HF_HELD)
        printf("violation: one permit too many: %s\n", err.message);
    else
        status = HF_HELD;
    for (size_t i = 0; i <= PERMITS; i++)
        hf_lock_free(locks[i]);
    hf_client_close(client);
    return status == HF_HELD;
}

static bool run(long kills)
{
    bool fine = true;

    for (size_t i = 0; i < WORKERS; i++)
        fine = start(i) && fine;
    fine = fine && kill_some(kills);
    for (size_t i = 0; i < WORKERS; i++)
        end(i);
    printf("%ld kills, %ld permits taken, at most %d of %d at a time\n", kills,
           atomic_load(&shared->total), atomic_load(&shared->most), PERMITS);
    if (atomic_load(&shared->most) > PERMITS)
        printf("violation: more holders than permits\n");
    return fine && atomic_load(&shared->most) == PERMITS && all_are_free();
}

static bool on_server(long kills)
{
    redis_server *server = redis_server_start(NULL);
    bool fine;

    if (server == NULL)
        return false;
    url = redis_server_unix_url(server);
    fine = run(kills);
    redis_server_stop(server);
    return fine;
}

static bool embedded(long kills)
{
    char folder[] = "/dev/shm/holdfast-semaphore-XXXXXX";
    char text[128];
    struct dirent *entry;
    bool fine;
    DIR *dir;

    if (mkdtemp(folder) == NULL)
        return false;
    snprintf(text, sizeof(text), "volatile:%s", folder);
    url = text;
    fine = run(kills);
    dir = opendir(folder);
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        (void)unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir != NULL)
        (void)closedir(dir);
    (void)rmdir(folder);
    return fine;
}

int main(int argc, char **argv)
{
    bool server = false;
    long kills = 50;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cheat") == 0)
            permits = PERMITS + 1;
        else if (i + 1 < argc && strcmp(argv[i], "--kills") == 0)
            kills = strtol(argv[++i], NULL, 10);
        else if (i + 1 < argc && strcmp(argv[i], "--store") == 0)
            server = strcmp(argv[++i], "server") == 0;
    }
    (void)setvbuf(stdout, NULL, _IONBF, 0);
    shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED)
        return 1;
    return (server ? on_server(kills) : embedded(kills)) ? 0 : 1;
}
