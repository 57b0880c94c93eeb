/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the thread that calls the store for all requests.
 *
 * It makes views: what the locks were at one instant, as the text that is sent
 * and as figures. All requests share one. It makes one only while a request
 * waits, at most one each second, and uses at most a tenth of the time for it.
 * It runs the queries of the page one after the other, those that came first
 * first, and for at most half of the time; a view that is due comes before the
 * next of them. One that cannot begin within ten seconds is not run, nor a
 * change whose client has closed its connection, even if only for sending: a
 * change is not made after its answer said that it failed.
 * It notes a point of the history each ten seconds.
 *
 * A request that has to wait suspends its connection, so that the thread of
 * libmicrohttpd never waits. It is resumed with a view, or without one if there
 * was no memory for it or the server ends.
 */
#ifndef HOLDFAST_CLI_HTTP_SAMPLER_H
#define HOLDFAST_CLI_HTTP_SAMPLER_H

#include <stdbool.h>

#include "http/conns.h"
#include "http/query.h"

struct http_sampler;

/* A request that waits. */
struct http_waiter {
    struct http_waiter *next;
    struct MHD_Connection *connection;
    struct http_view *view;         /* [out] of http_sampler_view(), counted */
    const struct http_query *query; /* to be run; NULL: break a lock */
    /* Of the query, each to be freed. To break a lock, its name and the owner
     * that must hold it; empty: any. */
    hf_bytes words[HTTP_QUERY_WORDS];
    int64_t until_ms; /* not run after that; of now_ms() */
    unsigned code;    /* [out] of the query; 0: not run */
    char *text;
    size_t size;
    hf_status status; /* [out] of breaking it */
    hf_error err;     /* [out] */
};

/* NULL: an error was printed. */
struct http_sampler *http_sampler_start(struct http_source *source,
                                        struct http_conns *conns);

/* Look after connections: call it when the first one was opened. */
void http_sampler_wake(struct http_sampler *sampler);

/* Resume all that wait; later requests do not wait. */
void http_sampler_stop(struct http_sampler *sampler);

/* After the last request. May be NULL. */
void http_sampler_free(struct http_sampler *sampler);

/*
 * Get a view of the last second other than `seen`, which may be NULL. true:
 * waiter->view has it, or is NULL since the server ends. false: the connection
 * of the waiter was suspended.
 */
bool http_sampler_view(struct http_sampler *sampler, struct http_waiter *waiter,
                       const struct http_view *seen);

/* Run the query, or break the lock. false: the connection was suspended until
 * that is done, or is too late: then, too, there is no text and the status is
 * HF_UNAVAILABLE. true: too many wait, or the server ends. */
bool http_sampler_run(struct http_sampler *sampler, struct http_waiter *waiter);

#endif
