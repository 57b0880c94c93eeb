/* SPDX-License-Identifier: Apache-2.0 */
/*
 * view.h - what a store and its locks were at one instant.
 *
 * A view never changes, so that it is sent to many without a copy. It is freed
 * by the last of them.
 */
#ifndef HOLDFAST_CLI_HTTP_VIEW_H
#define HOLDFAST_CLI_HTTP_VIEW_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/serve.h"
#include "http/history.h"
#include "http/own_client.h"
#include "http/store_reader.h"

/* Where views come from. */
struct http_source {
    hf_client *client;
    hf_server *server;
    bool allow_break;
    bool allow_edit;
    bool is_readable; /* a request may read keys and clients */
    struct http_own own;
    struct http_history history;
    int64_t began_ms; /* on now_ms() */
    char store[LOCK_STORE_TEXT_SIZE];
};

/* -1: not known. */
struct http_figures {
    bool failed;       /* the locks could not be read */
    int64_t sample_ms; /* when they were read last; of now_ms() */
    int64_t locks;
    int64_t waiters;
    int64_t contended; /* locks with waiters */
    int64_t oldest_ms; /* the longest that one is held */
    struct store_facts store;
    struct lock_changes changes;
    struct lock_waits waits;
    hf_server_stats server;
    int64_t up_ms; /* the server */
    struct http_rates rates;
};

struct http_view {
    atomic_uint users;
    int64_t made_ms; /* of now_ms() */
    struct http_figures figures;
    hf_server_command *commands; /* by name */
    size_t command_count;
    /* "data: {...}\n\n", an event; the JSON in it is what /locks has. */
    char *event;
    size_t event_size;
};

void http_source_init(struct http_source *source, hf_client *client,
                      hf_server *server);
/* Closes the client. */
void http_source_done(struct http_source *source);

/* Break a lock; if `owner` is not empty, only if that still holds it:
 * HF_CONFLICT. */
hf_status http_source_break(struct http_source *source, hf_bytes name,
                            hf_bytes owner, hf_error *err);

/* How old those of the locks are; -1: none were read yet. */
int64_t http_figures_age_ms(const struct http_figures *figures);

/* A view with one user; NULL: out of memory. */
struct http_view *http_view_make(struct http_source *source,
                                 const struct http_store *store);

/* Count one more user; returns the view. */
struct http_view *http_view_use(struct http_view *view);
/* One less; may be NULL. */
void http_view_drop(struct http_view *view);

/* Its JSON, one line with its end. */
hf_bytes http_view_json(const struct http_view *view);

#endif
