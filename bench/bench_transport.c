/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_transport.c - the network store against the minimum that a program
 * could do on the same server, alternating in the same run.
 *
 *     bench_transport [--json] [--quick] [FIGURE...]
 *
 * By plain TCP and then by TLS, which has figures but no targets. The server is
 * redis-server, or the one that HF_TEST_SERVER names. Client CPU is that of
 * this whole process per operation, including the library's thread.
 */
#include "bench_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "support/certificates.h"

/* ------------------------------------------------------------------ slices */

double transport_client_cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One of the threads of a slice. */
typedef struct timed_thread {
    const transport_work *work;
    pthread_t thread;
    pthread_barrier_t *begin;
    const bool *stop;
    int number;
    int64_t done;
    bool ok;
} timed_thread;

static void *run_worker(void *user)
{
    timed_thread *self = user;

    pthread_barrier_wait(self->begin);
    self->ok = self->work->work(self->work->user, self->number, self->stop,
                                &self->done);
    return NULL;
}

static bool run_threads(const transport_work *work, int slice_ms,
                        transport_pace *pace)
{
    timed_thread workers[TRANSPORT_THREADS_MAX] = {0};
    struct timespec slice = {slice_ms / 1000, slice_ms % 1000 * 1000000L};
    pthread_barrier_t begin;
    double start_s, cpu_s;
    int64_t done = 0;
    bool stop = false, ok = true;

    pthread_barrier_init(&begin, NULL, (unsigned)work->threads + 1);
    for (int i = 0; i < work->threads; i++) {
        workers[i] = (timed_thread){
            .work = work, .begin = &begin, .stop = &stop, .number = i};
        if (pthread_create(&workers[i].thread, NULL, run_worker, &workers[i]) !=
            0)
            abort(); /* the others wait at the barrier */
    }
    cpu_s = transport_client_cpu_s();
    start_s = bench_now_s();
    pthread_barrier_wait(&begin);
    nanosleep(&slice, NULL);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < work->threads; i++) {
        pthread_join(workers[i].thread, NULL);
        done += workers[i].done;
        ok = ok && workers[i].ok;
    }
    pace->ops_per_s = (double)done / (bench_now_s() - start_s);
    pace->cpu_us =
        done > 0 ? (transport_client_cpu_s() - cpu_s) * 1e6 / (double)done : 0;
    pthread_barrier_destroy(&begin);
    return ok && done > 0;
}

static bool run_slice(const transport_subject *subject, int slice_ms,
                      transport_pace *pace)
{
    if (subject->measure != NULL)
        return subject->measure(subject->user, slice_ms, pace);
    return run_threads(&subject->work, slice_ms, pace);
}

static int by_ratio(const void *a, const void *b)
{
    double x = ((const transport_result *)a)->ratio;
    double y = ((const transport_result *)b)->ratio;

    return (x > y) - (x < y);
}

/* The best slice of each: the cost without disturbance. */
static void take_cpu(transport_result *result, const transport_result *pairs,
                     size_t count)
{
    result->pace.cpu_us = pairs[0].pace.cpu_us;
    result->ceiling.cpu_us = pairs[0].ceiling.cpu_us;
    for (size_t i = 1; i < count; i++) {
        if (pairs[i].pace.cpu_us < result->pace.cpu_us)
            result->pace.cpu_us = pairs[i].pace.cpu_us;
        if (pairs[i].ceiling.cpu_us < result->ceiling.cpu_us)
            result->ceiling.cpu_us = pairs[i].ceiling.cpu_us;
    }
    result->cpu_ratio = result->pace.cpu_us / result->ceiling.cpu_us;
}

bool transport_compare(const bench_run *run, const transport_subject *subject,
                       const transport_subject *ceiling,
                       transport_result *result)
{
    transport_result pairs[BENCH_PAIRS_MAX];
    size_t count = (size_t)run->pairs;
    transport_pace warm_up;

    if (!run_slice(subject, run->slice_ms, &warm_up) ||
        !run_slice(ceiling, run->slice_ms, &warm_up))
        return false;
    for (size_t i = 0; i < count; i++) {
        transport_result *pair = &pairs[i];

        if (!run_slice(subject, run->slice_ms, &pair->pace) ||
            !run_slice(ceiling, run->slice_ms, &pair->ceiling))
            return false;
        pair->ratio = pair->pace.ops_per_s / pair->ceiling.ops_per_s;
    }
    qsort(pairs, count, sizeof(pairs[0]), by_ratio);
    *result = pairs[count / 2];
    take_cpu(result, pairs, count);
    return true;
}

static void print_json(const transport *to, const bench_figure *figure,
                       const transport_result *result)
{
    printf("{\"bench\":\"%s\",\"store\":\"%s\",\"threads\":%d,"
           "\"ops_per_s\":%.0f,\"client_cpu_us_per_op\":%.2f,"
           "\"ceiling\":\"%s\",\"ceiling_ops_per_s\":%.0f,\"ratio\":%.3f,"
           "\"ceiling_cpu_us_per_op\":%.2f,\"cpu_ratio\":%.3f",
           figure->name, to->name, figure->threads, result->pace.ops_per_s,
           result->pace.cpu_us, figure->ceiling, result->ceiling.ops_per_s,
           result->ratio, result->ceiling.cpu_us, result->cpu_ratio);
    if (figure->asked_ratio > 0)
        printf(",\"asked_ratio\":%.2f,\"met\":%s", figure->asked_ratio,
               result->ratio >= figure->asked_ratio ? "true" : "false");
    puts("}");
}

