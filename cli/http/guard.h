/* SPDX-License-Identifier: Apache-2.0 */
/*
 * guard.h - which requests are answered.
 *
 * Without a token any program of this machine is, but no page of another site
 * in its browser: not by a name that leads here (DNS rebinding), as the host
 * must be localhost or its address, and not by a request that the browser marks
 * as one of another site. With a token only those that have it.
 */
#ifndef HOLDFAST_CLI_HTTP_GUARD_H
#define HOLDFAST_CLI_HTTP_GUARD_H

#include <stdbool.h>

/* Shortest and longest token; a short one could be guessed. */
#define HTTP_TOKEN_MIN 16
#define HTTP_TOKEN_MAX 1024

/* Read the first line of a file. Returns an exit code; unless it is 0, an error
 * was printed. */
int http_token_read(const char *path, char token[HTTP_TOKEN_MAX + 1]);

/* Is it "Bearer TOKEN"? The time it takes says nothing about the token.
 * `authorization` may be NULL. */
bool http_token_given(const char *authorization, const char *token);

/* Does a Host header name this machine? `host` may be NULL. */
bool http_host_is_local(const char *host);

/* Does a Sec-Fetch-Site header name another site? NULL: not a browser's. */
bool http_site_is_other(const char *site);

#endif
