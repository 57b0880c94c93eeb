/* SPDX-License-Identifier: Apache-2.0 */
/*
 * config.c - CONFIG: the parameters of Redis that clients and monitors ask for,
 * as far as they mean something here.
 */
#include "serve/commands/config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/conn/listener.h"
#include "serve/messages/notify.h"
#include "serve/parts.h"
#include "serve/users/access.h"
#include "serve/users/acl_change.h"
#include "util/glob.h"

static const hf__config *const tables[] = {
    hf__config_server, hf__config_acl_log, hf__config_slowlog, NULL};

/* All values of one reply. */
#define TEXT_MAX (1024u * 1024)

/* -------------------------------------------------------------- parameters */

static void put_integer(hf__buf *text, int64_t value)
{
    (void)hf__buf_print(text, "%" PRId64, value);
}

static void get_maxclients(hf_server *server, hf__buf *text)
{
    put_integer(text, server->options.max_clients);
}

static bool set_maxclients(hf_server *server, hf_bytes value, bool apply,
                           char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 1, 1000000, &number, error))
        return false;
    if (apply)
        server->options.max_clients = number;
    return true;
}

static void get_timeout(hf_server *server, hf__buf *text)
{
    /* 0 is no limit: rounded up. */
    put_integer(text, (server->options.idle_ms + 999) / 1000);
}

static bool set_timeout(hf_server *server, hf_bytes value, bool apply,
                        char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 0, 86400, &number, error))
        return false;
    if (apply)
        server->options.idle_ms = number * 1000;
    return true;
}

static void get_bulk_max(hf_server *server, hf__buf *text)
{
    put_integer(text, server->options.request_max);
}

static void get_maxmemory(hf_server *server, hf__buf *text)
{
    put_integer(text, hf__embedded_max_size(server->store));
}

static void get_busy(hf_server *server, hf__buf *text)
{
    put_integer(text, server->busy.threshold_ms);
}

static bool set_busy(hf_server *server, hf_bytes value, bool apply,
                     char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 0, INT64_MAX / 1000, &number, error))
        return false;
    if (apply)
        server->busy.threshold_ms = number;
    return true;
}

static bool set_password(hf_server *server, hf_bytes value, bool apply,
                         char error[HF__CONFIG_ERROR_SIZE])
{
    hf_error why = HF_ERROR_INIT;

    if (hf__acl_password(server, value, apply, &why))
        return true;
    (void)snprintf(error, HF__CONFIG_ERROR_SIZE, "%s", why.message);
    return false;
}

/* Who may change it may log in as that user. */
static bool may_set(hf__conn *conn, const hf__config *row)
{
    const hf_bytes words[] = {hf_str("acl"), hf_str("setuser")};

    return row->set != set_password || hf__access_allows(conn, words, 2, false);
}

/* "HOST:PORT" of the first listener on TCP. */
static const char *tcp_address(const hf_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->listeners[i].path[0] == '\0')
            return server->listeners[i].text;
    }
    return NULL;
}

static void get_port(hf_server *server, hf__buf *text)
{
    const char *address = tcp_address(server);

    (void)hf__buf_print(text, "%s",
                        address == NULL ? "0" : strrchr(address, ':') + 1);
}

static void get_bind(hf_server *server, hf__buf *text)
{
    const char *address = tcp_address(server);

    if (address != NULL)
        (void)hf__buf_append(text, address,
                             (size_t)(strrchr(address, ':') - address));
}

static void get_unixsocket(hf_server *server, hf__buf *text)
{
    for (size_t i = 0; i < server->listener_count; i++) {
        if (server->listeners[i].path[0] != '\0') {
            (void)hf__buf_print(text, "%s", server->listeners[i].path);
            return;
        }
    }
}

static void get_notify(hf_server *server, hf__buf *text)
{
    char letters[HF__NOTIFY_TEXT_SIZE];

    hf__notify_show(server->pubsub.notify, letters);
    (void)hf__buf_print(text, "%s", letters);
}

static bool set_notify(hf_server *server, hf_bytes value, bool apply,
                       char error[HF__CONFIG_ERROR_SIZE])
{
    uint32_t flags;

    if (!hf__notify_read(value, &flags)) {
        (void)snprintf(error, HF__CONFIG_ERROR_SIZE,
                       "Invalid event class character. Use "
                       "'Ag$lshzxeKEtmdn'.");
        return false;
    }
    if (apply)
        hf__pubsub_notify(server, flags);
    return true;
}

