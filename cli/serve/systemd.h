/* SPDX-License-Identifier: Apache-2.0 */
/*
 * systemd.h - the two protocols by which systemd and a service speak: states to
 * the socket of NOTIFY_SOCKET (sd_notify(3)), and inherited sockets
 * (sd_listen_fds(3)).
 */
#ifndef HOLDFAST_CLI_SERVE_SYSTEMD_H
#define HOLDFAST_CLI_SERVE_SYSTEMD_H

#include <stddef.h>

/* Send lines NAME=VALUE, if anyone listens. */
void systemd_notify(const char *state);

/* How often WATCHDOG=1 is wanted, ms; -1: never. */
int systemd_watchdog_ms(void);

/* The inherited sockets as addresses to listen on, those whose name begins with
 * "tls" with TLS. Their number, at most `max`; valid until the next call. */
size_t systemd_sockets(const char **addresses, size_t max);

#endif
