/* SPDX-License-Identifier: Apache-2.0 */
/* bench_transport.h - the parts of bench_transport. */
#ifndef BENCH_TRANSPORT_H
#define BENCH_TRANSPORT_H

#include <pthread.h>

#include "bench.h"
#include "support/redis_server.h"

#define TRANSPORT_THREADS_MAX 64
#define TRANSPORT_LINE_SIZE 256

/* The server of a run, and the port through which it is measured. */
typedef struct transport {
    const bench_run *run;
    redis_server *server;
    const redis_server_tls *tls; /* NULL: plain TCP */
    const char *name;            /* of the way: "tcp", "tls" */
    const char *url;
} transport;

/* Work of `threads` threads for a time. */
typedef struct transport_work {
    /* Do operations until *stop; false: failed. `thread` is 0, 1, ... */
    bool (*work)(void *user, int thread, const bool *stop, int64_t *done);
    void *user;
    int threads;
} transport_work;

/* The result of one slice. */
typedef struct transport_pace {
    double ops_per_s;
    double cpu_us; /* of the client process, per operation */
} transport_pace;

/* Either `work`, or a function that measures itself. */
typedef struct transport_subject {
    transport_work work;
    bool (*measure)(void *user, int slice_ms, transport_pace *pace);
    void *user;
} transport_subject;

typedef struct transport_result {
    transport_pace pace; /* of the median pair; `cpu_us` of the best slice */
    transport_pace ceiling;
    double ratio;
    double cpu_ratio;
} transport_result;

/* As bench_compare(). */
bool transport_compare(const bench_run *run, const transport_subject *subject,
                       const transport_subject *ceiling,
                       transport_result *result);
void transport_print(const transport *to, const bench_figure *figure,
                     const transport_result *result);

/* One blocking connection that sends what was formatted beforehand and reads a
 * reply in one piece. */
typedef struct transport_raw transport_raw;
transport_raw *transport_raw_open(const transport *to);
bool transport_raw_ask(transport_raw *raw, const char *request, size_t size);
void transport_raw_close(transport_raw *raw); /* NULL is allowed */

/* A number in INFO; -1: missing. */
double transport_info(const transport *to, const char *name);

/* Processor time of the server's main thread, and of this process. */
double transport_server_cpu_s(const transport *to);
double transport_client_cpu_s(void);

/* The figures; false: one could not be measured, see stderr. */
bool transport_threads(const transport *to);
bool transport_window(const transport *to);
bool transport_renewals(const transport *to);
bool transport_overtaking(const transport *to);
bool transport_waiters(const transport *to);

#endif
