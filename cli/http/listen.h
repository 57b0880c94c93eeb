/* SPDX-License-Identifier: Apache-2.0 */
/* listen.h - the listening socket of the HTTP server. */
#ifndef HOLDFAST_CLI_HTTP_LISTEN_H
#define HOLDFAST_CLI_HTTP_LISTEN_H

#include <stdbool.h>

#define HTTP_URL_SIZE 64

struct http_listener {
    int fd;
    bool loopback;           /* only this machine can connect */
    char url[HTTP_URL_SIZE]; /* with the port that was chosen */
};

/* Listen at HOST:PORT or, with a port alone, at 127.0.0.1. Returns an exit
 * code; unless it is 0, an error was printed. */
int http_listen(const char *address, struct http_listener *listener);

#endif
