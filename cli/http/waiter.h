/* SPDX-License-Identifier: Apache-2.0 */
/*
 * waiter.h - a request that waits for another thread.
 *
 * Its connection is suspended, so that the thread of libmicrohttpd never waits.
 * A suspended connection cannot end, so a waiter in a list is valid until it is
 * resumed, and not used after that. It is put into the list under the mutex of
 * that, with the connection suspended before, so that it is not resumed first.
 */
#ifndef HOLDFAST_CLI_HTTP_WAITER_H
#define HOLDFAST_CLI_HTTP_WAITER_H

#include <stdbool.h>

#include "http/conns.h"
#include "http/query.h"

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

/* Suspend, behind the others of a list. */
void http_waiter_add(struct http_waiter **list, struct http_waiter *waiter);

/* Resume all, with the view, which may be NULL. */
void http_waiters_resume(struct http_waiter **list, struct http_view *view);

#endif
