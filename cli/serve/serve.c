/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve.c - holdfast serve: a server of the embedded store, until a signal. A
 * program of its own, see programs.h.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd.h"
#include "commands.h"
#include "complain.h"
#include "exit.h"
#include "holdfast/key.h"
#include "holdfast/serve.h"
#include "http/http.h"
#include "programs.h"
#include "serve/systemd.h"

/* How long clients may take to read their last replies, ms. */
#define STOP_MS 5000

/* How often to look whether the store is still there, ms. */
#define LOOK_MS 1000

/* Those given and those inherited, or else one for our user alone. */
static void take_addresses(const struct options *given,
                           hf_server_options *options,
                           const char *addresses[HF_SERVER_LISTEN_MAX])
{
    size_t count = given->listen_count;

    memcpy(addresses, given->listen, count * sizeof(*addresses));
    count += systemd_sockets(addresses + count, HF_SERVER_LISTEN_MAX - count);
    if (count == 0)
        addresses[count++] = "unix:";
    options->listen = addresses;
    options->listen_count = count;
}

static void print_line(const char *line, void *user)
{
    (void)user;
    complain("serve", "%s", line);
}

/* Atomic: a signal would be the second, which ends the process. */
static bool is_ending;

/* SHUTDOWN: as if the first signal had come from outside. */
static void end_self(void *user)
{
    (void)user;
    if (!__atomic_load_n(&is_ending, __ATOMIC_SEQ_CST))
        (void)kill(getpid(), SIGTERM);
}

static hf_status open_server(const struct call *call, hf_server **server,
                             hf_error *err)
{
    const struct options *given = call->options;
    hf_server_options options = HF_SERVER_OPTIONS_INIT;

    hf_tls_options tls = HF_TLS_OPTIONS_INIT;
    const char *addresses[HF_SERVER_LISTEN_MAX];

    take_addresses(given, &options, addresses);
    tls.cert = given->text[OPT_TLS_CERT];
    tls.key = given->text[OPT_TLS_KEY];
    tls.ca = given->text[OPT_TLS_CA];
    if (tls.cert != NULL || tls.key != NULL || tls.ca != NULL)
        options.tls = &tls;
    options.max_clients = given->number[OPT_CLIENTS_MAX];
    options.users_file = given->text[OPT_USERS];
    options.password_file = given->text[OPT_PASSWORD_FILE];
    options.on_log = print_line;
    options.on_shutdown = end_self;
    options.read_only = given->given[OPT_READ_ONLY];
    options.idle_ms = given->number[OPT_IDLE];
    options.request_ms = given->number[OPT_REQUEST_TIME];
    options.buffers_max = given->number[OPT_BUFFERS_MAX] * 1024 * 1024;
    return hf_server_open(given->text[OPT_STORE], &options, server, err);
}

static int start_http(const struct call *call, hf_server *server,
                      struct http **http)
{
    const struct options *given = call->options;
    struct http_options options = {
        .store = given->text[OPT_STORE],
        .address = given->text[OPT_HTTP],
        .token_file = given->text[OPT_HTTP_TOKEN_FILE],
        .allow_break =
            given->given[OPT_ALLOW_BREAK] || given->given[OPT_ALLOW_EDIT],
        .allow_edit = given->given[OPT_ALLOW_EDIT],
        .password_file = given->text[OPT_PASSWORD_FILE],
    };

    if (given->given[OPT_HTTP])
        return http_start(&options, server, http);
    if (options.token_file != NULL || options.allow_break)
        return call_usage(call, "--http is missing");
    return EXIT_YES;
}

static void print_addresses(const hf_server *server, const struct http *http)
{
    const char *address;

    for (size_t i = 0; (address = hf_server_address(server, i)) != NULL; i++)
        printf("%s\n", address);
    if (http != NULL)
        printf("%s\n", http_url(http));
    fflush(stdout);
}

static void reload_users(hf_server *server)
{
    hf_error err = HF_ERROR_INIT;

    systemd_notify("RELOADING=1");
    if (hf_server_reload(server, &err) == HF_OK)
        complain("serve", "users read again");
    else
        complain("serve", "users not changed: %s", err.message);
    systemd_notify("READY=1");
}

