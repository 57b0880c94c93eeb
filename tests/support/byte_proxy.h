/* SPDX-License-Identifier: Apache-2.0 */
/*
 * byte_proxy.h - sits between a client and a server and does to their bytes
 * what a bad network does: on a thread of the test, switched at run time.
 *
 * It listens on a unix socket and on a free port of 127.0.0.1, and connects to
 * a server's unix socket or to its port, for TLS, say. A fault applies to all
 * connections, existing ones included; delayed bytes are passed on when it
 * ends.
 */
#ifndef TESTS_SUPPORT_BYTE_PROXY_H
#define TESTS_SUPPORT_BYTE_PROXY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct byte_proxy byte_proxy;

typedef enum byte_way { TO_SERVER = 0, TO_CLIENT = 1 } byte_way;

/* NULL, with a line on stderr: it could not be started. */
byte_proxy *byte_proxy_start(const char *server_socket);

/* The same for a server at a port of 127.0.0.1. */
byte_proxy *byte_proxy_start_tcp(int server_port);

/* Break all connections and end. NULL is allowed. */
void byte_proxy_stop(byte_proxy *proxy);

/* Store URLs, by either socket. */
const char *byte_proxy_unix_url(const byte_proxy *proxy);
const char *byte_proxy_tcp_url(const byte_proxy *proxy);
int byte_proxy_port(const byte_proxy *proxy);

/* End all faults: what was held back is passed on, in order. What was swallowed
 * is gone, and so are connections that were cut. */
void byte_proxy_heal(byte_proxy *proxy);

/* Each byte is delayed by at least this long. */
void byte_proxy_delay(byte_proxy *proxy, byte_way way, int64_t delay_ms);

/* Every byte is passed on separately. */
void byte_proxy_split(byte_proxy *proxy, byte_way way);

/* At most this many bytes per second; 0: no limit. */
void byte_proxy_throttle(byte_proxy *proxy, byte_way way, int64_t bytes);

/* Nothing is passed on, in either direction; connections are still accepted,
 * but get no reply. */
void byte_proxy_freeze(byte_proxy *proxy);

/* The same, and by TCP a connection is not even made: packets are dropped, as
 * if the machine were gone. */
void byte_proxy_darken(byte_proxy *proxy);

/* What arrives from now on is read and discarded. */
void byte_proxy_swallow(byte_proxy *proxy, byte_way way);

/* How a connection ends. */
typedef enum byte_end {
    BYTE_END_CLOSE, /* in order, on both sides */
    BYTE_END_RESET, /* RST to the client (on TCP); to the server in order */
    BYTE_END_HALF   /* only this direction ends; the other continues */
} byte_end;

/*
 * The next connection on which bytes flow in this direction is cut after `size`
 * more of them; then no other is. With TO_SERVER, what precedes the cut is sent
 * first; replies to it are dropped. 0 with TO_CLIENT: at the first byte of a
 * reply, which was sent and is lost.
 */
void byte_proxy_cut(byte_proxy *proxy, byte_way way, uint64_t size,
                    byte_end end);

/* The same for all connections, at once; later ones are accepted and served. */
void byte_proxy_break(byte_proxy *proxy, byte_end end);

/* Whatever protocol clients ask for by HELLO, they get this one, 2 or 3; 0:
 * what they ask for. Not a fault: byte_proxy_heal() keeps it. */
void byte_proxy_speak(byte_proxy *proxy, int version);

/* Accept no connections: they are refused (true), or again (false). */
void byte_proxy_refuse(byte_proxy *proxy, bool refuse);

/* Bytes passed on in this direction since the start, and connections accepted.
 */
uint64_t byte_proxy_bytes(byte_proxy *proxy, byte_way way);
uint64_t byte_proxy_connections(byte_proxy *proxy);

/* Cuts and resets by byte_proxy_cut() that have happened. */
uint64_t byte_proxy_cuts(byte_proxy *proxy);

/* Swallowed bytes since the start; of those to the client only what may be
 * replies: on connections that have sent something meanwhile. */
uint64_t byte_proxy_swallowed(byte_proxy *proxy, byte_way way);

#endif
