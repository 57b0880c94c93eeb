/* SPDX-License-Identifier: Apache-2.0 */
/* metrics.c - see metrics.h. */
#include "http/metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* HELP is the last line of those that begin a family of metrics. */
static void print_family(FILE *file, const char *name, const char *type,
                         const char *unit, const char *help)
{
    fprintf(file, "# TYPE holdfast_%s %s\n", name, type);
    if (unit != NULL)
        fprintf(file, "# UNIT holdfast_%s %s\n", name, unit);
    fprintf(file, "# HELP holdfast_%s %s\n", name, help);
}

/* -1: not known, and left out. */
static void print_gauge(FILE *file, const char *name, const char *unit,
                        const char *help, int64_t value)
{
    if (value < 0)
        return;
    print_family(file, name, "gauge", unit, help);
    fprintf(file, "holdfast_%s %" PRId64 "\n", name, value);
}

static void print_counter(FILE *file, const char *name, const char *unit,
                          const char *help, uint64_t value)
{
    print_family(file, name, "counter", unit, help);
    fprintf(file, "holdfast_%s_total %" PRIu64 "\n", name, value);
}

static void print_seconds(FILE *file, const char *name, const char *help,
                          int64_t ms)
{
    print_family(file, name, "gauge", "seconds", help);
    fprintf(file, "holdfast_%s %" PRId64 ".%03d\n", name, ms / 1000,
            (int)(ms % 1000));
}

static void print_locks(FILE *file, const struct http_figures *figures)
{
    int64_t age_ms = http_figures_age_ms(figures);

    print_gauge(file, "up", NULL, "0 if the locks could not be read",
                !figures->failed);
    if (age_ms >= 0)
        print_seconds(file, "sample_age_seconds", "Since the locks were read",
                      age_ms);
    if (age_ms >= 0 && !figures->failed) {
        print_gauge(file, "locks_held", NULL, "Locks that are held",
                    figures->locks);
        print_gauge(file, "locks_contended", NULL,
                    "Held locks that are waited for", figures->contended);
        print_gauge(file, "lock_waiters", NULL, "Clients that wait for locks",
                    figures->waiters);
        print_seconds(file, "lock_oldest_seconds",
                      "How long the oldest lock is held", figures->oldest_ms);
    }
    print_counter(file, "lock_hand_overs", NULL,
                  "Locks that were seen with another owner than before",
                  figures->changes.hand_overs);
    print_counter(file, "lock_losses", NULL,
                  "Leases that were seen to end without a release",
                  figures->changes.losses);
}

static void print_waits(FILE *file, const struct lock_waits *waits)
{
    uint64_t count = 0;
    int64_t most_ms = 1;

    print_family(file, "lock_wait_seconds", "histogram", "seconds",
                 "How long holders that were seen had waited, if they had to");
    for (int i = 0; i < LOCK_WAIT_TIMES - 1; i++, most_ms *= 4) {
        count += waits->times[i];
        fprintf(file,
                "holdfast_lock_wait_seconds_bucket{le=\"%" PRId64 ".%03d\"} "
                "%" PRIu64 "\n",
                most_ms / 1000, (int)(most_ms % 1000), count);
    }
    fprintf(file,
            "holdfast_lock_wait_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n"
            "holdfast_lock_wait_seconds_count %" PRIu64 "\n"
            "holdfast_lock_wait_seconds_sum %" PRId64 ".%03d\n",
            waits->count, waits->count, waits->sum_ms / 1000,
            (int)(waits->sum_ms % 1000));
}

static void print_store(FILE *file, const struct http_figures *figures)
{
    print_gauge(file, "store_keys", NULL, "Keys in the store",
                figures->store.keys);
    print_gauge(file, "store_used_bytes", "bytes", "Size of the store",
                figures->store.size);
    print_gauge(file, "store_limit_bytes", "bytes",
                "Greatest size of the store", figures->store.size_max);
}

/* ------------------------------------------------------------------- server */

