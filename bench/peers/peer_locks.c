/* SPDX-License-Identifier: Apache-2.0 */
/* peer_locks.c - ours, and one by hand on a server; see peer_locks.h. */
#include <hiredis/hiredis.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench.h"
#include "holdfast/lock.h"
#include "peers/peer_locks.h"

#define WAIT_MS 30000

/* ---------------------------------------------------------------- holdfast */

void *peer_open_client(const peer_place *place)
{
    hf_error err = HF_ERROR_INIT;
    hf_client *client = NULL;

    if (hf_client_open(place->url, NULL, &client, &err) != HF_OK)
        bench_fail("%s", err.message);
    return client;
}

static void *holdfast_new_lock(void *client)
{
    hf_error err = HF_ERROR_INIT;
    hf_lock *lock = NULL;

    if (hf_lock_new(client, hf_str(PEER_LOCK_NAME), NULL, &lock, &err) != HF_OK)
        bench_fail("%s", err.message);
    return lock;
}

static bool holdfast_acquire(void *lock)
{
    hf_error err = HF_ERROR_INIT;

    return hf_lock_acquire(lock, WAIT_MS, &err) == HF_OK ||
           bench_fail("%s", err.message);
}

static bool holdfast_release(void *lock)
{
    hf_error err = HF_ERROR_INIT;

    return hf_lock_release(lock, &err) == HF_OK ||
           bench_fail("%s", err.message);
}

const peer_library peer_holdfast = {peer_open_client, holdfast_new_lock,
                                    holdfast_acquire, holdfast_release};

/* ----------------------------------------------------------------- hiredis */

/* Between two tries, on average. */
#define POLL_US 10000

typedef struct polled {
    redisContext *connection;
    char owner[32];
    unsigned seed;
} polled;

struct redisContext *peer_connect(const peer_place *place)
{
    redisContext *connection = redisConnect("127.0.0.1", place->port);

    if (connection != NULL && connection->err == 0)
        return connection;
    bench_fail("hiredis cannot connect");
    return NULL;
}

static void *hiredis_open(const peer_place *place)
{
    polled *self = calloc(1, sizeof(*self));

    if (self == NULL)
        return NULL;
    self->connection = peer_connect(place);
    if (self->connection == NULL)
        return NULL;
    self->seed = (unsigned)getpid();
    snprintf(self->owner, sizeof(self->owner), "owner-%d", getpid());
    return self;
}

static void *hiredis_new_lock(void *client)
{
    return client;
}

/* A reply's type; -1: failed. */
static int reply_type(const polled *self, redisReply *reply)
{
    int type = reply == NULL ? -1 : reply->type;

    if (type < 0 || type == REDIS_REPLY_ERROR)
        bench_fail("hiredis: %s",
                   type < 0 ? self->connection->errstr : reply->str);
    if (reply != NULL)
        freeReplyObject(reply);
    return type == REDIS_REPLY_ERROR ? -1 : type;
}

static bool hiredis_acquire(void *lock)
{
    polled *self = lock;

    for (;;) {
        int type = reply_type(self, redisCommand(self->connection,
                                                 "SET %s %s NX PX 30000",
                                                 PEER_LOCK_NAME, self->owner));
        struct timespec rest = {0, 0};

        if (type != REDIS_REPLY_NIL)
            return type == REDIS_REPLY_STATUS;
        rest.tv_nsec = 1000L * (POLL_US / 2 + rand_r(&self->seed) % POLL_US);
        nanosleep(&rest, NULL);
    }
}

static bool hiredis_release(void *lock)
{
    static const char script[] = "if redis.call('get', KEYS[1]) == ARGV[1] "
                                 "then return redis.call('del', KEYS[1]) end";
    polled *self = lock;

    return reply_type(self, redisCommand(self->connection, "EVAL %s 1 %s %s",
                                         script, PEER_LOCK_NAME,
                                         self->owner)) == REDIS_REPLY_INTEGER;
}

const peer_library peer_hiredis = {hiredis_open, hiredis_new_lock,
                                   hiredis_acquire, hiredis_release};
