/* SPDX-License-Identifier: Apache-2.0 */
/* http_metrics.c - see http_metrics.h. */
#include "http_metrics.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

/* HELP is the last line of the three that begin a family of metrics. */
static void family(FILE *file, const char *name, const char *type,
                   const char *unit, const char *help)
{
    fprintf(file, "# TYPE holdfast_%s %s\n", name, type);
    if (unit != NULL)
        fprintf(file, "# UNIT holdfast_%s %s\n", name, unit);
    fprintf(file, "# HELP holdfast_%s %s\n", name, help);
}

/* -1: not known, and left out. */
static void gauge(FILE *file, const char *name, const char *unit,
                  const char *help, int64_t value)
{
    if (value < 0)
        return;
    family(file, name, "gauge", unit, help);
    fprintf(file, "holdfast_%s %" PRId64 "\n", name, value);
}

static void counter(FILE *file, const char *name, const char *unit,
                    const char *help, uint64_t value)
{
    family(file, name, "counter", unit, help);
    fprintf(file, "holdfast_%s_total %" PRIu64 "\n", name, value);
}

static void seconds(FILE *file, const char *name, const char *help, int64_t ms)
{
    family(file, name, "gauge", "seconds", help);
    fprintf(file, "holdfast_%s %" PRId64 ".%03d\n", name, ms / 1000,
            (int)(ms % 1000));
}

static void print_locks(FILE *file, const struct http_figures *figures)
{
    gauge(file, "up", NULL, "1 if the locks could be read", figures->read);
    gauge(file, "locks_held", NULL, "Locks that are held", figures->locks);
    gauge(file, "locks_contended", NULL, "Held locks that are waited for",
          figures->contended);
    gauge(file, "lock_waiters", NULL, "Clients that wait for locks",
          figures->waiters);
    seconds(file, "lock_oldest_seconds", "How long the oldest lock is held",
            figures->oldest_ms);
    counter(file, "lock_hand_overs", NULL,
            "Locks that were seen with another owner than before",
            figures->changes.hand_overs);
    counter(file, "lock_losses", NULL,
            "Leases that were seen to end without a release",
            figures->changes.losses);
}

static void print_store(FILE *file, const struct http_figures *figures)
{
    gauge(file, "store_keys", NULL, "Keys in the store", figures->keys);
    gauge(file, "store_used_bytes", "bytes", "Size of the store",
          figures->size);
    gauge(file, "store_limit_bytes", "bytes", "Greatest size of the store",
          figures->size_max);
}

static void print_server(FILE *file, hf_server *server)
{
    hf_server_stats stats = HF_SERVER_STATS_INIT;

    if (hf_server_read_stats(server, &stats, NULL) != HF_OK)
        return;
    gauge(file, "connections", NULL, "Open connections of clients",
          (int64_t)stats.connections);
    counter(file, "connections_opened", NULL, "Connections that were accepted",
            stats.connections_total);
    counter(file, "connections_refused", NULL,
            "Connections that were too many, or lacked memory",
            stats.connections_refused);
    counter(file, "received_bytes", "bytes", "Bytes of requests",
            stats.bytes_in);
    counter(file, "sent_bytes", "bytes", "Bytes of replies", stats.bytes_out);
    counter(file, "rounds", NULL,
            "Transactions, each of the commands of many connections",
            stats.rounds);
    counter(file, "round_units", NULL,
            "Commands in them; an EXEC counts as one", stats.units);
    counter(file, "rounds_undone", NULL, "Rounds that had to be run again",
            stats.undone);
    counter(file, "commands", NULL, "Commands of clients", stats.commands);
    counter(file, "commands_failed", NULL, "Commands with an error as reply",
            stats.failed);
}

bool http_metrics(const struct http_view *view, hf_server *server, char **text,
                  size_t *size)
{
    FILE *file = open_memstream(text, size);
    int failed;

    if (file == NULL)
        return false;
    family(file, "build", "info", NULL, "Version of Holdfast");
    fprintf(file, "holdfast_build_info{version=\"%s\"} 1\n", hf_version());
    print_locks(file, &view->figures);
    print_store(file, &view->figures);
    seconds(file, "uptime_seconds", "Since the server was started",
            view->figures.up_ms + now_ms() - view->made_ms);
    print_server(file, server);
    seconds(file, "sample_age_seconds", "Since the locks were read",
            now_ms() - view->made_ms);
    fputs("# EOF\n", file);
    failed = ferror(file);
    if (fclose(file) == 0 && failed == 0)
        return true;
    free(*text);
    return false;
}
