/* SPDX-License-Identifier: Apache-2.0 */
/* client.h - what clients say about themselves, and what is known of them. */
#ifndef HF__SERVE_CLIENT_H
#define HF__SERVE_CLIENT_H

#include "serve/conn.h"

/* Enough for an address of CLIENT LIST. */
#define HF__CLIENT_ADDRESS_SIZE 160

/* An empty name removes it. false: replied with an error. */
bool hf__client_set_name(hf__conn *conn, hf_bytes name);

/* "1.2.3.4:5678" of the other side, or of our own; "PATH:0" of a unix
 * socket. */
const char *hf__client_address(const hf__conn *conn, bool own,
                               char text[HF__CLIENT_ADDRESS_SIZE]);

#endif
