/* SPDX-License-Identifier: Apache-2.0 */
/*
 * info_command.c - INFO: what is known of the server, in the words of Redis.
 * Numbers that this server does not have are left out.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "engine/engine.h"
#include "serve/commands/unit.h"
#include "serve/conn/listener.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/rand.h"

#define TEXT_MAX (4u * 1024 * 1024)

/* The keys are counted again after this many times the time that it takes. */
#define COUNT_REST 50
/* Shorter counting is done each time, us. */
#define COUNT_SHORT_US 2000

/* Rates are those since the last INFO, at least so long ago, us. */
#define RATE_US 500000

#define PRINT(...) (void)hf__buf_print(text, __VA_ARGS__)

void hf__info_init(hf__info *info)
{
    info->started_ms = hf__clock_boot_ms();
    info->saved_unix_s = hf__clock_unix_us() / 1000000;
    info->rate_at_us = hf__clock_boot_us();
    hf__rand_hex(info->run_id, HF__INFO_RUN_ID_SIZE / 2);
}

/* ---------------------------------------------------------------- sections */

static void put_server(hf_server *server, hf__buf *text)
{
    int64_t up_s = (hf__clock_boot_ms() - server->info.started_ms) / 1000;
    int64_t unix_us = hf__clock_unix_us();
    struct utsname system = {0};
    int port = 0;

    for (size_t i = 0; i < server->listener_count && port == 0; i++) {
        if (server->listeners[i].path[0] == '\0')
            (void)sscanf(strrchr(server->listeners[i].text, ':'), ":%d", &port);
    }
    (void)uname(&system);
    PRINT("redis_version:%s\r\nredis_mode:standalone\r\n"
          "server_name:holdfast\r\nholdfast_version:%s\r\n",
          HF__SERVE_REDIS_VERSION, hf_version());
    PRINT("os:%s %s %s\r\narch_bits:%zu\r\nmultiplexing_api:epoll\r\n",
          system.sysname, system.release, system.machine, 8 * sizeof(void *));
    PRINT("process_id:%d\r\nrun_id:%s\r\ntcp_port:%d\r\n", (int)getpid(),
          server->info.run_id, port);
    PRINT("server_time_usec:%" PRId64 "\r\nuptime_in_seconds:%" PRId64
          "\r\nuptime_in_days:%" PRId64 "\r\nconfig_file:\r\n",
          unix_us, up_s, up_s / 86400);
}

static void put_clients(hf_server *server, hf__buf *text)
{
    size_t in = 0;
    size_t out = 0;
    size_t held = 0;

    for (const hf__conn *conn = server->conns; conn != NULL;
         conn = conn->next) {
        if (hf__buf_size(&conn->in) > in)
            in = hf__buf_size(&conn->in);
        if (hf__buf_size(&conn->out) > out)
            out = hf__buf_size(&conn->out);
        held += conn->held && conn->guess_ms == 0;
    }
    PRINT("connected_clients:%zu\r\ncluster_connections:0\r\n"
          "maxclients:%" PRId64 "\r\n"
          "client_recent_max_input_buffer:%zu\r\n"
          "client_recent_max_output_buffer:%zu\r\n"
          "blocked_clients:%zu\r\ntracking_clients:%zu\r\n",
          server->conn_count, server->options.max_clients, in, out,
          server->blocking.count + held, server->trackers.count);
}

/* "4.21M" */
static const char *human_size(char text[32], double bytes)
{
    static const char units[] = "BKMGTP";
    size_t at = 0;

    for (; bytes >= 1024 && at + 2 < sizeof(units); at++)
        bytes /= 1024;
    (void)snprintf(text, 32, at == 0 ? "%.0f%c" : "%.2f%c", bytes, units[at]);
    return text;
}

static void put_bytes(hf__buf *text, const char *name, int64_t bytes)
{
    char number[32];

    PRINT("%s:%" PRId64 "\r\n%s_human:%s\r\n", name, bytes, name,
          human_size(number, (double)bytes));
}

static int64_t resident_size(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    long pages = 0;

    if (file == NULL)
        return 0;
    if (fscanf(file, "%*s %ld", &pages) != 1)
        pages = 0;
    (void)fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Used is what the data takes in its file; the peak is that of INFO's calls. */
static void put_memory(hf_server *server, hf__buf *text)
{
    const hf__tx *tx = server->round.tx;
    int64_t used = tx == NULL ? 0 : hf__embedded_used(server->store, tx);
    int64_t resident = resident_size();
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    if (used > server->info.used_peak)
        server->info.used_peak = used;
    put_bytes(text, "used_memory", used);
    put_bytes(text, "used_memory_rss", resident);
    PRINT("used_memory_rss_peak:%ld\r\n", usage.ru_maxrss * 1024);
    put_bytes(text, "used_memory_peak", server->info.used_peak);
    put_bytes(text, "total_system_memory",
              (int64_t)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE));
    PRINT("mem_fragmentation_ratio:%.2f\r\n",
          used == 0 ? 0 : (double)resident / (double)used);
    put_bytes(text, "maxmemory", hf__embedded_max_size(server->store));
    PRINT("number_of_cached_scripts:%zu\r\n", server->round.cached_scripts);
    PRINT("number_of_functions:%zu\r\nnumber_of_libraries:%zu\r\n",
          server->round.function_count, server->round.library_count);
    PRINT("maxmemory_policy:noeviction\r\nmem_allocator:libc\r\n");
}

