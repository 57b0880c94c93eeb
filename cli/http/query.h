/* SPDX-License-Identifier: Apache-2.0 */
/*
 * query.h - what the page asks the server for, and what it changes there.
 *
 * Each query is a few commands of the own client (own_client.h), so the rules
 * of its user apply: not every program may read clients and keys. Whatever is
 * in the store, an answer is bounded: elements are read in pages and within the
 * memory of a script, of long strings only the beginning is sent, and what is
 * left out is marked by "cut".
 */
#ifndef HOLDFAST_CLI_HTTP_QUERY_H
#define HOLDFAST_CLI_HTTP_QUERY_H

#include "http/view.h"

#define HTTP_QUERY_WORDS 5

struct http_call;

struct http_query {
    const char *path;
    bool writes;
    /* Arguments, of the URL or, if it writes, of the body. "db" is the number
     * of a database; without it, it is 0. */
    const char *names[HTTP_QUERY_WORDS];
    int needed; /* so many of them must be given */
    hf_status (*run)(struct http_call *call);
};

/* A query under way. */
struct http_call {
    struct http_source *source;
    hf_client *client;
    hf_bytes words[HTTP_QUERY_WORDS]; /* arguments; data NULL: not given */
    int64_t until_ms;                 /* its first command is not sent later */
    struct json *json;                /* an open object */
    bool cut;                         /* not all is in it */
    hf_error err;
};

/* NULL: there is no such path. */
const struct http_query *http_query_find(const char *path);

/* Which of its arguments has this name; -1: none has. */
int http_query_word(const struct http_query *query, const char *name);

/* Run one, unless `until_ms` of now_ms() has passed when its client is
 * connected; its JSON into `*text`, to be freed by free(). Returns the status
 * of HTTP; `*text` is NULL if there was no memory. */
unsigned http_query_run(const struct http_query *query,
                        struct http_source *source, const hf_bytes *words,
                        int64_t until_ms, char **text, size_t *size);

#endif
