/* SPDX-License-Identifier: Apache-2.0 */
/*
 * pipeline_probe.c - is the connection silent, or the server?
 *
 * 1. When the pipeline's connection exceeds the silence limit
 *    (silence_limit.h), a second one is made, and nothing more is written to
 *    the first.
 * 2. If the first receives something, the second is closed: otherwise a slow
 *    server would be left each time just before its replies.
 * 3. If the second logs in, the first is broken: it is dropped, and remade by
 *    itself (pipeline_io.c).
 * 4. If the second fails, it is tried again, and requests not written yet fail
 *    as if there were no first.
 */
#include "store/redis/server/pipeline_internal.h"

#include "util/container.h"
#include "util/error.h"
#include "util/mem.h"

typedef struct hf__probe {
    hf__async_conn conn; /* first */
    hf__pipeline *pipeline;
    void (*up)(hf__pipeline *pipe);
    void (*failed)(hf__pipeline *pipe);
    bool wanted;
} hf__probe;

static void on_up(hf__async_conn *conn)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__probe, conn)->pipeline;

    hf__probe_end(pipe);
    hf__container_of(conn, hf__probe, conn)->up(pipe);
}

static void on_nothing(hf__async_conn *conn)
{
    (void)conn;
}

static void on_down(hf__async_conn *conn, bool was_up)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__probe, conn)->pipeline;

    (void)was_up;
    if (!hf__probe_is_on(pipe))
        return;
    pipe->conn.error = conn->error;
    hf__container_of(conn, hf__probe, conn)->failed(pipe);
}

static bool is_wanted(hf__async_conn *conn)
{
    return hf__container_of(conn, hf__probe, conn)->wanted;
}

static int64_t on_tick(hf__async_conn *conn, int64_t now_ms)
{
    (void)conn;
    (void)now_ms;
    return INT64_MAX;
}

static const hf__async_conn_ops probe_ops = {
    .up = on_up,
    .input = on_nothing,
    .down = on_down,
    .wanted = is_wanted,
    .tick = on_tick,
};

bool hf__probe_begin(hf__pipeline *pipe, void (*up)(hf__pipeline *pipe),
                     void (*failed)(hf__pipeline *pipe))
{
    if (pipe->probe == NULL) {
        pipe->probe = hf__calloc(1, sizeof(*pipe->probe));
        if (pipe->probe == NULL)
            return false;
        hf__async_conn_init(&pipe->probe->conn, &probe_ops, pipe->conn.node,
                            HF__RESP_REQUEST_MAX);
        pipe->probe->pipeline = pipe;
        pipe->probe->up = up;
        pipe->probe->failed = failed;
    }
    pipe->probe->wanted = true;
    hf__async_conn_update(&pipe->probe->conn);
    return true;
}

void hf__probe_end(hf__pipeline *pipe)
{
    if (!hf__probe_is_on(pipe))
        return;
    pipe->probe->wanted = false;
    hf__fail(&pipe->probe->conn.error, HF_UNAVAILABLE, "it is not needed");
    hf__async_conn_drop(&pipe->probe->conn);
}

bool hf__probe_is_on(const hf__pipeline *pipe)
{
    return pipe->probe != NULL && pipe->probe->wanted;
}

static void on_closed(hf__async_conn *conn)
{
    hf__pipeline *pipe = hf__container_of(conn, hf__probe, conn)->pipeline;

    hf__async_conn_done(conn);
    hf__free(pipe->probe);
    pipe->probe = NULL;
    pipe->closed(pipe);
}

void hf__probe_close(hf__pipeline *pipe)
{
    if (pipe->probe == NULL)
        pipe->closed(pipe);
    else
        hf__async_conn_close(&pipe->probe->conn, on_closed);
}

void hf__probe_close_forked(hf__pipeline *pipe)
{
    if (pipe->probe != NULL)
        hf__async_conn_close_forked(&pipe->probe->conn);
}
