/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench_timeline.c - a page of 20 items with the greatest fee of many, while
 * 1000 items/s are added and as many expire.
 *
 *     bench_timeline [--json] [--quick] [--items N] [WAY...]
 *
 * On a server over TCP by each way of bench_timeline_ways.c, then on an
 * embedded store by the first. The ways "filtered" and "counted", a page and a
 * count of items with another attribute that one in 100 has, run only if they
 * are named, on both. What the server does for a page is its
 * processor time and bytes sent (INFO) less those of the same time with adding
 * alone.
 */
#include "bench_timeline.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "holdfast/command.h"
#include "support/redis_server.h"

#define ADDED_TTL_MS 2000
#define KEPT_TTL_MS (24 * 3600 * 1000)
#define TICK_MS 10 /* items are added in batches this often ... */
#define TICK_ITEMS 10
#define PAGES_MAX 200000
#define FILL_BATCH 1000
#define REQUEST_MS 60000 /* SORT and a busy machine take their time */

typedef struct plan {
    bench_run run;
    int64_t items;
    int warm_up_ms; /* adding alone, before and while it is measured */
    int read_ms;
    int pages_min;
} plan;

/* What a server has done so far. */
typedef struct work {
    double cpu_s;
    double bytes;
    double at_s;
} work;

typedef struct page_result {
    int pages;
    double p50_us, p99_us, bytes, cpu_us;
} page_result;

static void sleep_ms(int ms)
{
    struct timespec time = {ms / 1000, ms % 1000 * 1000000L};

    nanosleep(&time, NULL);
}

/* ------------------------------------------------------------------ adding */

typedef struct adder {
    const timeline_way *way;
    hf_client *client;
    int64_t next;
    bool stop;
    bool ok;
    pthread_t thread;
} adder;

static void *keep_adding(void *user)
{
    adder *self = user;
    double due_s = bench_now_s();

    for (int ticks = 0; !__atomic_load_n(&self->stop, __ATOMIC_RELAXED);
         ticks++) {
        self->ok = self->ok && self->way->add(self->client, self->next,
                                              TICK_ITEMS, ADDED_TTL_MS);
        self->next += TICK_ITEMS;
        if (ticks % (1000 / TICK_MS) == 0 && self->way->sweep != NULL)
            self->ok = self->ok && self->way->sweep(self->client);
        due_s += TICK_MS / 1e3;
        if (due_s > bench_now_s())
            sleep_ms((int)((due_s - bench_now_s()) * 1e3));
    }
    return NULL;
}

static bool fill_timeline(const plan *self, const timeline_way *way,
                          hf_client *client)
{
    for (int64_t at = 0; at < self->items; at += FILL_BATCH) {
        int64_t left = self->items - at;

        if (!way->add(client, at,
                      (size_t)(left < FILL_BATCH ? left : FILL_BATCH),
                      KEPT_TTL_MS))
            return false;
    }
    return true;
}

/* ------------------------------------------------------------------- server */

static double field_of(const char *info, const char *name)
{
    const char *at = strstr(info, name);

    return at == NULL ? 0 : strtod(at + strlen(name), NULL);
}

static bool read_work(hf_client *client, work *now)
{
    const hf_bytes words[] = {hf_str("INFO")};
    hf_reply *reply = NULL;
    hf_error err = HF_ERROR_INIT;
    const char *info;

    if (hf_command(client, 1, words, &reply, &err) != HF_OK)
        return bench_fail("%s", err.message);
    info = hf_reply_bytes(reply).data;
    now->cpu_s =
        field_of(info, "used_cpu_sys:") + field_of(info, "used_cpu_user:");
    now->bytes = field_of(info, "total_net_output_bytes:") +
                 field_of(info, "total_net_input_bytes:");
    now->at_s = bench_now_s();
    hf_reply_free(reply);
    return true;
}

static work work_rate(const work *from, const work *to)
{
    double time_s = to->at_s - from->at_s;

    return (work){(to->cpu_s - from->cpu_s) / time_s,
                  (to->bytes - from->bytes) / time_s, 0};
}

/* ------------------------------------------------------------------ reading */

static int by_number(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;

    return (a > b) - (a < b);
}

static bool read_pages(const plan *self, const timeline_way *way,
                       hf_client *client, page_result *result)
{
    double *times = calloc(PAGES_MAX, sizeof(*times));
    double begin_s = bench_now_s(), cpu_s = bench_cpu_s();
    int count = 0;
    bool good = times != NULL;

    while (good && count < PAGES_MAX &&
           (count < self->pages_min ||
            (bench_now_s() - begin_s) * 1e3 < self->read_ms)) {
        double start_s = bench_now_s();

        good = way->page(client, self->items);
        times[count++] = (bench_now_s() - start_s) * 1e6;
    }
    if (good) {
        qsort(times, (size_t)count, sizeof(*times), by_number);
        *result =
            (page_result){count, times[count / 2], times[(int)(count * 0.99)],
                          0, (bench_cpu_s() - cpu_s) / count * 1e6};
    }
    free(times);
    return good;
}

