/* SPDX-License-Identifier: Apache-2.0 */
/*
 * jobs.h - the thread that runs the queries of the page, and breaks locks.
 *
 * It runs them one after the other, those that came first first, and for at
 * most half of the time. One that cannot begin within ten seconds is not run,
 * nor a change whose client has closed its connection, even if only for
 * sending: a change is not made after its answer said that it failed.
 */
#ifndef HOLDFAST_CLI_HTTP_JOBS_H
#define HOLDFAST_CLI_HTTP_JOBS_H

#include "http/sampler.h"

struct http_jobs;

/* NULL: an error was printed. */
struct http_jobs *http_jobs_start(struct http_source *source,
                                  struct http_sampler *sampler);

/* Resume all that wait; later requests do not wait. */
void http_jobs_stop(struct http_jobs *jobs);

/* After the last request. May be NULL. */
void http_jobs_free(struct http_jobs *jobs);

/* Run the query, or break the lock. false: the connection was suspended until
 * that is done, or is too late: then, too, there is no text and the status is
 * HF_UNAVAILABLE. true: too many wait, or the server ends. */
bool http_jobs_run(struct http_jobs *jobs, struct http_waiter *waiter);

#endif
