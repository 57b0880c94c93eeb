/* SPDX-License-Identifier: Apache-2.0 */
/*
 * answer.h - queue an answer, with the headers that all have.
 *
 * They return MHD_NO if there is no memory; libmicrohttpd then closes the
 * connection.
 */
#ifndef HOLDFAST_CLI_HTTP_ANSWER_H
#define HOLDFAST_CLI_HTTP_ANSWER_H

#include <microhttpd.h>
#include <stdbool.h>

/* `response` is destroyed; NULL: there was no memory for it. */
enum MHD_Result http_answer(struct MHD_Connection *connection, unsigned code,
                            const char *type, struct MHD_Response *response);

/* A line for people. */
enum MHD_Result http_answer_text(struct MHD_Connection *connection,
                                 unsigned code, const char *text);

/* The method does not fit; POST would, or GET. */
enum MHD_Result http_answer_method(struct MHD_Connection *connection,
                                   bool post);

/* The token is missing or another. */
enum MHD_Result http_answer_unauthorized(struct MHD_Connection *connection);

#endif
