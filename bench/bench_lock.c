/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c - acquire+release pairs by one thread, on each store, against
 * the raw ceiling of that store in the same run.
 *
 *     bench_lock [--json]
 *
 * The embedded store lies in a new directory under /dev/shm: once in use, with
 * 1000 locks taken in turn among 100 000 other keys; once with one lock and
 * nothing else, where LMDB has next to nothing to do and what remains is the
 * price of running Lua. The server is one of its own on a unix socket.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bench.h"
#include "ceiling.h"
#include "holdfast.h"
#include "support/redis_server.h"

typedef struct pairs {
    hf_client *client;
    hf_lock *locks[BENCH_LOCKS_MAX];
    int count;
    int next;
} pairs;

static bool run_pairs(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    pairs *p = user;

    for (int64_t i = 0; i < count; i++) {
        hf_lock *lock = p->locks[p->next];

        p->next = (p->next + 1) % p->count;
        if (hf_lock_try(lock, &error) != HF_OK ||
            hf_lock_release(lock, &error) != HF_OK)
            return bench_fail("%s", error.message);
    }
    return true;
}

static bool put_others(hf_client *client, int others, hf_error *error)
{
    char name[BENCH_NAME_SIZE];
    char value[32] = {0};

    for (int i = 0; i < others; i++) {
        snprintf(name, sizeof(name), BENCH_OTHER, i);
        if (hf_value_set(client, hf_str(name), hf_view(value, sizeof(value)),
                         NULL, NULL, error) != HF_OK)
            return false;
    }
    return true;
}

static bool make_locks(pairs *p, int count, hf_error *error)
{
    char name[BENCH_NAME_SIZE];

    for (p->count = 0; p->count < count; p->count++) {
        snprintf(name, sizeof(name), BENCH_LOCK, p->count);
        if (hf_lock_new(p->client, hf_str(name), NULL, &p->locks[p->count],
                        error) != HF_OK)
            return false;
    }
    return true;
}

static bool bench_pairs(bool json, const bench_load *load, const char *url,
                        const bench_subject *ceiling)
{
    hf_error error = HF_ERROR_INIT;
    bench_result result;
    pairs p = {0};
    bool ok;

    ok = hf_client_open(url, NULL, &p.client, &error) == HF_OK &&
         put_others(p.client, load->others, &error) &&
         make_locks(&p, load->locks, &error);
    if (!ok)
        bench_fail("%s: %s", load->name, error.message);
    ok = ok && bench_compare(&(bench_subject){run_pairs, &p}, ceiling, &result);
    if (ok)
        bench_print(json, "lock_acquire_release", load->name, 1, &result);
    while (p.count > 0)
        hf_lock_free(p.locks[--p.count]);
    hf_client_close(p.client);
    return ok;
}

static bool bench_embedded(bool json, const char *directory,
                           const bench_load *load)
{
    char path[96], url[96];
    ceiling_lmdb *ceiling;
    bool ok;

    snprintf(path, sizeof(path), "%s/ceiling-%d", directory, load->others);
    snprintf(url, sizeof(url), "volatile:%s/store-%d", directory, load->others);
    if (mkdir(path, 0700) != 0)
        return bench_fail("cannot make %s", path);
    ceiling = ceiling_lmdb_open(path, load);
    if (ceiling == NULL)
        return false;
    ok = bench_pairs(json, load, url,
                     &(bench_subject){ceiling_lmdb_run, ceiling});
    ceiling_lmdb_close(ceiling);
    return ok;
}

static bool bench_redis(bool json)
{
    const bench_load load = {"redis-unix", 1, 0};
    redis_server *server = redis_server_start(NULL);
    ceiling_redis *ceiling;
    bool ok = false;

    if (server == NULL)
        return false;
    ceiling = ceiling_redis_open(redis_server_socket_path(server));
    if (ceiling != NULL)
        ok = bench_pairs(json, &load, redis_server_unix_url(server),
                         &(bench_subject){ceiling_redis_run, ceiling});
    ceiling_redis_close(ceiling);
    redis_server_stop(server);
    return ok;
}

static void remove_tree(const char *directory)
{
    char command[128];

    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    if (system(command) != 0)
        bench_fail("cannot remove %s", directory);
}

int main(int argc, char **argv)
{
    char directory[] = "/dev/shm/holdfast-bench-XXXXXX";
    bool json = argc == 2 && strcmp(argv[1], "--json") == 0;
    bool ok;

    if (argc > 1 && !json) {
        fprintf(stderr, "usage: bench_lock [--json]\n");
        return 64;
    }
    if (mkdtemp(directory) == NULL)
        return 71;
    ok = bench_embedded(
        json, directory,
        &(bench_load){"embedded-volatile", BENCH_LOCKS_MAX, 100000});
    ok = bench_embedded(json, directory,
                        &(bench_load){"embedded-volatile-bare", 1, 0}) &&
         ok;
    remove_tree(directory);
    ok = bench_redis(json) && ok;
    return ok ? 0 : 1;
}
