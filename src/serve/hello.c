/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hello.c - commands about the connection: HELLO, QUIT, RESET.
 */
#include "serve/client.h"
#include "serve/multi.h"
#include "serve/served.h"
#include "serve/state.h"
#include "store/embedded/keys/argument.h"
#include "store/embedded/keys/number.h"

static void put_pair(hf__answer *answer, const char *name, const char *value)
{
    hf__answer_text(answer, name);
    hf__answer_text(answer, value);
}

static void greet(hf__conn *conn)
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

/* false: an unknown option, or a bad name, replied. */
static bool read_options(hf__conn *conn, const hf_bytes *words, size_t count)
{
    for (size_t i = 2; i < count; i++) {
        if (hf__arg_is(words[i], "setname") && i + 1 < count) {
            if (!hf__client_set_name(conn, words[++i]))
                return false;
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

static void run_hello(hf__conn *conn, const hf_bytes *words, size_t count)
{
    int64_t version = conn->resp3 ? 3 : 2;

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
    if (!read_options(conn, words, count))
        return;
    conn->resp3 = version == 3;
    greet(conn);
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
    hf__multi_reset(conn);
    hf__subscribed_leave(conn);
    hf__conn_forget(conn);
    conn->resp3 = false;
    hf__answer_line(&conn->answer, "RESET");
}

const hf__served hf__served_hello[] = {
    {"hello", -1, HF__SERVED_STRANGER, run_hello},
    {"quit", -1, HF__SERVED_STRANGER | HF__SERVED_AT_ONCE, run_quit},
    {"reset", 1, HF__SERVED_STRANGER | HF__SERVED_AT_ONCE | HF__SERVED_EARLY,
     run_reset},
    {NULL, 0, 0, NULL}};
