/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - the sockets on which a server accepts connections. */
#ifndef HF__SERVE_LISTENER_H
#define HF__SERVE_LISTENER_H

#include <sys/types.h>

#include "util/poll.h"

#include "holdfast/base.h"

struct hf_server;

#define HF__LISTENER_TEXT_SIZE 160

/* Most sockets of a server: an address may have several. */
#define HF__LISTENERS_MAX 64

typedef struct hf__listener {
    struct hf_server *server;
    hf__poll poll;
    hf__tick tick;                     /* to accept again */
    char text[HF__LISTENER_TEXT_SIZE]; /* its address, the port resolved */
    char path[HF__LISTENER_TEXT_SIZE]; /* of our unix socket; "": none */
    ino_t number;                      /* of that socket's file */
    bool open;
    bool tcp;
    bool secure;  /* TLS */
    bool exposed; /* other machines may be able to connect */
} hf__listener;

/*
 * Open the sockets of an address, as in hf_server_options::listen, and add them
 * to the server's. HF_INVALID, HF_SYSTEM.
 */
hf_status hf__listener_open(struct hf_server *server, const char *address,
                            hf_error *err);
/* Accept from now on. Once it was started, on the loop thread. */
hf_status hf__listener_start(hf__listener *listener, hf_error *err);
/* Stop accepting. On the loop thread once it was started. */
void hf__listener_close(hf__listener *listener);

#endif
