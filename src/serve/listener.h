/* SPDX-License-Identifier: Apache-2.0 */
/* listener.h - the sockets on which a server accepts connections. */
#ifndef HF__SERVE_LISTENER_H
#define HF__SERVE_LISTENER_H

#include "util/poll.h"

#include "holdfast/base.h"

struct hf_server;

#define HF__LISTENER_TEXT_SIZE 160

typedef struct hf__listener {
    struct hf_server *server;
    hf__poll poll;
    char text[HF__LISTENER_TEXT_SIZE]; /* its address, the port resolved */
    char path[HF__LISTENER_TEXT_SIZE]; /* of a unix socket; "": TCP */
    bool open;
} hf__listener;

/* "unix:PATH" or "HOST:PORT", port 0: any. HF_INVALID, HF_SYSTEM. */
hf_status hf__listener_open(hf__listener *listener, struct hf_server *server,
                            const char *address, hf_error *err);
/* On the loop thread; accepts from now on. */
hf_status hf__listener_start(hf__listener *listener, hf_error *err);
/* Stop accepting. On the loop thread once it was started. */
void hf__listener_close(hf__listener *listener);

#endif
