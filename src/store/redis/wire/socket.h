/* SPDX-License-Identifier: Apache-2.0 */
/* socket.h - stream sockets to a server, with our options. */
#ifndef HF__STORE_REDIS_SOCKET_H
#define HF__STORE_REDIS_SOCKET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "holdfast/base.h"

/*
 * Start to connect a non-blocking socket. Returns 0 and sets *fd; the socket is
 * connected, or will be when it polls writable and hf__socket_connected()
 * returns 0. Otherwise an errno.
 */
int hf__socket_connect(const struct sockaddr_storage *address, socklen_t size,
                       int *fd);

/* The status of a connect error: HF_SYSTEM for a local shortage, HF_DENIED for
 * a local refusal, otherwise HF_UNAVAILABLE. */
hf_status hf__socket_status(int sys_errno);

/* The outcome of a connect in progress: 0 or an errno. */
int hf__socket_connected(int fd);

/* Wait for poll events until an instant; 0: it passed. */
int hf__socket_wait(int fd, short events, int64_t until_ms);

/* The same, or until `other` is readable: 0, too. */
int hf__socket_wait_or(int fd, short events, int other, int64_t until_ms);

/* Make calls block, reads for at most `wait_ms`; false: failed. */
bool hf__socket_make_blocking(int fd, int64_t wait_ms);

#endif