static bool measure_way(const plan *self, const timeline_way *way, bool server,
                        hf_client *client, page_result *result)
{
    work before = {0}, warm = {0}, after = {0}, idle;

    sleep_ms(ADDED_TTL_MS);
    if (server && !read_work(client, &before))
        return false;
    sleep_ms(self->warm_up_ms);
    if ((server && !read_work(client, &warm)) ||
        !read_pages(self, way, client, result) ||
        (server && !read_work(client, &after)))
        return false;
    if (!server)
        return true;
    idle = work_rate(&before, &warm);
    result->cpu_us =
        ((after.cpu_s - warm.cpu_s) - idle.cpu_s * (after.at_s - warm.at_s)) /
        result->pages * 1e6;
    result->bytes =
        ((after.bytes - warm.bytes) - idle.bytes * (after.at_s - warm.at_s)) /
        result->pages;
    return true;
}

static bool run_way(const plan *self, const timeline_way *way, const char *url,
                    bool server, page_result *result)
{
    adder adding = {.way = way, .next = self->items, .ok = true};
    hf_client_options options = HF_CLIENT_OPTIONS_INIT;
    hf_client *client = NULL;
    hf_error err = HF_ERROR_INIT;
    bool good;

    options.request_ms = REQUEST_MS;
    if (hf_client_open(url, &options, &client, &err) != HF_OK ||
        hf_client_open(url, &options, &adding.client, &err) != HF_OK) {
        hf_client_close(client);
        return bench_fail("%s", err.message);
    }
    good = fill_timeline(self, way, client) &&
           pthread_create(&adding.thread, NULL, keep_adding, &adding) == 0;
    if (good) {
        good = measure_way(self, way, server, client, result);
        __atomic_store_n(&adding.stop, true, __ATOMIC_RELAXED);
        pthread_join(adding.thread, NULL);
    }
    hf_client_close(adding.client);
    hf_client_close(client);
    return good && adding.ok;
}

/* ----------------------------------------------------------------- printing */

static void print_result(const plan *self, const char *store,
                         const timeline_way *way, const page_result *result)
{
    const char *format =
        self->run.json
            ? "{\"figure\":\"timeline_page\",\"store\":\"%s\",\"way\":\"%s\","
              "\"items\":%lld,\"pages\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f,"
              "\"bytes\":%.0f,\"%s_cpu_us\":%.1f}\n"
            : "%-9s %-9s %lld items, %d pages: p50 %.1f us, p99 %.1f us, "
              "%.0f bytes, %s processor %.1f us\n";

    printf(format, store, way->name, (long long)self->items, result->pages,
           result->p50_us, result->p99_us, result->bytes,
           strcmp(store, "embedded") == 0 ? "client" : "server",
           result->cpu_us);
    fflush(stdout);
}

static bool run_server(const plan *self, const timeline_way *way)
{
    redis_server *server = redis_server_start(NULL);
    page_result result;
    bool good = server != NULL &&
                run_way(self, way, redis_server_tcp_url(server), true, &result);

    if (good)
        print_result(self, "server", way, &result);
    redis_server_stop(server);
    return good;
}

static bool run_embedded(const plan *self, const timeline_way *way)
{
    char url[BENCH_PATH_SIZE + 64];
    char *directory = bench_make_directory("/dev/shm");
    page_result result;
    bool good = directory != NULL;

    if (good) {
        snprintf(url, sizeof(url), "volatile:%s/store?max_size=%lldM",
                 directory, 64 + (long long)(self->items / 500));
        good = run_way(self, way, url, false, &result);
    }
    if (good)
        print_result(self, "embedded", way, &result);
    bench_remove_directory(directory);
    return good;
}

static bool is_chosen(int argc, char **argv, const char *name, bool apart)
{
    bool named = false;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], name) == 0)
            return true;
        if (strcmp(argv[i], "--items") == 0)
            i++;
        else
            named = named || argv[i][0] != '-';
    }
    return !named && !apart;
}

int main(int argc, char **argv)
{
    plan self = {
        .items = 100000, .warm_up_ms = 2000, .read_ms = 5000, .pages_min = 10};
    bool good = true;

    for (int i = 1; i < argc; i++) {
        self.run.json = self.run.json || strcmp(argv[i], "--json") == 0;
        if (strcmp(argv[i], "--items") == 0 && i + 1 < argc)
            self.items = strtoll(argv[++i], NULL, 10);
        if (strcmp(argv[i], "--quick") == 0) {
            self.items = 2000;
            self.warm_up_ms = self.read_ms = 100;
        }
    }
    for (int i = 0; i < timeline_way_count && good; i++) {
        const timeline_way *way = &timeline_ways[i];

        if (is_chosen(argc, argv, way->name, way->apart))
            good = run_server(&self, way) &&
                   (!way->apart || run_embedded(&self, way));
    }
    if (good && is_chosen(argc, argv, "embedded", false))
        good = run_embedded(&self, &timeline_ways[0]);
    return good ? 0 : 1;
}
