/* SPDX-License-Identifier: Apache-2.0 */
/*
 * open_server.c - opening, stopping and closing a server.
 *
 * It has a loop, and so a thread, of its own: everything else happens there.
 * The calls of this file run tasks on it and wait for them.
 */
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/multi.h"
#include "serve/commands/rounds.h"
#include "serve/conn/listener.h"
#include "serve/log.h"
#include "serve/messages/tracked.h"
#include "serve/parts.h"
#include "serve/users/auth.h"
#include "util/clock.h"
#include "util/container.h"
#include "util/error.h"
#include "util/fork.h"
#include "util/mem.h"
#include "util/options.h"
#include "util/url.h"

#define NO_SERVER "server is NULL"

#define CONNECT_MS 2000

#define REQUEST_MAX_DEFAULT (INT64_C(512) << 20)
#define CLIENTS_DEFAULT 10000
#define BUFFERS_DEFAULT (INT64_C(1) << 30)
#define REQUEST_MS_DEFAULT 60000
#define TIME_MAX_MS INT64_C(86400000)

/* How often a stop looks whether all connections are closed, ms. */
#define STOP_LOOK_MS 5

/* ------------------------------------------------------------------ options */

static hf_status check_number(int64_t *value, int64_t fallback, int64_t max,
                              const char *name, hf_error *err)
{
    if (*value == 0)
        *value = fallback;
    if (*value < 1 || *value > max)
        return hf__fail(err, HF_INVALID, "%s is %lld, must be 1 to %lld", name,
                        (long long)*value, (long long)max);
    return HF_OK;
}

static hf_status load_options(hf_server_options *options,
                              const hf_server_options *from, hf_error *err)
{
    hf_status status =
        hf__options_load(options, sizeof(*options), sizeof(*options), from,
                         "hf_server_options", err);

    if (status == HF_OK && (options->listen_count == 0 ||
                            options->listen_count > HF_SERVER_LISTEN_MAX ||
                            options->listen == NULL))
        status =
            hf__fail(err, HF_INVALID, "listen_count is %zu, must be 1 to %d",
                     options->listen_count, HF_SERVER_LISTEN_MAX);
    if (status == HF_OK)
        status = check_number(&options->max_clients, CLIENTS_DEFAULT, 1000000,
                              "max_clients", err);
    if (status == HF_OK)
        status = check_number(&options->request_max, REQUEST_MAX_DEFAULT,
                              REQUEST_MAX_DEFAULT, "request_max", err);
    if (status == HF_OK)
        status = check_number(&options->buffers_max, BUFFERS_DEFAULT, INT64_MAX,
                              "buffers_max", err);
    if (status == HF_OK)
        status = check_number(&options->request_ms, REQUEST_MS_DEFAULT,
                              TIME_MAX_MS, "request_ms", err);
    if (status == HF_OK &&
        (options->idle_ms < 0 || options->idle_ms > TIME_MAX_MS))
        status = hf__fail(err, HF_INVALID, "idle_ms is %lld, must be 0 to %lld",
                          (long long)options->idle_ms, (long long)TIME_MAX_MS);
    if (status == HF_OK && options->users_file != NULL &&
        options->password_file != NULL)
        status = hf__fail(err, HF_INVALID,
                          "users_file and password_file exclude each other");
    return status;
}

/* The names of files, for a reload. false: no memory. */
static bool keep_names(hf_server_options *options)
{
    bool kept = true;

    if (options->users_file != NULL) {
        options->users_file = hf__strdup(options->users_file);
        kept = options->users_file != NULL;
    }
    if (options->password_file != NULL) {
        options->password_file = hf__strdup(options->password_file);
        kept = kept && options->password_file != NULL;
    }
    return kept;
}

static void free_names(hf_server_options *options)
{
    hf__free((char *)(uintptr_t)options->users_file);
    hf__free((char *)(uintptr_t)options->password_file);
}

/* ------------------------------------------------------------------ opening */

static hf_status open_store(hf_server *server, const char *text, hf_error *err)
{
    hf__url url;
    hf__store_config config = {
        .url = &url, .connect_ms = CONNECT_MS, .loop = server->loop};
    hf_status status = hf__store_url_parse(text, &url, err);

    if (status != HF_OK)
        return status;
    /* Of clients, which may have the same HOLDFAST_STORE. */
    (void)hf__url_param_take(&url, "request_ms");
    (void)hf__url_param_take(&url, "connect_ms");
    (void)hf__url_param_take(&url, "db");
    if (hf__store_takes(&hf__embedded_store_ops, url.scheme))
        status = hf__embedded_store_ops.open(&config, &server->store, err);
    else
        status = hf__fail(err, HF_INVALID,
                          "only embedded stores (volatile:, file:) can be "
                          "served, not %s:",
                          url.scheme);
    hf__url_done(&url);
    return status;
}

static bool checks_certificates(const hf_server *server,
                                const hf__listener *listener)
{
    return listener->secure && hf__tls_wants_clients(server->tls);
}

