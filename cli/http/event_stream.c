/* SPDX-License-Identifier: Apache-2.0 */
/* event_stream.c - see event_stream.h. */
#include "http/event_stream.h"

#include <stdlib.h>
#include <string.h>

#include "http/answer.h"

/* Each keeps a view at most; see VIEW_SIZE of view.c. */
#define STREAMS_MAX 32

/* For a client to take an event. */
#define EVENT_MS 20000

/* Sent at once. */
#define BLOCK_SIZE 16384

struct stream {
    struct http_streams *streams;
    struct http_waiter waiter;
    struct http_view *view; /* what is being sent, or was; may be NULL */
    size_t sent;            /* bytes of it */
    bool waits;
};

/* Have a view to send from; false: the connection was suspended. Without any
 * more, stream->view is NULL. */
static bool advance_stream(struct stream *stream)
{
    if (!stream->waits) {
        http_conns_limit(stream->streams->conns, stream->waiter.connection, -1);
        if (!http_sampler_view(stream->streams->sampler, &stream->waiter,
                               stream->view)) {
            stream->waits = true;
            return false;
        }
    }
    stream->waits = false;
    http_view_drop(stream->view);
    stream->view = stream->waiter.view;
    stream->waiter.view = NULL;
    stream->sent = 0;
    http_conns_limit(stream->streams->conns, stream->waiter.connection,
                     EVENT_MS);
    return true;
}

static ssize_t read_stream(void *user, uint64_t position, char *data,
                           size_t room)
{
    struct stream *stream = user;
    size_t rest;

    (void)position;
    if (stream->view == NULL || stream->sent == stream->view->event_size) {
        if (!advance_stream(stream))
            return 0;
        if (stream->view == NULL)
            return MHD_CONTENT_READER_END_OF_STREAM;
    }
    rest = stream->view->event_size - stream->sent;
    if (room > rest)
        room = rest;
    memcpy(data, stream->view->event + stream->sent, room);
    stream->sent += room;
    return (ssize_t)room;
}

static void free_stream(void *user)
{
    struct stream *stream = user;

    stream->streams->count--;
    http_view_drop(stream->view);
    http_view_drop(stream->waiter.view);
    free(stream);
}

enum MHD_Result http_events(struct http_streams *streams,
                            struct MHD_Connection *connection)
{
    struct MHD_Response *response;
    struct stream *stream;

    if (streams->count >= STREAMS_MAX)
        return http_answer_text(connection, MHD_HTTP_SERVICE_UNAVAILABLE,
                                "too many streams of events\n");
    stream = calloc(1, sizeof(*stream));
    if (stream == NULL)
        return MHD_NO;
    stream->streams = streams;
    stream->waiter.connection = connection;
    response = MHD_create_response_from_callback(
        MHD_SIZE_UNKNOWN, BLOCK_SIZE, read_stream, stream, free_stream);
    if (response == NULL) {
        free(stream);
        return MHD_NO;
    }
    streams->count++;
    return http_answer(connection, MHD_HTTP_OK, "text/event-stream", response);
}