/* Those of the last range have no upper bound. */
static void print_rounds(FILE *file, const hf_server_stats *stats)
{
    uint64_t count = 0;

    print_family(file, "round_units", "histogram", NULL,
                 "Commands in a transaction; an EXEC counts as one");
    for (int i = 0; i < HF_SERVER_SIZES - 1; i++) {
        count += stats->round_sizes[i];
        fprintf(file, "holdfast_round_units_bucket{le=\"%d.0\"} %" PRIu64 "\n",
                1 << i, count);
    }
    fprintf(file,
            "holdfast_round_units_bucket{le=\"+Inf\"} %" PRIu64 "\n"
            "holdfast_round_units_count %" PRIu64 "\n"
            "holdfast_round_units_sum %" PRIu64 "\n",
            stats->rounds, stats->rounds, stats->units);
    print_counter(file, "rounds_undone", NULL,
                  "Transactions that had to run again", stats->undone);
}

static void print_server(FILE *file, const hf_server_stats *stats)
{
    print_gauge(file, "connections", NULL, "Open connections of clients",
                (int64_t)stats->connections);
    print_counter(file, "connections_opened", NULL,
                  "Connections that were accepted", stats->connections_total);
    print_counter(file, "connections_refused", NULL,
                  "Connections that were too many, or lacked memory",
                  stats->connections_refused);
    print_counter(file, "received_bytes", "bytes", "Bytes of requests",
                  stats->bytes_in);
    print_counter(file, "sent_bytes", "bytes", "Bytes of replies",
                  stats->bytes_out);
    print_rounds(file, stats);
}

static void print_times(FILE *file, const hf_server_command *command)
{
    uint64_t count = 0;

    for (int i = 0; i < HF_SERVER_TIMES - 1; i++) {
        count += command->times[i];
        fprintf(file,
                "holdfast_command_seconds_bucket{command=\"%s\",le=\"%d.%06d\"}"
                " %" PRIu64 "\n",
                command->name, (1 << i) / 1000000, (1 << i) % 1000000, count);
    }
    fprintf(file,
            "holdfast_command_seconds_bucket{command=\"%s\",le=\"+Inf\"} "
            "%" PRIu64 "\n"
            "holdfast_command_seconds_count{command=\"%s\"} %" PRIu64 "\n"
            "holdfast_command_seconds_sum{command=\"%s\"} %" PRIu64
            ".%09" PRIu64 "\n",
            command->name, command->timed, command->name, command->timed,
            command->name, command->timed_ns / 1000000000,
            command->timed_ns % 1000000000);
}

static void print_commands(FILE *file, const struct http_view *view)
{
    const hf_server_command *commands = view->commands;

    print_family(file, "commands", "counter", NULL, "Commands that were run");
    for (size_t i = 0; i < view->command_count; i++)
        fprintf(file, "holdfast_commands_total{command=\"%s\"} %" PRIu64 "\n",
                commands[i].name, commands[i].calls);
    print_family(file, "command_errors", "counter", NULL,
                 "Commands with an error as the reply");
    for (size_t i = 0; i < view->command_count; i++)
        fprintf(file,
                "holdfast_command_errors_total{command=\"%s\"} %" PRIu64 "\n",
                commands[i].name, commands[i].failed);
    print_family(file, "command_seconds", "histogram", "seconds",
                 "Time of a command without its commit; one of 17 is timed");
    for (size_t i = 0; i < view->command_count; i++)
        print_times(file, &commands[i]);
}

bool http_metrics(const struct http_view *view, char **text, size_t *size)
{
    FILE *file = open_memstream(text, size);
    int failed;

    if (file == NULL)
        return false;
    print_family(file, "build", "info", NULL, "Version of Holdfast");
    fprintf(file, "holdfast_build_info{version=\"%s\"} 1\n", hf_version());
    print_seconds(file, "uptime_seconds", "Since the server was started",
                  view->figures.up_ms);
    print_locks(file, &view->figures);
    print_waits(file, &view->figures.waits);
    print_store(file, &view->figures);
    print_server(file, &view->figures.server);
    print_commands(file, view);
    fputs("# EOF\n", file);
    failed = ferror(file);
    if (fclose(file) == 0 && failed == 0)
        return true;
    free(*text);
    return false;
}
