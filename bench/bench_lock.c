/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c - acquire+release pairs by one thread over redis-server's unix
 * socket, against a client that only sends and receives.
 *
 *     bench_lock [--json]
 *
 * The embedded store's pairs are in bench_embedded.
 */
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "lock_pairs.h"
#include "support/redis_server.h"

static bool bench_redis(const bench_run *run, redis_server *server,
                        ceiling_redis *ceiling)
{
    const bench_load load = {"redis-unix", 1, 0, true};
    const bench_figure figure = {.name = "lock_acquire_release",
                                 .store = load.name,
                                 .ceiling = "raw socket",
                                 .threads = 1,
                                 .asked_ratio = 0.85};
    bench_subject raw = {.run = ceiling_redis_run, .user = ceiling};
    bench_result result;
    lock_pairs pairs = {0};
    bench_subject ours = {.run = lock_pairs_run, .user = &pairs};
    bool ok = lock_pairs_open(&pairs, redis_server_unix_url(server), &load) &&
              bench_compare(run, &ours, &raw, &result);

    if (ok)
        bench_print(run, &figure, &result);
    lock_pairs_close(&pairs);
    return ok;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    redis_server *server;
    ceiling_redis *ceiling;
    bool ok = false;

    run.json = argc == 2 && strcmp(argv[1], "--json") == 0;
    if (argc > 1 && !run.json) {
        fprintf(stderr, "usage: bench_lock [--json]\n");
        return 64;
    }
    server = redis_server_start(NULL);
    if (server == NULL)
        return 69;
    ceiling = ceiling_redis_open(redis_server_socket_path(server));
    if (ceiling != NULL)
        ok = bench_redis(&run, server, ceiling);
    ceiling_redis_close(ceiling);
    redis_server_stop(server);
    return ok ? 0 : 1;
}