static void get_tracked_max(hf_server *server, hf__buf *text)
{
    put_integer(text, server->trackers.max);
}

static bool set_tracked_max(hf_server *server, hf_bytes value, bool apply,
                            char error[HF__CONFIG_ERROR_SIZE])
{
    int64_t number;

    if (!hf__config_integer(value, 0, INT64_MAX, &number, error))
        return false;
    if (apply)
        server->trackers.max = number;
    return true;
}

/* Sorted by name. */
const hf__config hf__config_server[] = {
    {"appendfsync", "no", NULL, NULL},
    {"appendonly", "no", NULL, NULL},
    {"bind", NULL, get_bind, NULL},
    {"busy-reply-threshold", NULL, get_busy, set_busy},
    {"cluster-enabled", "no", NULL, NULL},
    {"databases", "16", NULL, NULL},
    {"hash-max-listpack-entries", "128", NULL, NULL},
    {"hash-max-listpack-value", "64", NULL, NULL},
    {"hash-max-ziplist-entries", "128", NULL, NULL},
    {"hash-max-ziplist-value", "64", NULL, NULL},
    {"hll-sparse-max-bytes", "3000", NULL, NULL},
    {"latency-monitor-threshold", "0", NULL, NULL},
    {"lua-time-limit", NULL, get_busy, set_busy},
    {"maxclients", NULL, get_maxclients, set_maxclients},
    {"maxmemory", NULL, get_maxmemory, NULL},
    {"maxmemory-policy", "noeviction", NULL, NULL},
    {"notify-keyspace-events", NULL, get_notify, set_notify},
    {"port", NULL, get_port, NULL},
    {"proto-max-bulk-len", NULL, get_bulk_max, NULL},
    {"replica-read-only", "yes", NULL, NULL},
    {"requirepass", "", NULL, set_password},
    {"save", "", NULL, NULL},
    {"set-max-intset-entries", "512", NULL, NULL},
    {"timeout", NULL, get_timeout, set_timeout},
    {"tracking-table-max-keys", NULL, get_tracked_max, set_tracked_max},
    {"unixsocket", NULL, get_unixsocket, NULL},
    {"zset-max-listpack-entries", "128", NULL, NULL},
    {"zset-max-listpack-value", "64", NULL, NULL},
    {"zset-max-ziplist-entries", "128", NULL, NULL},
    {"zset-max-ziplist-value", "64", NULL, NULL},
    {NULL, NULL, NULL, NULL}};

/* --------------------------------------------------------------------- GET */

/* The next parameter; NULL: no more. Begin with table 0, NULL. */
static const hf__config *next_row(size_t *table, const hf__config *row)
{
    row = row == NULL ? tables[0] : row + 1;
    while (row->name == NULL) {
        if (tables[++*table] == NULL)
            return NULL;
        row = tables[*table];
    }
    return row;
}

static char *lower_word(hf_bytes word, char text[64])
{
    size_t size = word.size < 63 ? word.size : 63;

    for (size_t i = 0; i < size; i++)
        text[i] = hf__lower(((const char *)word.data)[i]);
    text[size] = '\0';
    return text;
}

static bool is_asked(const hf__config *row, const hf_bytes *words, size_t count)
{
    char text[64];

    for (size_t i = 2; i < count; i++) {
        if (hf__glob_fits(hf_str(lower_word(words[i], text)),
                          hf_str(row->name)))
            return true;
    }
    return false;
}

static void put_row(hf__conn *conn, const hf__config *row)
{
    hf__buf text;

    hf__buf_init(&text, TEXT_MAX);
    hf__answer_text(&conn->answer, row->name);
    if (row->value != NULL)
        (void)hf__buf_print(&text, "%s", row->value);
    else
        row->get(conn->server, &text);
    hf__answer_bytes(&conn->answer,
                     hf_view(hf__buf_front(&text), hf__buf_size(&text)));
    hf__buf_done(&text);
}

static void config_get(hf__conn *conn, const hf_bytes *words, size_t count)
{
    const hf__config *row = NULL;
    size_t table = 0;
    size_t found = 0;

    while ((row = next_row(&table, row)) != NULL)
        found += is_asked(row, words, count);
    hf__answer_map(&conn->answer, found);
    table = 0;
    while ((row = next_row(&table, row)) != NULL) {
        if (is_asked(row, words, count))
            put_row(conn, row);
    }
}