/* A commit saves what it writes: nothing waits to be saved. */
static void put_persistence(hf_server *server, hf__buf *text)
{
    PRINT("rdb_changes_since_last_save:0\r\nrdb_last_save_time:%" PRId64
          "\r\nrdb_last_bgsave_status:ok\r\nrdb_last_bgsave_time_sec:-1\r\n"
          "rdb_current_bgsave_time_sec:-1\r\n",
          server->info.saved_unix_s);
    PRINT("loading:0\r\nasync_loading:0\r\nrdb_bgsave_in_progress:0\r\n"
          "aof_enabled:0\r\naof_rewrite_in_progress:0\r\n");
}

/* What was counted a second since the last INFO. */
static void measure_rates(hf_server *server)
{
    hf__info *info = &server->info;
    const hf_server_stats *now = &server->stats;
    int64_t now_us = hf__clock_boot_us();
    double past_s = (double)(now_us - info->rate_at_us) / 1e6;

    if (now_us - info->rate_at_us < RATE_US)
        return;
    info->commands_per_s =
        (double)(now->commands - info->rate_from.commands) / past_s;
    info->in_per_s =
        (double)(now->bytes_in - info->rate_from.bytes_in) / past_s;
    info->out_per_s =
        (double)(now->bytes_out - info->rate_from.bytes_out) / past_s;
    info->rate_at_us = now_us;
    info->rate_from = *now;
}

static void put_stats(hf_server *server, hf__buf *text)
{
    const hf_server_stats *now = &server->stats;
    const hf_server_stats *from = &server->info.reset;
    const hf__lookups *before = &server->info.reset_lookups;
    const size_t *channels = server->pubsub.channels.counts;
    const size_t *tracked = server->trackers.table.counts;
    hf__lookups lookups;

    hf__command_round_lookups(&server->round, &lookups);
    measure_rates(server);
    PRINT("total_connections_received:%" PRIu64
          "\r\ntotal_commands_processed:%" PRIu64
          "\r\ninstantaneous_ops_per_sec:%.0f\r\n"
          "instantaneous_input_kbps:%.2f\r\n"
          "instantaneous_output_kbps:%.2f\r\n",
          now->connections_total - from->connections_total,
          now->commands - from->commands, server->info.commands_per_s,
          server->info.in_per_s / 1024, server->info.out_per_s / 1024);
    PRINT("total_net_input_bytes:%" PRIu64 "\r\ntotal_net_output_bytes:%" PRIu64
          "\r\nrejected_connections:%" PRIu64
          "\r\nevicted_keys:0\r\ntotal_error_replies:%" PRIu64 "\r\n",
          now->bytes_in - from->bytes_in, now->bytes_out - from->bytes_out,
          now->connections_refused - from->connections_refused,
          now->failed - from->failed);
    PRINT("expired_keys:%" PRIu64 "\r\nkeyspace_hits:%" PRIu64
          "\r\nkeyspace_misses:%" PRIu64 "\r\n",
          lookups.expired - before->expired, lookups.hits - before->hits,
          lookups.misses - before->misses);
    PRINT("pubsub_channels:%zu\r\npubsub_patterns:%zu\r\n"
          "pubsubshard_channels:%zu\r\n",
          channels[HF__CHANNEL], channels[HF__CHANNEL_PATTERN],
          channels[HF__CHANNEL_SHARD]);
    PRINT("tracking_total_keys:%zu\r\ntracking_total_items:%zu\r\n"
          "tracking_total_prefixes:%zu\r\n",
          tracked[HF__CHANNEL], server->trackers.items,
          tracked[HF__CHANNEL_PATTERN]);
    PRINT("holdfast_rounds:%" PRIu64 "\r\nholdfast_units:%" PRIu64
          "\r\nholdfast_rounds_undone:%" PRIu64 "\r\n",
          now->rounds - from->rounds, now->units - from->units,
          now->undone - from->undone);
}

static void put_replication(hf_server *server, hf__buf *text)
{
    PRINT("role:master\r\nconnected_slaves:0\r\n"
          "master_failover_state:no-failover\r\nmaster_replid:%s\r\n"
          "master_repl_offset:0\r\n",
          server->info.run_id);
}

