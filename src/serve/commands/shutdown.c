/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown.c - SHUTDOWN: asks the program that has opened the server to end it.
 * NOW and FORCE change nothing: no replicas are waited for, and what was
 * committed is saved.
 */
#include "engine/engine.h"
#include "serve/parts.h"
#include "serve/state.h"

typedef struct shutdown_options {
    bool save;
    bool nosave;
    bool abort;
} shutdown_options;

static bool read_options(const hf_bytes *words, size_t count,
                         shutdown_options *options)
{
    for (size_t i = 1; i < count; i++) {
        if (hf__arg_is(words[i], "save"))
            options->save = true;
        else if (hf__arg_is(words[i], "nosave"))
            options->nosave = true;
        else if (hf__arg_is(words[i], "abort"))
            options->abort = true;
        else if (!hf__arg_is(words[i], "now") && !hf__arg_is(words[i], "force"))
            return false;
    }
    return !(options->save && options->nosave) &&
           !(options->abort && count > 2);
}

/* NULL: it may. */
static const char *find_refusal(const hf_server *server,
                                const shutdown_options *options)
{
    if (options->abort) /* it would have ended */
        return "ERR No shutdown in progress.";
    if (server->options.on_shutdown == NULL)
        return "ERR the program that has opened this server ends it";
    if (options->save && (server->store->capabilities & HF__CAP_DURABLE) == 0)
        return "ERR the store is not durable: nothing can be saved";
    return NULL;
}

/* Without a reply: the client sees the connection close. */
static void run_shutdown(hf__conn *conn, const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    shutdown_options options = {false, false, false};
    const char *error = HF__ERROR_SYNTAX;

    if (read_options(words, count, &options))
        error = find_refusal(server, &options);
    if (error != NULL) {
        hf__answer_error(&conn->answer, "%s", error);
    } else if (server->busy.on && !options.nosave) {
        hf__busy_refuse(conn, words, count);
    } else {
        server->busy.killed = true; /* what runs, if it is busy */
        conn->closing = true;
        if (!server->ending)
            server->options.on_shutdown(server->options.shutdown_user);
        server->ending = true;
    }
}

const hf__served_entry hf__served_shutdown[] = {{"shutdown", 0, run_shutdown},
                                                {NULL, 0, NULL}};