/* --------------------------------------------------------------------- SET */

static const hf__config *find_row(hf_bytes name)
{
    const hf__config *row = NULL;
    size_t table = 0;

    while ((row = next_row(&table, row)) != NULL) {
        if (hf__arg_is(name, row->name))
            break;
    }
    return row;
}

static bool set_row(hf_server *server, const hf__config *row, hf_bytes value,
                    bool apply, char error[HF__CONFIG_ERROR_SIZE])
{
    if (row->set != NULL)
        return row->set(server, value, apply, error);
    if (row->value != NULL && hf__arg_is(value, row->value))
        return true;
    (void)snprintf(error, HF__CONFIG_ERROR_SIZE, "can't set immutable config");
    return false;
}

/* Was the parameter given before words[at]? */
static bool is_repeated(const hf_bytes *words, size_t at)
{
    for (size_t i = 2; i < at; i += 2) {
        if (words[i].size == words[at].size &&
            strncasecmp(words[i].data, words[at].data, words[i].size) == 0)
            return true;
    }
    return false;
}

/* What is done with each parameter of a CONFIG SET, of all before the next. */
typedef enum set_phase { NAMES, VALUES, APPLY, PHASES } set_phase;

static bool set_word(hf__conn *conn, const hf_bytes *words, size_t at,
                     set_phase what)
{
    const hf__config *row = find_row(words[at]);
    char error[HF__CONFIG_ERROR_SIZE] = "duplicate parameter";
    bool fits = row != NULL;

    if (fits && what == NAMES && !may_set(conn, row))
        return false;
    if (fits && what == NAMES)
        fits = !is_repeated(words, at);
    else if (fits)
        fits = set_row(conn->server, row, words[at + 1], what == APPLY, error);

    if (row == NULL)
        hf__answer_error(&conn->answer,
                         "ERR Unknown option or number of arguments for CONFIG "
                         "SET - '%.*s'",
                         words[at].size > 128 ? 128 : (int)words[at].size,
                         (const char *)words[at].data);
    else if (!fits)
        hf__answer_error(&conn->answer,
                         "ERR CONFIG SET failed (possibly related to argument "
                         "'%s') - %s",
                         row->name, error);
    return !conn->answer.out.failed;
}

/* All or none. */
static void config_set(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (count % 2 != 0) {
        hf__answer_arity(&conn->answer, "config|set");
        return;
    }
    for (set_phase what = NAMES; what < PHASES; what++) {
        for (size_t i = 2; i < count; i += 2) {
            if (!set_word(conn, words, i, what))
                return;
        }
    }
    hf__answer_line(&conn->answer, "OK");
}

/* ------------------------------------------------------------------ others */

static void config_resetstat(hf__conn *conn, const hf_bytes *words,
                             size_t count)
{
    (void)words;
    (void)count;
    conn->server->info.reset = conn->server->stats;
    hf__command_round_lookups(&conn->server->round,
                              &conn->server->info.reset_lookups);
    hf__usage_clear(&conn->server->usage);
    hf__answer_line(&conn->answer, "OK");
}

static void config_rewrite(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_error(&conn->answer,
                     "ERR The server is running without a config file");
}

static void config_help(hf__conn *conn, const hf_bytes *words, size_t count)
{
    static const char *const lines[] = {
        "GET <pattern>",
        "    Return parameters matching the glob-like <pattern> and their "
        "values.",
        "SET <directive> <value>",
        "    Set the configuration <directive> to <value>.",
        "RESETSTAT",
        "    Reset statistics reported by the INFO command.",
        "REWRITE",
        "    Rewrite the configuration file.",
        NULL};

    (void)words;
    (void)count;
    hf__served_help(conn, "config", lines);
}

const hf__served_entry hf__served_config[] = {
    {"config", HF__SERVED_IN_EXEC, hf__served_subcommand},
    {"config|get", 0, config_get},
    {"config|help", 0, config_help},
    {"config|resetstat", 0, config_resetstat},
    {"config|rewrite", 0, config_rewrite},
    {"config|set", 0, config_set},
    {NULL, 0, NULL}};
