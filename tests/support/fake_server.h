/* SPDX-License-Identifier: Apache-2.0 */
/*
 * fake_server.h - a server that a test scripts byte by byte, on a unix socket
 * or a TCP port: for faults that a real one does not produce on demand.
 */
#ifndef TESTS_SUPPORT_FAKE_SERVER_H
#define TESTS_SUPPORT_FAKE_SERVER_H

#include <stdbool.h>
#include <stddef.h>

typedef struct fake_server fake_server;

/* Serves connection `number` (0, 1, ...) on its own thread; the socket is
 * closed when it returns. Must return once a read or a write fails. */
typedef void (*fake_session)(int fd, unsigned number, void *user);

/* NULL: it could not be started. */
fake_server *fake_server_start(fake_session session, void *user);

/* The same on a free port of 127.0.0.1 instead. */
fake_server *fake_server_start_tcp(fake_session session, void *user);
int fake_server_port(const fake_server *server);

/* Break all connections, wait for the sessions and remove the files. */
void fake_server_stop(fake_server *server);

const char *fake_server_url(const fake_server *server);

/* How many connections there have been. */
unsigned fake_server_count(const fake_server *server);

/* Read one request and write its words into `text` with spaces between; false:
 * the peer has closed. */
bool fake_server_read(int fd, char *text, size_t size);

/* Send; false: the peer has closed. */
bool fake_server_say(int fd, const char *text);

/* Reply to SUBSCRIBE of one channel, which `text` is, in RESP2 or 3. `message`
 * follows on it; NULL: none. */
bool fake_server_subscribe(int fd, const char *text, bool resp3,
                           const char *message);

/* Reply to HELLO and CLIENT SETNAME and SETINFO as a server of that version,
 * where each connection has the id 7. */
bool fake_server_login(int fd, const char *version);

/* Wait until the peer closes, reading what it sends. */
void fake_server_drain(int fd);

#endif
