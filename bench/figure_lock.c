/* SPDX-License-Identifier: Apache-2.0 */
/*
 * figure_lock.c - pairs of lock acquire and release, volatile store, one
 * process: against bare LMDB doing equal transactions (see ceiling.h), and
 * against the same scripts over redis-server's unix socket by one hand-written
 * blocking client.
 */
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "figures.h"
#include "lock_pairs.h"
#include "support/redis_server.h"

/* 1000 locks taken in turn, spread over 100 000 keys that are never accessed.
 */
static const bench_load in_use = {"volatile", BENCH_LOCKS_MAX, 100000, false};
/* All of them on few pages. */
static const bench_load dense = {"volatile-adjacent", BENCH_LOCKS_MAX, 100000,
                                 true};
/* LMDB has next to nothing to do: the rest is the cost of Lua. */
static const bench_load alone = {"volatile-one-lock", 1, 0, false};

static bool measure_against(const bench_run *run, const bench_load *load,
                            const bench_figure *figure,
                            const bench_subject *ceiling)
{
    char url[BENCH_PATH_SIZE];
    bench_result result;
    lock_pairs pairs = {0};
    bench_subject ours = {
        .run = lock_pairs_run, .user = &pairs, .busy = ceiling->busy};
    bool ok;

    snprintf(url, sizeof(url), "volatile:%s/%s-%s", run->memory, figure->name,
             load->name);
    ok = lock_pairs_open(&pairs, url, load) &&
         bench_compare(run, &ours, ceiling, &result);
    if (ok)
        bench_print(run, figure, &result);
    lock_pairs_close(&pairs);
    return ok;
}

static bool against_lmdb(const bench_run *run, const bench_load *load,
                         double asked)
{
    const bench_figure figure = {.name = "lock_pairs",
                                 .store = load->name,
                                 .ceiling = "bare LMDB",
                                 .threads = 1,
                                 .asked_ratio = asked};
    bench_subject raw = {.run = ceiling_lmdb_run, .busy = true};
    char *directory = bench_make_directory(run->memory);
    bool ok;

    raw.user = directory != NULL ? ceiling_lmdb_open(directory, load) : NULL;
    ok = raw.user != NULL && measure_against(run, load, &figure, &raw);
    ceiling_lmdb_close(raw.user);
    bench_remove_directory(directory);
    return ok;
}

bool figure_lock_pairs(const bench_run *run)
{
    return against_lmdb(run, &in_use, 0.5) && against_lmdb(run, &dense, 0) &&
           against_lmdb(run, &alone, 0);
}

/* The scripts must be on the server before they are called by their SHA-1. */
static bool load_scripts(const redis_server *server)
{
    const bench_load one = {"redis-unix", 1, 0, true};
    lock_pairs pairs = {0};
    bool ok = lock_pairs_open(&pairs, redis_server_unix_url(server), &one) &&
              lock_pairs_run(&pairs, 1);

    lock_pairs_close(&pairs);
    return ok;
}

bool figure_lock_redis(const bench_run *run)
{
    const bench_figure figure = {.name = "lock_redis",
                                 .store = "volatile",
                                 .ceiling = "redis-server, unix socket",
                                 .threads = 1,
                                 .asked_ratio = 6};
    bench_subject raw = {.run = ceiling_redis_run};
    redis_server *server = redis_server_start(NULL);
    bool ok;

    if (server == NULL)
        return false;
    if (load_scripts(server))
        raw.user = ceiling_redis_open(redis_server_socket_path(server));
    ok = raw.user != NULL && measure_against(run, &in_use, &figure, &raw);
    ceiling_redis_close(raw.user);
    redis_server_stop(server);
    return ok;
}