/* Other machines may connect only if they must prove who they are. */
static hf_status check_exposed(const hf_server *server, const hf__users *users,
                               hf_error *err)
{
    const hf__user *open = hf__users_open(users);

    for (size_t i = 0; open != NULL && i < server->listener_count; i++) {
        const hf__listener *at = &server->listeners[i];

        if (at->exposed && !checks_certificates(server, at))
            return hf__fail(err, HF_INVALID,
                            "%s can be reached from other machines, and user "
                            "\"%s\" needs no password: give --users, "
                            "--password-file, or tls: with --tls-ca",
                            at->text, open->name);
    }
    return HF_OK;
}

/* On the loopback interface they need not: say so. */
static void warn_open(hf_server *server)
{
    const hf__user *open = hf__users_open(&server->users);
    const char *what = "connect to";

    if (open != NULL && open->unlimited)
        what = server->options.read_only ? "read the store through"
                                         : "read and write the store through";
    for (size_t i = 0; open != NULL && i < server->listener_count; i++) {
        const hf__listener *at = &server->listeners[i];

        if (at->tcp && !checks_certificates(server, at))
            hf__log(server,
                    "any local user can %s %s: user \"%s\" needs no password",
                    what, at->text, open->name);
    }
}

static hf_status open_tls(hf_server *server, const hf_server_options *options,
                          hf_error *err)
{
    return options->tls == NULL
               ? HF_OK
               : hf__tls_new_server(options->tls, &server->tls, err);
}

