/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport_window.c - 256 asynchronous calls under way at a time, a new
 * one for each that completes, against redis-benchmark with a pipeline of the
 * same depth. Both run the same script.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "bench_transport.h"
#include "holdfast/script.h"

#define WINDOW 256
#define SCRIPT "return redis.call('set', KEYS[1], ARGV[1], 'px', ARGV[2])"
/* Requests of one run of redis-benchmark: a tenth of a second or so. */
#define BATCH 40000
#define BATCH_QUICK 2000

typedef struct window {
    const transport *to;
    hf_client *client;
    hf_script *script;
    struct pollfd ready;
    char sha1[64];
    int64_t done;
    bool stop;
    bool failed;
    hf_reply *replies[WINDOW];
    struct slot {
        struct window *window;
        int number;
    } slots[WINDOW];
} window;

static void on_done(void *user, hf_status status, const hf_error *err);

static void start_slot(window *self, int number)
{
    const hf_bytes key = hf_str("window");
    const hf_bytes args[] = {hf_str("0123456789abcdef"), hf_str("30000")};
    hf_async async = HF_ASYNC_INIT;
    hf_error error = HF_ERROR_INIT;

    async.done = on_done;
    async.user = &self->slots[number];
    if (hf_script_run_start(self->script, &key, 1, args, 2,
                            &self->replies[number], &async, &error) != HF_OK)
        self->failed = !bench_fail("%s", error.message);
}

static void on_done(void *user, hf_status status, const hf_error *err)
{
    struct slot *slot = user;
    window *self = slot->window;

    if (status != HF_OK) {
        self->failed = !bench_fail("%s", err->message);
        return;
    }
    hf_reply_free(self->replies[slot->number]);
    self->done++;
    if (!self->stop && !self->failed)
        start_slot(self, slot->number);
}

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static bool measure_ours(void *user, int slice_ms, transport_pace *pace)
{
    window *self = user;
    hf_error error = HF_ERROR_INIT;
    double start_s = bench_now_s(), start_cpu_s = cpu_s();
    size_t running = 1;

    self->done = 0;
    self->stop = false;
    for (int i = 0; i < WINDOW && !self->failed; i++)
        start_slot(self, i);
    while (running > 0) {
        if (poll(&self->ready, 1, 10000) != 1)
            return bench_fail("no reply within 10 s");
        if (hf_client_dispatch(self->client, &running, &error) != HF_OK)
            return bench_fail("%s", error.message);
        self->stop = bench_now_s() - start_s >= slice_ms / 1e3;
    }
    pace->ops_per_s = (double)self->done / (bench_now_s() - start_s);
    pace->cpu_us = (cpu_s() - start_cpu_s) * 1e6 / (double)self->done;
    return !self->failed;
}

/* Processor time of ended children; includes starting one. */
static double children_cpu_s(void)
{
    struct rusage used;

    getrusage(RUSAGE_CHILDREN, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

/* Its last line is "title","requests per second",... */
static bool measure_benchmark(void *user, int slice_ms, transport_pace *pace)
{
    const window *self = user;
    const transport *to = self->to;
    char command[1024], line[512], tls[512] = "";
    double start_cpu_s = children_cpu_s();
    const char *comma;
    FILE *out;

    (void)slice_ms;
    if (to->tls != NULL)
        snprintf(tls, sizeof(tls), "--tls --cacert '%s'", to->tls->ca);
    snprintf(command, sizeof(command),
             "redis-benchmark -h 127.0.0.1 -p %d %s -c 1 -P %d -n %d --csv "
             "EVALSHA %s 1 window 0123456789abcdef 30000 2>/dev/null",
             to->tls != NULL ? redis_server_tls_port(to->server)
                             : redis_server_port(to->server),
             tls, WINDOW, to->run->quick ? BATCH_QUICK : BATCH, self->sha1);
    out = popen(command, "r");
    if (out == NULL)
        return bench_fail("cannot start redis-benchmark");
    pace->ops_per_s = 0;
    while (fgets(line, sizeof(line), out) != NULL) {
        comma = strstr(line, "\",\"");
        if (comma != NULL)
            pace->ops_per_s = strtod(comma + 3, NULL);
    }
    pclose(out);
    pace->cpu_us = (children_cpu_s() - start_cpu_s) * 1e6 /
                   (to->run->quick ? BATCH_QUICK : BATCH);
    return pace->ops_per_s > 0 || bench_fail("redis-benchmark printed nothing");
}

static bool open_window(window *self)
{
    hf_error error = HF_ERROR_INIT;
    char answer[128];

    if (hf_client_open(self->to->url, NULL, &self->client, &error) != HF_OK ||
        hf_script_load(self->client, hf_str(SCRIPT), &self->script, &error) !=
            HF_OK ||
        hf_client_fd(self->client, &self->ready.fd, &error) != HF_OK)
        return bench_fail("%s", error.message);
    self->ready.events = POLLIN;
    for (int i = 0; i < WINDOW; i++)
        self->slots[i] = (struct slot){self, i};
    /* The same text, so the same digest. */
    if (!redis_server_command(self->to->server, "SCRIPT LOAD \"" SCRIPT "\"",
                              answer, sizeof(answer)) ||
        sscanf(answer, "$40 %40s", self->sha1) != 1)
        return bench_fail("cannot load the script: %s", answer);
    return true;
}

bool transport_window(const transport *to)
{
    const bench_figure figure = {.name = "window_256",
                                 .ceiling = "redis-benchmark -c 1 -P 256",
                                 .threads = 1,
                                 .asked_ratio = to->tls == NULL ? 0.6 : 0};
    window self = {.to = to};
    const transport_subject ours = {.measure = measure_ours, .user = &self};
    const transport_subject ceiling = {.measure = measure_benchmark,
                                       .user = &self};
    transport_result result;
    bool ok = open_window(&self) &&
              transport_compare(to->run, &ours, &ceiling, &result);

    if (ok)
        transport_print(to, &figure, &result);
    hf_script_free(self.script);
    hf_client_close(self.client);
    return ok;
}
