/* SPDX-License-Identifier: Apache-2.0 */
/* peer.h - the addresses of a connection. */
#ifndef HF__SERVE_PEER_H
#define HF__SERVE_PEER_H

#include "serve/conn/conn.h"

#define HF__PEER_SIZE 160

/* Who the other side is, as far as one can tell: an address of IPv4, a network
 * of 2^64 addresses of IPv6, the user at a unix socket. */
typedef struct hf__peer_key {
    unsigned char bytes[16];
} hf__peer_key;

void hf__peer_key_of(const hf__conn *conn, hf__peer_key *key);

/* "1.2.3.4:5678" of the other side, or of our own; "PATH:0" of a unix
 * socket. */
const char *hf__peer_address(const hf__conn *conn, bool own,
                             char text[HF__PEER_SIZE]);

#endif
