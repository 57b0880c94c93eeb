/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tracking.h - CLIENT TRACKING: what changes are to be reported to a client.
 * tracked.h does it.
 */
#ifndef HF__SERVE_TRACKING_H
#define HF__SERVE_TRACKING_H

#include "serve/commands/served.h"
#include "serve/conn/conn.h"

/* Subcommands of CLIENT. */
void hf__client_tracking(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__client_trackinginfo(hf__conn *conn, const hf_bytes *words,
                             size_t count);
void hf__client_getredir(hf__conn *conn, const hf_bytes *words, size_t count);
void hf__client_caching(hf__conn *conn, const hf_bytes *words, size_t count);

/* A request of a client that tracks has run, or was queued: CACHING is over,
 * unless that was CLIENT itself or a transaction is open. */
void hf__tracking_requested(hf__conn *conn, const hf__served *served);

#endif
