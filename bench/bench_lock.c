/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c - acquire+release pairs by one thread over redis-server's unix
 * socket, against a client that only sends and receives; and what a pair costs
 * the server, against other libraries.
 *
 *     bench_lock [--json] [--quick]
 *
 * The embedded store's pairs are in bench_embedded.
 */
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "lock_pairs.h"
#include "server_cpu.h"
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

static bool measure(const bench_run *run, redis_server *server)
{
    ceiling_redis *ceiling =
        ceiling_redis_open(redis_server_socket_path(server));
    bool ok = ceiling != NULL && bench_redis(run, server, ceiling);

    ceiling_redis_close(ceiling);
    return ok && server_cpu(run, server);
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    redis_server *server;
    bool ok;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            run.json = true;
        } else if (strcmp(argv[i], "--quick") == 0) {
            run.quick = true;
            run.pairs = 1;
            run.slice_ms = 20;
        } else {
            fprintf(stderr, "usage: bench_lock [--json] [--quick]\n");
            return 64;
        }
    }
    server = redis_server_start(NULL);
    if (server == NULL)
        return 69;
    ok = measure(&run, server);
    redis_server_stop(server);
    return ok ? 0 : 1;
}
