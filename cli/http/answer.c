/* SPDX-License-Identifier: Apache-2.0 */
/* answer.c - see answer.h. */
#include "http/answer.h"

#include <string.h>

#include "http/page.h"

static bool add_header(struct MHD_Response *response, const char *name,
                       const char *value)
{
    return MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_all(struct MHD_Response *response, const char *type)
{
    return add_header(response, "Connection", "close") &&
           add_header(response, "Content-Type", type) &&
           add_header(response, "Cache-Control", "no-store") &&
           add_header(response, "X-Content-Type-Options", "nosniff") &&
           add_header(response, "Referrer-Policy", "no-referrer") &&
           add_header(response, "Cross-Origin-Resource-Policy",
                      "same-origin") &&
           add_header(response, "Cross-Origin-Opener-Policy", "same-origin") &&
           add_header(response, "Content-Security-Policy", page_policy);
}

static enum MHD_Result send_one(struct MHD_Connection *connection,
                                unsigned code, const char *type,
                                const char *name, const char *value,
                                struct MHD_Response *response)
{
    enum MHD_Result result = MHD_NO;

    if (response == NULL)
        return MHD_NO;
    if (add_all(response, type) &&
        (name == NULL || add_header(response, name, value)))
        result = MHD_queue_response(connection, code, response);
    MHD_destroy_response(response);
    return result;
}

static struct MHD_Response *text_response(const char *text)
{
    return MHD_create_response_from_buffer(
        strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_MUST_COPY);
}

enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned code,
                            const char *type, struct MHD_Response *response)
{
    return send_one(connection, code, type, NULL, NULL, response);
}

enum MHD_Result http_answer_text(struct MHD_Connection *connection,
                                 unsigned code, const char *text)
{
    return http_answer(connection, code, "text/plain; charset=utf-8",
                       text_response(text));
}

enum MHD_Result http_answer_method(struct MHD_Connection *connection, bool post)
{
    return send_one(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                    "text/plain; charset=utf-8", "Allow",
                    post ? "POST" : "GET, HEAD",
                    text_response("method not allowed\n"));
}

enum MHD_Result http_answer_unauthorized(struct MHD_Connection *connection)
{
    return send_one(connection, MHD_HTTP_UNAUTHORIZED,
                    "text/plain; charset=utf-8", "WWW-Authenticate",
                    "Bearer realm=\"holdfast\"",
                    text_response("the token is missing or wrong\n"));
}
