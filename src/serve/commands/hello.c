/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - commands about the connection: HELLO, QUIT, RESET.
 */
#include "engine/engine.h"
#include "serve/commands/client_command.h"
#include "serve/commands/multi.h"
#include "serve/parts.h"
#include "serve/state.h"
#include "serve/users/auth.h"

static void put_pair(hf__answer *answer, const char *name, const char *value)
{
    hf__answer_text(answer, name);
    hf__answer_text(answer, value);
}

static void reply_hello(hf__conn *conn)
{
    hf__answer *answer = &conn->answer;

    answer->out.resp3 = conn->resp3;
    hf__answer_map(answer, 7);
    put_pair(answer, "server", "redis");
    put_pair(answer, "version", HF__SERVE_REDIS_VERSION);
    hf__answer_text(answer, "proto");
    hf__answer_integer(answer, conn->resp3 ? 3 : 2);
    hf__answer_text(answer, "id");
    hf__answer_integer(answer, (int64_t)conn->id);
    put_pair(answer, "mode", "standalone");
    put_pair(answer, "role", "master");
    hf__answer_text(answer, "modules");
    hf__answer_array(answer, 0);
}

typedef struct hello_options {
    const hf_bytes *login; /* name and password; NULL: not given */
    const hf_bytes *name;
} hello_options;

/* false: an unknown option, replied. */
static bool read_options(hf__conn *conn, const hf_bytes *words, size_t count,
                         hello_options *options)
{
    for (size_t i = 2; i < count; i++) {
        if (hf__arg_is(words[i], "setname") && i + 1 < count) {
            options->name = &words[++i];
            continue;
        }
        if (hf__arg_is(words[i], "auth") && i + 2 < count) {
            options->login = &words[i + 1];
            i += 2;
            continue;
        }
        hf__answer_error(&conn->answer,
                         "ERR Syntax error in HELLO option '%.*s'",
                         words[i].size > 128 ? 128 : (int)words[i].size,
                         (const char *)words[i].data);
        return false;
    }
    return true;
}

/* false: replied with an error. */
static bool apply_options(hf__conn *conn, const hello_options *options)
{
    if (options->login != NULL &&
        !hf__auth_login(conn, options->login[0], options->login[1]))
        return false;
    if (conn->user == NULL) {
        hf__answer_error(
            &conn->answer,
            "NOAUTH HELLO must be called with the client already "
            "authenticated, otherwise the HELLO AUTH <user> <pass> option can "
            "be used to authenticate the client and select the RESP protocol "
            "version at the same time");
        return false;
    }
    return options->name == NULL || hf__client_set_name(conn, *options->name);
}

static void run_hello(hf__conn *conn, const hf_bytes *words, size_t count)
{
    int64_t version = conn->resp3 ? 3 : 2;
    hello_options options = {NULL, NULL};

    if (count > 1 && !hf__number_integer(words[1], &version)) {
        hf__answer_error(&conn->answer,
                         "ERR Protocol version is not an integer or out of "
                         "range");
        return;
    }
    if (version < 2 || version > 3) {
        hf__answer_error(&conn->answer, "NOPROTO unsupported protocol version");
        return;
    }
    if (!read_options(conn, words, count, &options) ||
        !apply_options(conn, &options))
        return;
    conn->resp3 = version == 3;
    reply_hello(conn);
}

static void run_quit(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    hf__answer_line(&conn->answer, "OK");
    conn->closing = true;
}

static void run_reset(hf__conn *conn, const hf_bytes *words, size_t count)
{
    (void)words;
    (void)count;
    if (!hf__subscribed_leave(conn, conn->server->deadline_ms)) {
        hf__answer_error(&conn->answer, "BUSY the store is locked by another "
                                        "process");
        return;
    }
    hf__multi_reset(conn);
    hf__tracked_leave(conn);
    hf__monitor_leave(conn);
    hf__conn_reset(conn);
    hf__auth_reset(conn);
    conn->resp3 = false;
    hf__answer_line(&conn->answer, "RESET");
}

const hf__served_entry hf__served_hello[] = {
    {"hello", HF__SERVED_STRANGER | HF__SERVED_LOGIN, run_hello},
    {"quit", HF__SERVED_STRANGER | HF__SERVED_AT_ONCE, run_quit},
    {"reset", HF__SERVED_STRANGER | HF__SERVED_AT_ONCE | HF__SERVED_EARLY,
     run_reset},
    {NULL, 0, NULL}};
