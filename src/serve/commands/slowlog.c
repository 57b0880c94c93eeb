/* SPDX-License-Identifier: Apache-2.0 */
/*
 * slowlog.c - SLOWLOG: the last commands that took long, without the time that
 * their commit takes.
 */
#include "serve/commands/slowlog.h"

#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/config.h"
#include "serve/conn/peer.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"
#include "util/mem.h"

/* Redis's defaults, and what it keeps of a command. */
#define LEAST_US 10000
#define MOST 128
#define WORDS_KEPT 32
#define BYTES_KEPT 128

#define MOST_MAX 100000

typedef struct hf__slow_entry {
    struct hf__slow_entry *older;
    uint64_t id;
    int64_t unix_s;
    int64_t took_us;
    char address[HF__PEER_SIZE];
    hf__buf name;
    size_t count;
    hf__buf words[WORDS_KEPT];
} hf__slow_entry;

void hf__slowlog_init(hf__slowlog *log)
{
    *log = (hf__slowlog){.least_us = LEAST_US, .most = MOST};
}

static void free_entry(hf__slow_entry *entry)
{
    hf__buf_done(&entry->name);
    for (size_t i = 0; i < entry->count; i++)
        hf__buf_done(&entry->words[i]);
    hf__free(entry);
}

/* Keep so many. */
static void trim_log(hf__slowlog *log, size_t most)
{
    hf__slow_entry **at = &log->newest;

    for (size_t i = 0; *at != NULL && i < most; i++)
        at = &(*at)->older;
    while (*at != NULL) {
        hf__slow_entry *entry = *at;

        *at = entry->older;
        free_entry(entry);
        log->count--;
    }
}

void hf__slowlog_clear(hf__slowlog *log)
{
    trim_log(log, 0);
}

/* What does not fit is counted. */
static void keep_word(hf__buf *to, hf_bytes word)
{
    size_t kept = word.size < BYTES_KEPT ? word.size : BYTES_KEPT;

    hf__buf_init(to, 2 * BYTES_KEPT);
    (void)hf__buf_append(to, word.data, kept);
    if (kept < word.size)
        (void)hf__buf_print(to, "... (%zu more bytes)", word.size - kept);
}

static void keep_words(hf__slow_entry *entry, const hf_bytes *words,
                       size_t count)
{
    size_t whole = count <= WORDS_KEPT ? count : WORDS_KEPT - 1;
    size_t secrets = hf__monitor_secrets(words, count);

    for (size_t i = 0; i < whole; i++)
        keep_word(&entry->words[i],
                  i >= secrets ? hf_str("(redacted)") : words[i]);
    entry->count = whole;
    if (whole == count)
        return;
    hf__buf_init(&entry->words[whole], BYTES_KEPT);
    (void)hf__buf_print(&entry->words[whole], "... (%zu more arguments)",
                        count - whole);
    entry->count++;
}

void hf__slowlog_add(hf__conn *conn, const hf_bytes *words, size_t count,
                     int64_t took_ns)
{
    hf__slowlog *log = &conn->server->slowlog;
    hf__slow_entry *entry = hf__calloc(1, sizeof(*entry));

    if (entry == NULL)
        return;
    entry->id = log->next_id++;
    entry->unix_s = hf__clock_unix_us() / 1000000;
    entry->took_us = took_ns / 1000;
    (void)hf__peer_address(conn, false, entry->address);
    keep_word(&entry->name, hf_str(conn->name != NULL ? conn->name : ""));
    keep_words(entry, words, count);
    entry->older = log->newest;
    log->newest = entry;
    log->count++;
    trim_log(log, (size_t)log->most);
}

/* ---------------------------------------------------------------- commands */

static void put_text(hf__conn *conn, const hf__buf *text)
{
    hf__answer_bytes(&conn->answer,
                     hf_view(hf__buf_front(text), hf__buf_size(text)));
}

static void put_entry(hf__conn *conn, const hf__slow_entry *entry)
{
    hf__answer *answer = &conn->answer;

    hf__answer_array(answer, 6);
    hf__answer_integer(answer, (int64_t)entry->id);
    hf__answer_integer(answer, entry->unix_s);
    hf__answer_integer(answer, entry->took_us);
    hf__answer_array(answer, entry->count);
    for (size_t i = 0; i < entry->count; i++)
        put_text(conn, &entry->words[i]);
    hf__answer_text(answer, entry->address);
    put_text(conn, &entry->name);
}

static void slowlog_get(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__slowlog *log = &conn->server->slowlog;
    const hf__slow_entry *entry = log->newest;
    int64_t wanted = 10;

    if (count > 3) {
        hf__answer_error(&conn->answer,
                         "ERR unknown subcommand or wrong number of arguments "
                         "for '%.*s'. Try SLOWLOG HELP.",
                         (int)words[1].size, (const char *)words[1].data);
        return;
    }
    if (count == 3 && (!hf__number_integer(words[2], &wanted) || wanted < -1)) {
        hf__answer_error(&conn->answer,
                         "ERR count should be greater than or equal to -1");
        return;
    }
    if (wanted < 0 || (uint64_t)wanted > log->count)
        wanted = (int64_t)log->count;
    hf__answer_array(&conn->answer, (size_t)wanted);
    for (; wanted > 0; wanted--, entry = entry->older)
        put_entry(conn, entry);
}

static void slowlog_len(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, (int64_t)conn->server->slowlog.count);
}

static void slowlog_reset(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__slowlog_clear(&conn->server->slowlog);
    hf__answer_line(&conn->answer, "OK");
}

static void slowlog_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "GET [<count>]",
        "    Return top <count> entries from the slowlog (default: 10, -1 mean "
        "all).",
        "    Entries are made of:",
        "    id, timestamp, time in microseconds, arguments array, client IP "
        "and port,",
        "    client name",
        "LEN",
        "    Return the length of the slowlog.",
        "RESET",
        "    Reset the slowlog.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "slowlog", lines);
}

const hf__served_entry hf__served_slowlog[] = {
    {"slowlog", HF__SERVED_IN_EXEC, hf__served_subcommand},
    {"slowlog|get", 0, slowlog_get},
    {"slowlog|help", 0, slowlog_help},
    {"slowlog|len", 0, slowlog_len},
    {"slowlog|reset", 0, slowlog_reset},
    {NULL, 0, NULL}};

/* -------------------------------------------------------------- parameters */

static void get_least(hf_server *server, hf__buf *text)
{
    (void)hf__buf_print(text, "%lld", (long long)server->slowlog.least_us);
}

static bool set_least(hf_server *server, hf_bytes value, bool apply,
                      char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, -1, INT64_MAX, &number, error))
        return false;
    if (apply)
        server->slowlog.least_us = number;
    if (apply)
        server->usage.stride =
            number >= 0 && number < HF__USAGE_TICK_NS / 1000 ? 1 : 0;
    return true;
}

static void get_most(hf_server *server, hf__buf *text)
{
    (void)hf__buf_print(text, "%lld", (long long)server->slowlog.most);
}

static bool set_most(hf_server *server, hf_bytes value, bool apply,
                     char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 0, MOST_MAX, &number, error))
        return false;
    if (apply)
        server->slowlog.most = number;
    if (apply)
        trim_log(&server->slowlog, (size_t)number);
    return true;
}

const hf__config hf__config_slowlog[] = {
    {"slowlog-log-slower-than", NULL, get_least, set_least},
    {"slowlog-max-len", NULL, get_most, set_most},
    {NULL, NULL, NULL, NULL}};
