/* SPDX-License-Identifier: Apache-2.0 */
/*
 * conns.h - the open connections, each with the instant at which it is
 * cut.
 *
 * libmicrohttpd ends a connection that is silent, but not one that sends or
 * takes a byte now and then. So each has one request, and a limit for it. When
 * there are many, a new one takes the place of the oldest that has not sent its
 * request, so that those do not keep others out.
 */
#ifndef HOLDFAST_CLI_HTTP_CONNS_H
#define HOLDFAST_CLI_HTTP_CONNS_H

#include <microhttpd.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

/* Most connections; more wait in the kernel's queue. */
#define HTTP_CONNS_MAX 256

struct http_conn;

struct http_conns {
    pthread_mutex_t mutex;
    struct http_conn *first;
    size_t count;
    uint64_t opened; /* in all */
};

void http_conns_init(struct http_conns *conns);
/* No connection is open. */
void http_conns_done(struct http_conns *conns);

/* For MHD_OPTION_NOTIFY_CONNECTION; `user` is the struct http_conns. */
void http_conns_notify(void *user, struct MHD_Connection *connection,
                       void **context,
                       enum MHD_ConnectionNotificationCode code);

/* It has sent its request. The rest of its work must be done within `limit_ms`;
 * -1: no limit. */
void http_conns_limit(struct http_conns *conns,
                      struct MHD_Connection *connection, int64_t limit_ms);

/* Cut the connections whose limit has passed. Returns how many are open. */
size_t http_conns_cut(struct http_conns *conns);

#endif
