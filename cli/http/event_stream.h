/* SPDX-License-Identifier: Apache-2.0 */
/*
 * event_stream.h - server-sent events: one view after the other.
 *
 * A client that reads slowly gets fewer views, not later ones; it keeps one of
 * them in memory. One that does not read is cut.
 */
#ifndef HOLDFAST_CLI_HTTP_EVENT_STREAM_H
#define HOLDFAST_CLI_HTTP_EVENT_STREAM_H

#include "http/sampler.h"

/* Only the thread of libmicrohttpd uses `count`. */
struct http_streams {
    struct http_sampler *sampler;
    struct http_conns *conns;
    unsigned count;
};

/* Answer with events until the client or the server ends. */
enum MHD_Result http_events(struct http_streams *streams,
                            struct MHD_Connection *connection);

#endif
