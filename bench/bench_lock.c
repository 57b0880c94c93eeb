/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_lock.c - acquire+release pairs by one thread over redis-server's unix
 * socket, and units of a limiter, against a client that only sends and
 * receives; a reader's pairs while 50 others are inside, against such pairs;
 * and what a pair costs the server, against other libraries.
 *
 *     bench_lock [--json] [--quick]
 *
 * The embedded store's pairs are in bench_embedded.
 */
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "holdfast/limiter.h"
#include "holdfast/rwlock.h"
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

#define READERS 50
#define READERS_TTL_MS 600000 /* not renewed meanwhile */

typedef struct readers {
    hf_client *client;
    hf_lock *inside[READERS];
    int count;
    lock_pairs own; /* of one more reader */
} readers;

static bool new_reader(hf_client *client, hf_lock **read, hf_error *err)
{
    hf_lock_options options = HF_LOCK_OPTIONS_INIT;
    hf_lock *write;

    options.ttl_ms = READERS_TTL_MS;
    if (hf_rwlock_new(client, hf_str("read"), 0, &options, read, &write, err) !=
        HF_OK)
        return false;
    hf_lock_free(write);
    return true;
}

static bool enter_readers(readers *self, redis_server *server)
{
    const char *url = redis_server_unix_url(server);
    hf_error err = HF_ERROR_INIT;

    if (hf_client_open(url, NULL, &self->client, &err) != HF_OK ||
        hf_client_open(url, NULL, &self->own.client, &err) != HF_OK)
        return bench_fail("%s", err.message);
    for (; self->count < READERS; self->count++) {
        hf_lock **read = &self->inside[self->count];

        if (!new_reader(self->client, read, &err))
            return bench_fail("%s", err.message);
        if (hf_lock_try(*read, &err) != HF_OK) {
            hf_lock_free(*read);
            return bench_fail("%s", err.message);
        }
    }
    self->own.count = new_reader(self->own.client, &self->own.locks[0], &err);
    return self->own.count == 1 || bench_fail("%s", err.message);
}

static void leave_readers(readers *self)
{
    while (self->count > 0)
        hf_lock_free(self->inside[--self->count]);
    hf_client_close(self->client);
    lock_pairs_close(&self->own);
}

static bool bench_readers(const bench_run *run, redis_server *server)
{
    const bench_load load = {"exclusive", 1, 0, true};
    const bench_figure figure = {.name = "reader_among_50",
                                 .store = "redis-unix",
                                 .ceiling = "exclusive pairs",
                                 .threads = 1,
                                 .asked_ratio = 0.667};
    lock_pairs exclusive = {0};
    static readers self;
    const bench_subject ours = {.run = lock_pairs_run, .user = &self.own};
    const bench_subject other = {.run = lock_pairs_run, .user = &exclusive};
    bench_result result;
    bool ok =
        enter_readers(&self, server) &&
        lock_pairs_open(&exclusive, redis_server_unix_url(server), &load) &&
        bench_compare(run, &ours, &other, &result);

    if (ok)
        bench_print(run, &figure, &result);
    leave_readers(&self);
    lock_pairs_close(&exclusive);
    return ok;
}

static bool measure_server(const bench_run *run, redis_server *server)
{
    const char *path = redis_server_socket_path(server);
    ceiling_redis *pairs = ceiling_redis_open(path);
    ceiling_redis *units = ceiling_redis_open_limiter(path);
    bool ok = pairs != NULL && units != NULL &&
              bench_redis(run, server, pairs) &&
              bench_limiter(run, server, units) && bench_readers(run, server);

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
    ok = measure_server(&run, server);
    redis_server_stop(server);
    return ok ? 0 : 1;
}