static hf_status open_listeners(hf_server *server,
                                const hf_server_options *options, hf_error *err)
{
    hf_status status = HF_OK;

    server->listeners =
        hf__calloc(HF__LISTENERS_MAX, sizeof(*server->listeners));
    if (server->listeners == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    for (size_t i = 0; status == HF_OK && i < options->listen_count; i++)
        status = hf__listener_open(server, options->listen[i], err);
    if (status == HF_OK)
        status = check_exposed(server, &server->users, err);
    if (status == HF_OK)
        warn_open(server);
    return status;
}

static hf_status start_listeners(hf_server *server, hf_error *err)
{
    hf_status status = HF_OK;

    for (size_t i = 0; status == HF_OK && i < server->listener_count; i++)
        status = hf__listener_start(&server->listeners[i], err);
    return status;
}

hf_status hf_server_open(const char *url, const hf_server_options *opts,
                         hf_server **server, hf_error *err)
{
    hf_server_options options;
    hf_server *made;
    hf_status status;
    bool kept;

    if (server == NULL)
        return hf__fail(err, HF_INVALID, NO_SERVER);
    status = load_options(&options, opts, err);
    if (status != HF_OK)
        return status;
    made = hf__calloc(1, sizeof(*made));
    if (made == NULL)
        return hf__fail(err, HF_NO_MEMORY, "out of memory");
    made->options = options;
    made->parts = hf__serve_parts;
    hf__served_use(hf__serve_tables);
    hf__slowlog_init(&made->slowlog);
    hf__acl_log_init(&made->acl_log);
    made->check_users = check_exposed;
    kept = keep_names(&made->options);
    hf__info_init(&made->info);
    made->fork_generation = hf__fork_generation();
    made->loop = hf__loop_new();
    status = made->loop != NULL && kept
                 ? hf__loop_start(made->loop, err)
                 : hf__fail(err, HF_NO_MEMORY, "out of memory");
    if (status == HF_OK)
        status = hf__auth_read(&made->options, &made->users, err);
    if (status == HF_OK)
        status = open_tls(made, &options, err);
    if (status == HF_OK)
        status = open_store(made, url, err);
    if (status == HF_OK) {
        hf__rounds_init(made);
        status = open_listeners(made, &options, err);
    }
    if (status == HF_OK)
        status = start_listeners(made, err);
    if (status != HF_OK) {
        hf_server_close(made);
        return status;
    }
    *server = made;
    return HF_OK;
}

const char *hf_server_address(const hf_server *server, size_t index)
{
    return server != NULL && index < server->listener_count
               ? server->listeners[index].text
               : NULL;
}

/* ------------------------------------------------------ on the loop thread */

typedef struct server_task {
    hf__task task;
    hf_server *server;
    hf_server_stats *stats;
} server_task;

static void run_stats(hf__task *task)
{
    const server_task *what = hf__container_of(task, server_task, task);
    hf__lookups lookups;

    hf__command_round_lookups(&what->server->round, &lookups);
    *what->stats = what->server->stats;
    what->stats->connections = what->server->conn_count;
    what->stats->hits = lookups.hits;
    what->stats->misses = lookups.misses;
}

hf_status hf_server_read_stats(hf_server *server, hf_server_stats *stats,
                               hf_error *err)
{
    hf_server_stats now;
    server_task what = {{.run = run_stats}, server, &now};
    size_t size = stats == NULL ? 0 : stats->struct_size;

    if (server == NULL)
        return hf__fail(err, HF_INVALID, NO_SERVER);
    if (size < sizeof(size))
        return hf__fail(err, HF_INVALID,
                        "hf_server_stats: NULL, or struct_size is %zu", size);
    hf__loop_call(server->loop, &what.task);
    now.struct_size = size;
    memcpy(stats, &now, size < sizeof(now) ? size : sizeof(now));
    return HF_OK;
}

typedef struct reload_task {
    hf__task task;
    hf_server *server;
    hf__users users;
} reload_task;

static void run_replace(hf__task *task)
{
    reload_task *what = hf__container_of(task, reload_task, task);

    hf__auth_replace(what->server, &what->users, NULL);
    warn_open(what->server);
}

hf_status hf_server_reload(hf_server *server, hf_error *err)
{
    reload_task what = {{.run = run_replace}, server, {NULL}};
    hf_status status = server == NULL
                           ? hf__fail(err, HF_INVALID, NO_SERVER)
                           : hf__auth_read(&server->options, &what.users, err);

    if (status != HF_OK)
        return status;
    status = check_exposed(server, &what.users, err);
    if (status == HF_OK && server->tls != NULL)
        status = hf__tls_state(server->tls, err);
    if (status == HF_OK)
        hf__loop_call(server->loop, &what.task);
    else
        hf__users_done(&what.users);
    return status;
}

typedef struct find_task {
    hf__task task;
    const hf_server *server;
    hf_bytes name;
    bool found;
    uint64_t changes;
} find_task;

static void run_find(hf__task *task)
{
    find_task *what = hf__container_of(task, find_task, task);

    what->found = hf__users_find(&what->server->users, what->name) != NULL;
    what->changes = what->server->user_changes;
}

hf_status hf_server_find_user(hf_server *server, const char *name,
                              uint64_t *changes, hf_error *err)
{
    find_task what = {{.run = run_find}, server, {NULL, 0}, false, 0};

    if (server == NULL || name == NULL)
        return hf__fail(err, HF_INVALID,
                        server == NULL ? NO_SERVER : "name is NULL");
    what.name = hf_str(name);
    hf__loop_call(server->loop, &what.task);
    if (changes != NULL)
        *changes = what.changes;
    return what.found ? HF_OK
                      : hf__fail(err, HF_NOT_FOUND, "there is no such user");
}

static void close_listeners(hf_server *server)
{
    for (size_t i = 0; i < server->listener_count; i++)
        hf__listener_close(&server->listeners[i]);
}

/* No input any more; those with nothing left to run or write are closed. */
static void run_stop(hf__task *task)
{
    hf_server *server = hf__container_of(task, server_task, task)->server;
    hf__conn *next;

    close_listeners(server);
    server->stopping = true;
    for (hf__conn *conn = server->conns; conn != NULL; conn = next) {
        next = conn->next;
        if (!conn->ready && hf__buf_size(&conn->out) == 0)
            hf__conn_close(conn);
    }
}

static void run_close(hf__task *task)
{
    hf_server *server = hf__container_of(task, server_task, task)->server;

    close_listeners(server);
    hf__conn_close_all(server);
    for (hf__conn *conn = server->dead; conn != NULL; conn = conn->next)
        conn->ready = conn->pushed = false;
    server->ready = server->pushed = NULL;
    server->ready_end = &server->ready;
    hf__tick_stop(&server->tick);
    hf__tick_stop(&server->pause.tick);
    hf__tick_stop(&server->limits_tick);
    hf__tick_stop(&server->guesses.tick);
    hf__pubsub_leave_all(server);
    hf__conn_free_dead(server);
    hf__tracked_prepare(server);
    hf__tick_stop(&server->sweep);
    hf__multi_close_server(server);
    hf__blocking_close_server(server);
    hf__sync_close_server(server);
}

/* ------------------------------------------------------------------ closing */

hf_status hf_server_stop(hf_server *server, int64_t wait_ms, hf_error *err)
{
    int64_t until_ms = hf__clock_after(hf__clock_boot_ms(), wait_ms);
    hf_server_stats now;
    server_task stop = {{.run = run_stop}, server, NULL};
    server_task look = {{.run = run_stats}, server, &now};

    if (server == NULL)
        return hf__fail(err, HF_INVALID, NO_SERVER);
    for (;;) {
        hf__loop_call(server->loop, &stop.task);
        hf__loop_call(server->loop, &look.task);
        if (now.connections == 0)
            return HF_OK;
        if (hf__clock_boot_ms() >= until_ms)
            return hf__fail(err, HF_TIMEOUT, "%llu connections are open",
                            (unsigned long long)now.connections);
        hf__clock_sleep_until(hf__clock_boot_ms() + STOP_LOOK_MS);
    }
}

void hf_server_close(hf_server *server)
{
    server_task what = {{.run = run_close}, server, NULL};

    if (server == NULL)
        return;
    if (server->fork_generation == hf__fork_generation() &&
        server->store != NULL)
        hf__loop_call(server->loop, &what.task);
    if (server->store != NULL) {
        hf__rounds_done(server);
        server->store->ops->close(server->store);
    }
    hf__loop_free(server->loop);
    hf__users_done(&server->users);
    free_names(&server->options);
    hf__free(server->listeners);
    hf__tls_free(server->tls);
    hf__usage_clear(&server->usage);
    hf__slowlog_clear(&server->slowlog);
    hf__acl_log_clear(&server->acl_log);
    hf__free(server);
}
