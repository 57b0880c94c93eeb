/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pause.h - CLIENT PAUSE: requests are held back for a time.
 */
#ifndef HF__SERVE_PAUSE_H
#define HF__SERVE_PAUSE_H

#include "engine/engine.h"
#include "serve/commands/served.h"

typedef struct hf__pause {
    int64_t until_ms; /* on hf__clock_boot_ms(); 0: no pause */
    bool all;         /* not only writes */
    hf__tick tick;    /* its end */
} hf__pause;

void hf__pause_begin(struct hf_server *server, int64_t until_ms, bool all);
void hf__pause_end(struct hf_server *server);

/* Is the request, which is valid, to be held back? Then its connection runs
 * again when the pause ends. */
bool hf__pause_holds(hf__conn *conn, const hf__served *served,
                     const hf__command *command, const hf_bytes *words,
                     size_t count);

#endif