static void put_cpu(hf_server *server, hf__buf *text)
{
    struct rusage usage = {0};

    (void)server;
    (void)getrusage(RUSAGE_SELF, &usage);
    PRINT("used_cpu_sys:%ld.%06ld\r\nused_cpu_user:%ld.%06ld\r\n",
          (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
          (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
    (void)getrusage(RUSAGE_THREAD, &usage);
    PRINT("used_cpu_sys_main_thread:%ld.%06ld\r\n"
          "used_cpu_user_main_thread:%ld.%06ld\r\n",
          (long)usage.ru_stime.tv_sec, (long)usage.ru_stime.tv_usec,
          (long)usage.ru_utime.tv_sec, (long)usage.ru_utime.tv_usec);
}

static void put_modules(hf_server *server, hf__buf *text)
{
    (void)server;
    (void)text;
}

/* The time of all calls is estimated from those that were timed. */
static void put_commandstats(hf_server *server, hf__buf *text)
{
    for (size_t i = 0; i < HF__USAGE_SLOTS; i++) {
        const hf_server_command *command = server->usage.slots[i];
        double each_us;

        if (command == NULL)
            continue;
        each_us = command->timed == 0 ? 0
                                      : (double)command->timed_ns / 1000 /
                                            (double)command->timed;
        PRINT("cmdstat_%s:calls=%" PRIu64
              ",usec=%.0f,usec_per_call=%.2f,rejected_calls=0,"
              "failed_calls=%" PRIu64 "\r\n",
              command->name, command->calls, each_us * (double)command->calls,
              each_us, command->failed);
    }
}

static void put_errorstats(hf_server *server, hf__buf *text)
{
    for (size_t i = 0; i < HF__USAGE_CODES; i++) {
        const hf__usage_code *code = &server->usage.codes[i];

        if (code->count > 0)
            PRINT("errorstat_%s:count=%" PRIu64 "\r\n", code->text,
                  code->count);
    }
}

static void put_cluster(hf_server *server, hf__buf *text)
{
    (void)server;
    PRINT("cluster_enabled:0\r\n");
}

/* Counting reads all keys: of a large store, not at each INFO. */
static void count_keys(hf_server *server)
{
    int64_t now_us = hf__clock_boot_us();

    if (server->info.counting_us > COUNT_SHORT_US &&
        now_us - server->info.counted_us <
            COUNT_REST * server->info.counting_us)
        return;
    for (unsigned i = 0; server->round.tx != NULL && i < HF__DATABASES; i++) {
        server->round.tx->database = (uint8_t)i;
        if (!hf__key_count(server->round.tx, &server->info.counts[i]))
            return;
    }
    server->info.counted_us = hf__clock_boot_us();
    server->info.counting_us = server->info.counted_us - now_us;
}

static void put_keyspace(hf_server *server, hf__buf *text)
{
    count_keys(server);
    for (unsigned i = 0; i < HF__DATABASES; i++) {
        const hf__key_counts *counts = &server->info.counts[i];

        if (counts->keys > 0)
            PRINT("db%u:keys=%" PRId64 ",expires=%" PRId64 ",avg_ttl=%.0f\r\n",
                  i, counts->keys, counts->expiring,
                  counts->expiring == 0
                      ? 0
                      : counts->left_ms / (double)counts->expiring);
    }
}

/* ----------------------------------------------------------------- command */

typedef struct section {
    const char *name; /* as its title */
    bool extra;       /* only if asked for */
    bool reads;       /* in a transaction */
    void (*put)(hf_server *server, hf__buf *text);
} section;

static const section sections[] = {
    {"Server", false, false, put_server},
    {"Clients", false, false, put_clients},
    {"Memory", false, true, put_memory},
    {"Persistence", false, false, put_persistence},
    {"Stats", false, false, put_stats},
    {"Replication", false, false, put_replication},
    {"CPU", false, false, put_cpu},
    {"Modules", false, false, put_modules},
    {"Commandstats", true, false, put_commandstats},
    {"Errorstats", false, false, put_errorstats},
    {"Cluster", false, false, put_cluster},
    {"Keyspace", false, true, put_keyspace}};

#define SECTION_COUNT (sizeof(sections) / sizeof(sections[0]))

static bool is_named(hf_bytes word, const char *name)
{
    return word.size == strlen(name) &&
           strncasecmp(word.data, name, word.size) == 0;
}

static bool is_asked(const section *one, const hf_bytes *words, size_t count)
{
    bool asked = count == 1 && !one->extra;

    for (size_t i = 1; i < count && !asked; i++)
        asked = is_named(words[i], one->name) || is_named(words[i], "all") ||
                is_named(words[i], "everything") ||
                (!one->extra && is_named(words[i], "default"));
    return asked;
}

static void run_info(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    bool reads = false;
    hf__buf text;

    for (size_t i = 0; i < SECTION_COUNT; i++)
        reads |= sections[i].reads && is_asked(&sections[i], words, count);
    if (reads && server->round.tx == NULL && !hf__unit_begin(conn, false))
        return;
    hf__buf_init(&text, TEXT_MAX);
    for (size_t i = 0; i < SECTION_COUNT; i++) {
        if (!is_asked(&sections[i], words, count))
            continue;
        (void)hf__buf_print(&text, "%s# %s\r\n",
                            hf__buf_size(&text) > 0 ? "\r\n" : "",
                            sections[i].name);
        sections[i].put(server, &text);
    }
    hf__answer_verbatim(&conn->answer, hf__buf_front(&text),
                        hf__buf_size(&text));
    hf__buf_done(&text);
}

const hf__served_entry hf__served_info[] = {
    {"info", HF__SERVED_UNIT | HF__SERVED_IN_EXEC, run_info}, {NULL, 0, NULL}};
