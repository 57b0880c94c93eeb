/* SPDX-License-Identifier: Apache-2.0 */
/*
 * postgres_server.h - a PostgreSQL of one test, on a free TCP port of 127.0.0.1
 * and a unix socket, with the schema of Holdfast.
 *
 * HF_TEST_POSTGRES names the folder of its programs. It does not run as root:
 * started by root, it runs as the user postgres. A server dies with the thread
 * that started it. Not thread-safe.
 */
#ifndef TESTS_SUPPORT_POSTGRES_SERVER_H
#define TESTS_SUPPORT_POSTGRES_SERVER_H

#include <stdbool.h>
#include <sys/types.h>

#define POSTGRES_ANSWER_SIZE 512

typedef struct postgres_server postgres_server;

/* NULL, with a line on stderr: it could not be started. `fsync`: as on a server
 * in use; without, a commit does not wait for the disk. */
postgres_server *postgres_server_start(bool fsync);
/* End it and remove its files. NULL is allowed. */
void postgres_server_stop(postgres_server *server);

/* kill -9 of its first process, upon which the others end; the data stays. */
void postgres_server_kill(postgres_server *server);
/* Start it again, with its data. */
bool postgres_server_restart(postgres_server *server);

/* postgres://postgres@127.0.0.1:PORT/postgres */
const char *postgres_server_url(const postgres_server *server);

/* Run SQL by psql, as the owner; false: it failed. */
bool postgres_server_run(const postgres_server *server, const char *sql);
/* And take the first line of what it answers; "": it failed. */
void postgres_server_ask(const postgres_server *server, const char *sql,
                         char answer[POSTGRES_ANSWER_SIZE]);

/* A standby of it, as which it is known by `name`. NULL: see above. It outlives
 * the first one. */
postgres_server *postgres_server_follow(const postgres_server *primary,
                                        const char *name);

int postgres_server_port(const postgres_server *server);
/* Where its socket is; the user that runs it may write there. */
const char *postgres_server_folder(const postgres_server *server);
/* Start another program, as that user; it dies with this thread. argv[0] is its
 * path. <= 0: it could not be started. */
pid_t postgres_server_spawn(const postgres_server *server,
                            const char *const *argv);

#endif
