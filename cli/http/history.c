/* SPDX-License-Identifier: Apache-2.0 */
/* history.c - see history.h. */
#include "http/history.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lease_clock.h"

/* A view that is older says nothing about now. */
#define SEEN_MS 5000

/* In less time two readings say little. */
#define SPAN_MIN_MS 20

void http_history_init(struct http_history *history, int64_t began_ms)
{
    memset(history, 0, sizeof(*history));
    pthread_mutex_init(&history->mutex, NULL);
    history->point.at_ms = began_ms;
    history->rates = (struct http_rates){0, 0, -1, -1};
}

void http_history_done(struct http_history *history)
{
    pthread_mutex_destroy(&history->mutex);
}

/* ----------------------------------------------------------------- counters */

static void on_command(void *user, const hf_server_command *command)
{
    struct http_counters *counters = user;

    counters->timed += command->timed;
    counters->timed_ns += command->timed_ns;
}

/* Without those of commands, which on_command() adds. */
static struct http_counters counters_of(const hf_server_stats *stats)
{
    return (struct http_counters){.at_ms = now_ms(),
                                  .commands = stats->commands,
                                  .failed = stats->failed,
                                  .hits = stats->hits,
                                  .misses = stats->misses};
}

static struct http_counters read_counters(hf_server *server)
{
    hf_server_stats stats = HF_SERVER_STATS_INIT;
    struct http_counters counters;

    (void)!hf_server_read_stats(server, &stats, NULL);
    counters = counters_of(&stats);
    (void)!hf_server_read_commands(server, on_command, &counters, NULL);
    return counters;
}

/* `part` of `whole`, both since the reading before; -1: there was none. */
static double mean_of(uint64_t part, uint64_t whole)
{
    return whole == 0 ? -1 : (double)part / (double)whole;
}

static uint64_t count_grown(uint64_t before, uint64_t now)
{
    return now > before ? now - before : 0;
}

static struct http_rates compare_counters(const struct http_counters *before,
                                          const struct http_counters *now)
{
    double span_s = (double)(now->at_ms - before->at_ms) / 1000;
    uint64_t hits = count_grown(before->hits, now->hits);
    struct http_rates rates = {0, 0, -1, -1};

    if (span_s <= 0)
        return rates;
    rates.commands =
        (double)count_grown(before->commands, now->commands) / span_s;
    rates.failed = (double)count_grown(before->failed, now->failed) / span_s;
    rates.latency_us = mean_of(count_grown(before->timed_ns, now->timed_ns),
                               count_grown(before->timed, now->timed) * 1000);
    rates.hits = mean_of(hits, hits + count_grown(before->misses, now->misses));
    return rates;
}

/* ------------------------------------------------------------------ history */

struct http_rates http_history_rates(struct http_history *history,
                                     const hf_server_stats *stats,
                                     const hf_server_command *commands,
                                     size_t count)
{
    const struct http_counters *before = &history->seen;
    struct http_counters now = counters_of(stats);

    for (size_t i = 0; i < count; i++)
        on_command(&now, &commands[i]);
    if (before->at_ms == 0 || now.at_ms - before->at_ms > SEEN_MS)
        before = &history->point;
    if (now.at_ms - before->at_ms < SPAN_MIN_MS)
        return history->rates;
    history->rates = compare_counters(before, &now);
    history->seen = now;
    return history->rates;
}

void http_history_add(struct http_history *history, hf_server *server,
                      int64_t size)
{
    struct http_point *point = &history->points[history->next];
    struct http_counters now = read_counters(server);

    pthread_mutex_lock(&history->mutex);
    point->at_ms = unix_ms();
    point->rates = compare_counters(&history->point, &now);
    if (history->count == 0)
        point->rates = (struct http_rates){0, 0, -1, -1};
    point->size = size;
    if (history->count > 0)
        history->point = now; /* before, it is the start of the server */
    history->next = (history->next + 1) % HISTORY_POINTS;
    history->count += history->count < HISTORY_POINTS;
    pthread_mutex_unlock(&history->mutex);
    history->due_ms = now.at_ms + HISTORY_POINT_MS;
}

static void add_number(struct json *json, const char *name, double value)
{
    if (value < 0)
        json_null(json, name);
    else
        json_number(json, name, value);
}

void http_rates_json(const struct http_rates *rates, struct json *json)
{
    add_number(json, "commands_per_s", rates->commands);
    add_number(json, "failed_per_s", rates->failed);
    add_number(json, "latency_us", rates->latency_us);
    add_number(json, "hits", rates->hits);
}

static void add_points(const struct http_history *history, struct json *json)
{
    size_t first = history->next + HISTORY_POINTS - history->count;

    json_open(json, "points", '[');
    for (size_t i = 0; i < history->count; i++) {
        const struct http_point *point =
            &history->points[(first + i) % HISTORY_POINTS];

        json_open(json, NULL, '{');
        json_integer(json, "at_ms", point->at_ms);
        http_rates_json(&point->rates, json);
        json_known(json, "bytes_in_use", point->size);
        json_close(json, '}');
    }
    json_close(json, ']');
}

bool http_history_text(struct http_history *history, char **text, size_t *size)
{
    FILE *file = open_memstream(text, size);
    struct json json;
    bool whole;

    if (file == NULL)
        return false;
    json_begin(&json, file);
    pthread_mutex_lock(&history->mutex);
    add_points(history, &json);
    pthread_mutex_unlock(&history->mutex);
    json_end(&json);
    whole = ferror(file) == 0;
    if (fclose(file) == 0 && whole)
        return true;
    free(*text);
    return false;
}
