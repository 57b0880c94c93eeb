/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sync.h - SYNC: a copy of the store for `redis-cli --rdb`.
 */
#ifndef HF__SERVE_SYNC_H
#define HF__SERVE_SYNC_H

#include <pthread.h>
#include <stdatomic.h>

#include "serve/conn/conn.h"

/* One copy at a time. */
typedef struct hf__sync {
    hf__conn *conn; /* that gets it; NULL: none */
    int fd;         /* of the file, which has no name */
    bool making;    /* by the thread, which is to be joined */
    pthread_t thread;
    atomic_bool cancelled, made;
    hf_status status; /* of making it */
    hf_error error;
    uint64_t size;
    uint64_t left; /* to be read from the file */
    uint64_t seen; /* what the client had not taken when that last changed, */
    int64_t seen_ms;
    hf__tick tick;
} hf__sync;

/* No copy is made any more. */
void hf__sync_close_server(struct hf_server *server);

#endif