static void print_line(const transport *to, const bench_figure *figure,
                       const transport_result *result)
{
    printf("%-10s %-3s %2d threads %8.0f op/s %6.2f us CPU; %s %8.0f op/s "
           "%6.2f us; ratio %.3f",
           figure->name, to->name, figure->threads, result->pace.ops_per_s,
           result->pace.cpu_us, figure->ceiling, result->ceiling.ops_per_s,
           result->ceiling.cpu_us, result->ratio);
    if (figure->asked_ratio > 0)
        printf(" (asked %.2f)", figure->asked_ratio);
    printf(", CPU %.2f", result->cpu_ratio);
    putchar('\n');
}

void transport_print(const transport *to, const bench_figure *figure,
                     const transport_result *result)
{
    if (to->run->json)
        print_json(to, figure, result);
    else
        print_line(to, figure, result);
    fflush(stdout);
}

double transport_info(const transport *to, const char *name)
{
    static char answer[65536];
    char wanted[64];
    const char *found;

    snprintf(wanted, sizeof(wanted), "\n%s:", name);
    if (!redis_server_command(to->server, "INFO", answer, sizeof(answer)))
        return -1;
    found = strstr(answer, wanted);
    return found == NULL ? -1 : strtod(found + strlen(wanted), NULL);
}

double transport_server_cpu_s(const transport *to)
{
    return transport_info(to, "used_cpu_user_main_thread") +
           transport_info(to, "used_cpu_sys_main_thread");
}

/* -------------------------------------------------------------------- main */

static const struct {
    const char *name;
    bool (*measure)(const transport *to);
} figures[] = {
    {"threads", transport_threads},   {"window", transport_window},
    {"renewals", transport_renewals}, {"overtaking", transport_overtaking},
    {"waiters", transport_waiters},
};

#define FIGURE_COUNT (sizeof(figures) / sizeof(figures[0]))

static bool measure_chosen(const transport *to, const bool chosen[FIGURE_COUNT])
{
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (chosen[i] && !figures[i].measure(to))
            return bench_fail("%s could not be measured", figures[i].name);
    }
    return true;
}

/* TLS needs a certificate, so the server starts with one. */
static bool measure_all(const bench_run *run, const bool chosen[FIGURE_COUNT])
{
    char paths[3][CERTIFICATES_PATH_SIZE];
    certificates *issued = certificates_new();
    redis_server_tls tls = {0};
    transport to = {.run = run, .name = "tcp"};
    bool ok = false;

    if (issued == NULL || !certificates_issue_server(issued)) {
        certificates_free(issued);
        return bench_fail("no certificates");
    }
    tls.ca = certificates_path(issued, "ca.pem", paths[0]);
    tls.certificate = certificates_path(issued, "server.pem", paths[1]);
    tls.key = certificates_path(issued, "server.key", paths[2]);
    to.server = redis_server_start_tls(NULL, &tls);
    if (to.server != NULL) {
        to.url = redis_server_tcp_url(to.server);
        ok = measure_chosen(&to, chosen);
        to.name = "tls";
        to.tls = &tls;
        to.url = redis_server_tls_url(to.server);
        ok = ok && measure_chosen(&to, chosen);
    }
    redis_server_stop(to.server);
    certificates_free(issued);
    return ok;
}

/* false: unknown. */
static bool read_option(const char *word, bench_run *run,
                        bool chosen[FIGURE_COUNT])
{
    if (strcmp(word, "--json") == 0)
        return run->json = true;
    if (strcmp(word, "--quick") == 0) {
        run->pairs = 1;
        run->slice_ms = 20;
        return run->quick = true;
    }
    for (size_t i = 0; i < FIGURE_COUNT; i++) {
        if (strcmp(word, figures[i].name) == 0)
            return chosen[i] = true;
    }
    return false;
}

int main(int argc, char **argv)
{
    bench_run run = {.pairs = BENCH_PAIRS, .slice_ms = BENCH_SLICE_MS};
    bool chosen[FIGURE_COUNT] = {false};
    bool any = false;

    for (int i = 1; i < argc; i++) {
        if (!read_option(argv[i], &run, chosen)) {
            fputs("usage: bench_transport [--json] [--quick] [FIGURE...]\n"
                  "figures: threads window renewals overtaking waiters\n",
                  stderr);
            return 64;
        }
    }
    for (size_t i = 0; i < FIGURE_COUNT; i++)
        any = any || chosen[i];
    for (size_t i = 0; !any && i < FIGURE_COUNT; i++)
        chosen[i] = true;
    return measure_all(&run, chosen) ? 0 : 1;
}
