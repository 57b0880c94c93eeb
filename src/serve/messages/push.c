/* SPDX-License-Identifier: Apache-2.0 */
/* push.c - see push.h. */
#include "serve/messages/push.h"

#include "serve/state.h"
#include "util/clock.h"

/* As of Redis: client-output-buffer-limit pubsub 32mb 8mb 60. */
#define HARD_SIZE (32u << 20)
#define SOFT_SIZE (8u << 20)
#define SOFT_MS 60000

hf__answer *hf__push_begin(hf__conn *conn, size_t count)
{
    hf__answer *answer = &conn->server->push;

    hf__answer_begin(answer, &conn->out, conn->resp3);
    hf__answer_push(answer, count);
    return answer;
}

void hf__push_lines(hf__conn *conn, hf_bytes lines)
{
    hf__answer *answer = &conn->server->push;

    hf__answer_begin(answer, &conn->out, conn->resp3);
    answer->no_room = !hf__buf_append(&conn->out, lines.data, lines.size);
    hf__push_end(conn);
}

static bool is_behind(hf__conn *conn)
{
    size_t size = hf__buf_size(&conn->out);
    int64_t now_ms;

    if (size <= SOFT_SIZE) {
        conn->behind_ms = 0;
        return false;
    }
    now_ms = hf__clock_boot_ms();
    if (conn->behind_ms == 0)
        conn->behind_ms = now_ms;
    return size > HARD_SIZE || now_ms - conn->behind_ms > SOFT_MS;
}

void hf__push_end(hf__conn *conn)
{
    hf_server *server = conn->server;

    if (!hf__answer_end(&server->push) || is_behind(conn))
        hf__conn_close(conn);
    else
        hf__conn_count(conn);
    if (conn->dead)
        return;
    if (conn->pushed)
        return;
    conn->pushed = true;
    conn->pushed_next = server->pushed;
    server->pushed = conn;
    hf__tick_set(hf__loop_poller(server->loop), &server->tick, 0);
}

void hf__push_flush(hf_server *server)
{
    while (server->pushed != NULL) {
        hf__conn *conn = server->pushed;

        server->pushed = conn->pushed_next;
        conn->pushed = false;
        if (!conn->dead)
            hf__conn_write(conn);
    }
}
