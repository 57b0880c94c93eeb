/* SPDX-License-Identifier: Apache-2.0 */
/*
 * standalone.c - commands about replicas, clusters, modules and saving, of
 * which a server has none: what a Redis without them replies.
 */
#include <string.h>

#include "engine/engine.h"
#include "serve/commands/unit.h"
#include "serve/parts.h"
#include "serve/state.h"

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

/* A commit saves what it writes: Redis, too, begins with its start. */
static void run_lastsave(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_integer(&conn->answer, conn->server->info.started_unix_s);
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
    {"cluster", HF__SERVED_IN_EXEC, run_cluster},
    {"debug", HF__SERVED_IN_EXEC, run_debug},
    {"failover", HF__SERVED_IN_EXEC, run_failover},
    {"lastsave", HF__SERVED_IN_EXEC, run_lastsave},
    {"readonly", HF__SERVED_IN_EXEC, run_cluster},
    {"readwrite", HF__SERVED_IN_EXEC, run_cluster},
    {"role", HF__SERVED_IN_EXEC, run_role},
    {"select", HF__SERVED_UNIT | HF__SERVED_IN_EXEC, run_select},
    {"wait", HF__SERVED_IN_EXEC, run_wait},
    {NULL, 0, NULL}};
