/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_limiter.c - hf_limiter_take() against hiredis, which runs the same
 * script with the same words, or one that does nothing, over TCP.
 *
 *     bench_limiter [--json] [--quick]
 */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <string.h>

#include "bench.h"
#include "holdfast/limiter.h"
#include "script/script.h"
#include "support/redis_server.h"

#define NAME "bench:limiter"

typedef struct taking {
    hf_client *client;
    hf_limiter_options options;
    redisContext *raw;
    const char *sha1; /* of the raw script */
} taking;

static bool take_units(void *user, int64_t count)
{
    hf_error error = HF_ERROR_INIT;
    taking *self = user;
    hf_limiter_state state;

    while (count-- > 0) {
        hf_status status = hf_limiter_take(self->client, hf_str(NAME), 1,
                                           &self->options, &state, &error);

        if (status != HF_OK && status != HF_TIMEOUT)
            return bench_fail("%s", error.message);
    }
    return true;
}

static bool take_raw(void *user, int64_t count)
{
    taking *self = user;

    while (count-- > 0) {
        redisReply *reply =
            redisCommand(self->raw, "EVALSHA %s 1 %s %s %s %s %s %s",
                         self->sha1, NAME, "1", "0", "1000000", "1000000", "0");
        bool ok = reply != NULL && reply->type == REDIS_REPLY_ARRAY;

        freeReplyObject(reply);
        if (!ok)
            return bench_fail("unexpected reply");
    }
    return true;
}

static bool measure_taking(const bench_run *run, taking *self, const char *name,
                           const char *sha1)
{
    bench_subject subject = {.run = take_units, .user = self};
    bench_subject ceiling = {.run = take_raw, .user = self};
    bench_figure figure = {.name = name,
                           .store = "redis-tcp",
                           .ceiling = "hiredis",
                           .threads = 1,
                           .asked_ratio = 0.9};
    bench_result result;

    self->sha1 = sha1;
    if (!bench_compare(run, &subject, &ceiling, &result))
        return false;
    bench_print(run, &figure, &result);
    return true;
}

static bool measure_all(const bench_run *run, taking *self)
{
    redisReply *loaded =
        redisCommand(self->raw, "SCRIPT LOAD %s", "return {1, 0, 0}");
    bool ok = loaded != NULL && loaded->type == REDIS_REPLY_STRING &&
              take_units(self, 1) &&
              measure_taking(run, self, "limiter_same_script",
                             hf__scripts[HF__SCRIPT_LIMITER_TAKE].sha1) &&
              measure_taking(run, self, "limiter_empty_script", loaded->str);

    freeReplyObject(loaded);
    return ok;
}

static bool measure_on(const bench_run *run, const redis_server *server)
{
    taking self = {.options = HF_LIMITER_OPTIONS_INIT};
    hf_error error = HF_ERROR_INIT;
    bool ok;

    self.options.count = 1000000;
    if (hf_client_open(redis_server_tcp_url(server), NULL, &self.client,
                       &error) != HF_OK)
        return bench_fail("%s", error.message);
    self.raw = redisConnect("127.0.0.1", redis_server_port(server));
    ok = self.raw != NULL && self.raw->err == 0 && measure_all(run, &self);
    redisFree(self.raw);
    hf_client_close(self.client);
    return ok;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    redis_server *server = redis_server_start(NULL);
    bool ok;

    for (int i = 1; i < argc; i++) {
        run.json = run.json || strcmp(argv[i], "--json") == 0;
        run.quick = run.quick || strcmp(argv[i], "--quick") == 0;
    }
    if (run.quick) {
        run.pairs = 1;
        run.slice_ms = 5;
    }
    ok = server != NULL && measure_on(&run, server);
    redis_server_stop(server);
    return ok ? 0 : 1;
}
