/* SPDX-License-Identifier: Apache-2.0 */
/*
 * server_cpu.c - processor time of the server for a pair, 64 locks pipelined,
 * nothing contended. Ours is the library itself, and its pairs are fenced. Of
 * the others: the commands that their scripts run for such a pair, in the same
 * order, because the libraries themselves do not reach this rate.
 */
#include "server_cpu.h"

#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "holdfast/lock.h"

#define LOCKS 64
#define ROUNDS 15
#define TURNS 100 /* of all locks, in a round */
#define TURNS_QUICK 2
#define STEPS 3
#define ASKED 0.8
/* As long as those of Redisson. */
#define OWNER "01234567-89ab-cdef-0123-456789abcdef:42"
#define VALUE "0123456789abcdef01234567"

/* A request: EVALSHA of a script, %s being its hash and then the lock's name,
 * up to three times; or a command, %s being the name. */
typedef struct cpu_step {
    const char *script;
    const char *command;
} cpu_step;

/* The first step is the acquire. */
typedef struct cpu_way {
    const char *name;
    cpu_step steps[STEPS];
} cpu_way;

#define LATCH "redisson_unlock_latch:{%s}:0123456789abcdef0123456789abcdef"
#define REDISSON_ACQUIRE                                                       \
    "redis.call('exists', KEYS[1]) "                                           \
    "redis.call('hincrby', KEYS[1], ARGV[2], 1) "                              \
    "redis.call('pexpire', KEYS[1], ARGV[1]) "
#define REDISSON_RELEASE                                                       \
    {                                                                          \
        "redis.call('get', KEYS[3]) redis.call('hexists', KEYS[1], ARGV[3]) "  \
        "redis.call('hincrby', KEYS[1], ARGV[3], -1) "                         \
        "redis.call('del', KEYS[1]) redis.call(ARGV[4], KEYS[2], ARGV[1]) "    \
        "redis.call('set', KEYS[3], 1, 'px', ARGV[5]) return 1",               \
            "EVALSHA %s 3 %s redisson_lock__channel:{%s} " LATCH               \
            " 0 30000 " OWNER " PUBLISH 16188"                                 \
    }

static const cpu_way ways[] = {
    {"holdfast", {{NULL, NULL}}},
    {"redisson",
     {{REDISSON_ACQUIRE, "EVALSHA %s 1 %s 30000 " OWNER},
      REDISSON_RELEASE,
      {NULL, "DEL " LATCH}}},
    {"redisson, fenced",
     {{REDISSON_ACQUIRE "return {-1, redis.call('incr', KEYS[2])}",
       "EVALSHA %s 2 %s redisson_lock_token:{%s} 30000 " OWNER},
      REDISSON_RELEASE,
      {NULL, "DEL " LATCH}}},
    {"redsync",
     {{NULL, "SET %s " VALUE " NX PX 30000"},
      {"redis.call('get', KEYS[1]) return redis.call('del', KEYS[1])",
       "EVALSHA %s 1 %s " VALUE}}},
    {"SET, DEL", {{NULL, "SET %s " VALUE " NX PX 30000"}, {NULL, "DEL %s"}}},
};

#define WAYS ((int)(sizeof(ways) / sizeof(ways[0])))
#define OURS 0
#define REDISSON 1

typedef struct parties {
    redis_server *server;
    hf_client *client;
    hf_lock *locks[LOCKS];
    redisContext *connection;
    char *requests[WAYS][STEPS][LOCKS];
    size_t sizes[WAYS][STEPS][LOCKS];
} parties;

static bool is_ok(hf_status status, const hf_error *err)
{
    return status == HF_OK || bench_fail("%s", err->message);
}

/* ----------------------------------------------------------------- requests */

static bool format_step(parties *self, int way, int step)
{
    const char *script = ways[way].steps[step].script;
    const char *command = ways[way].steps[step].command;
    char sha[48] = "", name[16];
    redisReply *reply;

    if (script != NULL) {
        reply = redisCommand(self->connection, "SCRIPT LOAD %s", script);
        if (reply == NULL || reply->type != REDIS_REPLY_STRING)
            return bench_fail("a script of %s", ways[way].name);
        snprintf(sha, sizeof(sha), "%s", reply->str);
        freeReplyObject(reply);
    }
    for (int i = 0; i < LOCKS; i++) {
        char **request = &self->requests[way][step][i];
        int size;

        snprintf(name, sizeof(name), "pair-%02d", i);
        size = script != NULL
                   ? redisFormatCommand(request, command, sha, name, name, name)
                   : redisFormatCommand(request, command, name);
        if (size < 0)
            return bench_fail("out of memory");
        self->sizes[way][step][i] = (size_t)size;
    }
    return true;
}

static bool has_step(int way, int step)
{
    return ways[way].steps[step].command != NULL;
}

static bool read_replies(parties *self)
{
    for (int i = 0; i < LOCKS; i++) {
        redisReply *reply = NULL;
        bool good =
            redisGetReply(self->connection, (void **)&reply) == REDIS_OK &&
            reply->type != REDIS_REPLY_ERROR;

        if (!good)
            bench_fail("%s",
                       reply == NULL ? self->connection->errstr : reply->str);
        freeReplyObject(reply);
        if (!good)
            return false;
    }
    return true;
}