/* The loop thread must answer for it. */
static void feed_watchdog(hf_server *server)
{
    hf_server_stats stats = HF_SERVER_STATS_INIT;
    char state[64];

    if (hf_server_read_stats(server, &stats, NULL) != HF_OK)
        return;
    (void)snprintf(state, sizeof(state), "WATCHDOG=1\nSTATUS=%llu connections",
                   (unsigned long long)stats.connections);
    systemd_notify(state);
}

/* A second signal ends the process. */
static void unblock_signals(void)
{
    sigset_t ends;

    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigprocmask(SIG_UNBLOCK, &ends, NULL);
}

/* The process may have as many descriptors as connections. */
static void raise_limit(void)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* HF_CORRUPT: it was removed, replaced or truncated. The service manager starts
 * us again, with the store that is there then. */
static hf_status look_at_store(hf_client *client, hf_error *err)
{
    int64_t ttl_ms;
    hf_status status = hf_key_ttl(client, hf_str("hf:token"), &ttl_ms, err);

    return status == HF_CORRUPT ? status : HF_OK;
}

static int look_ms(void)
{
    int watchdog_ms = systemd_watchdog_ms();

    return watchdog_ms >= 0 && watchdog_ms < LOOK_MS ? watchdog_ms : LOOK_MS;
}

/* HF_OK: *number is that of the signal that ends us. */
static hf_status await_end(hf_server *server, hf_client *client, int signals,
                           int *number, hf_error *err)
{
    struct pollfd polled = {signals, POLLIN, 0};
    struct signalfd_siginfo info;

    while (look_at_store(client, err) == HF_OK) {
        feed_watchdog(server);
        if (poll(&polled, 1, look_ms()) <= 0 ||
            read(signals, &info, sizeof(info)) != sizeof(info))
            continue;
        *number = (int)info.ssi_signo;
        if (info.ssi_signo != SIGHUP)
            return HF_OK;
        reload_users(server);
    }
    return HF_CORRUPT;
}

static int end_by(hf_status status, int number, const hf_error *err)
{
    if (status != HF_OK) {
        complain("serve", "ending: %s", err->message);
        return exit_code_of(status);
    }
    complain("serve", "ending: signal %d", number);
    return number == SIGTERM ? EXIT_YES : EXIT_SIGNAL + number;
}

/* Until a signal, or the end of the store; its exit code. */
static int run_server(const struct call *call, hf_server *server,
                      hf_client *client, int signals)
{
    hf_error err = HF_ERROR_INIT;
    struct http *http = NULL;
    int code = start_http(call, server, &http);
    int number = 0;
    hf_status status;

    if (code != EXIT_YES)
        return code;
    print_addresses(server, http);
    systemd_notify("READY=1");
    status = await_end(server, client, signals, &number, &err);
    systemd_notify("STOPPING=1");
    __atomic_store_n(&is_ending, true, __ATOMIC_SEQ_CST);
    unblock_signals();
    code = end_by(status, number, &err);
    http_stop(http);
    if (hf_server_stop(server, STOP_MS, &err) != HF_OK)
        complain("serve", "%s; closed", err.message);
    return code;
}

static int serve_store(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_server *server = NULL;
    hf_client *client = NULL;
    int signals = call_end_signals(call);
    hf_status status;
    int code;

    if (signals < 0)
        return EXIT_SYSTEM;
    raise_limit();
    status = open_server(call, &server, &err);
    if (status == HF_OK)
        status =
            hf_client_open(call->options->text[OPT_STORE], NULL, &client, &err);
    code = status == HF_OK ? run_server(call, server, client, signals)
                           : call_failed(call, status, &err);
    hf_server_close(server);
    hf_client_close(client);
    close(signals);
    return code;
}

const struct command serve_commands[] = {
    {.grammar = SERVE_GRAMMAR, .opens_store = true, .run = serve_store},
    COMMAND_END,
};

const struct noun nouns[] = {{"serve", serve_commands}};
const size_t noun_count = 1;
