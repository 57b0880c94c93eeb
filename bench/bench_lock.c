/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c - acquire+release pairs by one thread over redis-server's unix
 * socket, and units of a limiter, against a client that only sends and
 * receives; and what a pair costs the server, against other libraries.
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

static bool take_units(void *user, int64_t count)
{
    hf_limiter_options options = HF_LIMITER_OPTIONS_INIT;
    hf_error err = HF_ERROR_INIT;

    options.count = 1000000;
    for (int64_t i = 0; i < count; i++) {
        if (hf_limiter_take(user, hf_str("limiter"), 1, &options, NULL, &err) !=
            HF_OK)
            return bench_fail("%s", err.message);
    }
    return true;
}

static bool bench_limiter(const bench_run *run, redis_server *server,
                          ceiling_redis *ceiling)
{
    const bench_figure figure = {.name = "limiter_take",
                                 .store = "redis-unix",
                                 .ceiling = "raw socket",
                                 .threads = 1,
                                 .asked_ratio = 0.9};
    bench_subject raw = {.run = ceiling_redis_run, .user = ceiling};
    bench_subject ours = {.run = take_units};
    hf_error err = HF_ERROR_INIT;
    hf_client *client;
    bench_result result;
    bool ok;

    if (hf_client_open(redis_server_unix_url(server), NULL, &client, &err) !=
        HF_OK)
        return bench_fail("%s", err.message);
    ours.user = client;
    ok = bench_compare(run, &ours, &raw, &result);
    if (ok)
        bench_print(run, &figure, &result);
    hf_client_close(client);
    return ok;
}

static bool measure(const bench_run *run, redis_server *server)
{
    const char *path = redis_server_socket_path(server);
    ceiling_redis *pairs = ceiling_redis_open(path);
    ceiling_redis *units = ceiling_redis_open_limiter(path);
    bool ok = pairs != NULL && units != NULL &&
              bench_redis(run, server, pairs) &&
              bench_limiter(run, server, units);

    ceiling_redis_close(pairs);
    ceiling_redis_close(units);
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
