/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_sentinel.h - a master, two replicas and three sentinels of one test, on
 * free TCP ports of 127.0.0.1. The sentinels know one another and the replicas
 * from the start. All die with the thread that started them; not thread-safe.
 */
#ifndef TESTS_SUPPORT_REDIS_SENTINEL_H
#define TESTS_SUPPORT_REDIS_SENTINEL_H

#include "support/redis_server.h"

#define REDIS_SENTINEL_SERVERS 3
#define REDIS_SENTINEL_COUNT 3
#define REDIS_SENTINEL_NAME "the-master"

typedef struct redis_sentinel redis_sentinel;

/* All may be 0 or NULL. Strings and `tls` must stay. */
typedef struct redis_sentinel_options {
    const char *password;          /* of the servers */
    const char *sentinel_password; /* of the sentinels */
    const redis_server_tls *tls;   /* for both kinds, and no plain port */
    int down_after_ms; /* default 1500: a sentinel connects to a server once a
                        * second, and a new master must not look dead meanwhile
                        */
} redis_sentinel_options;

/* NULL, with a line on stderr: they could not be started. */
redis_sentinel *redis_sentinel_start(const redis_sentinel_options *options);

/* End all of them, in whatever state, and remove their files. NULL is
 * allowed. */
void redis_sentinel_stop(redis_sentinel *all);

/* A store URL that names all three, without passwords, with tls_ca. */
const char *redis_sentinel_url(const redis_sentinel *all);
int redis_sentinel_port(const redis_sentinel *all, int number);

/* Number 0 is the first master. */
redis_server *redis_sentinel_server(const redis_sentinel *all, int number);

/* kill -9, SIGSTOP and SIGCONT of a sentinel. */
void redis_sentinel_kill(redis_sentinel *all, int number);
void redis_sentinel_pause(redis_sentinel *all, int number);
void redis_sentinel_resume(redis_sentinel *all, int number);

/* As redis_server_command(), of a sentinel. Not with TLS. */
bool redis_sentinel_command(const redis_sentinel *all, int number,
                            const char *command, char *answer, size_t size);

/* The server that most running sentinels name; -1: none. Not with TLS. */
int redis_sentinel_master(const redis_sentinel *all);

/* Wait until the sentinels name a master other than server `before` and its
 * running replicas are connected to it, for at most `limit_ms`; -1: timed out.
 */
int redis_sentinel_await(const redis_sentinel *all, int before, int replicas,
                         int limit_ms);

#endif
