/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracking.h - CLIENT TRACKING: reporting to clients which keys have changed.
 */
#ifndef HF__SERVE_TRACKING_H
#define HF__SERVE_TRACKING_H

#include "serve/conn/conn.h"
#include "store/feed.h"
#include "store/store.h"

struct hf__tracker;

/* Of a server. */
typedef struct hf__trackers {
    hf__feed feed;
    bool open;
    struct hf__tracker *first;
} hf__trackers;

void hf__tracking_open_server(struct hf_server *server);
/* Open or close the feed, as needed; no transaction is open. */
void hf__tracking_prepare(struct hf_server *server);

/* End it for a connection. */
void hf__tracking_leave(hf__conn *conn);

/* Subcommands of CLIENT. */
void hf__client_tracking(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__client_trackinginfo(hf__conn *conn, const hf_bytes *words,
                             size_t count);
void hf__client_getredir(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__client_caching(hf__conn *conn, const hf_bytes *words, size_t count);

#endif
