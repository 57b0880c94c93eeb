/* SPDX-License-Identifier: Apache-2.0 */
/*
 * push.h - what a server says to a client without being asked: messages, and
 * notices of invalidated keys.
 */
#ifndef HF__SERVE_PUSH_H
#define HF__SERVE_PUSH_H

#include "serve/conn/conn.h"

/* Begin one of `count` elements; RESP2 has arrays for it. Not while the
 * connection has units in a round. */
hf__answer *hf__push_begin(hf__conn *conn, size_t count);
/* It is written when the turn ends. A client that has left too much unread is
 * closed. */
void hf__push_end(hf__conn *conn);

/* Both, of lines that are in the form of the protocol. */
void hf__push_lines(hf__conn *conn, hf_bytes lines);

/* At the end of a turn: write. */
void hf__push_flush(struct hf_server *server);

#endif
