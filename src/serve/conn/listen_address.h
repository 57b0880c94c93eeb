/* SPDX-License-Identifier: Apache-2.0 */
/* listen_address.h - from addresses to sockets that listen. */
#ifndef HF__SERVE_LISTEN_ADDRESS_H
#define HF__SERVE_LISTEN_ADDRESS_H

#include <sys/socket.h>
#include <sys/types.h>

#include "holdfast/base.h"

struct hf_server;

/* Of a unix socket. */
typedef struct hf__unix_address {
    const char *path;
    mode_t mode;
    gid_t group; /* -1: ours */
} hf__unix_address;

/* Listen, without following what is at the path: a socket on which no process
 * listens is replaced. `number`: of its file. */
hf_status hf__address_listen_unix(const hf__unix_address *address, int *fd,
                                  ino_t *number, hf_error *err);
/* Remove the file, unless it is another one by now. Before the socket is
 * closed. */
void hf__address_remove(const char *path, ino_t number);

hf_status hf__address_listen_tcp(const struct sockaddr *address, socklen_t size,
                                 int *fd, hf_error *err);

/* Where a server of this store listens by default. Its folder is created. */
hf_status hf__address_default(const struct hf_server *server, char *path,
                              size_t size, hf_error *err);

/* Can other machines connect to it? */
bool hf__address_is_exposed(const struct sockaddr *address);

/* "1.2.3.4:5", "[::1]:5". */
void hf__address_text(const struct sockaddr *address, socklen_t size,
                      char *text, size_t text_size);

#endif
