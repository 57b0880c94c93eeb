/* SPDX-License-Identifier: Apache-2.0 */
/*
 * history.h - the server's figures of the last hour, one point each ten
 * seconds, and how they change now. Only the sampler changes it; any thread may
 * get its points as text.
 */
#ifndef HOLDFAST_CLI_HTTP_HISTORY_H
#define HOLDFAST_CLI_HTTP_HISTORY_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "holdfast/serve.h"
#include "json_line.h"

#define HISTORY_POINTS 360
#define HISTORY_POINT_MS 10000

/* How things change between two readings; -1: not known. */
struct http_rates {
    double commands;   /* in a second */
    double failed;     /* in a second */
    double latency_us; /* mean time of a command, without its commit */
    double hits;       /* of the reads of keys, 0..1 */
};

struct http_counters {
    int64_t at_ms; /* of now_ms() */
    uint64_t commands, failed, timed, timed_ns, hits, misses;
};

struct http_point {
    int64_t at_ms; /* Unix time */
    struct http_rates rates;
    int64_t size; /* bytes of the store in use; -1: not known */
};

struct http_history {
    pthread_mutex_t mutex;
    struct http_point points[HISTORY_POINTS]; /* a ring */
    size_t count;
    size_t next;

    /* Of the sampler alone: */
    int64_t due_ms;             /* the next point; of now_ms() */
    struct http_counters point; /* at the last point */
    struct http_counters seen;  /* at the last view */
    struct http_rates rates;    /* of it */
};

void http_history_init(struct http_history *history, int64_t began_ms);
void http_history_done(struct http_history *history);

/* The rates since the last view, from what was read for this one. */
struct http_rates http_history_rates(struct http_history *history,
                                     const hf_server_stats *stats,
                                     const hf_server_command *commands,
                                     size_t count);

/* Their members of an object. */
void http_rates_json(const struct http_rates *rates, struct json *json);

/* Add a point; those that were due while the one before was read are left out.
 * `size`: bytes of the store in use. */
void http_history_add(struct http_history *history, hf_server *server,
                      int64_t size);

/* JSON, an object with the member "points", the oldest first; to be freed by
 * free(). false: out of memory. Never waits for the server. */
bool http_history_text(struct http_history *history, char **text, size_t *size);

#endif
