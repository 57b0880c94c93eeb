/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sampler.h - the thread that makes views for all requests.
 *
 * A view is what the server and the locks were at one instant, as the text that
 * is sent and as figures. All requests share one. The sampler makes one only
 * while a request waits, at most one each second. The figures of the server are
 * of that instant; the locks are those of the last sample (store_reader.h), for
 * which a view waits at most a quarter of a second.
 * It notes a point of the history each ten seconds.
 *
 * A request that waits is resumed with a view, or without one if there was no
 * memory for it or the server ends.
 */
#ifndef HOLDFAST_CLI_HTTP_SAMPLER_H
#define HOLDFAST_CLI_HTTP_SAMPLER_H

#include "http/waiter.h"

struct http_sampler;

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

/* The locks were changed: make the next view at once, with a new sample. */
void http_sampler_renew(struct http_sampler *sampler);

#endif
