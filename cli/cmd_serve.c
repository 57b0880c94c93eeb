/* SPDX-License-Identifier: Apache-2.0 */
/*
 * cmd_serve.c - holdfast serve: a server of the embedded store, until a signal.
 */
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cmd.h"
#include "complain.h"
#include "exit.h"

/* How long clients may take to read their last replies, ms. */
#define STOP_MS 5000

static const char *const default_listen[] = {"127.0.0.1:6379"};

static hf_status open_server(const struct call *call, hf_server **server,
                             hf_error *err)
{
    const struct options *given = call->options;
    hf_server_options options = HF_SERVER_OPTIONS_INIT;

    options.listen = given->listen;
    options.listen_count = given->listen_count;
    if (given->listen_count == 0) {
        options.listen = default_listen;
        options.listen_count = 1;
    }
    options.max_clients = given->number[OPT_CLIENTS_MAX];
    return hf_server_open(given->text[OPT_STORE], &options, server, err);
}

static void print_addresses(const hf_server *server)
{
    const char *address;

    for (size_t i = 0; (address = hf_server_address(server, i)) != NULL; i++)
        printf("%s\n", address);
    fflush(stdout);
}

/* The number of the signal that ends us. */
static int await_signal(int signals)
{
    struct pollfd polled = {signals, POLLIN, 0};
    struct signalfd_siginfo info;

    for (;;) {
        if (poll(&polled, 1, -1) > 0 &&
            read(signals, &info, sizeof(info)) == sizeof(info))
            return (int)info.ssi_signo;
    }
}

static int serve(struct call *call)
{
    hf_error err = HF_ERROR_INIT;
    hf_server *server = NULL;
    int signals = call_end_signals(call);
    hf_status status;
    int number;

    if (signals < 0)
        return EXIT_SYSTEM;
    status = open_server(call, &server, &err);
    if (status != HF_OK) {
        close(signals);
        return call_failed(call, status, &err);
    }
    print_addresses(server);
    number = await_signal(signals);
    close(signals);
    if (hf_server_stop(server, STOP_MS, &err) != HF_OK)
        complain("serve", "%s; closed", err.message);
    hf_server_close(server);
    return number == SIGTERM ? EXIT_YES : EXIT_SIGNAL + number;
}

const struct command serve_commands[] = {
    {.grammar = {.name = "serve",
                 .accepts = OPTION(STORE) | OPTION(HELP) | OPTION(LISTEN) |
                            OPTION(CLIENTS_MAX)},
     .summary = "serve an embedded store to clients of Redis",
     .notes =
         "Speaks the protocol of Redis, RESP2 and RESP3. Prints a line with "
         "each\n"
         "address that it listens on, 127.0.0.1:6379 by default; port 0 is any "
         "that is\nfree. Ends on SIGTERM (exit code 0), SIGINT and SIGHUP, "
         "when it has answered\nwhat it received.\n",
     .opens_store = true,
     .run = serve},
    COMMAND_END,
};
