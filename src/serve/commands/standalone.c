/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standalone.c - commands about replicas, clusters, modules and saving, of
 * which a server has none: what a Redis without them replies. In a durable
 * store a commit saves what it writes, so SAVE has nothing left to do.
 */
#include <stdio.h>
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/unit.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "util/clock.h"

static void run_role(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_array(&conn->answer, 3);
    hf__answer_text(&conn->answer, "master");
    hf__answer_integer(&conn->answer, 0);
    hf__answer_array(&conn->answer, 0);
}

/* Nothing to wait for. */
static void run_wait(hf__conn *conn, const hf_bytes *words, size_t count)
{
    int64_t replicas, wait_ms;

    (void)count;
    if (!hf__number_integer(words[1], &replicas))
        hf__answer_error(&conn->answer, HF__ERROR_INTEGER);
    else if (!hf__number_integer(words[2], &wait_ms))
        hf__answer_error(&conn->answer,
                         "ERR timeout is not an integer or out of range");
    else if (wait_ms < 0)
        hf__answer_error(&conn->answer, "ERR timeout is negative");
    else
        hf__answer_integer(&conn->answer, 0);
}

/* Redis, too, begins with its start. */
static void run_lastsave(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, conn->server->info.saved_unix_s);
}

/* What was acknowledged is safe, so those who wait for LASTSAVE to grow see it
 * grow. false: replied with an error. */
static bool save_all(hf__conn *conn)
{
    hf_server *server = conn->server;

    if ((server->store->capabilities & HF__CAP_DURABLE) == 0) {
        hf__answer_error(&conn->answer,
                         "ERR the store is not durable: nothing can be saved");
        return false;
    }
    server->info.saved_unix_s = hf__clock_unix_us() / 1000000;
    return true;
}

static void run_save(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (save_all(conn))
        hf__answer_line(&conn->answer, "OK");
}

static void run_bgsave(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (count > 2 || (count == 2 && !hf__arg_is(words[1], "schedule")))
        hf__answer_error(&conn->answer, HF__ERROR_SYNTAX);
    else if (save_all(conn))
        hf__answer_line(&conn->answer, "Background saving started");
}

static void run_replicaof(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)count;
    if (hf__arg_is(words[1], "no") && hf__arg_is(words[2], "one"))
        hf__answer_line(&conn->answer, "OK");
    else
        hf__answer_error(&conn->answer, "ERR this server cannot be a replica");
}

/* Any arguments; clients look for the version. */
static void run_lolwut(hf__conn *conn, const hf_bytes *words, size_t count)
{
    char text[64];

    (void)words;
    (void)count;
    (void)snprintf(text, sizeof(text), "Holdfast %s, Redis ver. %s\n",
                   hf_version(), HF__SERVE_REDIS_VERSION);
    hf__answer_verbatim(&conn->answer, text, strlen(text));
}

static void run_debug(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_error(&conn->answer, "ERR DEBUG command not allowed");
}

static void run_cluster(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_error(&conn->answer,
                     "ERR This instance has cluster support disabled");
}

/* The connection's commands find it there: unit.c. */
static void run_select(hf__conn *conn, const hf_bytes *words, size_t count)
{
    if (!hf__unit_begin(conn, false))
        return;
    hf__unit_run(conn, hf__command_find(words[0]), words, count);
    if (conn->server->broken.status == HF_OK && !conn->answer.out.failed)
        conn->database = conn->server->round.tx->database;
}

static void run_failover(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_error(&conn->answer,
                     "ERR FAILOVER requires connected replicas.");
}

static void module_list(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_array(&conn->answer, 0);
}

const hf__served_entry hf__served_standalone[] = {
    {"module", HF__SERVED_IN_EXEC, hf__served_subcommand},
    {"module|list", 0, module_list},
    {"asking", HF__SERVED_IN_EXEC, run_cluster},
    {"bgsave", HF__SERVED_IN_EXEC, run_bgsave},
    {"cluster", HF__SERVED_IN_EXEC, run_cluster},
    {"debug", HF__SERVED_IN_EXEC, run_debug},
    {"failover", HF__SERVED_IN_EXEC, run_failover},
    {"lastsave", HF__SERVED_IN_EXEC, run_lastsave},
    {"lolwut", HF__SERVED_IN_EXEC, run_lolwut},
    {"readonly", HF__SERVED_IN_EXEC, run_cluster},
    {"readwrite", HF__SERVED_IN_EXEC, run_cluster},
    {"replicaof", HF__SERVED_IN_EXEC, run_replicaof},
    {"role", HF__SERVED_IN_EXEC, run_role},
    {"save", 0, run_save},
    {"select", HF__SERVED_UNIT | HF__SERVED_IN_EXEC, run_select},
    {"slaveof", HF__SERVED_IN_EXEC, run_replicaof},
    {"wait", HF__SERVED_IN_EXEC, run_wait},
    {NULL, 0, NULL}};
