/* SPDX-License-Identifier: Apache-2.0 */
/*
 * http.h - what browsers and monitors see of a store: a page, its locks as
 * JSON, its figures for Prometheus.
 *
 *     GET /           the page
 *     GET /events     a view of the locks each second, as server-sent events
 *     GET /locks      the same once, JSON
 *     GET /metrics    OpenMetrics
 *     GET /keys, /value, /clients, /slowlog, /info, /history   of the page
 *     POST /break?name=NAME   only with `allow_break`
 *     POST /delete, /expire, /set   only with `allow_edit`; arguments in the
 *                                   body
 *
 * libmicrohttpd serves all connections on one thread, which waits for nothing.
 * Three others work for requests that wait: for views (sampler.h), which have
 * what reads the store (store_reader.h), and for queries (jobs.h).
 */
#ifndef HOLDFAST_CLI_HTTP_HTTP_H
#define HOLDFAST_CLI_HTTP_HTTP_H

#include "holdfast/serve.h"

struct http;

struct http_options {
    const char *store;         /* URL; NULL: as for hf_client_open() */
    const char *address;       /* HOST:PORT, or the port of 127.0.0.1 */
    const char *token_file;    /* NULL: none; then only a loopback address */
    bool allow_break;          /* needs a token */
    bool allow_edit;           /* needs allow_break */
    const char *password_file; /* of the server; stays; NULL: none */
};

/*
 * Begin to serve. Returns an exit code; unless it is 0,
 * an error was printed. The signals of the process are not received by the
 * threads.
 */
int http_start(const struct http_options *options, hf_server *server,
               struct http **http);

/* "http://127.0.0.1:9121", with the port that was chosen. */
const char *http_url(const struct http *http);

/* End all connections. Does nothing if it is NULL. */
void http_stop(struct http *http);

#endif