static bool run_raw(parties *self, int way)
{
    for (int step = 0; step < STEPS; step++) {
        if (!has_step(way, step))
            break;
        for (int i = 0; i < LOCKS; i++)
            redisAppendFormattedCommand(self->connection,
                                        self->requests[way][step][i],
                                        self->sizes[way][step][i]);
        if (!read_replies(self))
            return false;
    }
    return true;
}

static bool run_ours(parties *self)
{
    hf_status statuses[LOCKS];
    hf_error err = HF_ERROR_INIT;

    return is_ok(hf_lock_acquire_many(self->locks, LOCKS, 0, statuses, &err),
                 &err) &&
           is_ok(hf_lock_release_many(self->locks, LOCKS, statuses, &err),
                 &err);
}

/* ------------------------------------------------------------------- rounds */

static double used_s(const parties *self)
{
    static const char user[] = "used_cpu_user_main_thread:";
    static const char system[] = "used_cpu_sys_main_thread:";
    static char answer[8192];
    const char *in_user, *in_system;

    if (!redis_server_command(self->server, "INFO cpu", answer, sizeof(answer)))
        return 0;
    in_user = strstr(answer, user);
    in_system = strstr(answer, system);
    return in_user == NULL || in_system == NULL
               ? 0
               : strtod(in_user + strlen(user), NULL) +
                     strtod(in_system + strlen(system), NULL);
}

static bool run_round(parties *self, int way, int turns, double *us)
{
    double before_s = 0;

    for (int i = -1; i < turns; i++) {
        if (i == 0)
            before_s = used_s(self);
        if (!(way == OURS ? run_ours(self) : run_raw(self, way)))
            return false;
    }
    *us = (used_s(self) - before_s) * 1e6 / (turns * LOCKS);
    return true;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void print_ratios(const bench_run *run, double us[WAYS][ROUNDS],
                         int rounds)
{
    double ratios[ROUNDS];

    for (int i = 0; i < rounds; i++)
        ratios[i] = us[OURS][i] / us[REDISSON][i];
    qsort(ratios, (size_t)rounds, sizeof(double), by_size);
    for (int way = 0; way < WAYS; way++) {
        qsort(us[way], (size_t)rounds, sizeof(double), by_size);
        printf(run->json ? "{\"bench\":\"server_cpu\",\"way\":\"%s\","
                           "\"us_per_pair\":%.2f,\"best_us\":%.2f}\n"
                         : "server CPU of a pair, 64 pipelined: %-16s %6.2f us "
                           "(best round %.2f)\n",
               ways[way].name, us[way][rounds / 2], us[way][0]);
    }
    printf(run->json ? "{\"bench\":\"server_cpu_ratio\",\"ratio\":%.3f,"
                       "\"asked_ratio\":%.2f,\"met\":%s}\n"
                     : "server CPU of a pair, ours / redisson: %.3f (asked at "
                       "most %.2f): %s\n",
           ratios[rounds / 2], ASKED,
           ratios[rounds / 2] <= ASKED ? (run->json ? "true" : "met")
                                       : (run->json ? "false" : "NOT MET"));
}

static bool open_parties(parties *self)
{
    hf_error err = HF_ERROR_INIT;
    char name[16];

    self->connection =
        redisConnect("127.0.0.1", redis_server_port(self->server));
    if (self->connection == NULL || self->connection->err != 0)
        return bench_fail("hiredis cannot connect");
    for (int way = 0; way < WAYS; way++) {
        for (int step = 0; step < STEPS && has_step(way, step); step++)
            if (!format_step(self, way, step))
                return false;
    }
    if (!is_ok(hf_client_open(redis_server_tcp_url(self->server), NULL,
                              &self->client, &err),
               &err))
        return false;
    for (int i = 0; i < LOCKS; i++) {
        snprintf(name, sizeof(name), "pair-%02d", i);
        if (!is_ok(hf_lock_new(self->client, hf_str(name), NULL,
                               &self->locks[i], &err),
                   &err))
            return false;
    }
    return true;
}

static void close_parties(parties *self)
{
    for (int i = 0; i < LOCKS; i++)
        hf_lock_free(self->locks[i]);
    hf_client_close(self->client);
    for (int way = 0; way < WAYS; way++)
        for (int step = 0; step < STEPS; step++)
            for (int i = 0; i < LOCKS; i++)
                free(self->requests[way][step][i]);
    if (self->connection != NULL)
        redisFree(self->connection);
}

bool server_cpu(const bench_run *run, redis_server *server)
{
    static double us[WAYS][ROUNDS];
    static parties self;
    int rounds = run->quick ? 1 : ROUNDS;
    bool ok;

    self.server = server;
    ok = open_parties(&self);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS && ok; way++)
            ok = run_round(&self, way, run->quick ? TURNS_QUICK : TURNS,
                           &us[way][round]);
    if (ok)
        print_ratios(run, us, rounds);
    close_parties(&self);
    return ok;
}
