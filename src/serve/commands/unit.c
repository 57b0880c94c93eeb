/* SPDX-License-Identifier: Apache-2.0 */
/* unit.c - see unit.h. */
#include "serve/commands/unit.h"

#include <string.h>

#include "engine/engine.h"
#include "serve/commands/busy.h"
#include "serve/state.h"
#include "serve/users/access.h"
#include "store/known_commands.h"
#include "util/mem.h"

/* What Redis's clients know of such a failure. */
static const char *code_of(hf_status status)
{
    switch (status) {
    case HF_FULL:
        return "OOM";
    case HF_UNAVAILABLE:
        return "BUSY";
    case HF_DENIED:
        return "READONLY";
    case HF_NO_MEMORY:
        return "OOM";
    default:
        return "ERR";
    }
}

void hf__unit_fail(hf__conn *conn, const hf_error *failure)
{
    if (failure->status == HF_FULL)
        hf__answer_error(&conn->answer, "OOM command not allowed when used "
                                        "memory > 'maxmemory'.");
    else
        hf__answer_error(&conn->answer, "%s %s", code_of(failure->status),
                         failure->message);
}

hf_bytes *hf__unit_words(hf_server *server, size_t count)
{
    hf_bytes *words;

    if (count <= server->word_capacity)
        return server->words;
    words = hf__alloc(count * sizeof(*words));
    if (words == NULL)
        return NULL;
    hf__free(server->words);
    server->words = words;
    server->word_capacity = count;
    return words;
}

bool hf__unit_enter(hf_server *server, bool writes)
{
    hf_error error = HF_ERROR_INIT;
    const hf__tx *before = server->round.tx;

    if (hf__command_round_enter(&server->round, writes, server->deadline_ms,
                                &error) != HF_OK) {
        server->broken = error;
        return false;
    }
    /* A wait for the writer lock is not the command's time. */
    if (server->round.tx != before)
        server->usage.tick_ns = hf__clock_tick_ns();
    server->round.tx->made = server->made;
    server->round.tx->made_user = server;
    server->round.tx->attend = hf__busy_attend;
    return true;
}

bool hf__unit_begin(hf__conn *conn, bool writes)
{
    hf_server *server = conn->server;

    if (server->in_exec)
        return hf__unit_enter(server, writes);
    conn->units++;
    if (server->unit_limit == SIZE_MAX)
        conn->share++;
    server->unit_count++;
    server->unit_conn = conn;
    if (server->failure.status != HF_OK) {
        hf__unit_fail(conn, &server->failure);
        server->failure.status = HF_OK;
        return false;
    }
    return hf__unit_enter(server, writes);
}

bool hf__unit_changes(const hf__command *command, const hf_bytes *words,
                      size_t count)
{
    char why[HF__OUT_ERROR_SIZE];
    const hf__known_command *known;
    hf__shebang shebang;

    if (!(command->flags & HF__COMMAND_WRITES))
        return false;
    /* SCRIPT and FUNCTION change no keys, but some the libraries. */
    if ((command->flags & (HF__COMMAND_MACHINE | HF__COMMAND_EVAL)) ==
        HF__COMMAND_MACHINE) {
        known = hf__known_find_words(words, count);
        return known != NULL && (known->categories & HF__CATEGORY_WRITE) != 0;
    }
    if (!(command->flags & HF__COMMAND_EVAL))
        return true;
    if (strstr(command->name, "_ro") != NULL)
        return false;
    return strcmp(command->name, "eval") != 0 || count < 2 ||
           !hf__shebang_read(words[1], &shebang, why, sizeof(why)) ||
           !shebang.no_writes;
}

static bool is_limited(const hf__conn *conn)
{
    return !conn->user->unlimited || conn->server->options.read_only;
}

/* A command of a script. */
static const char *check_called(void *user, const hf_bytes *words, size_t count)
{
    hf__conn *conn = user;
    const char *error =
        is_limited(conn) ? hf__access_of_script(conn, words, count) : NULL;

    if (error == NULL && conn->server->monitors.count > 0)
        hf__monitor_put(conn, true, words, count);
    if (error == NULL)
        hf__tracked_called(conn, words, count);
    return error;
}

/* Of a script; whether it is an error, which is counted. */
static bool answer_script(hf__conn *conn, const hf_reply *reply)
{
    bool failed = hf_reply_type(reply) == HF_REPLY_ERROR;

    hf__answer_tree(&conn->answer, reply);
    if (failed)
        hf__conn_count_error(conn, hf_reply_bytes(reply).data);
    return failed;
}

void hf__unit_run(hf__conn *conn, const hf__command *command,
                  const hf_bytes *words, size_t count)
{
    hf_server *server = conn->server;
    hf__tx *tx = server->round.tx;
    const hf_reply *reply;
    int64_t began_ns, took_ns;
    bool failed = false;

    conn->last = command->name;
    hf__command_round_limit(&server->round,
                            is_limited(conn) || server->monitors.count > 0 ||
                                    conn->tracker != NULL
                                ? check_called
                                : NULL,
                            conn);
    tx->block.blocked = false;
    tx->database = conn->database;
    if (!hf__command_arity_fits(command, count)) {
        hf__answer_arity(&conn->answer, command->name);
        return;
    }
    hf__busy_begin(server, words, count);
    began_ns = hf__usage_begin(&server->usage);
    if (!hf__command_round_run(&server->round, command, words, count,
                               &conn->answer.out, &reply))
        server->broken = tx->error;
    else if (reply != NULL)
        failed = answer_script(conn, reply);
    hf__busy_end(server);
    took_ns = hf__usage_end(&server->usage, command->name,
                            failed || conn->answer.out.failed, began_ns);
    if (hf__slowlog_wants(&server->slowlog, took_ns))
        hf__slowlog_add(conn, words, count, took_ns);
    if (server->trackers.first != NULL && server->broken.status == HF_OK)
        hf__tracked_ran(conn, command, words, count);
}
