/* SPDX-License-Identifier: Apache-2.0 */
/*
 * redis_server.h - a real server of one test, on a unix socket and a free TCP
 * port of 127.0.0.1, without persistence.
 *
 * The program is the one given to redis_server_use(), or named by
 * HF_TEST_SERVER, or `redis-server`. If it is `holdfast`, its command `serve`
 * runs, with a password or TLS only by its own arguments. A server dies with
 * the thread that started it: start and restart it from the test's main thread.
 * Not thread-safe.
 */
#ifndef TESTS_SUPPORT_REDIS_SERVER_H
#define TESTS_SUPPORT_REDIS_SERVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct redis_server redis_server;

/* Choose the program, a name or a path, for all servers of this process, also
 * those of clusters and sentinels. The string must stay; NULL: no choice. */
void redis_server_use(const char *program);
const char *redis_server_program(void);

/* How URLs begin: "valkey" if a program of that name was chosen, or "redis". */
const char *redis_server_scheme(void);

/* Start a server and wait until it replies. NULL, with a line on stderr: it
 * could not be started. `password` is what clients must send; NULL: none. */
redis_server *redis_server_start(const char *password);

/* Certificates of a TLS port; paths of PEM files. */
typedef struct redis_server_tls {
    const char *ca;
    const char *certificate;
    const char *key;
    bool asks_clients; /* that client certificates need */
} redis_server_tls;

/* The same with an additional TLS port. `tls` and its strings must stay until
 * the server is stopped; they may change before a restart. */
redis_server *redis_server_start_tls(const char *password,
                                     const redis_server_tls *tls);

/* The same with more arguments for the server's command line, a list that ends
 * with NULL and must stay as long; NULL: none. */
redis_server *redis_server_start_with(const char *password,
                                      const redis_server_tls *tls,
                                      const char *const *more);

/* End the server, in whatever state it is, and remove its files. NULL is
 * allowed. */
void redis_server_stop(redis_server *server);

/* kill -9; the files stay for a restart. */
void redis_server_kill(redis_server *server);

/* SIGSTOP and SIGCONT. */
void redis_server_pause(redis_server *server);
void redis_server_resume(redis_server *server);

/* Kill it if it runs and start it again, empty, at the same addresses. */
bool redis_server_restart(redis_server *server);

/* Addresses as store URLs, without the password. */
const char *redis_server_unix_url(const redis_server *server);
const char *redis_server_tcp_url(const redis_server *server);
const char *redis_server_socket_path(const redis_server *server);
int redis_server_port(const redis_server *server);
int redis_server_free_port(void); /* of this program from now on; -1: none */
int redis_server_tls_port(const redis_server *server); /* 0: none */
/* With tls_ca, and with certificate names checked. */
const char *redis_server_tls_url(const redis_server *server);

/*
 * Run one command, words separated by spaces, on a new connection and copy the
 * raw reply, truncated to `size` with a NUL; false: no reply within two
 * seconds.
 */
bool redis_server_command(const redis_server *server, const char *command,
                          char *answer, size_t size);

#endif
